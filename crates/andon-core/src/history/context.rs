//! The context window of each node: a fold over reports of clients, outputs, and events that clear it
//! (docs/spec-map.md, loop rules: context compaction gate).
//!
//! An answer to a halt clears no context window: the agent's memory is as full as before. A pause longer than the
//! session gap clears it, because a report of another run says nothing about this one.

use super::{ContextWindow, Door, Timeline, activity::MAX_NODES};
use crate::domain::{EventKind, FillSource, Renewal, Timestamp};

impl Timeline {
    /// Takes what an event of `node`, with its time and session, says about its window. Another session has another one:
    /// only the newest of each node is kept.
    pub(super) fn take_context_window(
        &mut self,
        node: &str,
        at: Option<Timestamp>,
        session: Option<&str>,
        what: &EventKind,
    ) {
        let windows = &mut self.activity.windows;
        windows.door = match what {
            EventKind::ToolCall(_)
            | EventKind::Output(_)
            | EventKind::Verdict(_)
            | EventKind::Refused(_)
            | EventKind::Disarmed(_) => Door::Within,
            EventKind::TurnStart | EventKind::TurnEnd(_) | EventKind::Usage(_) | EventKind::Renewed(_) => {
                Door::Turn
            }
        };
        if windows.newest.as_deref() != Some(node) {
            windows.newest = Some(node.to_owned());
        }
        if windows.of.len() >= MAX_NODES && !windows.of.contains_key(node) {
            return;
        }
        let fresh = || ContextWindow { since: at, ..ContextWindow::default() };
        let window = windows.of.entry(node.to_owned()).or_insert_with(fresh);
        match (window.session.as_deref(), session) {
            (_, None) => {}
            (Some(known), Some(reported)) if known == reported => {}
            (None, Some(reported)) => window.session = Some(reported.to_owned()),
            (Some(_), Some(reported)) => {
                *window = ContextWindow { session: Some(reported.to_owned()), ..fresh() }
            }
        }
        match what {
            EventKind::Usage(usage) => window.report(usage),
            EventKind::Output(output) => window.say(output.lines),
            EventKind::Renewed(Renewal::Compaction | Renewal::SessionStart) => {
                *window = ContextWindow { session: window.session.take(), size: window.size, ..fresh() }
            }
            EventKind::Renewed(Renewal::Prompt)
            | EventKind::TurnStart
            | EventKind::TurnEnd(_)
            | EventKind::ToolCall(_)
            | EventKind::Verdict(_)
            | EventKind::Refused(_)
            | EventKind::Disarmed(_) => {}
        }
    }

    /// The node whose event came last.
    pub fn context_window_node(&self) -> &str {
        self.activity.windows.newest.as_deref().unwrap_or(self.activity.current_node())
    }

    /// Returns the known facts about the window of `node`.
    pub(crate) fn context_window(&self, node: &str) -> ContextWindow {
        self.activity.windows.of.get(node).cloned().unwrap_or_default()
    }

    /// The tokens in the context window of `node`, by the best report since it was cleared: what the client reported as
    /// in it; else what its newest request came to. `None` without either.
    pub(crate) fn context_window_tokens(&self, node: &str) -> Option<(u64, FillSource)> {
        let window = self.context_window(node);
        let computed = |(input, cached)| (self.cached.sum(input, cached), FillSource::Computed);
        window.reported.map(|tokens| (tokens, FillSource::Reported)).or_else(|| window.request.map(computed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CachedTokens, Digest, Event, Fact, Output, OutputKind, Usage};
    use crate::history::{Fold, MAX_TURNS};
    use crate::testkit::{GAP, ack, call, commit, event, event_of, folded};

    fn usage(context: Option<u64>, input: Option<u64>, cached: Option<u64>) -> EventKind {
        EventKind::Usage(Usage {
            context_tokens: context,
            input_tokens: input,
            cached_tokens: cached,
            ..Usage::default()
        })
    }

    fn tokens(facts: Vec<Fact>) -> Option<(u64, FillSource)> {
        let line = folded(facts);
        line.context_window_tokens(line.context_window_node())
    }

    #[test]
    fn the_best_of_what_was_told_since_it_was_cleared_counts() {
        let reported = |context, input, cached| event(usage(context, input, cached));
        let cleared = |how| event(EventKind::Renewed(how));
        let table = [
            (vec![], None),
            (vec![reported(None, None, None)], None),
            (vec![reported(Some(9), None, None)], Some((9, FillSource::Reported))),
            (
                vec![reported(Some(9), None, None), reported(Some(4), None, None)],
                Some((4, FillSource::Reported)),
            ),
            (vec![reported(None, Some(3), Some(40))], Some((43, FillSource::Computed))),
            (vec![reported(None, None, Some(40))], Some((40, FillSource::Computed))),
            (
                vec![reported(Some(9), None, None), reported(None, Some(3), None)],
                Some((9, FillSource::Reported)),
            ),
            (vec![reported(Some(9), None, None), cleared(Renewal::Compaction)], None),
            (
                vec![
                    reported(Some(9), None, None),
                    cleared(Renewal::SessionStart),
                    reported(None, Some(3), None),
                ],
                Some((3, FillSource::Computed)),
            ),
            (vec![reported(None, Some(u64::MAX), Some(u64::MAX))], Some((u64::MAX, FillSource::Computed))),
        ];
        for (facts, expected) in table {
            assert_eq!(tokens(facts.clone()), expected, "{facts:?}");
        }
    }

    #[test]
    fn a_client_whose_input_holds_the_cached_tokens_is_believed() {
        let mut fold = Fold::new(GAP).counting(CachedTokens::Included);
        fold.push(event(usage(None, Some(50), Some(40))));
        assert_eq!(fold.timeline().context_window_tokens("agent"), Some((50, FillSource::Computed)));
    }

    #[test]
    fn each_node_has_a_window_of_its_own() {
        let line = folded(vec![
            event_of("coder", 1, usage(Some(170), None, None)),
            event_of("reviewer", 2, usage(Some(20), None, None)),
            event_of("coder", 3, EventKind::ToolCall(call("Bash", 1, None))),
        ]);
        assert_eq!((line.context_window_node(), line.activity.windows.door), ("coder", Door::Within));
        assert_eq!(line.context_window_tokens("reviewer"), Some((20, FillSource::Reported)));
        let crowd = (0..100).map(|n| event_of(&format!("n{n}"), n, usage(Some(1), None, None))).collect();
        assert_eq!(folded(crowd).activity.windows.of.len(), MAX_TURNS);
    }

    #[test]
    fn another_session_has_another_window() {
        let reported = |session: Option<&str>, tokens| {
            let Fact::Event(event) = event(usage(tokens, None, None)) else { unreachable!() };
            Fact::Event(Box::new(Event { session: session.map(str::to_owned), ..*event }))
        };
        let cleared = || event(EventKind::Renewed(Renewal::Compaction));
        let nine = Some((9, FillSource::Reported));
        let table = [
            (vec![reported(None, Some(9)), reported(Some("s"), None)], nine),
            (vec![reported(Some("s"), Some(9)), reported(None, None), reported(Some("s"), None)], nine),
            (vec![reported(Some("s"), Some(9)), reported(Some("t"), None)], None),
            (vec![reported(Some("s"), Some(9)), cleared(), reported(Some("t"), None)], None),
        ];
        for (facts, expected) in table {
            assert_eq!(tokens(facts.clone()), expected, "{facts:?}");
        }
    }

    #[test]
    fn an_answer_and_a_commit_clear_nothing_and_a_long_pause_does() {
        let reported = || event_of("agent", 100, usage(Some(9), None, None));
        let at = |seconds| commit(1).at(seconds).fact();
        assert_eq!(tokens(vec![reported(), ack(150), at(200)]), Some((9, FillSource::Reported)));
        let late = || event_of("agent", 200_000, EventKind::TurnStart);
        assert_eq!(tokens(vec![reported(), late()]), None);
        assert_eq!(tokens(vec![reported(), at(200_000), late()]), None);
        let again = event_of("agent", 200_001, usage(Some(4), None, None));
        assert_eq!(tokens(vec![reported(), again, at(200_100)]), Some((4, FillSource::Reported)));
    }

    #[test]
    fn lines_of_output_add_up_until_they_are_cleared() {
        let read = |lines| {
            let (kind, hash) = (OutputKind::MessageFinal, Some(Digest([1; 32])));
            event(EventKind::Output(Output { kind, hash, lines }))
        };
        let more = || event(EventKind::Usage(Usage { output_lines: Some(40), ..Usage::default() }));
        let lines = |facts| folded(facts).context_window("agent").lines;
        assert_eq!(lines(vec![read(Some(2)), read(None), more()]), 42);
        assert_eq!(lines(vec![read(Some(u64::MAX)), more()]), u64::MAX);
        assert_eq!(lines(vec![more(), event(EventKind::Renewed(Renewal::Compaction)), read(Some(3))]), 3);
    }
}
