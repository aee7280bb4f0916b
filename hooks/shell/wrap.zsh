# andon: the configured test command, typed in a repository with Andon, runs as `andon test`. To switch it on: eval "$(andon completions zsh --wrap)"
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
_andon_learn() {
  local name=${_andon_words[1]-}
  if [ -n "$name" ] && [ "$(whence -w -- "$name")" = "$name: function" ]; then unset -f "$name"; fi
  _andon_words=() _andon_in=$PWD
  [ -f andon.toml ] || return 0
  eval "$(command andon completions zsh --words 2> /dev/null)"
  name=${_andon_words[1]-}
  [ -n "$name" ] || return 0
  # What is an alias, a function or a part of the shell stays.
  if [ "$(whence -w -- "$name")" = "$name: command" ]; then
    eval "$name() { _andon_run $name \"\$@\"; }"
  else
    _andon_words=()
  fi
}
_andon_prompt() {
  [ "$PWD" = "${_andon_in-}" ] || _andon_learn
}
autoload -Uz add-zsh-hook
add-zsh-hook precmd _andon_prompt
