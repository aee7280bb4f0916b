//! `andon explain`.

pub mod args;
pub mod run;
pub mod text;
pub mod view;

use self::args::ExplainArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::explain::{run as explain, run::ExplainRequest};
use crate::{report::json, verbs::explain::text as report};
use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::error::OpsError;
use andon_engine::text::message;

/// Explains the files. What cannot be read is named, and ends it with 2 after the others were shown.
pub fn run(shell: &Shell, args: &ExplainArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let asked = ExplainRequest { files: &args.files, roots: &args.root, exit: args.exit_code };
    let files = explain::run(&shell.ctx, &asked);
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&files, shell.out.out),
        Format::Json => json::documents("explain", &report::json(&files)),
    });
    let unread: Vec<Diagnostic> = files
        .iter()
        .filter_map(|file| file.read.as_ref().err())
        .map(|unread| {
            let help = "name a file that can be read: a report that a test runner wrote, or its saved output";
            Diagnostic::error(unread.message.clone()).code(unread.name).help(help)
        })
        .collect();
    if unread.is_empty() {
        return Ok(Exit::Allowed);
    }
    shell.out.message(&message::diagnostics(&unread, shell.out.err));
    Ok(Exit::Usage)
}
