//! The hooks in agents' clients as this process finds them: where their settings are, which program they start, whether the
//! client runs them.
//!
//! The trust of clients in the hooks that were installed: some ask their person first, each in its own way.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{sync::mpsc, thread};

use serde_json::Value;

use crate::install::clients::{look, place::files, place::next_step, programs};
use crate::install::{Roots, SavedFiles, Scope, SettingsFile, SettingsState};
use andon_core::domain::{AgentFact, Client, Hint, Home, Timestamp, TrustBy};
use andon_engine::Context;
use andon_git::Repo;
use andon_store::{GuardStore, Journal};

/// The name under which the program is looked for on the `PATH`.
const NAME: &str = "andon";

/// The directories in which settings are looked for.
pub fn roots(ctx: &Context, repo: Option<&Repo>) -> Roots {
    let absolute = |name| ctx.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME");
    let own = |client: Client| match client.signs().home {
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

/// True where hooks that name this program alone start it now, and would start another one or none on the search path `path`.
pub fn leads_away(ctx: &Context, path: &str) -> bool {
    let own = ctx.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let path = path.replace("${PATH}", &own).replace("$PATH", &own);
    let there = Context { path: Some(path.into()), ..ctx.clone() };
    let starts_us = |ctx: &Context| program(ctx, Scope::Project) == NAME;
    starts_us(ctx) && !starts_us(&there)
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
        let again = |scope: Scope| Hint::AgentInstall.with([name, scope.as_str()]);
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
        let own = ctx.program.iter().map(|path| path.to_string_lossy().into_owned());
        let name = (scope == Scope::Project).then(|| NAME.to_owned());
        let states = name.into_iter().chain(own).map(|program| state(&files, &program));
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

/// Most time that a client may take to list what it trusts.
const PATIENCE: Duration = Duration::from_secs(10);
/// A list of trusted folders is no longer than this.
const MAX_TRUST_BYTES: u64 = 1024 * 1024;

andon_core::named_enum! {
    /// The trust of a client in hooks that were installed.
    pub enum Trust {
        /// It needs no trust.
        NotNeeded = "not needed",
        /// A person has trusted them.
        Given = "yes",
        /// No one has, so that the client starts none of them.
        Missing = "no",
        /// The client, or its list, is not here to be asked.
        Unknown = "unknown",
    }
}

/// The trust of `client` in hooks that were installed in these scopes.
pub(super) fn trust(ctx: &Context, client: Client, installed: &[Scope], roots: &Roots) -> Trust {
    let in_user = installed.contains(&Scope::User);
    let in_project = installed.contains(&Scope::Project);
    match client.spec().trust {
        TrustBy::Codex if in_user || in_project => codex_trust(ctx, roots),
        TrustBy::Folders(list) if in_project && !in_user => listed_trust(list, roots),
        TrustBy::Unlisted if in_project && !in_user => Trust::Unknown,
        TrustBy::NoOne | TrustBy::Codex | TrustBy::Folders(_) | TrustBy::Unlisted => Trust::NotNeeded,
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
            "params": {"clientInfo": {"name": "andon", "version": env!("CARGO_PKG_VERSION")}}}),
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

/// The trust that an answer to `hooks/list` shows in our hooks.
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

/// The trust that a client keeps in that file of the home directory.
fn listed_trust(list: &str, roots: &Roots) -> Trust {
    let (Some(home), Some(project)) = (&roots.home, &roots.project) else { return Trust::Unknown };
    let path = home.join(list);
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

/// Most bytes that are read before an answer is given up.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;
/// Most time that it may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

/// Starts `argv` in `dir`, writes `input` and returns the first line that `is_answer`; `None` where none came within
/// `limit`.
///
/// # Errors
/// When the program cannot be started.
fn ask(
    argv: &[&str],
    dir: &Path,
    input: &str,
    is_answer: fn(&str) -> bool,
    limit: Duration,
) -> io::Result<Option<String>> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "an empty command");
    let (program, arguments) = argv.split_first().ok_or_else(missing)?;
    #[allow(
        clippy::disallowed_methods,
        reason = "the door to agents' clients that are asked about their hooks"
    )]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (sender, answer) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(stdout.take(MAX_OUTPUT)).lines().map_while(Result::ok);
            let _nobody_waits = lines.into_iter().find(|line| is_answer(line)).map(|line| sender.send(line));
        });
    }
    let mut stdin = child.stdin.take();
    // One that does not read its input does not answer either.
    let written = stdin.as_mut().is_some_and(|stdin| stdin.write_all(input.as_bytes()).is_ok());
    let found = if written { answer.recv_timeout(limit).ok() } else { None };
    drop(stdin);
    let deadline = Instant::now() + GRACE;
    while child.try_wait()?.is_none() && Instant::now() < deadline {
        thread::sleep(TICK);
    }
    let _gone = child.kill();
    child.wait()?;
    Ok(found)
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

#[cfg(test)]
mod trust_tests {
    use super::*;

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
    fn the_first_line_that_answers_is_taken_and_silence_ends() {
        let answer = |script: &str, limit| {
            ask(&["sh", "-c", script], Path::new("/"), "question\n", |line| line.starts_with("yes"), limit)
        };
        let long = Duration::from_secs(20);
        assert_eq!(
            answer("read q; echo no; echo yes $q; cat", long).unwrap().as_deref(),
            Some("yes question")
        );
        assert_eq!(answer("echo no", long).unwrap(), None);
        assert_eq!(answer("exec sleep 60", Duration::from_millis(50)).unwrap(), None);
        assert!(ask(&["/no/such/program"], Path::new("/"), "", |_| true, long).is_err());
        assert!(ask(&[], Path::new("/"), "", |_| true, long).is_err());
    }
}
