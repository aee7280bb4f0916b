//! Which files guard the guard: hooks, records, halts, and the settings by which clients call Andon.

use andon_core::domain::agent::Client;
use andon_core::domain::agent_ruling::Disarm;
use andon_core::domain::briefing::BRIEFING;

/// Where this repository keeps what must not be touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardFiles {
    /// The directory in which commands begin, absolute.
    pub cwd: String,
    /// Directories of git and of hooks, absolute: nothing in them is written by a tool.
    pub dirs: Vec<String>,
}

/// What of `.git` is the guard's.
const IN_GIT: [&str; 6] = ["hooks", "andon", "config", "config.worktree", "packed-refs", "refs"];

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Written, or unknown.
    Written,
    /// Removed or moved away, with everything below.
    Removed,
}

/// What writing `path` would disarm.
pub(super) fn disarms(path: &str, used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    let parts = resolved(path, &guarded.cwd);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if used == Use::Written && is_briefing(path, guarded) {
        return None;
    }
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
    let settings = settings().find(|path| {
        let pattern: Vec<&str> = path.split('/').collect();
        let whole =
            parts.windows(pattern.len()).any(|window| window.iter().zip(&pattern).all(|(a, b)| means(a, b)));
        let above = (1..pattern.len()).any(|len| used == Use::Removed && ends_with(&parts, &pattern[..len]));
        whole || above
    });
    settings.map(|path| Disarm::Settings(path.to_owned()))
}

/// Whether `path` is the briefing, which an agent writes for its next session.
pub(super) fn is_briefing(path: &str, guarded: &GuardFiles) -> bool {
    let parts = resolved(path, &guarded.cwd);
    let andon = parts.iter().filter(|part| *part == ".andon").count();
    andon == 1 && matches!(parts.as_slice(), [.., dir, file] if dir == ".andon" && file == BRIEFING)
}

/// Files and directories that decide whether the hooks of clients run.
fn settings() -> impl Iterator<Item = &'static str> {
    Client::every().flat_map(|client| client.spec().guarded).copied()
}

fn ends_with(parts: &[&str], pattern: &[&str]) -> bool {
    // `opencode` alone is any directory of that name.
    let named = pattern.first().is_some_and(|first| first.starts_with('.'));
    let tail = parts.len().checked_sub(pattern.len()).map(|from| &parts[from..]);
    named && tail.is_some_and(|tail| tail.iter().zip(pattern).all(|(a, b)| means(a, b)))
}

/// Whether removing `path` removes what guards this repository with it.
pub(super) fn holds_guard(path: &str, guarded: &GuardFiles) -> bool {
    let parts = resolved(path, &guarded.cwd);
    let holds = |dir: &String| resolved(dir, "/").starts_with(&parts);
    guarded.dirs.iter().any(holds)
}

/// File systems differ in case.
fn means(part: &str, name: &str) -> bool {
    part.eq_ignore_ascii_case(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_guard_are_known() {
        let guarded = GuardFiles { cwd: "/w/repo/sub".into(), dirs: vec!["/w/hooks".into()] };
        for (path, used, expected) in [
            ("../.andon/STOP", Use::Written, "the files of a halt (.andon/)"),
            ("/w/repo/.andon", Use::Removed, "the files of a halt (.andon/)"),
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
            ("../.git/in*", Use::Removed, ""),
            ("../.claude/*.md", Use::Removed, ""),
            ("../*/settings.json", Use::Written, ""),
            ("$SRC/hooks/useThing.ts", Use::Written, ""),
            ("bin/*", Use::Removed, ""),
            ("app/[id]/page.ts", Use::Removed, ""),
            ("target/debug/andon", Use::Written, ""),
            ("andon.toml", Use::Written, ""),
        ] {
            let found = disarms(path, used, &guarded).map_or_else(String::new, |found| found.what());
            assert_eq!(found, expected, "{path}");
        }
        let guarded = GuardFiles { cwd: "/w/repo/sub".into(), dirs: vec!["/w/repo/.git/hooks".into()] };
        for (path, expected) in [("..", true), ("/w", true), ("/", true), (".", false), ("../src", false)] {
            assert_eq!(holds_guard(path, &guarded), expected, "{path}");
        }
    }
}
