//! Which files guard the guard: hooks, records, halts, and the settings by which clients call Andon.

use crate::domain::agent_ruling::Disarm;

/// Where this repository keeps what must not be touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardFiles {
    /// The directory in which commands begin, absolute.
    pub cwd: String,
    /// Directories of git and of hooks, absolute: nothing in them is written by a tool.
    pub dirs: Vec<String>,
}

/// Settings of clients, by the last parts of their paths; everything below a directory counts.
const SETTINGS: [&[&str]; 24] = [
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".gemini", "settings.json"],
    &[".gemini", "trustedFolders.json"],
    &[".gemini", "extensions", "andon"],
    &[".qwen", "settings.json"],
    &[".github", "hooks"],
    &[".copilot", "hooks"],
    &[".copilot", "config.json"],
    &[".cursor", "hooks.json"],
    &[".opencode", "plugin"],
    &[".opencode", "plugins"],
    &["opencode", "plugin"],
    &["opencode", "plugins"],
    &[".clinerules", "hooks"],
    &[".cline", "hooks"],
    &["cline", "hooks"],
    &[".openhands", "hooks.json"],
    &[".openhands", "hooks"],
    &[".agents", "plugins"],
    &[".claude", "plugins"],
    &[".codex", "plugins"],
];

/// What of `.git` is the guard's.
const IN_GIT: [&str; 6] = ["hooks", "andon", "config", "config.worktree", "packed-refs", "refs"];

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Written, or nobody knows.
    Written,
    /// Removed or moved away, with everything below.
    Removed,
}

/// What writing `path` would disarm.
pub(super) fn disarms(path: &str, used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    let parts = resolved(path, &guarded.cwd);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts.iter().any(|part| means(part, ".andon")) {
        return Some(Disarm::AndonDir);
    }
    if let Some(at) = parts.iter().position(|part| means(part, ".git")) {
        let below = &parts[at + 1..];
        let whole = below.is_empty() && used == Use::Removed;
        let kept = |part: &&str| IN_GIT.iter().any(|kept| means(part, kept));
        if whole || below.first().is_some_and(kept) || below.iter().any(|part| means(part, "andon")) {
            return Some(Disarm::Hooks);
        }
    }
    let within = |dir: &String| {
        let dir = resolved(dir, "/");
        !dir.is_empty()
            && parts.len() >= dir.len()
            && parts.iter().zip(&dir).all(|(part, own)| means(part, own))
    };
    if guarded.dirs.iter().any(within) {
        return Some(Disarm::Hooks);
    }
    let settings = SETTINGS.iter().find(|pattern| {
        let whole =
            parts.windows(pattern.len()).any(|window| window.iter().zip(**pattern).all(|(a, b)| means(a, b)));
        let above = (1..pattern.len()).any(|len| used == Use::Removed && ends_with(&parts, &pattern[..len]));
        whole || above
    });
    settings.map(|pattern| Disarm::Settings(pattern.join("/")))
}

fn ends_with(parts: &[&str], pattern: &[&str]) -> bool {
    // `opencode` alone is any directory of that name.
    let named = pattern.first().is_some_and(|first| first.starts_with('.'));
    let tail = parts.len().checked_sub(pattern.len()).map(|from| &parts[from..]);
    named && tail.is_some_and(|tail| tail.iter().zip(pattern).all(|(a, b)| means(a, b)))
}

/// Whether a part of a path, which may hold a pattern of the shell, may stand for `name`. File systems differ in case.
fn means(part: &str, name: &str) -> bool {
    let fixed = part.find(['*', '?', '[', '{']).map_or(part, |at| &part[..at]);
    if fixed.len() == part.len() {
        return part.eq_ignore_ascii_case(name);
    }
    !fixed.is_empty() && name.get(..fixed.len()).is_some_and(|start| start.eq_ignore_ascii_case(fixed))
}

/// The parts of `path` as seen from `cwd`, without `.` and `..`.
pub(super) fn resolved(path: &str, cwd: &str) -> Vec<String> {
    let absolute = path.starts_with(['/', '~', '$']);
    let mut parts: Vec<String> = Vec::new();
    let before = if absolute { "" } else { cwd };
    for part in before.split(['/', '\\']).chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name.to_owned()),
        }
    }
    parts
}

/// What of a word may be a path: a word of a program may be a script in another language.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let joins = |c: char| c.is_alphanumeric() || "._-/~*?[]{}$\\".contains(c);
    word.split(move |c: char| !joins(c)).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_guard_are_known() {
        let guarded = GuardFiles { cwd: "/w/repo/sub".into(), dirs: vec!["/w/hooks".into()] };
        for (path, used, expected) in [
            ("../.andon/STOP", Use::Written, "the files of a halt (.andon/)"),
            ("/w/repo/.andon", Use::Removed, "the files of a halt (.andon/)"),
            ("x/.AND*", Use::Removed, "the files of a halt (.andon/)"),
            ("../.git/hooks/pre-commit", Use::Written, "git's hooks and records"),
            ("../.git", Use::Removed, "git's hooks and records"),
            ("../.git", Use::Written, ""),
            ("../.git/info/exclude", Use::Written, ""),
            ("../.git/worktrees/a/andon/journal.jsonl", Use::Written, "git's hooks and records"),
            ("../../hooks/pre-commit", Use::Written, "git's hooks and records"),
            ("/w/hooks2/x", Use::Written, ""),
            ("~/.claude/settings.json", Use::Written, "the client's settings (.claude/settings.json)"),
            (".claude", Use::Removed, "the client's settings (.claude/settings.json)"),
            (".claude/agents/x.md", Use::Written, ""),
            (".github/hooks/andon.json", Use::Written, "the client's settings (.github/hooks)"),
            (".github/workflows/ci.yml", Use::Removed, ""),
            ("*", Use::Removed, ""),
            ("andon.toml", Use::Written, ""),
        ] {
            let found = disarms(path, used, &guarded).map_or_else(String::new, |found| found.what());
            assert_eq!(found, expected, "{path}");
        }
    }
}
