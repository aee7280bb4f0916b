//! The test plan of "signals and escalation" (docs/spec-map.md), section 4, under its names.

use std::collections::BTreeSet;

use super::*;
use crate::domain::{CodeId, EscalationCall, EscalationMode, Knobs, RING, Recording, ReviewTally, Signal};
use crate::history::Timeline;
use crate::testkit::{Commit, commit, timeline};

const SPLIT: ReviewTally = ReviewTally { approve: 1, reject: 2 };
const APPROVED: ReviewTally = ReviewTally { approve: 2, reject: 1 };

/// A fold in progress.
struct Loop {
    memory: Memory,
    iteration: u64,
    knobs: Option<Knobs>,
    seen: Observation,
}

impl Loop {
    fn new() -> Self {
        Self {
            memory: Memory::default(),
            iteration: 0,
            knobs: Some(Knobs::default()),
            seen: Observation::Observed,
        }
    }

    /// One iteration: those without change, a code state, verdicts.
    fn iteration(&mut self, no_change: u64, code: u8, verdicts: &[ReviewTally]) -> EscalationCall {
        self.iteration += 1;
        let facts = SignalFacts {
            iteration: self.iteration,
            consecutive_no_change: no_change,
            code: Some(CodeId([code; 32])),
            verdicts: verdicts.to_vec(),
            rules: BTreeSet::new(),
            progress: false,
            seen: self.seen,
        };
        step(&mut self.memory, &facts, self.knobs.as_ref())
    }

    fn hot(&self) -> Vec<Signal> {
        self.memory.hot.iter().copied().collect()
    }
}

/// Case 1.
#[test]
fn proxy_read_p1_only_hot() {
    let mut one = Loop::new();
    assert_eq!(one.iteration(3, 1, &[APPROVED]), EscalationCall::Wait);
    assert_eq!(one.hot(), []);
    assert_eq!(one.iteration(4, 2, &[APPROVED]), EscalationCall::Wait);
    assert_eq!(one.hot(), [Signal::NoChange]);
}

/// Case 2.
#[test]
fn proxy_read_p2_only_hot() {
    let mut one = Loop::new();
    for (code, hot) in [(1, false), (1, false), (2, false), (1, true), (1, false), (3, false)] {
        assert_eq!(one.iteration(0, code, &[APPROVED]), EscalationCall::Wait);
        assert_eq!(one.hot() == [Signal::Recurrence], hot, "{code}");
    }
    // The ring holds six states.
    let mut far = Loop::new();
    for code in 1..=7 {
        far.iteration(0, code, &[]);
    }
    far.iteration(0, 1, &[]);
    assert_eq!(far.hot(), [], "seven states back");
    far.iteration(0, 3, &[]);
    assert_eq!(far.hot(), [Signal::Recurrence], "six states back");
    assert_eq!(far.memory.ring.len(), RING);
}

/// Case 3.
#[test]
fn proxy_read_p3_only_hot() {
    let mut one = Loop::new();
    assert_eq!(one.iteration(0, 1, &[SPLIT]), EscalationCall::Wait);
    assert_eq!(one.hot(), []);
    assert_eq!(one.iteration(0, 2, &[SPLIT, SPLIT]), EscalationCall::Wait);
    assert_eq!(one.hot(), [Signal::VerdictSplit]);
    one.iteration(0, 3, &[SPLIT, SPLIT, APPROVED]);
    assert_eq!(one.hot(), []);
    let unanimous = ReviewTally { approve: 0, reject: 3 };
    one.iteration(0, 4, &[SPLIT, unanimous]);
    assert_eq!(one.hot(), [], "without an approval there is no split");
}

/// Case 4.
#[test]
fn co_occurrence_x_n_escalates() {
    for iterations in [1, 2, 3] {
        let mut one = Loop::new();
        one.knobs = Some(Knobs { iterations, ..Knobs::default() });
        for iteration in 1..iterations {
            assert_eq!(
                one.iteration(3 + iteration, 1, &[SPLIT, SPLIT]),
                EscalationCall::Wait,
                "{iteration} of {iterations}"
            );
        }
        assert_eq!(one.iteration(3 + iterations, 1, &[SPLIT, SPLIT]), EscalationCall::Escalate);
        assert_eq!(one.memory.escalated_at, Some(one.iteration));
    }
}

/// Without records of hooks it takes one iteration more, and four where commits come minutes apart.
#[test]
fn unobserved_iterations_take_more() {
    for (seen, wanted) in
        [(Observation::Observed, [2, 4]), (Observation::Unobserved, [3, 5]), (Observation::Tried, [6, 8])]
    {
        for (iterations, wanted) in [2, 4].into_iter().zip(wanted) {
            let mut one = Loop::new();
            (one.knobs, one.seen) = (Some(Knobs { iterations, ..Knobs::default() }), seen);
            let escalates = |_: &u64| one.iteration(4, 1, &[SPLIT, SPLIT]) == EscalationCall::Escalate;
            assert_eq!((1..9).find(escalates), Some(wanted), "{seen:?}");
        }
    }
    let mut mixed = Loop::new();
    mixed.seen = Observation::Unobserved;
    mixed.iteration(4, 1, &[SPLIT, SPLIT]);
    mixed.seen = Observation::Observed;
    assert_eq!(mixed.iteration(5, 1, &[SPLIT, SPLIT]), EscalationCall::Escalate, "a hook saw the newest");
}

/// Case 5.
#[test]
fn one_proxy_never() {
    let mut one = Loop::new();
    for iteration in 0..50 {
        assert_eq!(one.iteration(4 + iteration, 1, &[APPROVED]), EscalationCall::Wait);
        assert_eq!((one.memory.consecutive, one.memory.escalated_at), (0, None));
    }
}

/// Case 6.
#[test]
fn debounce_no_re_fire() {
    let mut one = Loop::new();
    one.iteration(4, 1, &[SPLIT, SPLIT]);
    assert_eq!(one.iteration(5, 1, &[SPLIT, SPLIT]), EscalationCall::Escalate);
    for iteration in 0..20 {
        assert_eq!(one.iteration(6 + iteration, 1, &[SPLIT, SPLIT]), EscalationCall::Wait);
        assert_eq!(one.memory.escalated_at, Some(2));
    }
}

/// Case 7.
#[test]
fn re_arm() {
    let mut one = Loop::new();
    one.iteration(4, 1, &[SPLIT, SPLIT]);
    assert_eq!(one.iteration(5, 1, &[SPLIT, SPLIT]), EscalationCall::Escalate);
    assert_eq!(one.iteration(0, 2, &[SPLIT, SPLIT]), EscalationCall::Wait);
    assert_eq!((one.memory.consecutive, one.memory.escalated_at), (0, None));
    assert_eq!(one.iteration(4, 2, &[SPLIT, SPLIT]), EscalationCall::Wait);
    assert_eq!(one.iteration(5, 2, &[SPLIT, SPLIT]), EscalationCall::Escalate);
}

/// Case 8. That no file is touched is shown end to end, in `tests/integration/escalate.rs`.
#[test]
fn opt_out_byte_identical() {
    let mut one = Loop::new();
    one.knobs = None;
    for iteration in 0..10 {
        assert_eq!(one.iteration(4 + iteration, 1, &[SPLIT, SPLIT]), EscalationCall::Wait);
        assert_eq!(one.memory, Memory::default());
    }
}

#[test]
fn the_threshold_is_two_thirds_rounded_up() {
    for (votes, threshold) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (6, 4), (7, 5)] {
        assert_eq!(ReviewTally { approve: 0, reject: votes }.threshold(), threshold, "{votes}");
    }
    assert!(!ReviewTally { approve: 0, reject: 0 }.is_split());
}

#[test]
fn signals_of_rules_count_like_the_proxies() {
    let mut memory = Memory::default();
    let knobs = Knobs::default();
    let facts = |iteration| SignalFacts {
        iteration,
        rules: BTreeSet::from([Signal::WeakChange, Signal::UndoChurn]),
        ..SignalFacts::default()
    };
    assert_eq!(step(&mut memory, &facts(1), Some(&knobs)), EscalationCall::Wait);
    assert_eq!(step(&mut memory, &facts(2), Some(&knobs)), EscalationCall::Escalate);
}

proptest::proptest! {
    /// Whatever comes: at most one call an episode, and never one with fewer than two signals.
    #[test]
    fn at_most_one_call_an_episode(iterations in proptest::collection::vec((0_u64..8, 0_u8..4, 0_usize..4), 0..60)) {
        let mut one = Loop::new();
        let mut called = false;
        for (no_change, code, splits) in iterations {
            let call = one.iteration(no_change, code, &vec![SPLIT; splits]);
            if one.memory.hot.len() < 2 {
                proptest::prop_assert_eq!(call, EscalationCall::Wait);
                called = false;
            }
            if call == EscalationCall::Escalate {
                proptest::prop_assert!(!called);
                called = true;
            }
            proptest::prop_assert!(one.memory.ring.len() <= RING);
        }
    }
}

/// People try out how a document has to look, minutes apart; a program takes seconds.
#[test]
fn tries_of_people_take_four_iterations_more() {
    let knobs = Knobs::default();
    let both = |line: &Timeline| match line.iterations.len() {
        0..3 => BTreeSet::new(),
        _ => BTreeSet::from([Signal::WeakChange, Signal::UndoChurn]),
    };
    let halts_at = |gap: i64, change: fn(Commit) -> Commit| {
        let one = |at: u8| change(commit(at).at(1_000 + i64::from(at) * gap));
        let line = |count: u8| timeline((1..=count).map(one).collect());
        let escalates = |count: &u8| {
            let found = every_iteration(&line(*count), &both, &knobs, EscalationMode::Halting);
            found.call == EscalationCall::Escalate
        };
        (1..20).find(escalates)
    };
    let unobserved = |one: Commit| one.recording(Recording::Derived);
    assert_eq!(halts_at(300, |one| one), Some(4), "a hook saw it");
    assert_eq!(halts_at(20, unobserved), Some(5));
    assert_eq!(halts_at(300, unobserved), Some(8));
}
