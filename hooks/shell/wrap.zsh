# andon: the configured test commands, typed in a repository with Andon, run as `andon test`. To switch it on: eval "$(andon completions zsh --wrap)"
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
_andon_shell=zsh
_andon_is_program() {
  case "$(whence -w -- "$1")" in "$1: command" | "$1: hashed") ;; *) return 1 ;; esac
}
_andon_prompt() {
  [ "$PWD" = "${_andon_in-}" ] || _andon_learn
}
autoload -Uz add-zsh-hook
add-zsh-hook precmd _andon_prompt
