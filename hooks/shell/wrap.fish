# andon: the configured test command, typed in a repository with Andon, runs as `andon test`. To switch it on: andon completions fish --wrap | source
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
function _andon_learn
    set -l name $_andon_words[1]
    if test -n "$name"; and test (type -t -- $name 2> /dev/null; or echo none) = function
        functions --erase $name
    end
    set -g _andon_words
    set -g _andon_in $PWD
    test -f andon.toml; or return 0
    command andon completions fish --words 2> /dev/null | source
    set name $_andon_words[1]
    test -n "$name"; or return 0
    # What is a function or a part of the shell stays.
    if test (type -t -- $name 2> /dev/null; or echo none) = file
        eval "function $name; _andon_run $name \$argv; end"
    else
        set -g _andon_words
    end
end
# Whether these words begin with the command.
function _andon_is
    set -l count (count $_andon_words)
    test "$ANDON" != 0; and test "$PWD" = "$_andon_in"; and test $count -gt 0; and test (count $argv) -ge $count; or return 1
    for at in (seq $count)
        test "$argv[$at]" = "$_andon_words[$at]"; or return 1
    end
end
function _andon_run
    _andon_is $argv; and _andon_learn
    if not _andon_is $argv
        command $argv
    else if test (count $argv) -eq (count $_andon_words)
        command andon test
    else
        command andon test -- $argv
    end
end
function _andon_prompt --on-event fish_prompt
    test "$PWD" = "$_andon_in"; or _andon_learn
end
