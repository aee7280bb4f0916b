//! `andon completions` and `andon man`: generated from the definitions of `--help`.

pub mod args;
mod wrap;

use self::args::{CompletionsArgs, ManArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::program::{completion, manual};
use andon_engine::error::OpsError;

/// The completions of a shell, or the function for its test command, to be sourced.
pub fn completions(shell: &Shell, args: &CompletionsArgs) -> Result<Exit, OpsError> {
    if args.words {
        shell.out.result(&wrap::words(&shell.ctx, args.shell));
        return Ok(Exit::Allowed);
    }
    if args.wrap {
        let function = wrap::function(args.shell).ok_or_else(|| OpsError::Usage {
            what: format!("there is no such function for {}", args.shell),
            help: "bash, zsh and fish have one: andon completions bash --wrap".to_owned(),
        })?;
        shell.out.result(&function);
        return Ok(Exit::Allowed);
    }
    shell.out.pass_out(&completion::script(args.shell));
    Ok(Exit::Allowed)
}

/// A manual page as roff, for `man -l -`; or all of them as files.
pub fn man(shell: &Shell, args: &ManArgs) -> Result<Exit, OpsError> {
    let pages = manual::pages();
    if let Some(dir) = &args.all {
        std::fs::create_dir_all(dir).map_err(OpsError::Input)?;
        for page in pages {
            let file = dir.join(format!("{}.1", page.name()));
            page.roff().and_then(|roff| std::fs::write(file, roff)).map_err(OpsError::Input)?;
        }
        return Ok(Exit::Allowed);
    }
    let title = std::iter::once("andon").chain(args.command.iter().map(String::as_str));
    let title = title.collect::<Vec<_>>().join(" ");
    let page = pages.iter().find(|page| page.title == title).ok_or_else(|| OpsError::Usage {
        what: format!("no such command: {title:?}"),
        help: "all of them: andon --help".to_owned(),
    })?;
    shell.out.pass_out(&page.roff().map_err(OpsError::Input)?);
    Ok(Exit::Allowed)
}
