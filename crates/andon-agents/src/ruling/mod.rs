//! Rulings on an agent, made from values: which tool calls are refused, whether a turn may end, and what was said already.
//! The client's hook (`src/verbs/agent_hook/` of the program) asks and has the words; [`crate::reply`] puts them into the
//! client's own form.

mod readers;
mod session;
mod testing;
mod words;

pub use self::readers::reads as only_reads;
use self::readers::reads;
use self::readers::{hands_off, leads_out};
use self::words::WordMatch;
use andon_core::domain::{CallEnd, Disarm, ToolKind, ToolUse};

pub use session::{OpenTurn, Session, Touch, in_order};
pub use testing::{TestPlace, Tests, as_andon_test, decided_by, plain_words};
pub use words::runs_git;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolGround {
    pub halted: bool,
    /// The context window is so full that nothing new may begin.
    pub full: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalReason {
    /// It says words of the table that disarm the guard.
    Disarms(Disarm),
    Halted,
    Full,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRuling {
    Pass,
    /// It may run, and skips hooks of git: what it commits is judged all the same.
    PassSkipping,
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
    let only_reads = !uses.is_empty() && uses.iter().all(|used| reads(used) || hands_off(used));
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

/// The effect that a call may have had on files.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnState {
    pub halted: bool,
    /// Something is missing for which a turn is held.
    pub missing: bool,
    /// It was held since the newest prompt.
    pub held: bool,
    /// A hook holds this turn already, as the client tells; `None` where it does not.
    pub continued: Option<bool>,
    /// Something of this session is remembered.
    pub remembered: bool,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnRuling {
    /// Nothing is missing.
    Done,
    /// The loop is halted: more work would be refused.
    Halted,
    /// The turn continues.
    Hold,
    /// It ends although something is missing: it was held already.
    Unfinished,
}

/// Judges the end of a turn.
pub fn turn_end(asked: TurnState) -> TurnRuling {
    // Another hook holds it, and what was said before is not known any more.
    let forgotten = asked.continued == Some(true) && !asked.remembered;
    match (asked.halted, asked.missing) {
        (true, _) => TurnRuling::Halted,
        (false, false) => TurnRuling::Done,
        (false, true) if asked.held || forgotten => TurnRuling::Unfinished,
        (false, true) => TurnRuling::Hold,
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
            (tool(Edit, ".andon/MISSION_BRIEFING.md"), "pass", "pass", "pass"),
            (tool(Unknown, "/w/.andon/MISSION_BRIEFING.md"), "pass", "pass", "pass"),
            (tool(Shell, "cat > .andon/MISSION_BRIEFING.md"), "pass", "pass", "pass"),
            (tool(Shell, "echo x >> .andon/MISSION_BRIEFING.md"), "pass", "pass", "pass"),
            (tool(Shell, "cat x > .andon/MISSION_BRIEFING.md; make"), "pass", "halted", "full"),
            (tool(Shell, "rm .andon/MISSION_BRIEFING.md"), "pass", "halted", "full"),
            (tool(Shell, "git commit -m x"), "pass", "halted", "pass"),
            (tool(Shell, "git commit --no-verify -m x"), "note", "halted", "note"),
            (tool(Edit, "src/a.rs"), "pass", "halted", "full"),
            (tool(Edit, ".claude/settings.json"), "pass", "halted", "full"),
            (tool(Shell, "make"), "pass", "halted", "full"),
            (tool(Shell, &"a; ".repeat(60_000)), "pass", "halted", "full"),
            (tool(Shell, "andon status"), "pass", "pass", "pass"),
            (tool(Shell, "andon context --brief"), "pass", "pass", "pass"),
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

    #[test]
    fn a_turn_is_held_once() {
        let asked =
            TurnState { halted: false, missing: true, held: false, continued: None, remembered: true };
        for (asked, expected) in [
            (asked, TurnRuling::Hold),
            (TurnState { held: true, ..asked }, TurnRuling::Unfinished),
            (TurnState { missing: false, ..asked }, TurnRuling::Done),
            (TurnState { halted: true, ..asked }, TurnRuling::Halted),
            (TurnState { continued: Some(true), ..asked }, TurnRuling::Hold),
            (TurnState { continued: Some(true), remembered: false, ..asked }, TurnRuling::Unfinished),
        ] {
            assert_eq!(turn_end(asked), expected, "{asked:?}");
        }
    }
}
