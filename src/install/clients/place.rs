//! The files that make each client start us, in a project and for a user, and the steps that are left to its person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use andon_core::domain::{Client, FileOwner, Home, Piece};

andon_core::named_enum! {
    /// For whom hooks are installed.
    pub enum Scope, "project or user" {
        /// Everybody who works on this repository with the client.
        Project = "project",
        /// This user, in every repository.
        User = "user",
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
    /// Directories of single clients, by the variable that is set for them.
    pub own: BTreeMap<&'static str, PathBuf>,
}

impl Roots {
    /// Some directory for each: whether a client has settings of a scope at all.
    pub fn everywhere() -> Self {
        let root = || Some(PathBuf::from("/"));
        Self { project: root(), home: root(), config: root(), own: BTreeMap::new() }
    }
}

/// One file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    pub client: Client,
    /// Absolute.
    pub path: PathBuf,
    /// No link on the way may lead out of this directory.
    pub top: PathBuf,
    pub way: FileOwner,
    /// Our file below `hooks/agents/`.
    pub template: &'static str,
    /// The text that takes the place of `@EVENT@`.
    pub event: &'static str,
}

macro_rules! templates {
    ($($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../../../hooks/agents/", $path)))),*]
    };
}

/// The files that are installed, by their paths below `hooks/agents/`.
const TEMPLATES: &[(&str, &str)] = templates![
    "amp/andon.js",
    "auggie/settings.json",
    "claude/settings.json",
    "cline/hook.sh",
    "codex/hooks.json",
    "copilot/andon.json",
    "crush/crush.json",
    "cursor/hooks.json",
    "droid/settings.json",
    "gemini/settings.json",
    "goose/hooks/hooks.json",
    "goose/plugin.json",
    "kimi/config.toml",
    "kiro/andon.json",
    "opencode/andon.js",
    "openhands/hooks.json",
    "pi/andon.js",
    "qwen/settings.json",
];

fn template(path: &str) -> &'static str {
    TEMPLATES.iter().find(|(known, _)| *known == path).map_or("", |(_, text)| text)
}

/// The files of `client`; empty where the root of the scope is unknown, or the client has no settings of it.
pub fn files(client: Client, scope: Scope, roots: &Roots) -> Vec<SettingsFile> {
    let settings = &client.spec().settings;
    let Some((top, base)) = base(client, scope, roots) else { return Vec::new() };
    let one = |piece: &Piece| SettingsFile {
        client,
        path: if piece.name.is_empty() { base.clone() } else { base.join(piece.name) },
        top: top.clone(),
        way: settings.owner,
        template: template(piece.template),
        event: piece.event,
    };
    settings.files.iter().map(one).collect()
}

fn base(client: Client, scope: Scope, roots: &Roots) -> Option<(PathBuf, PathBuf)> {
    let settings = &client.spec().settings;
    let joined = |top: &Path, rest: &str| (top.to_owned(), top.join(rest));
    let own = if scope == Scope::Project { settings.project } else { settings.user };
    if own.is_empty() {
        return None;
    }
    if scope == Scope::Project {
        let (top, path) = joined(roots.project.as_deref()?, settings.project);
        // A link within the repository is followed; one that leads out of it is refused later.
        let within = |real: &PathBuf| top.canonicalize().is_ok_and(|top| real.starts_with(top));
        let real = path.is_symlink().then(|| path.canonicalize().ok().filter(within)).flatten();
        return Some((top, real.unwrap_or(path)));
    }
    let own = match client.signs().home {
        Home::Home => None,
        Home::Variable(name) => {
            let file = settings.user.rsplit('/').next().unwrap_or_default();
            roots.own.get(name).map(|dir| joined(dir, file))
        }
        Home::Config => return roots.config.as_deref().map(|dir| joined(dir, settings.user)),
    };
    let (top, path) = own.or_else(|| roots.home.as_deref().map(|home| joined(home, settings.user)))?;
    // A user's settings are often links into a folder of dotfiles: the file behind the link is meant.
    let real = path.canonicalize().ok().filter(|real| *real != path);
    Some(real.and_then(|real| Some((real.parent()?.to_owned(), real))).unwrap_or((top, path)))
}

/// The step that a person has to take before the client runs the hooks, as a sentence.
pub fn next_step(client: Client, scope: Scope) -> Option<&'static str> {
    let spec = client.spec();
    if scope == Scope::Project { spec.step_in_project } else { spec.step_of_user }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::agent::is_settings;

    fn roots() -> Roots {
        let dir = |text: &str| Some(PathBuf::from(text));
        Roots { project: dir("/p"), home: dir("/h"), config: dir("/h/.config"), ..Roots::default() }
    }

    #[test]
    fn each_client_has_files_in_both_scopes_below_their_tops() {
        for (client, _) in Client::ALL {
            for (scope, name) in Scope::ALL {
                assert_eq!(scope.as_str(), name);
                let files = files(client, scope, &roots());
                let settings = &client.spec().settings;
                let has_none = if scope == Scope::User { settings.user } else { settings.project }.is_empty();
                assert_eq!(files.is_empty(), has_none, "{client:?}");
                assert!(files.iter().all(|file| !file.template.is_empty()), "{client:?}");
                assert!(files.iter().all(|file| file.path.starts_with(&file.top)), "{files:?}");
                let below = if scope == Scope::Project { "/p" } else { "/h" };
                assert!(files.iter().all(|file| file.path.starts_with(below)), "{files:?}");
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
        let own = [("CODEX_HOME", "/c".into()), ("CLAUDE_CONFIG_DIR", "/cl".into())];
        let own = Roots { own: own.into(), ..roots() };
        let path = |client| files(client, Scope::User, &own)[0].path.clone();
        assert_eq!(path(Client::Codex), Path::new("/c/hooks.json"));
        assert_eq!(path(Client::Claude), Path::new("/cl/settings.json"));
        assert_eq!(path(Client::Opencode), Path::new("/h/.config/opencode/plugin/andon.js"));
        assert_eq!(path(Client::Gemini), Path::new("/h/.gemini/settings.json"));
    }
}
