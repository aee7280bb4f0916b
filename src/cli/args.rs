//! Arguments that several verbs share, and the help of one command.

use std::{io::Read as _, path::Path};

use clap::{Args, Command};

use andon_engine::{Context, OpsError, Result};

/// A chance as an argument.
pub fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err("a share lies between 0 and 1".to_owned()) }
}

/// The longest text of a person that the ledger keeps whole, in bytes.
const MAX_REASON: usize = 4096;

/// Takes the reason that a person gives on the command line. The ledger would cut a longer one.
///
/// # Errors
/// It is longer than the ledger keeps.
pub fn reason(text: &str) -> Result<String, String> {
    let long = || format!("it has {} bytes, over the bound of {MAX_REASON}: say it shorter", text.len());
    if text.len() > MAX_REASON { Err(long()) } else { Ok(text.to_owned()) }
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
    if bytes.len() as u64 > max { Err(format!("it has more than {max} bytes")) } else { Ok(bytes) }
}

/// The text of such a file.
///
/// # Errors
/// It cannot be read, or is no UTF-8.
pub fn read_text(ctx: &Context, file: &Path, max: u64) -> Result<String> {
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
    let title = format!("andon {}", command.get_name());
    noted(A::augment_args(command), &title).about(about).long_about(None)
}

/// The texts behind the options, by command.
const NOTES: &str = include_str!("notes.txt");

/// The command of that title and those below it, with the texts behind their options.
pub(crate) fn noted(command: Command, title: &str) -> Command {
    let sections = NOTES.split("\n=== ").filter_map(|section| section.split_once('\n'));
    let mut own = sections.filter(|(titles, _)| titles.split(", ").any(|one| one == title));
    let command = match own.next() {
        Some((_, text)) => command.after_help(text.trim_end()),
        None => command,
    };
    command.mut_subcommands(|below| {
        let title = format!("{title} {}", below.get_name());
        noted(below, &title)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_the_bound_is_taken_from_the_command_line_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("answer.json");
        std::fs::write(&file, "{\"a\":1}").unwrap();
        let ctx = Context::capture();
        assert_eq!(read_text(&ctx, &file, 7).unwrap(), "{\"a\":1}");
        let error = read_text(&ctx, &file, 6).unwrap_err().to_string();
        assert!(error.contains("answer.json") && error.contains("more than 6 bytes"), "{error}");
        assert!(reason(&"x".repeat(MAX_REASON)).is_ok());
        assert!(
            reason(&"x".repeat(MAX_REASON + 1)).unwrap_err().contains("4097 bytes, over the bound of 4096")
        );
    }

    #[test]
    fn every_note_is_of_a_command() {
        let cli = crate::program::help::definition();
        let titles =
            NOTES.split("\n=== ").skip(1).flat_map(|section| section.lines().next().unwrap().split(", "));
        for title in titles {
            let path = title.split(' ').skip(1);
            let found = path.fold(&cli, |command, name| command.find_subcommand(name).expect(title));
            assert!(found.get_after_help().is_some(), "{title}");
        }
    }
}
