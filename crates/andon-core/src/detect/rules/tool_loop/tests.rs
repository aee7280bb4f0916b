use super::*;
use crate::detect::testkit::{asked_of, asked_with};
use crate::domain::{Arguments, CodeId, EventKind, Fact, ParamValue, ToolCall};
use crate::testkit::{ack, call, commit, event, folded, green, run, turn_end};

/// A call of `Bash` with arguments and an answer.
fn bash(args: u8, answer: u8) -> Fact {
    event(EventKind::ToolCall(call("Bash", args, Some(answer))))
}

fn edit(args: u8) -> Fact {
    event(EventKind::ToolCall(call("Edit", args, None)))
}

fn blind(args: u8) -> Fact {
    event(EventKind::ToolCall(call("Bash", args, None)))
}

fn said(facts: Vec<Fact>) -> String {
    let found = asked_of(&RULE, &folded(facts));
    found.map_or_else(String::new, |finding| {
        let grade = match (finding.level, finding.report_file) {
            (_, ReportFile::BlockerReport) => "INFINITE_LOOP",
            (Level::Halt, ReportFile::Checkpoint) => "HARD_LOOP",
            (_, ReportFile::Checkpoint) => "SOFT_LOOP",
        };
        format!("{} {grade}", finding.level.as_str())
    })
}

#[test]
fn the_grades_are_those_of_the_document() {
    for (times, expected) in [
        (2, ""),
        (3, "warn SOFT_LOOP"),
        (4, "warn SOFT_LOOP"),
        (5, "halt HARD_LOOP"),
        (9, "halt HARD_LOOP"),
        (10, "halt INFINITE_LOOP"),
        (30, "halt INFINITE_LOOP"),
    ] {
        assert_eq!(said(vec![bash(1, 1); times]), expected, "{times}");
        assert_eq!(said(vec![blind(1); times]), expected, "{times} without answers");
    }
    let infinite = asked_of(&RULE, &folded(vec![bash(1, 1); 10])).map(|finding| finding.report_file);
    assert_eq!(infinite, Some(ReportFile::BlockerReport));
}

#[test]
fn calls_without_known_arguments_prove_nothing() {
    let unknown = |tool: &str, answer| {
        event(EventKind::ToolCall(ToolCall { args: Arguments::Unknown, ..call(tool, 1, answer) }))
    };
    assert_eq!(said(vec![unknown("Bash", None); 30]), "");
    assert_eq!(said(vec![unknown("Bash", Some(1)); 30]), "", "whatever they answer");
    let between: Vec<Fact> = (0..5).flat_map(|_| [bash(1, 1), unknown("Bash", None)]).collect();
    assert_eq!(said(between), "halt HARD_LOOP", "nor do they hide those that are known");
    assert_eq!(said(vec![bash(1, 1), bash(1, 1), bash(1, 1), unknown("Bash", None)]), "", "said before");
    let edits = (0..9).flat_map(|_| [unknown("Edit", None), bash(1, 1)]).collect();
    assert_eq!(said(edits), "", "an edit without a report may be a new one");
}

#[test]
fn interleaved_calls_count_and_a_long_way_apart_they_do_not() {
    let every = |step: u8| -> Vec<Fact> {
        (0..5_u8)
            .flat_map(|round| {
                (1..step).map(move |other| bash(100 + round * step + other, round)).chain([bash(1, 1)])
            })
            .collect()
    };
    assert_eq!(said(every(2)), "halt HARD_LOOP");
    assert_eq!(said(every(3)), "warn SOFT_LOOP", "4 of 10");
    assert_eq!(said(every(5)), "", "2 of 10");
}

#[test]
fn polling_whose_answers_change_is_no_loop() {
    assert_eq!(said((0..30).map(|answer| bash(1, answer)).collect()), "");
    assert_eq!(said((0..30).map(|answer| bash(1, answer / 2)).collect()), "");
}

#[test]
fn what_masks_hide_may_move() {
    let moving = |values: &[u64]| {
        let one = |value: &u64| {
            event(EventKind::ToolCall(ToolCall { moves: vec![*value], ..call("Bash", 1, Some(1)) }))
        };
        said(values.iter().map(one).collect())
    };
    assert_eq!(moving(&[30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330]), "");
    assert_eq!(moving(&[9, 8, 7, 6, 5, 4]), "");
    assert_eq!(moving(&[12, 31, 8, 22, 14]), "halt HARD_LOOP", "jitter");
    assert_eq!(moving(&[5, 5, 5, 5, 5]), "halt HARD_LOOP");
}

#[test]
fn another_session_begins_the_count_anew() {
    let start = || event(EventKind::Renewed(crate::domain::Renewal::SessionStart));
    let read = || [start(), bash(1, 1), bash(1, 1)];
    assert_eq!(said([read(), read(), read()].concat()), "");
    assert_eq!(said(vec![bash(1, 1); 5]), "halt HARD_LOOP");
}

#[test]
fn a_new_question_of_a_person_begins_the_count_anew() {
    let asked = || event(EventKind::Renewed(crate::domain::Renewal::Prompt));
    let answered = || [asked(), bash(1, 1), bash(2, 2)];
    assert_eq!(said((0..6).flat_map(|_| answered()).collect()), "");
    assert_eq!(said([asked()].into_iter().chain(vec![bash(1, 1); 5]).collect()), "halt HARD_LOOP");
}

#[test]
fn a_new_edit_begins_the_count_anew_and_an_old_one_does_not() {
    let tests_after_each_edit = (0..20).flat_map(|number| [edit(number), bash(200, 1)]).collect();
    assert_eq!(said(tests_after_each_edit), "");
    let same_edit = (0..6).flat_map(|_| [edit(7), bash(200, 1)]).collect();
    assert_eq!(said(same_edit), "halt HARD_LOOP");
    let ping_pong = (0..9).map(|number| edit(number % 2)).collect();
    assert_eq!(said(ping_pong), "halt HARD_LOOP");
    assert_eq!(said(vec![bash(1, 1), bash(1, 1), commit(1).fact(), bash(1, 1)]), "");
    assert_eq!(said(vec![turn_end(1), bash(1, 1), bash(1, 1), turn_end(2), bash(1, 1)]), "");
    assert_eq!(said(vec![bash(1, 1), bash(1, 1), ack(1), bash(1, 1)]), "");
}

#[test]
fn rows_of_two_to_twelve_calls_trip_at_the_third_round() {
    for period in 2..=12_u8 {
        let rounds = |rounds: u8| -> String {
            said((0..rounds * period).map(|at| bash(at % period, at % period)).collect())
        };
        assert_ne!(rounds(2), "halt HARD_LOOP", "{period}");
        assert_eq!(rounds(3), "halt HARD_LOOP", "{period}");
    }
    let thirteen: Vec<Fact> = (0..39).map(|at| bash(at % 13, at % 13)).collect();
    assert_eq!(said(thirteen), "", "longer rows are not looked for");
}

#[test]
fn a_loop_names_its_calls_and_keeps_them_beside_their_hashes() {
    let of = |number: u8, answer: u8| {
        let shown = Some(format!("Bash: make {number}"));
        event(EventKind::ToolCall(ToolCall { shown, ..call("Bash", number, Some(answer)) }))
    };
    let found = |facts: Vec<Fact>| asked_of(&RULE, &folded(facts)).unwrap();
    let same = found(vec![of(1, 1); 5]);
    assert_eq!(same.message(), "the last 5 tool calls were the same: Bash: make 1");
    assert_eq!(same.evidence[0].to_string(), "call 0101010101010101: Bash: make 1");
    let row = found((0..12).map(|at| of(at % 4, at % 4)).collect());
    assert_eq!(
        row.message(),
        "the same sequence of 4 calls came 3 times in a row: Bash: make 0; Bash: make 1; Bash: make 2; and 1 more"
    );
    assert_eq!(row.evidence.len(), 4);
}

#[test]
fn the_same_answer_to_ever_other_questions_is_for_nothing_new() {
    assert_eq!(said((0..20).map(|args| bash(args, 9)).collect()), "");
}

#[test]
fn the_coarse_form_is_an_option() {
    let line = folded((0..5).map(edit).collect());
    let with =
        |is| asked_with(&RULE, &line, &[("signature", ParamValue::Word { is, of: &["full", "coarse"] })]);
    assert!(with("full").is_none());
    assert_eq!(with("coarse").map(|finding| finding.level), Some(Level::Halt));
}

#[test]
fn the_thresholds_are_parameters() {
    let line = folded(vec![bash(1, 1); 4]);
    let count = |name, count| asked_with(&RULE, &line, &[(name, ParamValue::Count(count))]);
    assert_eq!(count("hard", 4).map(|finding| finding.level), Some(Level::Halt));
    assert!(count("soft", 5).is_none());
    assert!(count("window", 2).is_none());
    let rows = folded((0..4).map(|at| bash(at % 2, at % 2)).collect());
    let found = asked_with(&RULE, &rows, &[("rounds", ParamValue::Count(2))]);
    assert_eq!(found.map(|finding| finding.level), Some(Level::Halt));
    let found = asked_with(&RULE, &line, &[("infinite", ParamValue::Count(4))]);
    assert_eq!(found.map(|finding| finding.report_file), Some(ReportFile::BlockerReport));
}

/// A call that left this code behind.
fn left(args: u8, code: u8) -> Fact {
    event(EventKind::ToolCall(ToolCall { code: Some(CodeId([code; 32])), ..call("Bash", args, Some(args)) }))
}

#[test]
fn changed_code_begins_anew_whoever_changed_it() {
    let tested = |code: u8| [Fact::TestRun(Box::new(run(green(code, 3)))), bash(1, 1)];
    assert_eq!(said((1..=30).flat_map(tested).collect()), "", "each run of the tests was on other code");
    assert_eq!(said((1..=30).flat_map(|_| tested(1)).collect()), "halt INFINITE_LOOP", "on the same code");
    assert_eq!(said((1..=30).map(|code| left(1, code)).collect()), "", "by the working tree");
    assert_eq!(said((1..=9).map(|_| left(1, 1)).collect()), "halt HARD_LOOP");
}

#[test]
fn what_waits_is_known_by_the_time_that_it_takes_and_its_short_answers() {
    use crate::domain::{CallEnd, SAMPLED, WAITED_MS};
    let many = |made: ToolCall| vec![event(EventKind::ToolCall(made)); 70];
    let polls = ToolCall { duration_ms: Some(WAITED_MS), ..call("Bash", 1, Some(1)) };
    let waits = many(polls.clone());
    for (count, expected) in [(9, ""), (10, "warn SOFT_LOOP"), (63, "warn SOFT_LOOP"), (64, "halt HARD_LOOP")]
    {
        assert_eq!(said(waits[..count].to_vec()), expected, "{count}");
    }
    let message = asked_of(&RULE, &folded(waits[..10].to_vec())).map(|finding| finding.message());
    assert_eq!(message.as_deref(), Some("10 tool calls waited for another answer: Bash"));
    let five = |made: ToolCall| said(many(made)[..5].to_vec());
    assert_eq!(five(ToolCall { duration_ms: None, ..polls.clone() }), "halt HARD_LOOP", "at once");
    assert_eq!(
        five(ToolCall { lines: vec![1; SAMPLED], ..polls.clone() }),
        "halt HARD_LOOP",
        "a long answer"
    );
    assert_eq!(five(ToolCall { end: CallEnd::Failed, ..polls.clone() }), "halt HARD_LOOP", "it fails");
    assert_eq!(said(many(ToolCall { args: Arguments::Unknown, ..polls })), "");
}
