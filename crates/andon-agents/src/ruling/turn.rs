//! Whether a turn may end: the done gate. A gate that holds a model which never obeys makes a loop of its own, and some
//! clients have no cap (Codex, Gemini): so this gate has one, and it lets go where nothing moved.

use andon_core::domain::agent_ruling::{MAX_HOLDS, ReleaseReason};
use andon_core::domain::ids::ShortHash;

/// What is known when a turn is about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnState<'a> {
    /// Whether the loop is halted.
    pub halted: bool,
    /// What is missing on which code; `None` where the task may be called done.
    pub missing: Option<ShortHash>,
    /// The marks of what was missing when this turn was held before, oldest first.
    pub held: &'a [ShortHash],
    /// Whether a hook holds this turn already, as the client tells; `None` where it does not.
    pub continued: Option<bool>,
    /// Whether anything of this session is remembered.
    pub remembered: bool,
}

/// What becomes of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnRuling {
    /// It ends.
    LetGo(ReleaseReason),
    /// The turn continues; how often it was held, this time included.
    Hold(usize),
}

/// Judges the end of a turn.
pub fn turn_end(asked: TurnState<'_>) -> TurnRuling {
    let Some(missing) = asked.missing.filter(|_| !asked.halted) else {
        return TurnRuling::LetGo(if asked.halted { ReleaseReason::Halted } else { ReleaseReason::Done });
    };
    let forgotten = asked.continued == Some(true) && asked.held.is_empty() && !asked.remembered;
    if asked.held.len() >= MAX_HOLDS {
        TurnRuling::LetGo(ReleaseReason::Cap)
    } else if asked.held.contains(&missing) {
        // An agent that goes to and fro between two states makes no progress either.
        TurnRuling::LetGo(ReleaseReason::NoProgress)
    } else if forgotten {
        TurnRuling::LetGo(ReleaseReason::Forgotten)
    } else {
        TurnRuling::Hold(asked.held.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_held_thrice_at_most_and_never_twice_for_the_same() {
        let mark = |byte| ShortHash([byte; 8]);
        let all = [mark(1), mark(2), mark(3)];
        let asked =
            TurnState { halted: false, missing: Some(mark(9)), held: &[], continued: None, remembered: true };
        for (asked, expected) in [
            (asked, TurnRuling::Hold(1)),
            (TurnState { held: &all[..2], ..asked }, TurnRuling::Hold(3)),
            (TurnState { held: &all, ..asked }, TurnRuling::LetGo(ReleaseReason::Cap)),
            (
                TurnState { held: &all[..2], missing: Some(mark(1)), ..asked },
                TurnRuling::LetGo(ReleaseReason::NoProgress),
            ),
            (TurnState { missing: None, ..asked }, TurnRuling::LetGo(ReleaseReason::Done)),
            (TurnState { halted: true, ..asked }, TurnRuling::LetGo(ReleaseReason::Halted)),
            (TurnState { continued: Some(true), ..asked }, TurnRuling::Hold(1)),
            (
                TurnState { continued: Some(true), remembered: false, ..asked },
                TurnRuling::LetGo(ReleaseReason::Forgotten),
            ),
        ] {
            assert_eq!(turn_end(asked), expected, "{asked:?}");
        }
    }

    #[test]
    fn a_model_that_never_obeys_is_let_go() {
        let mut held = Vec::new();
        for step in 0..100_u8 {
            let missing = Some(ShortHash([step; 8]));
            let asked =
                TurnState { halted: false, missing, held: &held, continued: Some(true), remembered: true };
            if turn_end(asked) == TurnRuling::LetGo(ReleaseReason::Cap) {
                assert_eq!(held.len(), MAX_HOLDS);
                return;
            }
            held.extend(missing);
        }
        panic!("it was held forever");
    }
}
