# andon: the configured test commands, typed in a repository with Andon, run as `andon test`. To switch it on: andon completions fish --wrap | source
# It asks andon once for each change into a directory with an andon.toml, and once more before the tests run.
function _andon_learn
    for name in $_andon_names
        functions --erase $name
    end
    set -g _andon_names
    set -g _andon_programs
    set -g _andon_in $PWD
    function _andon_match
        return 1
    end
    test -f andon.toml; or return 0
    command andon completions fish --words 2> /dev/null | source
    for name in $_andon_programs
        # What is a function or a part of the shell stays.
        test (type -t -- $name 2> /dev/null; or echo none) = file; or continue
        eval "function $name; _andon_run $name \$argv; end"
        set -a _andon_names $name
    end
end
# Whether these words begin with a configured command: the scope and the length of the one that is.
function _andon_is
    test "$ANDON" != 0; and test "$PWD" = "$_andon_in"; and _andon_match $argv
end
function _andon_run
    _andon_is $argv; and _andon_learn
    if not _andon_is $argv
        command $argv
    else if test -n "$_andon_scope"
        command andon test $_andon_scope $argv[(math $_andon_count + 1)..-1]
    else if test (count $argv) -eq $_andon_count
        command andon test
    else
        command andon test -- $argv
    end
end
function _andon_prompt --on-event fish_prompt
    test "$PWD" = "$_andon_in"; or _andon_learn
end
