//! The help of one command: what is said of it, and how its lines are broken.

use clap::{Args, Command};

/// `command` with the arguments `A`; what is said of it stays what the list of commands says.
pub(crate) fn with_arguments<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    reflowed(A::augment_args(command)).about(about).long_about(None)
}

/// The texts behind the options, without the breaks that the sources have within sentences: clap breaks lines where the
/// terminal ends.
pub(crate) fn reflowed(command: Command) -> Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(joined(&text)),
        None => command,
    };
    command.mut_subcommands(reflowed)
}

/// Lines of one sentence as one; what is indented, and what comes after a full stop or a colon, gets a line of its own.
fn joined(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let goes_on =
            !line.is_empty() && !line.starts_with(' ') && !out.ends_with(['.', ':', '\n']) && !out.is_empty();
        let indented_before = out.lines().next_back().is_some_and(|last| last.starts_with(' '));
        if goes_on && !indented_before {
            out.push(' ');
        } else if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_by_the_terminal_alone() {
        let text = "One sentence that\ngoes on.\nAnother:\n  a  row\n  b  row\n\nThe end\nof it";
        assert_eq!(joined(text), "One sentence that goes on.\nAnother:\n  a  row\n  b  row\n\nThe end of it");
    }
}
