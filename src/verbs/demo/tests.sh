#!/bin/sh
# shellcheck source=/dev/null
. ./price.sh
n=0
check() {
  n=$((n + 1))
  if [ "$2" = "$3" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; echo "  ---"; echo "  message: expected $3, got $2"; echo "  ..."; failed=1; fi
}
echo 1..3
check "one item costs its price" "$(total 1 250)" 250
check "ten items cost ten times as much" "$(total 10 250)" 2500
check "a hundred items get a discount" "$(total 100 250)" 22500
exit "${failed:-0}"
