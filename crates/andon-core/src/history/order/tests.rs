use super::*;
use crate::domain::{DiffHash, EventKind, Timestamp, Usage};
use crate::history::timeline::{TurnChange, TurnIteration};
use crate::testkit::{GAP, ack, code, commit, event, oid, red, run};

/// The commit of that number, recorded at that second.
fn made(number: u64) -> CommitFact {
    let mut made = commit(u8::try_from(number).unwrap()).at(i64::try_from(number).unwrap());
    made.0.id = Some(CommitId(oid(number)));
    made.0
}

fn answer(head: Option<u64>, place: AckPlace) -> (Ack, AckPlace) {
    let Fact::Ack(answer) = ack(0) else { unreachable!() };
    (Ack { head: head.map(|head| CommitId(oid(head))), ..*answer }, place)
}

fn an_event() -> JournalItem {
    let Fact::Event(event) = event(EventKind::TurnStart) else { unreachable!() };
    JournalItem::Event(event)
}

fn marked(number: u64) -> JournalItem {
    let turn = PassedCommit {
        node: "agent".into(),
        at: None,
        code: code(0),
        number,
        begins: crate::domain::RunStart::Nothing,
    };
    JournalItem::Commit(MarkedCommit { commit: CommitId(oid(number)), passing: turn })
}

/// The steps in short: `1` commit 1, `e` event, `a` answer, `(a)` an answer beyond the window, `p` a passed commit, `s`
/// the snapshot.
fn order_of(
    line: &[u64],
    acks: &[(Ack, AckPlace)],
    items: &[JournalItem],
    before: Option<&Snapshot>,
) -> String {
    let facts: Vec<CommitFact> = line.iter().copied().map(made).collect();
    let steps = Observations { line: facts.iter().collect(), acks, runs: &[], items, before }.steps();
    let short = |step: FoldStep| match step {
        FoldStep::Fact(Fact::Commit(fact)) => fact.record.recorded_at.0.to_string(),
        FoldStep::Fact(Fact::Event(_)) => "e".to_owned(),
        FoldStep::Fact(Fact::Ack(_)) => "a".to_owned(),
        FoldStep::Fact(Fact::TestRun(_)) => "t".to_owned(),
        FoldStep::Answered(_) => "(a)".to_owned(),
        FoldStep::Resume(_) => "s".to_owned(),
        FoldStep::Pass(_) => "p".to_owned(),
        FoldStep::Committed(_) => String::new(),
    };
    let named = steps.into_iter().map(short).filter(|name| !name.is_empty());
    named.collect::<Vec<_>>().join(" ")
}

#[test]
fn events_come_after_the_commits_recorded_before_them() {
    type Case<'a> = (&'a [u64], Vec<JournalItem>, &'a str);
    let table: &[Case<'_>] = &[
        (&[1, 2], vec![], "1 2"),
        (&[1, 2], vec![an_event()], "1 2 e"),
        (&[1, 2], vec![marked(1), an_event(), marked(2)], "1 e 2"),
        (&[1, 2, 3], vec![an_event(), marked(3)], "1 2 e 3"),
        (&[1, 3], vec![marked(1), marked(2), an_event(), marked(3)], "1 p e 3"),
        (&[], vec![an_event(), marked(9)], "e p"),
    ];
    for (line, items, expected) in table {
        assert_eq!(order_of(line, &[], items, None), *expected, "{line:?} {items:?}");
    }
}

#[test]
fn an_answer_comes_after_the_commit_that_was_head() {
    type Case<'a> = (Option<u64>, AckPlace, Vec<JournalItem>, &'a str);
    use AckPlace::{BeforeCommit, Last};
    let one = JournalItem::Ack(0);
    let table: Vec<Case<'_>> = vec![
        (Some(1), BeforeCommit, vec![], "1 a 2"),
        (Some(2), Last, vec![], "1 2 a"),
        (None, Last, vec![], "1 2 a"),
        (Some(9), Last, vec![], "1 2 a"),
        (Some(9), BeforeCommit, vec![], "1 2"),
        (Some(1), BeforeCommit, vec![marked(1), an_event(), one.clone(), marked(2)], "1 e a 2"),
        (Some(9), BeforeCommit, vec![an_event(), one.clone(), marked(2)], "1 e (a) 2"),
        (None, Last, vec![marked(1), one, an_event()], "1 2 a e"),
    ];
    for (head, place, items, expected) in table {
        assert_eq!(
            order_of(&[1, 2], &[answer(head, place)], &items, None),
            expected,
            "{head:?} {place:?} {items:?}"
        );
    }
}

#[test]
fn the_snapshot_stands_after_the_commits_and_answers_that_it_counts() {
    let counts = |at: Option<i64>| {
        let Fact::Ack(answer) = ack(at.unwrap_or(0)) else { unreachable!() };
        Snapshot { ack: at.map(|_| *answer), ..Snapshot::default() }
    };
    let answered = [answer(Some(1), AckPlace::BeforeCommit)];
    assert_eq!(order_of(&[1, 2], &[], &[marked(2)], Some(&counts(None))), "1 s 2");
    assert_eq!(order_of(&[1, 2], &[], &[an_event()], Some(&counts(None))), "1 2 s e");
    assert_eq!(
        order_of(&[1, 2], &answered, &[marked(2)], Some(&counts(Some(0)))),
        "1 a s 2",
        "counted there"
    );
    assert_eq!(order_of(&[1, 2], &answered, &[marked(2)], Some(&counts(None))), "1 s a 2", "not yet");
}

#[test]
fn attempts_stand_where_they_were_made_until_they_are_answered() {
    let window: Vec<CommitFact> = [1, 2].map(made).into();
    let attempts = || {
        [(0, 7), (1, 8), (2, 9)].map(|(after, number)| PlacedAttempt { after, fact: made(number) }).to_vec()
    };
    let aside = attempts();
    let order: Vec<i64> = line(&window, &aside).iter().map(|fact| fact.record.recorded_at.0).collect();
    assert_eq!(order, [7, 1, 8, 2, 9]);

    let left = |acks: &[(Ack, AckPlace)], before: &[u64], after: &[u64]| {
        let ids = |of: &[u64]| of.iter().map(|number| CommitId(oid(*number))).collect::<Vec<_>>();
        let mut aside = attempts();
        forget_answered(&mut aside, acks, &ids(before), &ids(after));
        aside.iter().map(|one| one.fact.record.recorded_at.0).collect::<Vec<_>>()
    };
    let at = |seconds: i64, counter: Option<&str>| {
        let (ack, place) = answer(None, AckPlace::Last);
        [(Ack { at: Timestamp(seconds), counter: counter.map(str::to_owned), ..ack }, place)]
    };
    assert_eq!(left(&[], &[7], &[]), [7, 8, 9], "unanswered");
    assert_eq!(left(&at(8, None), &[], &[]), [9], "by their times");
    assert_eq!(left(&at(8, None), &[9], &[7]), [7], "the journal knows better");
    assert_eq!(left(&at(8, Some("iteration-cap")), &[], &[]), [7, 8, 9], "one counter is no answer to them");
}

#[test]
fn an_answer_beyond_the_window_leaves_no_commit_behind_with_which_a_run_could_begin() {
    let spent = |tokens: u64| {
        let usage = Usage { input_tokens: Some(tokens), ..Usage::default() };
        FoldStep::Fact(event(EventKind::Usage(usage)))
    };
    let first = || {
        let mut fact = made(6);
        fact.record.iteration = 1;
        FoldStep::Fact(Fact::Commit(Box::new(fact)))
    };
    let passed = |number: u64| {
        let JournalItem::Commit(marked) = marked(number) else { unreachable!() };
        FoldStep::Pass(PassedCommit { number, ..marked.passing })
    };
    let long = FoldStep::Resume(Box::new(Snapshot { passed: Some(5), ..Snapshot::default() }));
    for (journal, before) in [("short", passed(0)), ("long", long)] {
        let tokens = |answered: bool| {
            let Fact::Ack(answer) = ack(0) else { unreachable!() };
            let mut fold = Fold::new(GAP);
            let answer = answered.then_some(FoldStep::Answered(answer));
            let steps = [Some(before.clone()), answer, Some(spent(10)), Some(first())];
            steps.into_iter().flatten().for_each(|step| fold.step(step));
            fold.timeline().activity.nodes["agent"].tokens
        };
        assert_eq!(
            tokens(true),
            10,
            "{journal}: what is spent between the answer and the commit is of its run"
        );
        assert_eq!(tokens(false), 0, "{journal}: of the run before");
    }
}

#[test]
fn tests_of_a_long_journal_speak_for_the_commit_that_was_the_newest_then() {
    let made_at = |number: u64, at: i64| {
        let mut fact = made(number);
        (fact.record.code, fact.record.recorded_at, fact.record.iteration) = (code(1), Timestamp(at), number);
        FoldStep::Fact(Fact::Commit(Box::new(fact)))
    };
    let tested = |at: i64| TestRun { at: Some(Timestamp(at)), ..run(red(1, &["a"], 9)) };
    let completed = |runs: &[i64]| {
        let mut fold = Fold::new(GAP);
        let runs: Vec<TestRun> = runs.iter().map(|at| tested(*at)).collect();
        let long = FoldStep::Resume(Box::new(Snapshot { runs, passed: Some(3), ..Snapshot::default() }));
        for step in [made_at(1, 10), made_at(2, 20), made_at(3, 30), long] {
            fold.step(step);
        }
        let numbers = fold.timeline().iterations.iter().filter(|one| one.tests.is_some());
        numbers.map(|one| one.number).collect::<Vec<_>>()
    };
    assert!(completed(&[5]).is_empty(), "before any");
    assert_eq!(completed(&[25]), [2]);
    assert_eq!(completed(&[10, 15, 40]), [1, 3]);
}

#[test]
fn turns_of_a_long_journal_are_numbered_after_the_commits_that_count_here() {
    let turn = |number: u64| TurnIteration {
        node: "agent".to_owned(),
        number,
        change: TurnChange::Changed,
        code: code(9),
        hash: DiffHash([1; 32]),
        at: Timestamp(100),
        outputs: Vec::new(),
        tests: None,
    };
    let numbers = |commits: &[u64], turns: &[u64], reset: u64| {
        let mut fold = Fold::new(GAP);
        for number in commits {
            let mut fact = made(*number);
            fact.record.iteration = *number;
            fold.step(FoldStep::Fact(Fact::Commit(Box::new(fact))));
        }
        let resets = [("iteration-cap".to_owned(), reset)].into();
        let turns = turns.iter().map(|number| turn(*number)).collect();
        fold.step(FoldStep::Resume(Box::new(Snapshot {
            turns,
            resets,
            passed: Some(60),
            ..Snapshot::default()
        })));
        let line = fold.timeline();
        let all: Vec<u64> = line.iterations.iter().map(|one| one.number).collect();
        (all, line.resets["iteration-cap"])
    };
    assert_eq!(numbers(&[1, 2], &[3, 4], 3), (vec![1, 2, 3, 4], 3), "nothing was left");
    assert_eq!(numbers(&[1, 2], &[50, 60], 50), (vec![1, 2, 3, 4], 3), "47 commits went with their branch");
    assert_eq!(numbers(&[], &[50, 60], 50), (vec![1, 2], 1), "and those before them too");
    assert_eq!(numbers(&[40, 41], &[30, 42], 30), (vec![30, 40, 41, 42], 30), "the window begins later");
}
