//! Arguments that several verbs share, and the help of one command.

use std::{io::Read as _, path::Path};

use clap::{Args, Command};

use andon_engine::{context::Context, error::OpsError};

/// The help of verbs that walk through a range.
pub const STOPPED: &str = "\
Ctrl-C ends it with what was found so far and exit code 3; a second one ends it at once.";

/// A chance as an argument.
pub fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err("a share lies between 0 and 1".to_owned()) }
}

/// The bytes of a file that the command line names, at most `max`; `-` is standard input.
///
/// # Errors
/// Why it cannot be read.
pub fn read_bytes(ctx: &Context, file: &Path, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(max + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(ctx.cwd.join(file)).and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
    };
    read.map_err(|err| err.to_string())?;
    if bytes.len() as u64 > max { Err(format!("it has more than {} MiB", max >> 20)) } else { Ok(bytes) }
}

/// The text of such a file.
///
/// # Errors
/// It cannot be read, or is no UTF-8.
pub fn read_text(ctx: &Context, file: &Path, max: u64) -> Result<String, OpsError> {
    let text = read_bytes(ctx, file, max)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()));
    text.map_err(|why| {
        let what = format!("{} cannot be read: {why}", file.to_string_lossy());
        OpsError::usage(what, "give a file that can be read, or `-` for standard input")
    })
}

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
