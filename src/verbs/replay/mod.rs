//! `andon replay`.

pub mod args;
pub mod run;
pub mod session_text;
pub mod text;
pub mod view;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use self::args::ReplayArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::cli::progress::{self, stopped};
use crate::report::json;
use crate::verbs::replay::session_text as trajectory;
use crate::verbs::replay::{
    run as replay,
    run::test_runs::{self, TestedCommit},
    run::{ReplayRequest, events, session},
};
use crate::verbs::replay::{
    text as report,
    text::{ReplayLine, ReplayStep, Teller},
};
use crate::verbs::test::{run as test, run::OutputTarget};
use andon_config::{self as config, Config, TestCommand};
use andon_core::domain::ids::CommitId;
use andon_core::domain::tests::TestEvidence;
use andon_engine::effect::program::Screens;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;
use testreport::Stream;

/// Bytes that are collected before they are printed.
const CHUNK: usize = 1 << 16;

/// Shows what would have happened. Always exit code 0: it shows, it does not judge.
pub fn run(shell: &Shell, args: &ReplayArgs) -> Result<Exit, OpsError> {
    if let Some(file) = &args.events {
        return events(shell, file, args.format.format);
    }
    let ws = Workspace::open(&shell.ctx)?;
    if let Some(session) = &args.session {
        return walk(shell, &ws, session, args.format.format);
    }
    let Some(tests) = tests(shell, &ws, args)? else { return Ok(Exit::Undecided) };
    let asked = ReplayRequest { range: &args.range, tests: &tests };
    let mut teller = Teller::new(shell.out.out);
    let mut text = String::new();
    let ended = progress::walk(shell, ("replay", args.threads), |pace, progress| {
        replay::run(&shell.ctx, &ws, &asked, pace, &mut |found| {
            let step = ReplayStep::Commit { commit: found.commit, subject: found.subject };
            let line = ReplayLine { step, decision: found.decision };
            text.push_str(&match args.format.format {
                Format::Text => teller.line(&line),
                Format::Json => json::document("replay", &report::json(&line)),
            });
            if text.len() > CHUNK {
                progress.clear();
                shell.out.result(&text);
                text.clear();
            }
        })
    });
    let ended = match ended {
        Ok(ended) => ended,
        Err(err) => {
            shell.out.result(&text);
            return Err(err);
        }
    };
    match args.format.format {
        Format::Text => text.push_str(&teller.end(&args.range, &ended.warnings)),
        Format::Json => {}
    }
    shell.out.result(&text);
    Ok(stopped(shell, ended.walked, Exit::Allowed))
}

/// What `--test` gives on each commit, reported on standard error as it comes; nothing without it, `None` where it was stopped.
fn tests(
    shell: &Shell,
    ws: &Workspace,
    args: &ReplayArgs,
) -> Result<Option<BTreeMap<CommitId, TestEvidence>>, OpsError> {
    let Some(command) = &args.test else { return Ok(Some(BTreeMap::new())) };
    let parsed = TestCommand::Shell(command.clone());
    let screens = Screens::none();
    let mut runner = |ws: &Workspace| {
        let shown = OutputTarget { screens: &screens, pass: &mut |_: Stream, _: &[u8]| () };
        let (_, executed) = test::execute(&shell.ctx, ws, &parsed, shown)?;
        Ok(executed.map_err(|error| error.to_string()))
    };
    let mut tell = |tested: TestedCommit<'_>| shell.out.message(&report::tested(&tested));
    test_runs::evidence(&shell.ctx, ws, (&args.range, command), &mut runner, &mut tell)
}

/// Walks one session.
fn walk(shell: &Shell, ws: &Workspace, session: &str, format: Format) -> Result<Exit, OpsError> {
    let (found, warnings) = session::run(ws, session)?;
    shell.out.result(&match format {
        Format::Text => trajectory::text(&found, shell.out.out),
        Format::Json => trajectory::json(&found),
    });
    shell.out.message(&message::diagnostics(&warnings, shell.out.err));
    Ok(Exit::Allowed)
}

/// Replays a file of events, printed as they are judged. Exit code 2 when a line is no fact.
fn events(shell: &Shell, file: &Path, format: Format) -> Result<Exit, OpsError> {
    let config = config(shell)?;
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(std::fs::File::open(file).map_err(OpsError::Input)?))
    };
    let mut teller = Teller::new(shell.out.out);
    let mut text = String::new();
    let ended = events::run(&config, shell.ctx.now, &mut input, &mut |number, decision| {
        let line = ReplayLine { step: ReplayStep::Event(number), decision };
        text.push_str(&match format {
            Format::Text => teller.line(&line),
            Format::Json => json::document("replay", &report::json(&line)),
        });
        if text.len() > CHUNK {
            shell.out.result(&text);
            text.clear();
        }
    })?;
    if format == Format::Text {
        text.push_str(&teller.end(&file.to_string_lossy(), &[]));
    }
    shell.out.result(&text);
    shell.out.message(&message::diagnostics(&ended.remarks, shell.out.err));
    Ok(if ended.refused > 0 { Exit::Usage } else { Exit::Allowed })
}

/// The configuration of the repository, or the user's own where there is none: a stream needs no repository.
fn config(shell: &Shell) -> Result<Config, OpsError> {
    match Workspace::open(&shell.ctx) {
        Ok(ws) => Ok(ws.config),
        Err(OpsError::Git(err)) if err.is_usage() => Ok(config::load(&[])?),
        Err(err) => Err(err),
    }
}
