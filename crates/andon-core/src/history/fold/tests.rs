//! The beginning of windows, the commits that an amend replaces, and that batches do not matter.

use proptest::prelude::*;

use super::*;
use crate::domain::{
    CarriedAttempt,
    CommitKind::{Amend, CherryPick, Merge, Normal, Rebase, Revert},
    TestEvidence,
};
use crate::history::Strike;
use crate::testkit::{Commit, GAP, ack, arbitrary as facts, chain, code, commit, green, red, run, timeline};

fn numbers(timeline: &Timeline) -> Vec<u64> {
    timeline.iterations.iter().map(|iteration| iteration.number).collect()
}

fn codes(timeline: &Timeline) -> Vec<u8> {
    timeline.iterations.iter().map(|iteration| iteration.code.0[0]).collect()
}

#[test]
fn windows_begin_anew() {
    let hours = |count: i64| count * 3600;
    let table: Vec<(&str, Vec<Commit>, &[u8])> = vec![
        ("one run", vec![commit(1), commit(2).at(hours(6)), commit(3).at(hours(12))], &[1, 2, 3]),
        ("a pause", vec![commit(1).at(1), commit(2).at(hours(6) + 2), commit(3).at(hours(7))], &[2, 3]),
        ("no time is no pause", vec![commit(1), commit(2).at(hours(90)), commit(3)], &[1, 2, 3]),
        ("the clock set back", vec![commit(1).at(hours(90)), commit(2).at(0), commit(3).at(5)], &[1, 2, 3]),
        ("another session", vec![commit(1).session("a"), commit(2).session("b")], &[1, 2]),
        (
            "what a record says of its run",
            vec![
                commit(1).at(1).number(1),
                commit(2).at(hours(7)).number(2),
                commit(3).at(hours(14)).number(1),
            ],
            &[3],
        ),
        ("number one", vec![commit(1).number(7), commit(2).number(1), commit(3).number(2)], &[2, 3]),
    ];
    for (name, commits, expected) in table {
        assert_eq!(codes(&timeline(commits)), expected, "{name}");
    }
}

/// `commit` moved: another code, and what the commit of `origin` was recorded as.
fn moved(mut commit: Commit, kind: CommitKind, origin: &Fact) -> Commit {
    let Fact::Commit(origin) = origin else { unreachable!() };
    let record = commit.record();
    record.kind = kind;
    record.diff.hash = origin.record.diff.hash;
    record.carries = Some(Box::new(CarriedAttempt::new(origin.id.unwrap(), &origin.record)));
    commit
}

#[test]
fn a_moved_attempt_is_the_one_that_was_made() {
    let made = chain(vec![commit(1).tests(red(1, &["a"], 9))]);
    // Its original is in the window: nothing new.
    let mut fold = Fold::new(GAP);
    fold.push(made[0].clone());
    let again = chain(vec![commit(9), moved(commit(2), Rebase, &made[0])]).remove(1);
    assert_eq!(fold.push(again.clone()), EventEffect::Nothing);
    let line = fold.into_timeline();
    assert_eq!((codes(&line), numbers(&line)), (vec![1], vec![1]));
    assert_eq!(line.iterations[0].moved, Some(code(2)));
    // It is not: the attempt counts as it was made, and its state was reached by no attempt.
    for kind in [Rebase, CherryPick, Normal] {
        let mut fold = Fold::new(GAP);
        let again = chain(vec![commit(9), moved(commit(2), kind, &made[0])]).remove(1);
        assert_eq!(fold.push(again), EventEffect::Iteration, "{kind:?}");
        let line = fold.into_timeline();
        let one = &line.iterations[0];
        assert_eq!((one.strike, one.code, one.moved), (Strike::Candidate, code(1), Some(code(2))));
        assert!(one.tests.is_some());
        assert_eq!(line.states(), []);
    }
    // Its tests ran again where it is now.
    let mut fold = Fold::new(GAP);
    fold.push(made[0].clone());
    fold.push(again);
    fold.push(Fact::TestRun(Box::new(run(green(2, 9)))));
    let line = fold.into_timeline();
    assert_eq!(line.iterations[0].tests, Some(green(2, 9)));
    assert_eq!(line.iterations[0].code, code(2));
}

#[test]
fn what_leaves_the_tree_as_it_was_is_nothing_new() {
    let table: Vec<(&str, Vec<Commit>, EventEffect, &[u8])> = vec![
        ("another message", vec![commit(1), commit(1).kind(Amend)], EventEffect::Nothing, &[1]),
        ("other code", vec![commit(1), commit(2).kind(Amend)], EventEffect::Iteration, &[2]),
        (
            "a step of a rebase",
            vec![commit(1).diff(7), commit(2).diff(7).kind(Rebase)],
            EventEffect::Nothing,
            &[1],
        ),
        ("a pick", vec![commit(1).diff(7), commit(2).diff(7).kind(CherryPick)], EventEffect::Nothing, &[1]),
        ("a step that is not known", vec![commit(1), commit(2).kind(Rebase)], EventEffect::Nothing, &[1, 2]),
        ("the same change anew", vec![commit(1).diff(7), commit(2).diff(7)], EventEffect::Iteration, &[1, 2]),
    ];
    for (name, commits, effect, expected) in table {
        let mut fold = Fold::new(GAP);
        let effects: Vec<EventEffect> = chain(commits).into_iter().map(|fact| fold.push(fact)).collect();
        assert_eq!(effects.last(), Some(&effect), "{name}");
        assert_eq!(codes(fold.timeline()), expected, "{name}");
        assert!(fold.timeline().amended.is_empty() || name == "other code", "{name}");
    }
    let steps =
        timeline(vec![commit(1), commit(2), commit(1).kind(Rebase), commit(2).kind(Rebase), commit(3)]);
    let states: Vec<u8> = steps.states().iter().map(|state| state.code.0[0]).collect();
    assert_eq!(states, [1, 2, 3], "no one came back to 1 and 2");
}

#[test]
fn an_acknowledgement_begins_a_window_and_keeps_the_runs() {
    let mut facts = chain(vec![commit(1), commit(2)]);
    facts.push(Fact::TestRun(Box::new(run(green(2, 9)))));
    facts.push(ack(5));
    let line = fold(&facts, GAP);
    assert!(line.iterations.is_empty());
    assert_eq!(line.last_ack.as_ref().map(|ack| ack.at), Some(Timestamp(5)));
    assert!(line.proof(code(2)).is_some());
    assert_eq!(line.trend(), [0_u64; 0]);
}

#[test]
fn an_amend_replaces_its_predecessor_and_keeps_its_number() {
    let line = timeline(vec![commit(1), commit(2), commit(3).kind(Amend), commit(4).kind(Amend), commit(5)]);
    assert_eq!((codes(&line), numbers(&line)), (vec![1, 4, 5], vec![1, 2, 3]));
    let root = timeline(vec![commit(1), commit(2).kind(Amend)]);
    assert_eq!((codes(&root), numbers(&root)), (vec![2], vec![1]));
}

#[test]
fn an_amend_of_an_unknown_commit_is_an_iteration_of_its_own() {
    let mut facts = chain(vec![commit(1), commit(2)]);
    let mut stranger = commit(3).kind(Amend);
    stranger.record().parent = Some(CommitId(crate::testkit::oid(77)));
    facts.push(stranger.fact());
    let line = fold(&facts, GAP);
    assert_eq!((codes(&line), numbers(&line)), (vec![1, 2, 3], vec![1, 2, 3]));
}

#[test]
fn in_event_streams_without_ids_an_amend_replaces_the_newest() {
    let facts = [commit(1).fact(), commit(2).fact(), commit(3).kind(Amend).fact()];
    assert_eq!(codes(&fold(&facts, GAP)), [1, 3]);
}

#[test]
fn kinds_decide_what_is_a_strike_and_how_it_is_numbered() {
    let line = timeline(vec![
        commit(1),
        commit(2).kind(Merge),
        commit(3).kind(Revert),
        commit(4).kind(CherryPick),
        commit(5).kind(Rebase),
        commit(6).kind(Rebase),
        commit(7),
    ]);
    assert_eq!(numbers(&line), [1, 2, 3, 4, 4, 4, 5]);
    let strikes: Vec<u64> = line.candidates().map(|iteration| iteration.number).collect();
    assert_eq!(strikes, [1, 5]);
    assert_eq!([Normal, Amend].map(Strike::from), [Strike::Candidate; 2]);
    let early = timeline(vec![commit(1), commit(2).kind(Rebase)]);
    assert_eq!(numbers(&early), [1, 2], "a pick never begins a window inside one");
}

#[test]
fn recorded_numbers_hold() {
    assert_eq!(numbers(&timeline(vec![commit(1).number(41), commit(2).number(42), commit(3)])), [41, 42, 43]);
    assert_eq!(numbers(&timeline(vec![commit(1).number(u64::MAX), commit(2)])), [u64::MAX; 2]);
}

#[test]
fn the_same_commit_twice_is_one_iteration() {
    let facts = chain(vec![commit(1), commit(2)]);
    let twice: Vec<Fact> = facts.iter().chain(&facts).cloned().collect();
    assert_eq!(fold(&twice, GAP), fold(&facts, GAP));
}

#[test]
fn tests_of_other_code_are_no_tests_of_this_commit() {
    assert!(timeline(vec![commit(1).tests(red(2, &["a"], 9))]).iterations[0].tests.is_none());
}

#[test]
fn proof_is_the_newest_valid_run_on_exactly_this_code() {
    let mut facts = chain(vec![commit(1).tests(red(1, &["a"], 9))]);
    assert_eq!(fold(&facts, GAP).proof(code(1)).map(TestEvidence::is_green), Some(false));
    facts.push(Fact::TestRun(Box::new(run(green(1, 9)))));
    let mut void = run(red(2, &["a"], 9));
    void.validity = RunValidity::CodeChanged;
    facts.push(Fact::TestRun(Box::new(void)));
    let line = fold(&facts, GAP);
    assert_eq!(line.proof(code(1)).map(TestEvidence::is_green), Some(true));
    assert_eq!(line.proof(code(2)), None);
}

#[test]
fn timelines_are_bounded() {
    let commits = (0..300).map(|_| commit(1)).collect();
    let line = timeline(commits);
    assert_eq!(line.iterations.len(), MAX_ITERATIONS);
    assert_eq!(line.number(), 300);
    let runs: Vec<Fact> = (0..300).map(|_| Fact::TestRun(Box::new(run(green(1, 9))))).collect();
    assert_eq!(fold(&runs, GAP).runs.len(), MAX_RUNS);
}

#[test]
fn the_next_number_is_the_one_that_the_fold_gives() {
    let line = timeline(vec![commit(1).at(100), commit(2).at(200)]);
    let parent = line.iterations[1].parent;
    let code = CodeId([3; 32]);
    let next = |kind, at, parent| {
        let strike = Strike::from(kind);
        next_iteration(&line, &NextCommit { parent, at: Timestamp(at), uptime: None, kind, code, strike })
    };
    let head = line.iterations[1].commit;
    assert_eq!(next(Normal, 300, head), 3);
    assert_eq!(next(Normal, 21_801, head), 1);
    assert_eq!(next(Normal, 21_800, head), 3);
    assert_eq!(next(Normal, -5, head), 3);
    assert_eq!(next(Amend, 300, parent), 2);
    assert_eq!(next(Rebase, 300, head), 2);
    assert_eq!(next_iteration(&Timeline::new(GAP), &NextCommit::from_fact(&commit(1).0)), 1);
}

#[test]
fn an_amend_of_the_answered_commit_is_an_attempt_only_if_it_changes_the_tree() {
    let halted = || vec![commit(1), commit(2), commit(3)];
    let with = |amend: Commit| {
        let mut fold = Fold::new(GAP);
        let facts = chain([halted(), vec![amend]].concat());
        for (place, fact) in facts.into_iter().enumerate() {
            if place == 3 {
                fold.push(ack(0));
            }
            fold.push(fact);
        }
        numbers(fold.timeline())
    };
    assert!(with(commit(3).kind(Amend)).is_empty(), "reworded");
    assert_eq!(with(commit(4).kind(Amend)), [1], "other code");
}

proptest! {
    #[test]
    fn batches_do_not_matter(facts in facts::facts(), cut in 0_usize..60) {
        let (first, second) = facts.split_at(cut.min(facts.len()));
        let mut batched = Fold::new(GAP);
        for batch in [first, second] {
            let before = batched.timeline().clone();
            batched = Fold::on(before);
            for fact in batch {
                batched.push(fact.clone());
            }
        }
        let whole = fold(&facts, GAP);
        prop_assert_eq!(batched.timeline(), &whole);
        prop_assert_eq!(whole.story(), batched.into_timeline().story());
    }

    #[test]
    fn what_came_before_the_window_does_not_matter(before in facts::facts(), after in facts::facts()) {
        // Test runs outlive the window, a turn is compared with the state before it, and an amend with the commit that was
        // answered.
        let before = before.into_iter().filter(|fact| !matches!(fact, Fact::TestRun(_)));
        let amends = |fact: &Fact| matches!(fact, Fact::Commit(one) if one.record.made_as() == Amend);
        let after = after.into_iter().filter(|fact| !matches!(fact, Fact::Event(_)) && !amends(fact));
        let with_ack: Vec<Fact> = std::iter::once(ack(0)).chain(after).collect();
        let all: Vec<Fact> = before.chain(with_ack.iter().cloned()).collect();
        prop_assert_eq!(fold(&all, GAP).iterations, fold(&with_ack, GAP).iterations);
    }

    #[test]
    fn writer_and_reader_agree_on_numbers(facts in facts::facts()) {
        let mut folded = Fold::new(GAP);
        for mut fact in facts {
            if let Fact::Commit(commit) = &mut fact {
                commit.id = None;
                let number = next_iteration(folded.timeline(), &NextCommit::from_fact(commit));
                commit.record.iteration = number;
                // One that is there once more keeps its own.
                if folded.push(fact) != EventEffect::Nothing {
                    prop_assert_eq!(folded.timeline().number(), number);
                }
            } else {
                folded.push(fact);
            }
        }
    }

    #[test]
    fn a_timeline_is_bounded_and_ordered(facts in facts::facts()) {
        let line = fold(&facts, GAP);
        prop_assert!(line.iterations.len() <= MAX_ITERATIONS);
        prop_assert!(line.iterations.iter().all(|iteration| iteration.number > 0));
        prop_assert!(line.states().windows(2).all(|pair| pair[0].code != pair[1].code));
        prop_assert!(line.trend().len() <= line.iterations.len());
    }
}

#[test]
fn tests_that_run_after_a_commit_or_a_turn_say_what_it_was() {
    let about = |state: u8| Fact::TestRun(Box::new(run(red(state, &["a"], 9))));
    let end = crate::testkit::turn_end;
    let chained = |codes: &[u8]| chain(codes.iter().map(|code| commit(*code)).collect());
    let after = |mut facts: Vec<Fact>, more: Vec<Fact>| {
        facts.extend(more);
        let line = fold(&facts, GAP);
        let known: Vec<bool> = line.iterations.iter().map(|one| one.tests.is_some()).collect();
        (known, line.newest_run)
    };
    let (done, within) = (EventEffect::Iteration, EventEffect::Within);
    assert_eq!(after(chained(&[1, 2]), vec![about(2)]), (vec![false, true], done));
    assert_eq!(after(chained(&[1, 2]), vec![about(1)]), (vec![false, false], within), "the newest alone");
    assert_eq!(after(chained(&[1]), vec![about(1), about(1)]), (vec![true], within), "once");
    let turns = after(chained(&[1]), vec![end(1), end(2), end(2), about(2)]);
    assert_eq!(turns, (vec![false, false, true], done));
}
