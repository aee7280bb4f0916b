//! `andon explain`.

use crate::cli::Shell;
use crate::cli::args::ExplainArgs;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::explain::{self, ExplainRequest};
use crate::report::{explain as report, json};
use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::text::message;

/// Explains the files. What cannot be read is named, and ends it with 2 after the others were shown.
pub fn run(shell: &Shell, args: &ExplainArgs) -> Exit {
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
        return Exit::Allowed;
    }
    shell.out.message(&message::diagnostics(&unread, shell.out.err));
    Exit::Usage
}
