//! A halt in words: the one view that the message at the commit, `status`, `watch`, the report file and the report of a
//! range render, each in its medium. The values come from the halt alone, so that every clone tells the same.

use super::{Page, Style, page::unbroken, phrase};
use andon_core::detect;
use andon_core::domain::{
    AdvisedStep, CommitId, FailingTest, Halt, HaltReason, HaltSummary, Hint, Presence, RuleSubject,
    SummaryStep,
};
use andon_core::escape::{clip, terminal, terminal_clip};

/// Columns of a subject, a test or a file.
const NAME: usize = 60;
/// Columns of the text where there is no terminal.
const WIDE: usize = 100;
/// Lines of what was found, at most.
const LINES: usize = 2;
/// States that are listed, at most: two can be compared.
const STATES: usize = 2;

/// The headline of a halt: `coder is going in circles in src/retry.py`. Untrusted text, not escaped.
pub fn headline(halt: &Halt) -> String {
    let summary = &halt.summary;
    let who = match summary.who.as_slice() {
        [] => "the loop".to_owned(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, ..] => format!("{first} and {} others", summary.who.len() - 1),
    };
    let (is, has) = if summary.who.len() > 1 { ("are", "have") } else { ("is", "has") };
    let tests = summary.failing.iter().filter(|failing| failing.test.is_some()).count();
    match halt.reason {
        HaltReason::Oscillating => match summary.files.as_slice() {
            [] => format!("{who} {is} going in circles"),
            [file] => format!("{who} {is} going in circles in {file}"),
            [file, ..] => format!("{who} {is} going in circles in {file} and other files"),
        },
        HaltReason::Stalled if tests > 0 => {
            format!("{who} {is} stuck on {}", phrase::count(tests, "failing test"))
        }
        HaltReason::Stalled | HaltReason::RepeatedError => {
            match (detect::rule(&halt.rule).and_then(detect::Rule::stuck), halt.reason) {
                (Some(stuck), _) => format!("{who} {stuck}"),
                (None, HaltReason::RepeatedError) => format!("{who} {has} failed again and again"),
                (None, _) => format!("{who} {is} making no progress"),
            }
        }
        HaltReason::BudgetExceeded => format!("{who} {has} used up a budget"),
        HaltReason::UserStop => "a person stopped the loop".to_owned(),
    }
}

/// The states that alternate, in one sentence, or the finding of the rule. Not escaped.
pub fn what(halt: &Halt) -> String {
    let states = halt.summary.states().len();
    if !goes_round(halt) {
        return halt.message.clone();
    }
    let versions = if states == 2 {
        "switch between the same two versions".to_owned()
    } else {
        format!("go round the same {states} versions")
    };
    format!("the last {} {versions}", phrase::count(halt.summary.commits, "commit"))
}

/// True if people have to choose between states.
pub fn goes_round(halt: &Halt) -> bool {
    halt.reason == HaltReason::Oscillating && halt.summary.states().len() > 1
}

/// Since when, how much was tried, and what it has cost: `10 minutes ago (15:14 CET), 4 commits, 64k tokens, $0.84`, and
/// what the tests gave.
pub fn since(halt: &Halt, style: Style) -> String {
    let text = since_when(halt, style);
    match tests(&halt.summary) {
        Some(tests) => format!("{text}; tests: {tests}"),
        None => text,
    }
}

/// The halt in one line: who is stuck, how, since when and at what cost. Not escaped.
pub fn in_a_line(halt: &Halt, style: Style) -> String {
    format!("{}: {} (since {})", headline(halt), what(halt), since(halt, style))
}

/// The same for a person who is called, with what to do.
pub fn called(halt: &Halt, style: Style) -> String {
    let file = halt.report_file.file_name();
    format!("{}; read .andon/{file}, then: {}", in_a_line(halt, style), Hint::Answer)
}

fn since_when(halt: &Halt, style: Style) -> String {
    let summary = &halt.summary;
    // A person who stops the loop says when; what was done before is not what is stuck.
    let by_hand = halt.reason == HaltReason::UserStop;
    let (at, behind) = if by_hand { (halt.at, "after ") } else { (summary.since.unwrap_or(halt.at), "") };
    let effort = effort(summary).join(", ");
    let at = style.when(at);
    if effort.is_empty() { at } else { format!("{at}, {behind}{effort}") }
}

/// `4 commits`, `64k tokens`, `$0.84`: what is known of it.
pub fn effort(summary: &HaltSummary) -> Vec<String> {
    let turns = summary.iterations.saturating_sub(summary.commits);
    let mut parts = Vec::new();
    if summary.commits > 0 {
        parts.push(phrase::count(summary.commits, "commit"));
    }
    if turns > 0 {
        parts.push(phrase::count(turns, "turn"));
    }
    parts.extend(cost(summary));
    parts
}

/// `64k tokens`, `$0.84`: what clients reported.
pub fn cost(summary: &HaltSummary) -> Vec<String> {
    let tokens = summary.tokens.map(|tokens| match tokens {
        0..1_000 => format!("{tokens} tokens"),
        1_000..10_000_000 => format!("{}k tokens", tokens / 1_000),
        _ => format!("{}M tokens", tokens / 1_000_000),
    });
    let dollars = summary.cost_micros.map(|micros| {
        let cents = micros.div_ceil(10_000);
        format!("${}.{:02}", cents / 100, cents % 100)
    });
    tokens.into_iter().chain(dollars).collect()
}

/// `52 passed`, `2 of 54 failing`.
pub fn tests(summary: &HaltSummary) -> Option<String> {
    let tests = summary.tests?;
    Some(match tests.failing {
        // Only the exit code is known.
        0 if tests.passed == 0 => "passed, by the exit code alone".to_owned(),
        0 => format!("{} passed", tests.passed),
        failing => format!("{failing} of {} failing", tests.passed.saturating_add(failing)),
    })
}

/// A failing test with its error. Not escaped.
pub fn failing(failing: &FailingTest) -> String {
    match (&failing.test, &failing.error) {
        (Some(test), Some(error)) => format!("{test}: {error}"),
        (Some(only), None) | (None, Some(only)) => only.clone(),
        (None, None) => "no error is known".to_owned(),
    }
}

/// The commits whose difference is to be looked at, the first `None` where there is only one and what it changed counts.
pub fn compared(halt: &Halt) -> Option<(Option<CommitId>, CommitId)> {
    if let Some((first, second)) = halt.summary.between() {
        return Some((Some(first), second));
    }
    // The commit that used a budget up, or came before a stop, is not what is wrong.
    let is_at_fault = !matches!(halt.reason, HaltReason::BudgetExceeded | HaltReason::UserStop);
    match halt.summary.steps.as_slice() {
        [only] if is_at_fault => Some((None, only.commit?)),
        _ => None,
    }
}

/// The command that shows what is to be decided, where commits are at stake.
pub fn look(halt: &Halt) -> Option<String> {
    Some(match compared(halt)? {
        (Some(first), second) => Hint::Diff.with([&first.short(), &second.short()]),
        (None, only) => Hint::GitShow.with([&only.short()]),
    })
}

/// The same in the repository where it happened: what no commit holds is in the working tree, and began at the commit that was
/// HEAD then.
pub fn look_here(halt: &Halt) -> Option<String> {
    let in_turn = detect::about(&halt.rule).judges == RuleSubject::Attempts;
    let began = halt.head.filter(|_| in_turn);
    look(halt).or_else(|| Some(Hint::DiffSince.with([&began?.short()])))
}

/// `94ee2af11433 "Retry 3 times"`, for the terminal.
fn named(step: &SummaryStep) -> String {
    let commit = step.commit.map_or_else(|| "no commit".to_owned(), |commit| commit.short());
    format!("{commit} \"{}\"", terminal_clip(&step.subject, NAME))
}

/// Adds the lines of a halt to a page: what, the error or the states, since when and at what cost, what to look at and
/// how to answer. With the headline and the line behind it, eight at 80 columns. `report` tells of its report file.
pub fn push(page: &mut Page, halt: &Halt, report: Presence) {
    let summary = &halt.summary;
    let columns = page.style.columns().unwrap_or(WIDE);
    let room = columns.saturating_sub(Page::FACT).max(NAME / 2);
    page.fact("what", &terminal_clip(&what(halt), room * LINES));
    let states = summary.states();
    if goes_round(halt) {
        for (_, step) in states.iter().take(STATES) {
            let letter = step.letter().unwrap_or('?');
            page.fact("", &terminal_clip(&format!("{letter} {}", named(step)), room));
        }
    } else if let Some(first) = summary.failing.iter().find(|failing| failing.error.is_some()) {
        // The test is named above where it is the only one.
        let named = first.test.as_ref().is_some_and(|test| halt.message.contains(test));
        let shown = match (&first.test, &first.error) {
            (_, Some(error)) if named && summary.failing.len() == 1 => error.clone(),
            // A name of any length leaves room for the error.
            (Some(test), Some(error)) => format!("{}: {error}", clip(test, room / 2)),
            (_, _) => failing(first),
        };
        page.fact("error", &terminal_clip(&shown, room));
    } else if let Some(call) = call_of(halt) {
        page.fact("call", &terminal_clip(call, room));
    }
    // The tests only where there is room for them: the line above names what fails.
    let all = since(halt, page.style);
    let since = if all.chars().count() <= room { all } else { since_when(halt, page.style) };
    page.fact("since", &since);
    let file = format!(".andon/{}", halt.report_file.file_name());
    let look = match (look_here(halt), report) {
        (Some(diff), Presence::Present) => format!("{}, or {file}", unbroken(&diff)),
        (Some(diff), Presence::Absent) => unbroken(&diff),
        (None, Presence::Present) => file,
        (None, Presence::Absent) => Hint::Log.into(),
    };
    page.fact("look", &look);
}

/// The newest call that goes round, where what was found does not name it.
fn call_of(halt: &Halt) -> Option<&str> {
    let call = halt.evidence.calls.iter().rev().find_map(|call| call.shown.as_deref())?;
    (!halt.message.contains(call)).then_some(call)
}

/// Adds how the halt is answered.
pub fn push_answer(page: &mut Page, answer: &str, halt: &Halt) {
    let known = halt.suggested_actions.iter().find(|action| action.step == Some(AdvisedStep::NameKnownRed));
    if let Some(known) = known {
        page.fact("known", &terminal(&known.text));
    }
    page.fact("answer", &format!("a person decides, then runs: {}", unbroken(&terminal(answer))));
}

/// Hashes of a halt for people who ask for the evidence: kind and short forms, oldest first.
pub fn evidence(halt: &Halt) -> Vec<String> {
    let evidence = &halt.evidence;
    let kinds = [
        ("diffs", short(&evidence.diffs)),
        ("tests", short(&evidence.tests)),
        ("outputs", short(&evidence.outputs)),
    ];
    let shown = kinds.into_iter().filter(|(_, hashes)| !hashes.is_empty());
    let mut lines: Vec<String> = shown.map(|(kind, hashes)| format!("{kind}: {hashes}")).collect();
    if evidence.trend.iter().any(|count| *count > 0) {
        let trend: Vec<String> = evidence.trend.iter().map(ToString::to_string).collect();
        lines.push(format!("trend: {} failing", trend.join(" -> ")));
    }
    lines
}

fn short<T: ToString>(hashes: &[T]) -> String {
    let short = |hash: &T| hash.to_string().chars().take(12).collect::<String>();
    hashes.iter().map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::TestCounts;
    use andon_testkit::samples;

    fn shown(halt: &Halt, columns: usize) -> String {
        let mut page = Page::new(Style::Plain.within(Some(columns)));
        push(&mut page, halt, Presence::Present);
        push_answer(&mut page, Hint::Answer.text(), halt);
        page.finish()
    }

    #[test]
    fn a_circle_names_its_two_states_and_what_it_has_cost() {
        let halt = samples::stuck_halt();
        assert_eq!(headline(&halt), "coder is going in circles in src/retry.py");
        assert_eq!(
            shown(&halt, 80),
            "  what   the last 4 commits switch between the same two versions\n\
             \x20        A 030303030303 \"Retry 3 times\"\n\
             \x20        B 040404040404 \"Retry 5 times\"\n\
             \x20 since  2026-11-20T15:20:00Z, 4 commits, 64k tokens, $0.84; tests: 52 passed\n\
             \x20 look   git diff 030303030303 040404040404, or .andon/CHECKPOINT.md\n\
             \x20 answer a person decides, then runs: andon resume --reason '<decision>'\n"
        );
    }

    #[test]
    fn a_rule_says_what_the_loop_did() {
        let mut halt = samples::halt();
        halt.reason = HaltReason::Stalled;
        assert_eq!(headline(&halt), "the loop is making no progress");
        let rule =
            detect::REGISTRY.iter().find(|rule| rule.stuck() == Some("kept making the same tool call"));
        halt.rule = rule.unwrap().id.to_owned();
        assert_eq!(headline(&halt), "the loop kept making the same tool call");
    }

    #[test]
    fn no_command_is_broken_at_any_width_and_no_hash() {
        let halt = samples::stuck_halt();
        for columns in 40..200 {
            let text = shown(&halt, columns);
            assert!(text.contains("git diff 030303030303 040404040404"), "{columns}: {text}");
            assert!(text.contains(Hint::Answer.text()), "{columns}: {text}");
            let wide = text.lines().find(|line| line.chars().count() > columns);
            assert!(
                wide.is_none_or(|line| line.contains("git diff") || line.contains(Hint::Answer.text())),
                "{columns}: {text}"
            );
        }
    }

    #[test]
    fn a_failing_test_shows_its_error_in_one_line() {
        let mut halt = samples::halt();
        halt.reason = HaltReason::Stalled;
        halt.summary.failing = vec![FailingTest {
            test: Some("tests::tax".into()),
            error: Some(format!("expected 47,\n got 46 {}", "x".repeat(300))),
        }];
        assert_eq!(headline(&halt), "the loop is stuck on 1 failing test");
        let text = shown(&halt, 80);
        assert!(text.contains("\n  error  tests::tax: expected 47,\\n got 46 xxx"), "{text}");
        assert!(text.lines().count() <= 6, "{text}");
        halt.summary.failing[0].test = Some("tests::a_long_name_of_a_test".repeat(9));
        assert!(shown(&halt, 80).contains("...: expected 47,"), "{}", shown(&halt, 80));
    }

    #[test]
    fn a_pass_without_counts_is_not_none_passed() {
        let counted = |passed, failing| {
            let counts = Some(TestCounts { passed, failing });
            tests(&HaltSummary { tests: counts, ..HaltSummary::default() })
        };
        assert_eq!(counted(0, 0).as_deref(), Some("passed, by the exit code alone"));
        assert_eq!(counted(52, 0).as_deref(), Some("52 passed"));
        assert_eq!(counted(0, 2).as_deref(), Some("2 of 2 failing"));
    }

    #[test]
    fn what_an_earlier_version_stored_is_shown_as_it_is() {
        let text = shown(&samples::halt(), 80);
        assert!(text.starts_with("  what   the code state alternates A/B/A/B\n"), "{text}");
        assert!(text.contains("\n  look   .andon/CHECKPOINT.md\n"), "{text}");
    }
}
