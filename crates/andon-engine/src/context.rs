//! The edge of the pure world: clock, environment and working directory are read here, once, and nowhere else.

use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

use sha2::{Digest as _, Sha256};

use crate::adapter::{Actor, RunningHooks, chain};
use crate::effect::Environment;
use andon_core::domain::{AgentMark, Timestamp, Uptime, agent};
use andon_git::platform::{files, processes, test_seam};
use andon_git::{Repo, RepoEnv};
use andon_store::{guard_state, process::in_environments_above};

/// Variables of the environment that Andon knows, a row each: whether it is read (`kept`; everything else is none of Andon's
/// business, but for the markers of agents' shells), whether git and its hooks leave it (`hook`), and its name.
const VARIABLES: &str = include_str!("variables.txt");

/// The names in [`VARIABLES`] whose row has `mark`, `kept` or `hook`.
fn variables(mark: &str) -> impl Iterator<Item = &'static str> {
    let named = move |row: &'static str| row.contains(mark).then(|| row.rsplit(' ').next()).flatten();
    VARIABLES.lines().filter_map(named)
}

/// Variables that git and its hooks leave in the environment: they would lead a program into the wrong repository, index or
/// commit, or keep its own hooks from running. The user's own settings stay, such as `GIT_SSH_COMMAND` and names of people.
pub(crate) fn hook_variables() -> impl Iterator<Item = &'static str> {
    variables("hook")
}

/// The arguments, environment and clock that the process was started with.
#[derive(Debug, Clone)]
pub struct Context {
    /// The arguments, the program's name first.
    pub args: Vec<std::ffi::OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// The kept variables; values that are not UTF-8 are made so lossily (paths are read apart).
    pub vars: BTreeMap<String, String>,
    /// Repository variables of git, as paths.
    pub repo_env: RepoEnv,
    /// The time of this process.
    pub now: Timestamp,
    /// The user's configuration file, whether or not it exists.
    pub user_config: Option<PathBuf>,
    /// The search path for programs, for the demo's children.
    pub path: Option<std::ffi::OsString>,
    /// The shim that started this process (`ANDON_HOOK`).
    pub hook_file: Option<PathBuf>,
    /// Chained hooks that are running already.
    pub running: RunningHooks,
    /// The id of the process that started this one: git, when a shim started it.
    pub parent: u32,
    /// The running program.
    pub program: Option<PathBuf>,
}

/// A time where this computer is, with the zone: `2026-11-20 16:30 CET`.
pub fn local(at: Timestamp) -> String {
    let Ok(time) = jiff::Timestamp::from_second(at.0) else { return at.to_string() };
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M %Z").to_string()
}

impl Context {
    /// Reads clock, environment and working directory.
    #[allow(clippy::disallowed_methods, reason = "the one place where clock and environment are read")]
    pub fn capture() -> Self {
        let vars: BTreeMap<String, String> = variables("kept")
            .chain(agent::variables())
            .filter_map(|name| {
                std::env::var_os(name).map(|value| (name.to_owned(), value.to_string_lossy().into_owned()))
            })
            .collect();
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let user_config = path("XDG_CONFIG_HOME")
            .filter(|dir| dir.is_absolute())
            .or_else(|| path("HOME").map(|home| home.join(".config")))
            .map(|dir| dir.join("andon").join("config.toml"));
        test_seam::arm(&vars);
        Self {
            args: std::env::args_os().collect(),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            repo_env: RepoEnv {
                git_dir: path("GIT_DIR"),
                work_tree: path("GIT_WORK_TREE"),
                index_file: path("GIT_INDEX_FILE"),
                object_dir: path("GIT_OBJECT_DIRECTORY"),
                alternate_objects: std::env::var_os("GIT_ALTERNATE_OBJECT_DIRECTORIES"),
                ceilings: std::env::var_os("GIT_CEILING_DIRECTORIES"),
            },
            now: clock(&vars),
            user_config,
            path: std::env::var_os("PATH"),
            hook_file: path("ANDON_HOOK"),
            running: RunningHooks {
                chain: std::env::var_os(chain::RUNNING_VAR),
                pre_commit_legacy: std::env::var_os("PRE_COMMIT_RUNNING_LEGACY"),
                prek_legacy: std::env::var_os("PREK_RUNNING_LEGACY"),
            },
            parent: processes::parent_id(),
            program: std::env::current_exe().ok(),
            vars,
        }
    }

    /// The variable `name`, when it is set.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// True where the master switch is off (`ANDON=0`): verbs that observe and judge then read and write nothing.
    pub fn is_switched_off(&self) -> bool {
        self.var("ANDON") == Some("0")
    }

    /// The first file called `name` on the search path for programs.
    #[allow(clippy::disallowed_methods, reason = "the one place where the environment is read")]
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(self.path.as_deref()?)
            .map(|dir| dir.join(name))
            .find(|file| file.metadata().is_ok_and(|facts| facts.is_file() && files::is_executable(&facts)))
    }

    /// The time now, for the end of something long, such as a test run.
    pub fn later(&self) -> Timestamp {
        clock(&self.vars)
    }

    /// The time since the system was started, where it is known.
    pub fn uptime(&self) -> Option<Uptime> {
        uptime(&self.vars)
    }

    /// Name and address of the person at the keyboard, as git would have them: the environment goes before the
    /// configuration.
    pub fn committer(&self, repo: &Repo) -> String {
        self.person("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL").unwrap_or_else(|| repo.committer())
    }

    /// `Name <address>` of the author of a commit that is being made.
    pub fn author(&self, repo: &Repo) -> String {
        self.person("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL").unwrap_or_else(|| repo.committer())
    }

    fn person(&self, name: &str, address: &str) -> Option<String> {
        let set = |name| self.var(name).filter(|value| !value.is_empty());
        Some(format!("{} <{}>", set(name)?, set(address)?))
    }

    /// The whole environment but for `without`, for a program that inherits it.
    #[allow(clippy::disallowed_methods, reason = "the one place where the environment is read")]
    #[allow(clippy::unused_self, reason = "reads as what this process was started with")]
    pub fn environment_without(&self, without: &[&str]) -> Environment {
        std::env::vars_os().filter(|(name, _)| !without.iter().any(|gone| name == gone)).collect()
    }

    /// The sign that an agent called a command that only a person may: its marker in this environment, or in that
    /// of a process above, which `env -u` does not reach. Tests look at this one alone through
    /// `ANDON_TEST_ABOVE=none`.
    pub fn agent_mark(&self) -> Option<AgentMark> {
        if let Some(name) = self.actor().marker {
            return Some(AgentMark { name, above: None });
        }
        if !self.looks_above() {
            return None;
        }
        in_environments_above(self.parent, |id, environment| {
            Actor::marker_in(environment).map(|name| AgentMark { name, above: Some(id) })
        })
    }

    /// The same, and a client's own process above, whose hooks in this repository said which it is: neither its name nor its
    /// environment is asked.
    pub fn agent_above(&self, repo: &Repo) -> Option<AgentMark> {
        self.agent_mark().or_else(|| {
            let above = self.looks_above().then(|| guard_state::client_above(repo.git_dir(), self.parent));
            above.flatten().map(|id| AgentMark { name: "", above: Some(id) })
        })
    }

    /// The number of processes above this one whose environment can be read and has no agent's marker.
    pub fn unmarked_above(&self) -> usize {
        let mut seen = 0;
        if self.looks_above() {
            let _: Option<()> = in_environments_above(self.parent, |_, _| {
                seen += 1;
                None
            });
        }
        seen
    }

    fn looks_above(&self) -> bool {
        test_seam::variable(&self.vars, "ANDON_TEST_ABOVE") != Some("none")
    }

    /// The agent or person at work.
    pub fn actor(&self) -> Actor {
        Actor::from_environment(&self.vars)
    }
}

/// The clock. Tests set it through `ANDON_TEST_NOW`.
#[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
fn clock(vars: &BTreeMap<String, String>) -> Timestamp {
    if let Some(fixed) = test_seam::variable(vars, "ANDON_TEST_NOW").and_then(|text| text.parse().ok()) {
        return fixed;
    }
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// An id of this start of the system, and the time since then with sleep. Read from the kernel's files and not by a
/// call: a library that fakes the clock of a process fakes its calls. Tests set it through `ANDON_TEST_UPTIME`.
fn uptime(vars: &BTreeMap<String, String>) -> Option<Uptime> {
    if let Some(fixed) = test_seam::variable(vars, "ANDON_TEST_UPTIME") {
        return fixed.parse().ok();
    }
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let since = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds = since.split(['.', ' ']).next()?.parse().ok()?;
    let hash = Sha256::digest(boot.trim_ascii());
    Some(Uptime { boot: u64::from_be_bytes(*hash.first_chunk()?), seconds })
}
