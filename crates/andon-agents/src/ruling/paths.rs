//! Which files guard the guard: hooks, records, halts, and the settings by which clients call Andon.

use andon_core::domain::agent::Client;
use andon_core::domain::agent_ruling::Disarm;
use andon_core::domain::briefing::BRIEFING;
use andon_core::domain::git_hook::GitHook;

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

/// Hooks of git that stop what Andon does not.
const OTHER_HOOKS: [&str; 2] = ["commit-msg", "reference-transaction"];

/// Hooks of git that guard a loop.
fn hooks() -> impl Iterator<Item = &'static str> {
    GitHook::ALL.into_iter().map(GitHook::name).chain(OTHER_HOOKS)
}

/// What writing `path` would disarm.
pub(super) fn disarms(path: &str, used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    let parts = resolved(path, &guarded.cwd);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if let [.., "bin" | "Scripts", program] = parts.as_slice()
        && program.starts_with("and")
        && (means(program, "andon") || means(program, "andon.exe"))
    {
        return Some(Disarm::Program);
    }
    // The value of a variable is not known, but hooks are known by their names.
    if let [variable, "hooks", below @ ..] = parts.as_slice()
        && variable.starts_with('$')
        && below.first().map_or(used == Use::Removed, |name| hooks().any(|hook| means(name, hook)))
    {
        return Some(Disarm::Hooks);
    }
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

/// Whether a pattern may match a file of the guard's, or a directory that holds one.
pub(super) fn may_name_guard(pattern: &str) -> bool {
    let own = [".andon", ".git", "CHECKPOINT.md", "BLOCKER_REPORT.md", "STOP", "PAUSE"];
    let names = hooks().chain(IN_GIT).chain(own);
    let mut names = names.chain(settings().flat_map(|path| path.split('/')));
    pattern.contains('/') || names.any(|name| means(pattern, name))
}

/// Whether a part of a path, which may hold a pattern of the shell, may match `name`. File systems differ in case.
fn means(part: &str, name: &str) -> bool {
    // One of several names, cut at the comma.
    let cut = part.contains('{') != part.contains('}');
    let part = if cut { part.trim_matches(['{', '}']) } else { part };
    if !part.contains(['*', '?', '[', '{']) {
        return part.eq_ignore_ascii_case(name);
    }
    // A pattern matches no hidden file unless it begins with the dot.
    (part.starts_with('.') || !name.starts_with('.')) && matches(part.as_bytes(), name.as_bytes())
}

/// The pattern of a shell: brackets match any character, braces anything.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*' | b'{') => {
                back = Some((at, in_name));
                at = skipped(pattern, at);
            }
            Some(b'?' | b'[') => (at, in_name) = (skipped(pattern, at), in_name + 1),
            Some(one) if one.eq_ignore_ascii_case(&name[in_name]) => (at, in_name) = (at + 1, in_name + 1),
            _ => {
                let Some((star, from)) = back else { return false };
                back = Some((star, from + 1));
                (at, in_name) = (skipped(pattern, star), from + 1);
            }
        }
    }
    pattern[at..].iter().all(|one| *one == b'*')
}

/// The end of the placeholder at `at`; a bracket or brace that is not closed goes to the end.
fn skipped(pattern: &[u8], at: usize) -> usize {
    let closer = match pattern[at] {
        b'[' => b']',
        b'{' => b'}',
        _ => return at + 1,
    };
    pattern[at..].iter().position(|one| *one == closer).map_or(pattern.len(), |len| at + len + 1)
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
            ("../.git/*", Use::Removed, "git's hooks and records"),
            ("../.git/{info,hooks}", Use::Removed, "git's hooks and records"),
            ("../.g[i]t/h?oks/x", Use::Written, "git's hooks and records"),
            ("../.git/in*", Use::Removed, ""),
            ("../.claude/*", Use::Removed, "the client's settings (.claude/settings.json)"),
            ("../.claude/*.md", Use::Removed, ""),
            ("../*/settings.json", Use::Written, ""),
            ("$DIR/hooks/pre-commit", Use::Written, "git's hooks and records"),
            ("$DIR/hooks", Use::Removed, "git's hooks and records"),
            ("$SRC/hooks/useThing.ts", Use::Written, ""),
            ("bin/*", Use::Removed, ""),
            ("app/[id]/page.ts", Use::Removed, ""),
            ("/usr/local/bin/andon", Use::Removed, "the program andon"),
            ("~/.cargo/bin/and*", Use::Removed, "the program andon"),
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
