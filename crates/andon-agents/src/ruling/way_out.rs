//! What still runs while the context window is full: what leads out of it (docs/spec-map.md, loop rules: context compaction
//! gate). The briefing for the next session is written, and the work at hand is committed.

use super::paths::{self, GuardFiles};
use super::shell::{self, Simple};
use andon_core::domain::agent_door::{ToolKind, ToolUse};

/// Whether a call leads out of a full window: it writes or reads the briefing, asks for it, tests, or commits.
pub(super) fn leads_out(used: &ToolUse, guarded: &GuardFiles) -> bool {
    let is_briefing = |path: &String| paths::is_briefing(path, guarded);
    match used.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Unknown if used.commands.is_empty() => {
            !used.paths.is_empty() && used.paths.iter().all(is_briefing)
        }
        ToolKind::Read | ToolKind::Edit | ToolKind::Unknown | ToolKind::Shell => {
            !used.commands.is_empty() && used.commands.iter().all(|script| of_script(script, guarded))
        }
    }
}

fn of_script(script: &str, guarded: &GuardFiles) -> bool {
    shell::commands(script)
        .is_some_and(|all| !all.is_empty() && all.iter().all(|one| of_command(one, guarded)))
}

fn of_command(command: &Simple, guarded: &GuardFiles) -> bool {
    let is_briefing = |path: &&String| paths::is_briefing(path, guarded);
    let nowhere =
        |path: &&String| path.as_str() == "/dev/null" || path.bytes().all(|byte| byte.is_ascii_digit());
    if !command.writes.iter().all(|path| is_briefing(&path) || nowhere(&path)) {
        return false;
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let files = || command.words.iter().skip(1).filter(|word| !word.starts_with('-'));
    match words.as_slice() {
        ["cat" | "tee" | "head" | "tail", ..] => files().all(|file| is_briefing(&file)),
        []
        | ["true" | "cd" | "echo" | "printf", ..]
        | ["git", "add" | "commit" | "status", ..]
        | ["andon", "context" | "test" | "t" | "status", ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::events::CallEnd;

    #[test]
    fn the_briefing_and_the_commit_lead_out() {
        let guarded = GuardFiles { cwd: "/w".into(), dirs: Vec::new() };
        let briefing = ".andon/MISSION_BRIEFING.md";
        let by_shell = |script: &str| (ToolKind::Shell, vec![script.to_owned()], Vec::new());
        let by_tool = |kind, path: &str| (kind, Vec::new(), vec![path.to_owned()]);
        for ((kind, commands, paths), expected) in [
            (by_tool(ToolKind::Edit, briefing), true),
            (by_tool(ToolKind::Read, "/w/.andon/MISSION_BRIEFING.md"), true),
            (by_tool(ToolKind::Unknown, briefing), true),
            (by_tool(ToolKind::Edit, "src/a.rs"), false),
            (by_tool(ToolKind::Read, "src/a.rs"), false),
            ((ToolKind::Unknown, Vec::new(), Vec::new()), false),
            (by_shell("andon context --brief"), true),
            (by_shell("andon test && git add -A && git commit -m 'a b'"), true),
            (by_shell("git commit -m \"$(cat <<'EOF'\nText\nEOF\n)\""), true),
            (by_shell("cat > .andon/MISSION_BRIEFING.md <<'EOF'\nnotes\nEOF"), true),
            (by_shell("echo x >> .andon/MISSION_BRIEFING.md 2>/dev/null"), true),
            (by_shell("echo x > src/a.rs"), false),
            (by_shell("git commit -m x; make"), false),
            (by_shell("git push"), false),
            (by_shell("git commit -m $(make)"), false),
            (by_shell("cat src/a.rs"), false),
            (by_shell(""), false),
        ] {
            let used = ToolUse { name: "x".into(), kind, id: None, commands, paths, end: CallEnd::Unknown };
            assert_eq!(leads_out(&used, &guarded), expected, "{used:?}");
        }
    }
}
