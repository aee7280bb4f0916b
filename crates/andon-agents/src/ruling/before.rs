//! Whether a tool may run.

use super::disarm;
use super::paths::{self, GuardFiles, Use};
use super::session::Touch;
use super::way_out::leads_out;
use andon_core::domain::agent_door::{ToolKind, ToolUse};
use andon_core::domain::agent_ruling::Disarm;
use andon_core::domain::events::CallEnd;

/// What is known when a tool is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolGround<'a> {
    /// What must not be touched.
    pub guarded: &'a GuardFiles,
    /// Whether the loop is halted.
    pub halted: bool,
    /// Whether the context window is so full that nothing new may begin.
    pub full: bool,
}

/// Why a tool is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It would disarm the guard.
    Disarms(Disarm),
    /// The loop is halted.
    Halted,
    /// The context window is full.
    Full,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// It may run.
    Pass,
    /// It may not.
    Refuse(Refused),
}

/// Judges the calls of one payload: the first that may not run refuses them all.
pub fn before_tool(uses: &[ToolUse], ground: ToolGround<'_>) -> Before {
    let disarming = uses.iter().find_map(|used| disarms(used, ground.guarded));
    if let Some(found) = disarming {
        return Before::Refuse(Refused::Disarms(found));
    }
    // A payload without a tool is not known to read.
    let only_reads = !uses.is_empty() && uses.iter().all(reads);
    match (ground.halted, ground.full) {
        (true, _) if !only_reads => Before::Refuse(Refused::Halted),
        (false, true) if uses.is_empty() || !uses.iter().all(|used| leads_out(used, ground.guarded)) => {
            Before::Refuse(Refused::Full)
        }
        (true | false, true | false) => Before::Pass,
    }
}

/// Longest command lines of one call that are judged, in bytes: no program is started with a longer argument on Linux.
const MAX_SCRIPT: usize = 128 << 10;
/// Most files of one call.
const MAX_PATHS: usize = 4096;

/// Whether a call is longer than can be judged before its client stops waiting, which would let it pass.
fn is_too_long(used: &ToolUse) -> bool {
    let script: usize = used.commands.iter().map(|script| script.len().saturating_add(16)).sum();
    (used.kind == ToolKind::Shell && script > MAX_SCRIPT) || used.paths.len() > MAX_PATHS
}

fn disarms(used: &ToolUse, guarded: &GuardFiles) -> Option<Disarm> {
    if used.kind != ToolKind::Read && is_too_long(used) {
        return Some(Disarm::TooLong);
    }
    let script = || used.commands.iter().find_map(|script| disarm::of_script(script));
    let how = if takes_away(&used.name) { Use::Removed } else { Use::Written };
    let gone = |path: &String| how == Use::Removed && paths::holds_guard(path, guarded);
    let path = || {
        let named = |path: &String| paths::disarms(path, how, guarded);
        used.paths.iter().find_map(|path| named(path).or(gone(path).then_some(Disarm::Hooks)))
    };
    match used.kind {
        ToolKind::Read => None,
        ToolKind::Edit => path(),
        ToolKind::Shell => script(),
        ToolKind::Unknown => script().or_else(path),
    }
}

/// Whether a tool removes or moves its arguments, as far as its name says.
fn takes_away(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["delete", "remove", "move", "rename", "unlink"].iter().any(|verb| name.contains(verb))
}

/// Tools that begin a subagent: what it does is reported call by call.
const DELEGATES: [&str; 4] = ["agent", "task", "delegate", "subagent"];

/// What a call may have done to files.
pub fn touch(used: &ToolUse) -> Touch {
    let delegates = || DELEGATES.iter().any(|name| used.name.eq_ignore_ascii_case(name));
    match used.kind {
        ToolKind::Edit if used.end == CallEnd::Failed => Touch::Nothing,
        ToolKind::Edit => Touch::Edited,
        _ if reads(used) || delegates() => Touch::Nothing,
        ToolKind::Shell => Touch::Ran,
        ToolKind::Read | ToolKind::Unknown => Touch::Edited,
    }
}

fn reads(used: &ToolUse) -> bool {
    match used.kind {
        ToolKind::Read => true,
        ToolKind::Shell => {
            !used.commands.is_empty() && used.commands.iter().all(|script| disarm::only_reads(script))
        }
        ToolKind::Edit | ToolKind::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(kind: ToolKind, word: &str) -> ToolUse {
        let (commands, paths) = match kind {
            ToolKind::Shell => (vec![word.to_owned()], Vec::new()),
            ToolKind::Read | ToolKind::Edit | ToolKind::Unknown => (Vec::new(), vec![word.to_owned()]),
        };
        ToolUse { name: "x".into(), kind, id: None, commands, paths, end: CallEnd::Unknown }
    }

    #[test]
    fn what_is_too_long_to_be_judged_is_refused() {
        let guarded = GuardFiles { cwd: "/w".into(), dirs: Vec::new() };
        let judged = |used: ToolUse| {
            before_tool(&[used], ToolGround { guarded: &guarded, halted: false, full: false })
        };
        let long = "a; ".repeat(60_000);
        let refused = Before::Refuse(Refused::Disarms(Disarm::TooLong));
        assert_eq!(judged(tool(ToolKind::Shell, &long)), refused);
        let many = ToolUse { commands: vec!["x".into(); 20_000], ..tool(ToolKind::Shell, "x") };
        assert_eq!(judged(many), refused);
        let paths = ToolUse { paths: vec!["a".into(); 5000], ..tool(ToolKind::Edit, "a") };
        assert_eq!(judged(paths), refused);
        assert_eq!(judged(tool(ToolKind::Shell, &"a; ".repeat(1000))), Before::Pass);
    }

    #[test]
    fn a_tool_that_takes_away_takes_what_is_below() {
        let guarded = GuardFiles { cwd: "/w".into(), dirs: vec!["/w/.git/hooks".into()] };
        for (name, path, expected) in [
            ("mcp__files__delete_directory", ".git", true),
            ("mcp__files__move_file", ".claude", true),
            ("mcp__files__remove", "/w", true),
            ("mcp__files__write_file", "/w", false),
            ("mcp__files__delete_file", "a.rs", false),
        ] {
            let used = ToolUse { name: name.into(), ..tool(ToolKind::Unknown, path) };
            let ground = ToolGround { guarded: &guarded, halted: false, full: false };
            assert_eq!(before_tool(&[used], ground) != Before::Pass, expected, "{name} {path}");
        }
    }

    #[test]
    fn what_may_run() {
        use ToolKind::{Edit, Read, Shell, Unknown};
        let guarded = GuardFiles { cwd: "/w".into(), dirs: Vec::new() };
        for (used, running, halted, full) in [
            (tool(Read, "src/a.rs"), "pass", "pass", "full"),
            (tool(Read, ".andon/CHECKPOINT.md"), "pass", "pass", "full"),
            (tool(Edit, ".andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Unknown, "/w/.andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Shell, "cat > .andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Shell, "rm .andon/MISSION_BRIEFING.md"), "pass", "halted", "full"),
            (tool(Shell, "git commit -m x"), "pass", "halted", "pass"),
            (tool(Edit, "src/a.rs"), "pass", "halted", "full"),
            (tool(Shell, "make"), "pass", "halted", "full"),
            (tool(Shell, "andon status"), "pass", "pass", "pass"),
            (tool(Shell, "andon context --brief"), "pass", "halted", "pass"),
            (tool(Shell, "andon resume -r x"), "disarms", "disarms", "disarms"),
            (tool(Edit, ".andon/STOP"), "disarms", "disarms", "disarms"),
            (tool(Unknown, ".claude/settings.json"), "disarms", "disarms", "disarms"),
            (tool(Unknown, ""), "pass", "halted", "full"),
        ] {
            let said = |halted, full| {
                let ground = ToolGround { guarded: &guarded, halted, full };
                match before_tool(std::slice::from_ref(&used), ground) {
                    Before::Pass => "pass",
                    Before::Refuse(Refused::Disarms(_)) => "disarms",
                    Before::Refuse(Refused::Halted) => "halted",
                    Before::Refuse(Refused::Full) => "full",
                }
            };
            assert_eq!(
                (said(false, false), said(true, false), said(false, true)),
                (running, halted, full),
                "{used:?}"
            );
            assert_eq!(said(true, true), halted);
        }
        let ground = ToolGround { guarded: &guarded, halted: true, full: false };
        assert_eq!(before_tool(&[], ground), Before::Refuse(Refused::Halted));
        let both = [tool(Read, "a"), tool(Edit, "b")];
        assert_eq!(before_tool(&both, ground), Before::Refuse(Refused::Halted));
    }
}
