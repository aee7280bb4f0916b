# andon: the configured test commands, typed in a repository with Andon, run as `andon test`. To switch it on: eval "$(andon completions bash --wrap)"
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
_andon_shell=bash
_andon_is_program() {
  [ "$(type -t -- "$1")" = file ]
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
