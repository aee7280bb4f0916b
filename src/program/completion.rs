//! Completions for a command line that is being typed. The shell asks the program itself, so that it is offered what there is
//! in this repository: branches and tags, rules, keys, formats. The script that a shell loads only says how to ask.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::Shell as CompletionShell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::help;
use andon_core::detect::REGISTRY;
use andon_engine::{Context, Workspace};

/// The variable by which a shell's script asks. It names the shell.
const ASKED: &str = "ANDON_COMPLETE";

/// Most values that are offered.
const MAX_VALUES: usize = 200;

/// Gives the values that are offered.
type Values = fn() -> Vec<String>;

/// The possible values of an argument whose value has this name.
const VALUES: &[(&str, Values)] = &[
    ("REV", revisions),
    ("RANGE", revisions),
    ("RULE", rules),
    ("KEY", keys),
    ("FORMAT[=FILE]", crate::verbs::check::CheckFormat::names),
];

/// The script of a shell, to be loaded when it starts.
pub fn script(shell: CompletionShell) -> Vec<u8> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    if let Some(known) = shells.completer(&shell.to_string()) {
        // Written to memory: that does not fail.
        let _ = known.write_registration(ASKED, "andon", "andon", "andon", &mut script);
    }
    if shell == CompletionShell::Zsh {
        // Loaded from a folder of `fpath`, it is itself asked first.
        script.extend_from_slice(
            b"\n[ \"${funcstack[1]}\" != _andon ] || _clap_dynamic_completer_andon \"$@\"\n",
        );
    }
    script
}

/// Answers a shell that asks: whether one did.
pub fn is_asked(ctx: &Context) -> bool {
    let completer = CompleteEnv::with_factory(definition).var(ASKED);
    // A failed completion is a mistake in the shell's script, whose errors are never seen: nothing is offered.
    completer.try_complete(ctx.args.clone(), None).unwrap_or(true)
}

/// The command line, with the possible values of its arguments.
fn definition() -> Command {
    valued(help::definition())
}

fn valued(command: Command) -> Command {
    command.mut_args(with_values).mut_subcommands(valued)
}

fn with_values(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let found = VALUES.iter().find(|(name, _)| names.iter().any(|one| one.as_str() == *name));
    let Some((_, values)) = found else { return arg };
    let values = *values;
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| offered(&typed.to_string_lossy(), &values())))
}

/// The values that begin as what is typed does; of a range its right side is completed.
fn offered(typed: &str, values: &[String]) -> Vec<CompletionCandidate> {
    let left = typed.rfind("..").map_or(0, |at| at + 2);
    let (left, right) = typed.split_at(left);
    let fitting = values.iter().filter(|value| value.starts_with(right));
    fitting.take(MAX_VALUES).map(|value| CompletionCandidate::new(format!("{left}{value}"))).collect()
}

fn revisions() -> Vec<String> {
    let Ok(ws) = Workspace::open_lenient(&Context::capture()) else { return Vec::new() };
    let mut found = vec!["HEAD".to_owned()];
    for prefix in ["refs/heads/", "refs/tags/", "refs/remotes/"] {
        let refs = ws.repo.refs_with_prefix(prefix).unwrap_or_default();
        found.extend(refs.iter().filter_map(|(name, _)| name.strip_prefix(prefix)).map(str::to_owned));
    }
    found
}

fn rules() -> Vec<String> {
    REGISTRY.iter().map(|rule| rule.id.to_owned()).collect()
}

fn keys() -> Vec<String> {
    let Ok(ws) = Workspace::open_lenient(&Context::capture()) else { return Vec::new() };
    ws.config.entries().into_iter().map(|entry| entry.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(typed: &str) -> Vec<String> {
        let values = ["main".to_owned(), "maint".to_owned(), "topic".to_owned()];
        let found = offered(typed, &values);
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_typed_is_continued_on_the_right_side_of_a_range() {
        assert_eq!(texts("mai"), ["main", "maint"]);
        assert_eq!(texts("main..t"), ["main..topic"]);
        assert_eq!(texts("main...t"), ["main...topic"]);
        assert!(texts("x").is_empty());
    }

    #[test]
    fn each_shell_has_a_script_that_asks_the_program() {
        for shell in [CompletionShell::Bash, CompletionShell::Zsh, CompletionShell::Fish] {
            let text = String::from_utf8(script(shell)).unwrap();
            assert!(text.contains(ASKED) && text.contains("andon"), "{shell}: {text}");
        }
    }

    #[test]
    fn every_name_of_a_value_is_one_of_an_argument() {
        fn named(command: &Command, name: &str) -> bool {
            let own = |arg: &Arg| arg.get_value_names().unwrap_or_default().iter().any(|one| one == name);
            command.get_arguments().any(own) || command.get_subcommands().any(|one| named(one, name))
        }
        for (name, _) in VALUES {
            assert!(named(&help::definition(), name), "{name}");
        }
    }
}
