//! The hooks in agents' clients as this process finds them: where their settings are, which program they start, whether the
//! client runs them.

use std::path::{Path, PathBuf};

use super::trust::trust;
use crate::install::clients::place::{Roots, Scope, SettingsFile, files, next_step};
use crate::install::clients::{SettingsState, look, programs, saved_files::SavedFiles};
use andon_core::domain::{agent::Client, agent_door::AgentFact, client_spec::Home, time::Timestamp};
use andon_engine::context::Context;
use andon_git::Repo;
use andon_store::guard_state::GuardStore;
use andon_store::journal::Journal;

pub use super::trust::Trust;

/// The name under which the program is looked for on the `PATH`.
const NAME: &str = "andon";

/// The directories in which settings are looked for.
pub fn roots(ctx: &Context, repo: Option<&Repo>) -> Roots {
    let absolute = |name| ctx.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME");
    let own = |client: Client| match client.spec().settings.home {
        Home::Variable(name) => Some((name, absolute(name)?)),
        Home::Home | Home::Config => None,
    };
    Roots {
        project: repo.and_then(Repo::workdir).map(Path::to_owned),
        config: absolute("XDG_CONFIG_HOME").or_else(|| home.as_deref().map(|home| home.join(".config"))),
        home,
        own: Client::every().filter_map(own).collect(),
    }
}

/// The file that keeps the changes of installing; `None` where there is no place for it.
pub fn saved_path(ctx: &Context, repo: Option<&Repo>, scope: Scope) -> Option<PathBuf> {
    let dir = match scope {
        Scope::Project => repo.map(|repo| repo.common_dir().join("andon")),
        Scope::User => ctx.user_config.as_deref().and_then(Path::parent).map(Path::to_owned),
    };
    dir.map(|dir| SavedFiles::path(&dir))
}

/// The store of what guards the loop.
pub fn guard_store(ctx: &Context, repo: &Repo) -> GuardStore {
    GuardStore::of(repo.git_dir(), ctx.user_config.as_deref().and_then(Path::parent))
}

/// A person changed what guards the loop, by a command of Andon's: nothing is compared with how it was before. Below an agent the
/// next hook of its client compares.
pub fn by_hand(ctx: &Context, repo: &Repo) {
    if ctx.agent_above(repo).is_none() {
        guard_store(ctx, repo).forget();
    }
}

/// The program that hooks start: `andon` where that is this program and others read the settings too, else its absolute path.
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

/// The hooks of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHooks {
    /// The client of an agent.
    pub client: Client,
    /// The files of each scope; no entry where the scope has no directory.
    pub places: Vec<ScopeHooks>,
    /// The program that the hooks start and that is not there.
    pub missing_program: Option<String>,
    pub trust: Trust,
    /// The last report of its hooks in this worktree, as far back as is remembered.
    pub heard: Option<Timestamp>,
}

/// The hooks of one client in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeHooks {
    /// The scope of the settings: project or user.
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

    /// True if the client runs the hooks; `None` where that is not known.
    pub fn live(&self) -> Option<bool> {
        let whole = self.places.iter().any(|place| place.state == SettingsState::Installed);
        match self.trust {
            _ if !whole || self.missing_program.is_some() => Some(false),
            Trust::NotNeeded | Trust::Given => Some(true),
            Trust::Missing => Some(false),
            Trust::Unknown => None,
        }
    }

    /// The steps before it runs them, a sentence or a command each.
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
            steps.extend(next_step(self.client, scope).map(str::to_owned));
        }
        steps
    }
}

/// Looks at every client. Codex is started to ask whether it trusts the hooks, where they are installed; nothing else
/// is.
pub fn gather(ctx: &Context, repo: Option<&Repo>) -> Vec<ClientHooks> {
    let roots = roots(ctx, repo);
    let facts = repo.map(|repo| Journal::of_agents(repo.git_dir()).agent_facts()).unwrap_or_default();
    let one = |client| ClientHooks { heard: heard(&facts, client), ..one(ctx, client, &roots) };
    Client::every().map(one).collect()
}

/// The time of the last report of a hook of `client`; canaries do not count.
fn heard(facts: &[AgentFact], client: Client) -> Option<Timestamp> {
    facts.iter().filter(|fact| fact.client == client && !fact.is_canary()).filter_map(|fact| fact.at).max()
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
    let mut found = ClientHooks { client, places, missing_program, trust: Trust::NotNeeded, heard: None };
    let installed: Vec<Scope> = found.installed().map(|place| place.scope).collect();
    found.trust = trust(ctx, client, &installed, roots);
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

/// The program that a command line of ours starts: the text before `agent hook`.
fn first_word(command: &str) -> String {
    let line = command.split(" agent hook ").next().unwrap_or(command);
    let last = line.rsplit("; ").next().unwrap_or(line);
    last.trim_matches('\'').replace("'\\''", "'")
}

fn is_there(ctx: &Context, program: &str) -> bool {
    let path = Path::new(program);
    if path.is_absolute() { path.is_file() } else { ctx.on_path(program).is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::clients::merge;
    use andon_agents::moment;

    #[test]
    fn every_event_that_is_installed_is_known_to_the_hook() {
        let roots = Roots { project: Some("/p".into()), ..Roots::default() };
        for (client, name) in Client::ALL {
            for file in files(client, Scope::Project, &roots) {
                let found = merge::found(file.template, client).unwrap_or_default();
                let events = found.into_iter().map(|hook| hook.event).chain([file.event.to_owned()]);
                for event in events.filter(|event| !event.is_empty()) {
                    assert!(moment(client, &event).is_some(), "{name} {event}");
                }
            }
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
            heard: None,
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
