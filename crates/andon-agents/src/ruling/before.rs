//! Whether a tool may run.

use super::readers::{leads_out, reads};
use super::session::Touch;
use super::words::{self, WordMatch};
use andon_core::domain::agent_door::{ToolKind, ToolUse};
use andon_core::domain::agent_ruling::Disarm;
use andon_core::domain::events::CallEnd;

/// What is known when a tool is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolGround {
    /// Whether the loop is halted.
    pub halted: bool,
    /// Whether the context window is so full that nothing new may begin.
    pub full: bool,
}

/// Why a tool is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalReason {
    /// It says words of the table that disarm the guard.
    Disarms(Disarm),
    /// The loop is halted.
    Halted,
    /// The context window is full.
    Full,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRuling {
    /// It may run.
    Pass,
    /// It may run, and skips hooks of git: what it commits is judged all the same.
    PassSkipping,
    /// It may not.
    Refuse(RefusalReason),
}

/// Judges the calls of one payload: the first that may not run refuses them all.
pub fn before_tool(uses: &[ToolUse], ground: ToolGround) -> CallRuling {
    let scripts = uses.iter().filter(|used| used.kind != ToolKind::Read).flat_map(|used| &used.commands);
    let mut skips = false;
    for said in scripts.filter_map(|script| words::said(script)) {
        match said {
            WordMatch::Disarms(found) => return CallRuling::Refuse(RefusalReason::Disarms(found)),
            WordMatch::SkipsHooks => skips = true,
        }
    }
    // A payload without a tool is not known to read.
    let only_reads = !uses.is_empty() && uses.iter().all(reads);
    match (ground.halted, ground.full) {
        (true, _) if !only_reads => CallRuling::Refuse(RefusalReason::Halted),
        (false, true) if uses.is_empty() || !uses.iter().all(leads_out) => {
            CallRuling::Refuse(RefusalReason::Full)
        }
        (true | false, true | false) if skips => CallRuling::PassSkipping,
        (true | false, true | false) => CallRuling::Pass,
    }
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
    fn what_may_run() {
        use ToolKind::{Edit, Read, Shell, Unknown};
        for (used, running, halted, full) in [
            (tool(Read, "src/a.rs"), "pass", "pass", "full"),
            (tool(Read, ".andon/CHECKPOINT.md"), "pass", "pass", "full"),
            (tool(Edit, ".andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Unknown, "/w/.andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Shell, "cat > .andon/MISSION_BRIEFING.md"), "pass", "halted", "pass"),
            (tool(Shell, "rm .andon/MISSION_BRIEFING.md"), "pass", "halted", "full"),
            (tool(Shell, "git commit -m x"), "pass", "halted", "pass"),
            (tool(Shell, "git commit --no-verify -m x"), "note", "halted", "note"),
            (tool(Edit, "src/a.rs"), "pass", "halted", "full"),
            (tool(Edit, ".claude/settings.json"), "pass", "halted", "full"),
            (tool(Shell, "make"), "pass", "halted", "full"),
            (tool(Shell, &"a; ".repeat(60_000)), "pass", "halted", "full"),
            (tool(Shell, "andon status"), "pass", "pass", "pass"),
            (tool(Shell, "andon context --brief"), "pass", "halted", "pass"),
            (tool(Shell, "andon resume -r x"), "disarms", "disarms", "disarms"),
            (tool(Unknown, ""), "pass", "halted", "full"),
        ] {
            let said =
                |halted, full| match before_tool(std::slice::from_ref(&used), ToolGround { halted, full }) {
                    CallRuling::Pass => "pass",
                    CallRuling::PassSkipping => "note",
                    CallRuling::Refuse(RefusalReason::Disarms(_)) => "disarms",
                    CallRuling::Refuse(RefusalReason::Halted) => "halted",
                    CallRuling::Refuse(RefusalReason::Full) => "full",
                };
            let name: String = format!("{used:?}").chars().take(200).collect();
            assert_eq!(
                (said(false, false), said(true, false), said(false, true)),
                (running, halted, full),
                "{name}"
            );
            assert_eq!(said(true, true), halted);
        }
        let ground = ToolGround { halted: true, full: false };
        assert_eq!(before_tool(&[], ground), CallRuling::Refuse(RefusalReason::Halted));
        let both = [tool(Read, "a"), tool(Edit, "b")];
        assert_eq!(before_tool(&both, ground), CallRuling::Refuse(RefusalReason::Halted));
    }
}
