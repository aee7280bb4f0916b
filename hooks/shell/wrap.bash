# andon: the configured test command, typed in a repository with Andon, runs as `andon test`. To switch it on: eval "$(andon completions bash --wrap)"
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
_andon_learn() {
  local name=${_andon_words[0]-}
  if [ -n "$name" ] && [ "$(type -t "$name")" = function ]; then unset -f "$name"; fi
  _andon_words=() _andon_in=$PWD
  [ -f andon.toml ] || return 0
  eval "$(command andon completions bash --words 2> /dev/null)"
  name=${_andon_words[0]-}
  [ -n "$name" ] || return 0
  # What is an alias, a function or a part of the shell stays.
  if [ "$(type -t "$name")" = file ]; then
    eval "$name() { _andon_run $name \"\$@\"; }"
  else
    _andon_words=()
  fi
}
_andon_prompt() {
  local code=$?
  [ "$PWD" = "${_andon_in-}" ] || _andon_learn
  return "$code"
}
case ";${PROMPT_COMMAND-};" in
  *";_andon_prompt;"*) ;;
  *) PROMPT_COMMAND="_andon_prompt;${PROMPT_COMMAND-}" ;;
esac
