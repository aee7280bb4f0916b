//! `andon completions` and `andon man`: generated from the definitions of `--help`.

pub mod args;
mod wrap;

use self::args::{CompletionsArgs, ManArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::program::help;
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
    shell.out.pass_out(&help::completions(args.shell));
    Ok(Exit::Allowed)
}

/// A manual page as roff, for `man -l -`.
pub fn man(shell: &Shell, args: &ManArgs) -> Result<Exit, OpsError> {
    let name = args.command.as_deref();
    let page = help::manual(name).map_err(OpsError::Input)?.ok_or_else(|| OpsError::Usage {
        what: format!("no such command: {:?}", name.unwrap_or_default()),
        help: "all of them: andon --help".to_owned(),
    })?;
    shell.out.pass_out(&page);
    Ok(Exit::Allowed)
}
