#!/usr/bin/env bats
@S@
deep() {
  if [ "$1" -eq 0 ]; then
    echo "no number" >&2
    return 3
  fi
  deep $(($1 - 1))
}

@test "passes" {
  true
}

@test "value of a sum" {
  result=$((1 + 2))
  echo "got $result, want @V@"
  [ "$result" -eq @V@ ]
}
@S@
@test "kind of error" {
  echo "@K@: the same words"
  false
}

@test "renamed@N@" {
  echo "the same words"
  false
}

@test "deep error" {
  deep 3
}

@test "temporary directory" {
  cat "$BATS_TEST_TMPDIR/settings.json"
}

@test "temporary file" {
  dir=$(mktemp -d)
  rmdir "$dir"
  cat "$dir/out.txt"
}

@test "project file" {
  cat "$BATS_TEST_DIRNAME/missing.txt"
}
@S@
@test "time" {
  echo "late: $(date --iso-8601=seconds)"
  false
}

@test "elapsed" {
  echo "took $(($(date +%N | sed 's/^0*//') / 1000000)) ms"
  false
}

@test "process id" {
  echo "worker died (pid $$)"
  false
}

@test "subprocess" {
  run sh -c 'echo "exit 3" && exit 3'
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "uuid" {
  echo "no session $(cat /proc/sys/kernel/random/uuid)"
  false
}

@test "digest" {
  echo "no object $(head -c 20 /dev/urandom | sha1sum | cut -d' ' -f1)"
  false
}

@test "command not found" {
  no_such_command_here
}

@test "lines of text" {
  printf 'one\ntwo\nthree\n'
  false
}
