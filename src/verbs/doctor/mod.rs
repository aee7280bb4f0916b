//! `andon doctor`.

pub mod args;
pub mod run;

use self::args::DoctorArgs;
use crate::cli::Shell;
use crate::cli::error::{Exit, config_diagnostics};
use crate::cli::output::Format;
use crate::report::json;
use crate::setup::clients::{self, ClientHooks};
use crate::verbs::doctor::run::health;
use crate::verbs::doctor::{
    run as doctor,
    run::{CallerFacts, Diagnosis, Health, State},
};
use andon_config::TestCommand;
use andon_engine::error::OpsError;
use andon_engine::test_program::{self, TestProgram};
use andon_engine::workspace::Workspace;
use andon_git::Repo;

/// Says what is installed, what is missing and which ways around the guard are open. Exit code 1 when a check failed.
pub fn run(shell: &Shell, args: &DoctorArgs) -> Result<Exit, OpsError> {
    let diagnosis = match Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env) {
        Ok(repo) => {
            let clients = clients::gather(&shell.ctx, Some(&repo));
            let sent = if args.live { doctor::live(&shell.ctx, &repo, &clients) } else { Vec::new() };
            let mut diagnosis = doctor::checks(&doctor::gather(&repo, outside(shell, clients)?)?);
            diagnosis.checks.extend(sent);
            diagnosis
        }
        Err(error) => doctor::unopened(&error),
    };
    show(shell, args.format.format, &diagnosis);
    Ok(if diagnosis.worst() == State::Fail { Exit::Refused } else { Exit::Allowed })
}

fn show(shell: &Shell, format: Format, diagnosis: &Diagnosis) {
    shell.out.result(&match format {
        Format::Text => diagnosis.to_text(shell.out.out),
        Format::Json => json::document("doctor", &diagnosis.to_json()),
    });
}

fn program(shell: &Shell, ws: &Workspace) -> TestProgram {
    match (&ws.config.test.command, ws.repo.workdir()) {
        (Some(command), Some(top)) => test_program::look(&shell.ctx, top, command),
        (None, _) | (_, None) => TestProgram::There,
    }
}

fn outside(shell: &Shell, clients: Vec<ClientHooks>) -> Result<CallerFacts, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let config = match ws.config_errors.as_ref().map(config_diagnostics) {
        None if ws.repo.workdir().is_some_and(|top| !top.join("andon.toml").exists()) => {
            Health::Fine("there is no andon.toml: the defaults are used".to_owned())
        }
        None => Health::Fine("andon.toml can be read".to_owned()),
        Some(found) => Health::Broken {
            message: found.first().map(ToString::to_string).unwrap_or_default(),
            hint: Some("andon config check".to_owned()),
        },
    };
    Ok(CallerFacts {
        program: shell.ctx.program.clone().unwrap_or_default(),
        config,
        test_command: ws.config.test.command.as_ref().map(TestCommand::display),
        test_program: program(shell, &ws),
        last_run: health::last_run(&ws),
        journal: health::journal(&ws),
        ledger: health::ledger(&ws),
        answers: health::answers(&ws),
        switch: shell.ctx.var("ANDON").map(Into::into),
        rewrite_ref_env: shell.ctx.var("GIT_NOTES_REWRITE_REF").map(Into::into),
        clients,
    })
}
