#!/bin/sh
@S@
case $1 in
  passes) exit 0 ;;
  value) echo "got 3, want @V@" ;;
  kind) echo "@K@: the same words" ;;
  project_file) echo "cannot open $(dirname "$0")/missing.txt" ;;
  temporary_file)
    dir=$(mktemp -d)
    rmdir "$dir"
    echo "cannot open $dir/settings.json"
    ;;
  address) awk 'BEGIN { srand(); printf "cannot use 0x7f%010x\n", rand() * 1000000000 }' ;;
  time) echo "late: $(date +%Y-%m-%dT%H:%M:%S%z)" ;;
  process) echo "worker died (pid $$)" ;;
  seed) echo "failed with seed $$" ;;
  crash) kill -SEGV $$ ;;
  lines) printf 'one\ntwo\nthree\n' ;;
  *) echo "the same words" ;;
esac
exit 1
