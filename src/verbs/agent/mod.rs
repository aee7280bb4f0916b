//! `andon agent`.

pub mod args;
pub mod run;

use std::path::Path;

use serde_json::{Value, json};

use self::args::{AgentArgs, AgentCommand, ClientArgs};
use super::agent_hook;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::install::clients::place::Scope;
use crate::install::clients::{SettingsState, WriteOutcome};
use crate::install::edits::EditRemoval;
use crate::report::json;
use crate::setup::clients::{ClientHooks, Trust};
use crate::verbs::agent::run::install::{self, ClientInstall, ClientUninstall};
use crate::verbs::agent::run::list;
use andon_core::domain::agent::Client;
use andon_core::escape;
use andon_engine::error::OpsError;

/// Runs one of them.
pub fn run(shell: &Shell, args: &AgentArgs) -> Result<Exit, OpsError> {
    match &args.command {
        AgentCommand::Install(args) => install(shell, args),
        AgentCommand::Uninstall(args) => uninstall(shell, args),
        AgentCommand::List(format) => Ok(show(shell, format.format)),
        AgentCommand::Hook(args) => Ok(agent_hook::main(shell.ctx.clone(), &args.client, &args.event)),
    }
}

fn shown(text: &str) -> String {
    escape::terminal(text).into_owned()
}

fn path_text(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

fn install(shell: &Shell, args: &ClientArgs) -> Result<Exit, OpsError> {
    let report = install::install(&shell.ctx, args.client, args.scope())?;
    shell.out.result(&match args.format.format {
        Format::Text => install_text(&report),
        Format::Json => json::line(&install_json(&report)),
    });
    Ok(Exit::Allowed)
}

fn install_text(report: &ClientInstall) -> String {
    let title = report.client.title();
    let mut text = String::new();
    for (path, changed) in &report.files {
        let word = if *changed == WriteOutcome::Written { "hooks added" } else { "there" };
        text.push_str(&format!("  {}: {word}\n", path_text(path)));
    }
    text = if report.files.iter().any(|(_, changed)| *changed == WriteOutcome::Written) {
        format!("{title} starts Andon ({}):\n{text}", report.scope.as_str())
    } else {
        format!("the hooks are in the settings of {title} already; nothing changed\n")
    };
    text.extend(report.steps.iter().map(|step| format!("next: {}\n", shown(step))));
    text
}

fn install_json(report: &ClientInstall) -> Value {
    let files = report.files.iter().map(
        |(path, changed)| json!({"path": path.to_string_lossy(), "changed": *changed == WriteOutcome::Written}),
    );
    json!({
        "schema": "andon/agent-install@1",
        "client": report.client.as_str(),
        "scope": report.scope.as_str(),
        "changed": report.files.iter().any(|(_, changed)| *changed == WriteOutcome::Written),
        "program": report.program,
        "files": files.collect::<Value>(),
        "next_steps": report.steps,
    })
}

fn uninstall(shell: &Shell, args: &ClientArgs) -> Result<Exit, OpsError> {
    let report = install::uninstall(&shell.ctx, args.client, args.scope())?;
    shell.out.result(&match args.format.format {
        Format::Text => uninstall_text(&report),
        Format::Json => json::line(&uninstall_json(&report)),
    });
    Ok(Exit::Allowed)
}

fn cleaned_word(cleaned: EditRemoval) -> Option<&'static str> {
    match cleaned {
        EditRemoval::Nothing => None,
        EditRemoval::Restored => Some("as before"),
        EditRemoval::Gone => Some("removed"),
    }
}

fn uninstall_text(report: &ClientUninstall) -> String {
    let line = |(path, cleaned): &(std::path::PathBuf, EditRemoval)| {
        cleaned_word(*cleaned).map(|word| format!("  {}: {word}\n", path_text(path)))
    };
    let text: String = report.files.iter().filter_map(line).collect();
    let (title, scope) = (report.client.title(), report.scope.as_str());
    if text.is_empty() {
        format!("no hooks of Andon were in the settings of {title} ({scope})\n")
    } else {
        format!("{title} no longer starts Andon ({scope}):\n{text}")
    }
}

fn uninstall_json(report: &ClientUninstall) -> Value {
    let files = report.files.iter().map(|(path, cleaned)| {
        json!({"path": path.to_string_lossy(), "state": cleaned_word(*cleaned).unwrap_or("untouched")})
    });
    json!({
        "schema": "andon/agent-uninstall@1",
        "client": report.client.as_str(),
        "scope": report.scope.as_str(),
        "changed": report.files.iter().any(|(_, cleaned)| *cleaned != EditRemoval::Nothing),
        "files": files.collect::<Value>(),
    })
}

fn show(shell: &Shell, format: Format) -> Exit {
    let clients = list::list(&shell.ctx);
    shell.out.result(&match format {
        Format::Text => list_text(&clients),
        Format::Json => {
            let clients: Vec<Value> = clients.iter().map(client_json).collect();
            json::line(&json!({"schema": "andon/agents@1", "clients": clients}))
        }
    });
    Exit::Allowed
}

fn state_word(state: &SettingsState) -> &'static str {
    match state {
        SettingsState::Absent => "-",
        SettingsState::Installed => "installed",
        SettingsState::Outdated => "outdated",
        SettingsState::Foreign => "not ours",
        SettingsState::Broken(_) => "broken",
    }
}

fn trust_word(trust: Trust) -> &'static str {
    match trust {
        Trust::NotNeeded => "not needed",
        Trust::Given => "yes",
        Trust::Missing => "no",
        Trust::Unknown => "unknown",
    }
}

fn place_of(hooks: &ClientHooks, scope: Scope) -> Option<&SettingsState> {
    hooks.places.iter().find(|place| place.scope == scope).map(|place| &place.state)
}

fn list_text(clients: &[ClientHooks]) -> String {
    let mut text =
        format!("{:<10} {:<10} {:<10} {:<11} {:<8} heard\n", "client", "project", "user", "trusted", "live");
    for hooks in clients {
        let word = |scope| place_of(hooks, scope).map_or("-", state_word);
        let there = hooks.installed().next().is_some();
        let live = match hooks.live() {
            _ if !there => "-",
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        let trust = if there { trust_word(hooks.trust) } else { "-" };
        let heard =
            hooks.heard.map_or_else(|| (if there { "never" } else { "-" }).to_owned(), |at| at.to_string());
        let (name, project, user) = (hooks.client.as_str(), word(Scope::Project), word(Scope::User));
        text.push_str(&format!("{name:<10} {project:<10} {user:<10} {trust:<11} {live:<8} {heard}\n"));
        for place in &hooks.places {
            if let SettingsState::Broken(why) = &place.state {
                text.push_str(&format!("  error: {}\n", shown(why)));
            }
        }
        if there {
            text.extend(hooks.steps().iter().map(|step| format!("  help: {}\n", shown(step))));
        }
    }
    text
}

fn client_json(hooks: &ClientHooks) -> Value {
    let places = hooks.places.iter().map(|place| {
        let why = match &place.state {
            SettingsState::Broken(why) => Some(why),
            SettingsState::Absent
            | SettingsState::Installed
            | SettingsState::Outdated
            | SettingsState::Foreign => None,
        };
        let state = if place.state == SettingsState::Absent { "absent" } else { state_word(&place.state) };
        let scope = place.scope.as_str();
        json!({"scope": scope, "path": place.path.to_string_lossy(), "state": state, "error": why})
    });
    let there = hooks.installed().next().is_some();
    let trusted = match hooks.trust {
        Trust::NotNeeded | Trust::Given => Some(true),
        Trust::Missing => Some(false),
        Trust::Unknown => None,
    };
    json!({
        "client": Client::as_str(hooks.client),
        "title": hooks.client.title(),
        "installed": there,
        "settings": places.collect::<Value>(),
        "missing_program": hooks.missing_program,
        "trusted": trusted.filter(|_| there),
        "live": hooks.live(),
        "heard_at": hooks.heard.map(|at| at.to_string()),
        "next_steps": if there { hooks.steps() } else { Vec::new() },
    })
}
