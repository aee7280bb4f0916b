//! The hooks in agents' clients as this process finds them: where their settings are, which program they start, whether the
//! client runs them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::domain::agent::Client;
use crate::effect::ask::ask;
use crate::effect::install::clients::place::{Roots, Scope, SettingsFile, files, next_steps};
use crate::effect::install::clients::saved::Saved;
use crate::effect::install::clients::{SettingsState, look, programs};
use crate::engine::context::Context;
use crate::git::Repo;

/// The name under which the program is looked for on the `PATH`.
const NAME: &str = "andon";
/// How long a client may take to say what it trusts.
const PATIENCE: Duration = Duration::from_secs(10);
/// A list of trusted folders is no longer than this.
const MAX_TRUST_BYTES: u64 = 1024 * 1024;

/// The directories in which settings are looked for.
pub fn roots(ctx: &Context, repo: Option<&Repo>) -> Roots {
    let absolute = |name| ctx.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME");
    Roots {
        project: repo.and_then(Repo::workdir).map(Path::to_owned),
        config: absolute("XDG_CONFIG_HOME").or_else(|| home.as_deref().map(|home| home.join(".config"))),
        home,
        codex: absolute("CODEX_HOME"),
        claude: absolute("CLAUDE_CONFIG_DIR"),
    }
}

/// Where it is kept what installing changed; `None` where there is no place for it.
pub fn saved_path(ctx: &Context, repo: Option<&Repo>, scope: Scope) -> Option<PathBuf> {
    let dir = match scope {
        Scope::Project => repo.map(|repo| repo.common_dir().join("andon")),
        Scope::User => ctx.user_config.as_deref().and_then(Path::parent).map(Path::to_owned),
    };
    dir.map(|dir| Saved::path(&dir))
}

/// What the hooks start: `andon` where that is this program and others read the settings too, else its absolute path.
pub fn program(ctx: &Context, scope: Scope) -> String {
    let own = ctx.program.clone().unwrap_or_default();
    let same = || {
        let found = ctx.on_path(NAME)?;
        (found.canonicalize().ok()? == own.canonicalize().ok()?).then(|| NAME.to_owned())
    };
    let shared = (scope == Scope::Project).then(same).flatten();
    shared.unwrap_or_else(|| own.to_string_lossy().into_owned())
}

/// Every way in which hooks of `scope` may name this program.
fn spellings(ctx: &Context, scope: Scope) -> Vec<String> {
    let own = ctx.program.iter().map(|path| path.to_string_lossy().into_owned());
    let name = (scope == Scope::Project).then(|| NAME.to_owned());
    name.into_iter().chain(own).collect()
}

/// Whether a client runs hooks that were installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It asks nobody.
    NotNeeded,
    Given,
    Missing,
    /// The client, or its list, is not here to be asked.
    Unknown,
}

/// The hooks of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHooks {
    pub client: Client,
    /// What the files of each scope hold; no entry where the scope has no directory.
    pub places: Vec<ScopeHooks>,
    /// The program that the hooks start and that is not there.
    pub missing_program: Option<String>,
    pub trust: Trust,
}

/// The hooks of one client in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeHooks {
    pub scope: Scope,
    /// The file, or the folder of several.
    pub path: PathBuf,
    pub state: SettingsState,
}

impl ClientHooks {
    /// The scopes whose hooks are there, as installed now or older.
    pub fn installed(&self) -> impl Iterator<Item = &ScopeHooks> {
        self.places
            .iter()
            .filter(|place| matches!(place.state, SettingsState::Installed | SettingsState::Outdated))
    }

    /// Whether the client runs the hooks, as far as can be told.
    pub fn live(&self) -> Option<bool> {
        let whole = self.places.iter().any(|place| place.state == SettingsState::Installed);
        match self.trust {
            _ if !whole || self.missing_program.is_some() => Some(false),
            Trust::NotNeeded | Trust::Given => Some(true),
            Trust::Missing => Some(false),
            Trust::Unknown => None,
        }
    }

    /// What has to be done before it runs them, a sentence or a command each.
    pub fn steps(&self) -> Vec<String> {
        let name = self.client.as_str();
        let again = |scope: Scope| format!("andon agent install {name} --{}", scope.as_str());
        let outdated = self.places.iter().filter(|place| place.state == SettingsState::Outdated);
        let mut steps: Vec<String> = outdated.map(|place| again(place.scope)).collect();
        if let Some(program) = &self.missing_program {
            steps.push(format!("put {program} on the PATH, or install again with the program that is there"));
        }
        if matches!(self.trust, Trust::Missing | Trust::Unknown) {
            let scope = self.installed().map(|place| place.scope).next().unwrap_or(Scope::Project);
            steps.extend(next_steps(self.client, scope).iter().map(|step| (*step).to_owned()));
        }
        steps
    }
}

/// Looks at every client. Codex is asked where its hooks are installed; nothing else is started.
pub fn gather(ctx: &Context, repo: Option<&Repo>) -> Vec<ClientHooks> {
    let roots = roots(ctx, repo);
    Client::ALL.into_iter().map(|(client, _)| one(ctx, client, &roots)).collect()
}

fn one(ctx: &Context, client: Client, roots: &Roots) -> ClientHooks {
    let mut missing_program = None;
    let mut places = Vec::new();
    for (scope, _) in Scope::ALL {
        let files = files(client, scope, roots);
        let Some(first) = files.first() else { continue };
        let path = if files.len() > 1 { first.path.parent().unwrap_or(&first.path) } else { &first.path };
        let states = spellings(ctx, scope).into_iter().map(|program| state(&files, &program));
        let state = states.reduce(|one, other| if one == SettingsState::Installed { one } else { other });
        let state = state.unwrap_or(SettingsState::Absent);
        let started = files.iter().flat_map(programs).map(|command| first_word(&command));
        missing_program = missing_program.or_else(|| started.into_iter().find(|name| !is_there(ctx, name)));
        places.push(ScopeHooks { scope, path: path.to_owned(), state });
    }
    let mut found = ClientHooks { client, places, missing_program, trust: Trust::NotNeeded };
    found.trust = trust(ctx, &found, roots);
    found
}

/// The worst of several files, as they only work together.
fn state(files: &[SettingsFile], program: &str) -> SettingsState {
    let states: Vec<SettingsState> = files.iter().map(|file| look(file, program)).collect();
    let first = states.first().cloned().unwrap_or(SettingsState::Absent);
    if states.iter().all(|state| *state == first) {
        return first;
    }
    let bad = states.iter().find(|state| matches!(state, SettingsState::Broken(_) | SettingsState::Foreign));
    bad.cloned().unwrap_or(SettingsState::Outdated)
}

/// The program that a command line of ours starts: what stands before `agent hook`.
fn first_word(command: &str) -> String {
    let line = command.split(" agent hook ").next().unwrap_or(command);
    let last = line.rsplit("; ").next().unwrap_or(line);
    last.trim_matches('\'').replace("'\\''", "'")
}

fn is_there(ctx: &Context, program: &str) -> bool {
    let path = Path::new(program);
    if path.is_absolute() { path.is_file() } else { ctx.on_path(program).is_some() }
}

fn trust(ctx: &Context, hooks: &ClientHooks, roots: &Roots) -> Trust {
    let in_user = hooks.installed().any(|place| place.scope == Scope::User);
    let in_project = hooks.installed().any(|place| place.scope == Scope::Project);
    match hooks.client {
        Client::Codex if in_user || in_project => codex_trust(ctx, roots),
        Client::Gemini if in_project && !in_user => gemini_trust(roots),
        Client::Copilot if in_project && !in_user => Trust::Unknown,
        Client::Claude
        | Client::Codex
        | Client::Gemini
        | Client::Qwen
        | Client::Copilot
        | Client::Cursor
        | Client::Opencode
        | Client::Cline
        | Client::Openhands
        | Client::Goose => Trust::NotNeeded,
    }
}

/// Asks Codex itself (`hooks/list`): it keeps what it trusts by a hash that only it knows to make.
fn codex_trust(ctx: &Context, roots: &Roots) -> Trust {
    if ctx.on_path("codex").is_none() {
        return Trust::Unknown;
    }
    let dir = roots.project.as_deref().unwrap_or(&ctx.cwd);
    let Some(dir_text) = dir.to_str() else { return Trust::Unknown };
    let lines = [
        serde_json::json!({"id": 1, "method": "initialize",
            "params": {"clientInfo": {"name": NAME, "version": env!("CARGO_PKG_VERSION")}}}),
        serde_json::json!({"method": "initialized"}),
        serde_json::json!({"id": 2, "method": "hooks/list", "params": {"cwds": [dir_text]}}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = ask(&["codex", "app-server"], dir, &input, is_hooks_list, PATIENCE);
    answer.ok().flatten().map_or(Trust::Unknown, |line| trust_in(&line))
}

fn is_hooks_list(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|answer| answer.get("id") == Some(&Value::from(2)))
}

/// What an answer to `hooks/list` says of our hooks.
fn trust_in(line: &str) -> Trust {
    let answer: Value = serde_json::from_str(line).unwrap_or_default();
    let Some(places) = answer.pointer("/result/data").and_then(Value::as_array) else {
        return Trust::Unknown;
    };
    let hooks = places.iter().filter_map(|place| place.get("hooks")).filter_map(Value::as_array).flatten();
    let text =
        |hook: &Value, name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut ours = hooks.filter(|hook| text(hook, "command").contains(" agent hook codex ")).peekable();
    let trusted = |hook: &Value| {
        matches!(text(hook, "trustStatus").as_str(), "trusted" | "managed")
            && hook.get("enabled").and_then(Value::as_bool) != Some(false)
    };
    if ours.peek().is_some() && ours.all(trusted) { Trust::Given } else { Trust::Missing }
}

/// What Gemini CLI keeps in `~/.gemini/trustedFolders.json`.
fn gemini_trust(roots: &Roots) -> Trust {
    let (Some(home), Some(project)) = (&roots.home, &roots.project) else { return Trust::Unknown };
    let path = home.join(".gemini/trustedFolders.json");
    let read = std::fs::metadata(&path).is_ok_and(|facts| facts.len() <= MAX_TRUST_BYTES);
    let text = if read { std::fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    folder_trust(&text, project)
}

fn folder_trust(text: &str, project: &Path) -> Trust {
    let rules: Value = serde_json::from_str(text).unwrap_or_default();
    let rules = rules.as_object().into_iter().flatten();
    let trusts = |folder: &String, level: &Value| match level.as_str() {
        Some("TRUST_FOLDER") => project.starts_with(folder),
        Some("TRUST_PARENT") => Path::new(folder).parent().is_some_and(|parent| project.starts_with(parent)),
        _ => false,
    };
    if rules.into_iter().any(|(folder, level)| trusts(folder, level)) { Trust::Given } else { Trust::Missing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agent::moment;
    use crate::effect::install::clients::merge;

    #[test]
    fn codex_says_what_it_trusts() {
        let answer =
            |hooks: &str| format!(r#"{{"id":2,"result":{{"data":[{{"cwd":"/p","hooks":[{hooks}]}}]}}}}"#);
        let hook = |trust: &str, more: &str| {
            format!(r#"{{"command":"andon agent hook codex Stop","trustStatus":"{trust}"{more}}}"#)
        };
        let other = r#"{"command":"mine","trustStatus":"untrusted"}"#;
        let cases = [
            (answer(""), Trust::Missing),
            (answer(&hook("trusted", "")), Trust::Given),
            (answer(&hook("untrusted", "")), Trust::Missing),
            (answer(&hook("modified", "")), Trust::Missing),
            (answer(&hook("trusted", r#","enabled":false"#)), Trust::Missing),
            (
                answer(
                    &[hook("managed", ""), hook("trusted", r#","enabled":true"#), other.to_owned()].join(","),
                ),
                Trust::Given,
            ),
            (answer(&[hook("trusted", ""), hook("untrusted", "")].join(",")), Trust::Missing),
            (r#"{"id":2,"error":{"code":-32601}}"#.to_owned(), Trust::Unknown),
            ("no json".to_owned(), Trust::Unknown),
        ];
        for (line, wanted) in cases {
            assert_eq!(trust_in(&line), wanted, "{line}");
        }
        assert!(is_hooks_list(&answer("")) && !is_hooks_list(r#"{"id":1}"#) && !is_hooks_list("x"));
    }

    #[test]
    fn every_event_that_is_installed_is_known_to_the_hook() {
        let roots = Roots { project: Some("/p".into()), ..Roots::default() };
        for (client, name) in Client::ALL {
            for file in files(client, Scope::Project, &roots) {
                let found = merge::found(file.template, client).unwrap_or_default();
                let events = found.into_iter().map(|(event, _)| event).chain([file.event.to_owned()]);
                for event in events.filter(|event| !event.is_empty()) {
                    assert!(moment(client, &event).is_some(), "{name} {event}");
                }
            }
        }
    }

    #[test]
    fn gemini_trusts_folders_and_those_in_them() {
        let cases = [
            (r#"{"/w/p":"TRUST_FOLDER"}"#, Trust::Given),
            (r#"{"/w":"TRUST_FOLDER","/w/p":1}"#, Trust::Given),
            (r#"{"/w/other":"TRUST_PARENT"}"#, Trust::Given),
            (r#"{"/w/p":"DO_NOT_TRUST"}"#, Trust::Missing),
            (r#"{"/w/pp":"TRUST_FOLDER"}"#, Trust::Missing),
            ("", Trust::Missing),
            ("[]", Trust::Missing),
        ];
        for (text, wanted) in cases {
            assert_eq!(folder_trust(text, Path::new("/w/p")), wanted, "{text}");
        }
    }

    #[test]
    fn the_program_of_a_command_is_found() {
        let cases = [
            ("andon", "andon"),
            ("andon agent hook codex Stop", "andon"),
            ("'/a b/andon' agent hook codex Stop", "/a b/andon"),
            ("command -v andon >/dev/null || exit 0; andon agent hook gemini AfterTool", "andon"),
        ];
        for (command, wanted) in cases {
            assert_eq!(first_word(command), wanted);
        }
    }

    #[test]
    fn live_is_what_is_installed_startable_and_trusted() {
        let hooks = |state: SettingsState, missing_program: Option<&str>, trust| ClientHooks {
            client: Client::Codex,
            places: vec![ScopeHooks { scope: Scope::Project, path: "/p".into(), state }],
            missing_program: missing_program.map(str::to_owned),
            trust,
        };
        let cases = [
            (hooks(SettingsState::Installed, None, Trust::Given), Some(true), 0),
            (hooks(SettingsState::Installed, None, Trust::NotNeeded), Some(true), 0),
            (hooks(SettingsState::Installed, None, Trust::Missing), Some(false), 1),
            (hooks(SettingsState::Installed, None, Trust::Unknown), None, 1),
            (hooks(SettingsState::Installed, Some("andon"), Trust::Given), Some(false), 1),
            (hooks(SettingsState::Outdated, None, Trust::Given), Some(false), 1),
            (hooks(SettingsState::Absent, None, Trust::NotNeeded), Some(false), 0),
        ];
        for (hooks, live, steps) in cases {
            assert_eq!((hooks.live(), hooks.steps().len()), (live, steps), "{hooks:?}");
        }
    }
}
