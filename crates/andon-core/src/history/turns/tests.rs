//! Turns, what falls into them, and when they are iterations.

use super::*;
use crate::domain::{Ballot, CommitRefused, Fact, RunOrigin};
use crate::history::{Fold, Marks, Source};
use crate::testkit::{ack, call, chain, code, commit, event, event_of, folded, green, red, run, turn_end};

fn sources(timeline: &Timeline) -> Vec<Source> {
    timeline.iterations.iter().map(|one| one.source).collect()
}

fn committed(state: u8, node: &str) -> Fact {
    let mut made = commit(state).diff(state);
    node.clone_into(&mut made.record().node);
    made.fact()
}

fn ended(node: &str, seconds: i64, state: u8) -> Fact {
    event_of(node, seconds, EventKind::TurnEnd(TurnEnd { code: Some(CodeId([state; 32])), docs: None }))
}

fn called(tool: &str, args: u8) -> Fact {
    event(EventKind::ToolCall(call(tool, args, None)))
}

fn spent(tokens: u64, cost: &str) -> Fact {
    event(EventKind::Usage(Usage {
        input_tokens: Some(tokens),
        cost_usd: Some(cost.into()),
        ..Usage::default()
    }))
}

#[test]
fn a_turn_without_a_commit_is_an_iteration_and_one_with_a_commit_is_not_counted_twice() {
    use TurnChange::{Changed, Unchanged, Unknown};
    let mut facts = chain(vec![commit(1)]);
    facts.extend([turn_end(1), turn_end(1), turn_end(2), event(EventKind::TurnEnd(TurnEnd::default()))]);
    let line = folded(facts);
    let expected = [Source::Commit, Source::Turn(Unchanged), Source::Turn(Changed), Source::Turn(Unknown)];
    assert_eq!(sources(&line), expected);
    assert_eq!(line.number(), 4);
    assert_eq!(line.candidates().count(), 1, "rules about commits do not see turns");
}

#[test]
fn a_tick_after_the_hook_of_a_client_means_the_same_turn() {
    let by_hook = |id: u8, state| {
        let Fact::Event(end) = turn_end(state) else { unreachable!() };
        Fact::Event(Box::new(Event { id: Some(ShortHash([id; 8])), ..*end }))
    };
    let turns = |facts: Vec<Fact>| folded(facts).iterations.len();
    assert_eq!(turns(vec![by_hook(1, 1), turn_end(1), by_hook(2, 1), turn_end(1)]), 2);
    assert_eq!(turns(vec![by_hook(1, 1), turn_end(1), turn_end(1)]), 2, "ticks alone are a turn each");
    assert_eq!(turns(vec![by_hook(1, 1), turn_end(2)]), 2, "something was done in between");
    assert_eq!(turns(vec![by_hook(1, 1), called("Read", 1), turn_end(1)]), 2);
    assert_eq!(turns(vec![by_hook(1, 1), event(EventKind::TurnStart), turn_end(1)]), 2);
}

#[test]
fn an_announced_turn_holds_any_number_of_commits_another_one_each() {
    let totals = |facts: Vec<Fact>| folded(facts).activity.nodes["coder"].turns;
    let commits = || vec![committed(1, "coder"), committed(2, "coder"), committed(3, "coder")];
    assert_eq!(totals(commits()), 3);
    let mut reported = commits();
    reported.insert(0, event_of("coder", 1, EventKind::TurnStart));
    reported.push(ended("coder", 2, 3));
    assert_eq!(totals(reported), 1);
}

#[test]
fn passes_between_nodes_are_counted() {
    let mut facts = Vec::new();
    for round in 0..3 {
        facts.push(ended("coder", round * 10 + 1, 1));
        facts.push(ended("reviewer", round * 10 + 2, 1));
    }
    let line = folded(facts);
    let pass = |from: &str, to: &str| line.activity.passes.get(&(from.into(), to.into())).copied();
    assert_eq!((pass("coder", "reviewer"), pass("reviewer", "coder")), (Some(3), Some(2)));
    assert_eq!(pass("coder", "coder"), None);
    let others = ["coder", "docs", "verifier", "docs", "coder", "docs", "docs", "verifier", "coder"];
    let line = folded((1..).zip(others).map(|(at, node)| ended(node, at, 1)).collect());
    let pass = |from: &str, to: &str| line.activity.passes.get(&(from.into(), to.into())).copied();
    assert_eq!((pass("verifier", "coder"), pass("coder", "verifier")), (Some(2), Some(2)), "others between");
}

#[test]
fn runtime_tokens_and_cost_are_summed_per_node() {
    let facts = vec![
        event_of("coder", 100, EventKind::TurnStart),
        spent(10, "0.10"),
        spent(5, "0.2"),
        ended("coder", 160, 1),
        event_of("coder", 200, EventKind::TurnStart),
        ended("coder", 230, 1),
    ];
    let line = folded(facts);
    let totals = line.activity.nodes["coder"];
    assert_eq!((totals.turns, totals.runtime.0, totals.tokens, totals.cost), (2, 90, 15, 300_000));
    assert_eq!(line.activity.turns[0].usage.cost_usd.as_deref(), Some("0.300000"));
}

#[test]
fn a_clock_set_back_measures_nothing_and_is_marked() {
    let line = folded(vec![event_of("a", 500, EventKind::TurnStart), ended("a", 20, 1)]);
    assert_eq!(line.activity.nodes["a"].runtime.0, 0);
    assert_eq!(line.activity.marks, Marks { backwards: 1, ..Marks::default() });
}

#[test]
fn an_event_reported_twice_is_one() {
    let Fact::Event(one) = turn_end(1) else { unreachable!() };
    let twice = Fact::Event(Box::new(Event { id: Some(ShortHash([7; 8])), ..*one }));
    let mut fold = Fold::new(crate::testkit::GAP);
    assert_eq!(fold.push(twice.clone()), EventEffect::Iteration);
    assert_eq!(fold.push(twice), EventEffect::Nothing);
    assert_eq!((fold.timeline().number(), fold.timeline().activity.marks.duplicates), (1, 1));
}

#[test]
fn a_turn_that_begins_again_is_marked() {
    let start = || event_of("a", 1, EventKind::TurnStart);
    let line = folded(vec![start(), start()]);
    assert_eq!((line.activity.marks.unended, line.activity.turns.len(), line.activity.open.len()), (1, 1, 1));
}

#[test]
fn a_new_edit_and_a_new_state_begin_the_window_of_calls_anew() {
    let of_newest = |facts: Vec<Fact>| {
        let line = folded(facts);
        line.activity.calls.iter().filter(|call| call.epoch == line.activity.epoch).count()
    };
    assert_eq!(of_newest(vec![called("Bash", 1), called("Bash", 1)]), 2);
    let edited = vec![called("Bash", 1), called("Edit", 2), called("Bash", 1)];
    assert_eq!(of_newest(edited), 2, "the edit and what follows");
    let again = vec![called("Edit", 2), called("Bash", 1), called("Edit", 2)];
    assert_eq!(of_newest(again), 3, "the same edit is not new");
    assert_eq!(of_newest(vec![turn_end(1), called("Bash", 1), turn_end(1)]), 1);
    assert_eq!(of_newest(vec![turn_end(1), called("Bash", 1), turn_end(2)]), 0);
    assert_eq!(of_newest(vec![called("Bash", 1), committed(2, "agent")]), 0);
}

#[test]
fn tests_of_a_turn_are_found_by_its_code_whenever_they_are_reported() {
    let tests = || Fact::TestRun(Box::new(run(green(2, 9))));
    for facts in [vec![tests(), turn_end(2)], vec![turn_end(2), tests()], vec![commit(2).fact(), tests()]] {
        assert!(folded(facts).iterations[0].tests.is_some());
    }
    assert!(folded(vec![turn_end(1), tests()]).iterations[0].tests.is_none());
}

#[test]
fn an_answer_keeps_the_turn_that_goes_on_and_forgets_what_was_spent() {
    let mut facts = vec![ended("coder", 1, 1), event_of("coder", 2, EventKind::TurnStart), spent(9, "1")];
    facts.push(ack(3));
    let line = folded(facts);
    assert_eq!(line.activity.open["coder"].started, Some(Timestamp(3)), "its time counts from the answer on");
    assert_eq!(line.activity.nodes["coder"], NodeTotals { begun: 1, ..NodeTotals::default() });
    assert!(line.activity.passes.is_empty() && line.iterations.is_empty());
}

#[test]
fn a_long_pause_between_events_begins_a_new_run() {
    let line = folded(vec![ended("a", 1, 1), ended("a", 30_000, 1), ended("a", 30_001, 1)]);
    assert_eq!(line.number(), 2);
}

#[test]
fn everything_is_bounded() {
    let mut facts = Vec::new();
    for number in 0..2000_u32 {
        let node = format!("node-{number}");
        facts.push(event_of(&node, i64::from(number), EventKind::TurnStart));
        facts.push(called("Bash", 1));
        facts.push(event(EventKind::Verdict(Ballot { approve: u64::MAX, ..Ballot::default() })));
        facts.push(spent(u64::MAX, "99999999999999999999"));
    }
    let activity = folded(facts).activity;
    assert_eq!((activity.nodes.len(), activity.open.len()), (MAX_NODES, MAX_NODES));
    assert!(activity.calls.len() <= MAX_CALLS && activity.ballots.len() <= MAX_BALLOTS);
    assert!(activity.turns.len() <= MAX_TURNS && activity.passes.len() <= MAX_NODES * MAX_NODES);
    assert!(activity.marks.crowded > 0);
}

#[test]
fn a_clock_that_is_set_back_measures_nothing_and_takes_nothing() {
    let node = |line: &crate::history::Timeline| line.activity.nodes["coder"].runtime.0;
    let begun = |at| event_of("coder", at, EventKind::TurnStart);
    // Begun in the past of what was seen already: it is not as old as its date says.
    let early =
        folded(vec![event_of("other", 5_000, EventKind::TurnStart), begun(10), ended("coder", 5_060, 1)]);
    assert_eq!((node(&early), early.activity.marks.backwards), (60, 1));
    // Ended at a time before the newest: what was measured up to there stays.
    let late =
        folded(vec![begun(1_000), event_of("coder", 1_900, EventKind::TurnStart), ended("coder", 1_000, 1)]);
    assert_eq!(late.activity.now, Some(crate::domain::Timestamp(1_900)));
    let back =
        folded(vec![begun(1_000), event_of("other", 1_300, EventKind::TurnStart), ended("coder", 900, 1)]);
    assert_eq!(node(&back), 300);
}

#[test]
fn an_answer_re_arms_the_budgets_of_a_turn_that_goes_on() {
    let tokens = |count| EventKind::Usage(Usage { input_tokens: Some(count), ..Usage::default() });
    let facts = |seconds: i64| {
        vec![
            event_of("coder", 100, EventKind::TurnStart),
            event_of("coder", 700, tokens(5_000)),
            ack(800),
            event_of("coder", 800 + seconds, tokens(7)),
        ]
    };
    let line = folded(facts(60));
    let turn = line.activity.newest_turn().unwrap();
    assert_eq!((turn.tokens(), turn.usage.tokens()), (7, 5_007), "the record tells of all of it");
    assert_eq!(turn.runtime(line.activity.now).0, 60);
}

#[test]
fn a_failure_within_a_turn_is_one_of_it_whoever_ran_the_tests() {
    for origin in [RunOrigin::Here, RunOrigin::HandedIn] {
        let ran = |state: u8| {
            let mut made = run(red(state, &["a"], 9));
            made.evidence.origin = origin;
            Fact::TestRun(Box::new(made))
        };
        let tested = |facts: Vec<Fact>| -> Vec<bool> {
            folded(facts).iterations.iter().map(|one| one.tests.is_some()).collect()
        };
        assert_eq!(tested(vec![turn_end(1), ran(2), turn_end(3)]), [false, true], "edited after the run");
        assert_eq!(
            tested(vec![turn_end(1), ran(1), turn_end(3)]),
            [true, false],
            "the turn before was tested"
        );
        assert_eq!(
            tested(vec![turn_end(1), ran(2), turn_end(3), ran(2), turn_end(4)]),
            [false, true, true],
            "the same result twice"
        );
    }
}

#[test]
fn refused_commits_count_once_as_what_came_of_them() {
    let refused = |state: u8| {
        event(EventKind::Refused(CommitRefused {
            code: code(state),
            tree: None,
            rule: "untested-edit".to_owned(),
        }))
    };
    let counted = |facts: Vec<Fact>| {
        let line = folded(facts);
        (line.number(), line.counted())
    };
    let made = |state: u8| commit(state).fact();
    let ran = |state: u8| Fact::TestRun(Box::new(run(red(state, &["a"], 9))));
    let table = [
        ("refused", vec![made(1), refused(2)], (1, 2)),
        ("refused and committed as it was", vec![made(1), refused(2), made(2)], (2, 2)),
        ("tested, repaired, committed", vec![made(1), refused(2), ran(2), ran(3), made(3)], (2, 2)),
        ("the same refused again", vec![made(1), refused(2), ran(2), refused(2), made(2)], (2, 2)),
        ("the code of the commit before", vec![made(1), refused(1)], (1, 1)),
        ("two of them given up", vec![made(1), refused(2), refused(3), ran(3), refused(4), made(5)], (4, 4)),
        ("its turn, which has a commit, ends after it", vec![made(1), refused(2), turn_end(2)], (1, 2)),
        ("a turn ends after it", vec![made(1), turn_end(1), refused(2), turn_end(2)], (2, 2)),
        (
            "and its code is refused again",
            vec![made(1), turn_end(1), refused(2), turn_end(2), refused(2)],
            (2, 2),
        ),
        ("given up within a turn", vec![made(1), turn_end(1), refused(2), refused(3), turn_end(3)], (3, 3)),
        ("an answer", vec![made(1), refused(2), refused(3), ack(1), made(4)], (1, 1)),
    ];
    for (name, facts, expected) in table {
        assert_eq!(counted(facts), expected, "{name}");
    }
    let states: Vec<u8> =
        folded(vec![made(1), refused(2), refused(3)]).states().iter().map(|one| one.code.0[0]).collect();
    assert_eq!(states, [1], "no state that the loop came to");
}
