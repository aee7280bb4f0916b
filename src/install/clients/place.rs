//! Which files make each client start us, in a project and for a user, and what its person still has to do.

use std::path::{Path, PathBuf};

use andon_core::domain::agent::Client;

/// For whom hooks are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everybody who works on this repository with the client.
    Project,
    /// This user, in every repository.
    User,
}

impl Scope {
    /// Both, with their names.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Project, "project"), (Self::User, "user")];

    /// The name in text and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// Directories that settings are looked for in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The top of the working tree.
    pub project: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config: Option<PathBuf>,
    /// `CODEX_HOME`, where it is set.
    pub codex: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, where it is set.
    pub claude: Option<PathBuf>,
}

/// Whose a file is, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOwner {
    /// Ours are merged into settings that hold other things too.
    Shared,
    /// The whole file is ours.
    Whole,
    /// The whole file is ours, and it is started.
    Program,
}

/// One file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Which client reads it.
    pub client: Client,
    /// Absolute.
    pub path: PathBuf,
    /// No link on the way may lead out of this directory.
    pub top: PathBuf,
    /// Whether it holds other things too.
    pub way: FileOwner,
    /// Our file below `hooks/agents/`.
    pub template: &'static str,
    /// What takes the place of `@EVENT@`.
    pub event: &'static str,
}

/// The events of Cline, each a program of that name.
const CLINE_EVENTS: [&str; 7] = [
    "TaskStart",
    "TaskResume",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "TaskComplete",
];

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../../hooks/agents/", $path))
    };
}

/// A file below the root of its scope: the path in a project, the path of a user.
struct Row {
    project: &'static str,
    user: &'static str,
    way: FileOwner,
    template: &'static str,
}

fn row(client: Client) -> Row {
    let merged = |project, user, template| Row { project, user, way: FileOwner::Shared, template };
    match client {
        Client::Claude => {
            merged(".claude/settings.json", ".claude/settings.json", template!("claude/settings.json"))
        }
        Client::Codex => merged(".codex/hooks.json", ".codex/hooks.json", template!("codex/hooks.json")),
        Client::Gemini => {
            merged(".gemini/settings.json", ".gemini/settings.json", template!("gemini/settings.json"))
        }
        Client::Qwen => merged(".qwen/settings.json", ".qwen/settings.json", template!("qwen/settings.json")),
        Client::Cursor => merged(".cursor/hooks.json", ".cursor/hooks.json", template!("cursor/hooks.json")),
        Client::Openhands => {
            merged(".openhands/hooks.json", ".openhands/hooks.json", template!("openhands/hooks.json"))
        }
        Client::Copilot => {
            let template = template!("copilot/andon.json");
            Row {
                way: FileOwner::Whole,
                ..merged(".github/hooks/andon.json", ".copilot/hooks/andon.json", template)
            }
        }
        Client::Opencode => Row {
            way: FileOwner::Whole,
            ..merged(".opencode/plugin/andon.js", "opencode/plugin/andon.js", template!("opencode/andon.js"))
        },
        Client::Cline => Row {
            way: FileOwner::Program,
            ..merged(".clinerules/hooks", ".cline/hooks", template!("cline/hook.sh"))
        },
        Client::Goose => Row {
            way: FileOwner::Whole,
            ..merged(".agents/plugins/andon", ".agents/plugins/andon", template!("goose/hooks/hooks.json"))
        },
    }
}

/// The files of `client`; empty where the root of the scope is unknown.
pub fn files(client: Client, scope: Scope, roots: &Roots) -> Vec<SettingsFile> {
    let row = row(client);
    let Some((top, path)) = base(client, scope, &row, roots) else { return Vec::new() };
    let one = |path: PathBuf, template, event| SettingsFile {
        client,
        path,
        top: top.clone(),
        way: row.way,
        template,
        event,
    };
    match client {
        Client::Cline => CLINE_EVENTS.map(|event| one(path.join(event), row.template, event)).to_vec(),
        Client::Goose => vec![
            one(path.join("plugin.json"), template!("goose/plugin.json"), ""),
            one(path.join("hooks/hooks.json"), row.template, ""),
        ],
        Client::Claude
        | Client::Codex
        | Client::Gemini
        | Client::Qwen
        | Client::Copilot
        | Client::Cursor
        | Client::Opencode
        | Client::Openhands => vec![one(path, row.template, "")],
    }
}

fn base(client: Client, scope: Scope, row: &Row, roots: &Roots) -> Option<(PathBuf, PathBuf)> {
    let joined = |top: &Path, rest: &str| (top.to_owned(), top.join(rest));
    if scope == Scope::Project {
        let (top, path) = joined(roots.project.as_deref()?, row.project);
        // A link within the repository is followed; one that leads out of it is refused later.
        let within = |real: &PathBuf| top.canonicalize().is_ok_and(|top| real.starts_with(top));
        let real = path.is_symlink().then(|| path.canonicalize().ok().filter(within)).flatten();
        return Some((top, real.unwrap_or(path)));
    }
    let own = match client {
        Client::Claude => roots.claude.as_deref().map(|dir| joined(dir, "settings.json")),
        Client::Codex => roots.codex.as_deref().map(|dir| joined(dir, "hooks.json")),
        Client::Opencode => return roots.config.as_deref().map(|dir| joined(dir, row.user)),
        Client::Gemini
        | Client::Qwen
        | Client::Copilot
        | Client::Cursor
        | Client::Cline
        | Client::Openhands
        | Client::Goose => None,
    };
    let (top, path) = own.or_else(|| roots.home.as_deref().map(|home| joined(home, row.user)))?;
    // A user's settings are often links into a folder of dotfiles: the file behind the link is meant.
    let real = path.canonicalize().ok().filter(|real| *real != path);
    Some(real.and_then(|real| Some((real.parent()?.to_owned(), real))).unwrap_or((top, path)))
}

/// What a person has to do before the client runs the hooks, a sentence each.
pub fn next_steps(client: Client, scope: Scope) -> &'static [&'static str] {
    match (client, scope) {
        (Client::Codex, Scope::Project) => &[
            "Codex runs the hooks of a project only once you trust both: start `codex` in this repository, accept the \
             folder, and trust the hooks under `/hooks`; again whenever they change",
        ],
        (Client::Codex, Scope::User) => &[
            "Codex runs hooks only once you trust them: start `codex`, and trust them under `/hooks`; again \
               whenever they change",
        ],
        (Client::Gemini, Scope::Project) => &[
            "Gemini CLI runs the hooks of a project only in a trusted folder: start `gemini` in this repository and \
             trust it (--skip-trust alone runs none)",
        ],
        (Client::Copilot, Scope::Project) => &[
            "Copilot CLI runs the hooks of a repository only in a trusted folder: trust it when `copilot` asks, or \
             pass --trust-folder",
        ],
        (Client::Cline, _) => {
            &["Cline runs hooks where they are enabled in its settings; its CLI runs none with --yolo"]
        }
        (Client::Cursor, _) => &["Cursor's cloud agents run no hook at the end of a turn"],
        (
            Client::Claude
            | Client::Gemini
            | Client::Qwen
            | Client::Copilot
            | Client::Opencode
            | Client::Openhands
            | Client::Goose,
            _,
        ) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::agent::is_settings;

    fn roots() -> Roots {
        let dir = |text: &str| Some(PathBuf::from(text));
        Roots { project: dir("/p"), home: dir("/h"), config: dir("/h/.config"), codex: None, claude: None }
    }

    #[test]
    fn each_client_has_files_in_both_scopes_below_their_tops() {
        for (client, _) in Client::ALL {
            for (scope, name) in Scope::ALL {
                assert_eq!(scope.as_str(), name);
                let files = files(client, scope, &roots());
                assert!(!files.is_empty());
                assert!(files.iter().all(|file| file.path.starts_with(&file.top)), "{files:?}");
                let in_project = files.iter().all(|file| file.path.starts_with("/p"));
                assert_eq!(in_project, scope == Scope::Project, "{files:?}");
            }
            assert!(files(client, Scope::User, &Roots::default()).is_empty());
        }
    }

    #[test]
    fn what_is_installed_in_a_project_counts_as_configuration() {
        for (client, _) in Client::ALL {
            for file in files(client, Scope::Project, &roots()) {
                let path = file.path.strip_prefix("/p").unwrap().to_str().unwrap();
                assert!(is_settings(path.as_bytes()), "{path}");
            }
        }
    }

    #[test]
    fn homes_of_their_own_are_kept_to() {
        let own = Roots { codex: Some("/c".into()), claude: Some("/cl".into()), ..roots() };
        let path = |client| files(client, Scope::User, &own)[0].path.clone();
        assert_eq!(path(Client::Codex), Path::new("/c/hooks.json"));
        assert_eq!(path(Client::Claude), Path::new("/cl/settings.json"));
        assert_eq!(path(Client::Opencode), Path::new("/h/.config/opencode/plugin/andon.js"));
        assert_eq!(path(Client::Gemini), Path::new("/h/.gemini/settings.json"));
    }
}
