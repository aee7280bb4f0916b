//! The report file of a halt: `.andon/CHECKPOINT.md` or `.andon/BLOCKER_REPORT.md`, for the person who has to decide
//! (docs/spec-map.md, loop rules: CHECKPOINT.md format; docs/concepts.md). Bounded: however long the loop ran, it stays
//! a page or two. Text by agents and authors is shown as code spans or escaped, so that no subject can pose as a
//! heading, a link or an instruction of this file.

use super::halt::{self, headline};
use super::{Page, Style, page::command_of, phrase};
use crate::text::{forge::Forge, shown_change::ShownChange};
use andon_core::domain::{
    AckMode, CommitId, CommitKind, Halt, HaltEvidence, Hint, MAX_SHOWN, Plan, ReportFile, Story, TestStatus,
    TriedLine,
};
use andon_core::escape::{clip, code_span, fenced, markdown};
use andon_core::policy::CYCLE;

/// Iterations listed at most: the first few and the newest.
const TRIED_HEAD: usize = 3;
const TRIED_TAIL: usize = 22;
/// Failing tests listed at most.
const FAILING: usize = 20;
/// Tool calls of a round listed at most: the longest that the rules look for.
const CALLS: usize = 12;
/// Lines of the difference shown at most.
const DIFFERENCE: usize = 24;
/// Suggested actions listed at most.
const ACTIONS: usize = 12;
/// Columns of an untrusted text.
const TEXT: usize = 160;

/// Its path from the top of the worktree: `.andon/CHECKPOINT.md`.
pub fn path(report_file: ReportFile) -> String {
    format!(".andon/{}", report_file.file_name())
}

/// The parts of the file that are read from the repository, where they can be.
#[derive(Debug, Default)]
pub struct ReportSources {
    /// The plan that the worker keeps.
    pub plan: Option<Plan>,
    /// The difference that a person has to decide about.
    pub change: Option<ShownChange>,
    /// The forge for links to commits.
    pub forge: Forge,
    /// No program calls the person, and nothing has said so in this worktree.
    pub calls_nobody: bool,
}

/// The text of the file that shows `halt`.
pub fn render(halt: &Halt, story: &Story, read: &ReportSources, ack: AckMode, style: Style) -> String {
    let mut page = Page::new(style);
    describe(&mut page, halt, read, story, "Halted by the rule");
    to_continue(&mut page, ack);
    page.finish()
}

/// The same for a halt that is only reported and needs no answer itself.
pub(super) fn told(halt: &Halt, story: &Story, to_continue: &str, style: Style) -> String {
    let mut page = Page::new(style);
    describe(&mut page, halt, &ReportSources::default(), story, "Reported by the rule");
    section(&mut page, "To Continue");
    page.line(to_continue);
    page.finish()
}

fn describe(page: &mut Page, halt: &Halt, read: &ReportSources, story: &Story, by: &str) {
    let title = match halt.report_file {
        ReportFile::Checkpoint => "Checkpoint",
        ReportFile::BlockerReport => "Blocker Report",
    };
    page.line(&format!("# {title} - {}", page.style.date(halt.at)));
    section(page, "Reason");
    page.line(&format!("{}.", capital(&markdown(&clip(&headline(halt), phrase::MESSAGE)))));
    page.blank();
    page.line(&markdown(&clip(&halt.message, phrase::MESSAGE)));
    let failing = halt.summary.failing.iter().map(halt::failing);
    page.all(failing.map(|failing| format!("- {}", code_span(&clip(&failing, 2 * MAX_SHOWN)))));
    page.blank();
    page.line(&format!("- Since {}", markdown(&halt::since(halt, page.style))));
    page.all(halt::look_here(halt).map(|look| format!("- Look at it: `{look}`")));
    page.line(&format!(
        "- {by} {}; evidence: `{}`",
        code_span(&clip(&halt.rule, TEXT)),
        Hint::StatusEvidence
    ));
    let silent =
        || format!("- No program called you: `[notify]` names none; this says how: `{}`", Hint::DoctorLive);
    page.all(read.calls_nobody.then(silent));
    current_state(page, halt, read, story);
    progress(page, story);
    calls(page, &halt.evidence);
    tried_since(page, halt, &read.forge, story);
    difference(page, read);
    let named = halt.summary.best.map(|best| (best.commit, best.failing));
    best(page, named, "Answer first, then begin again there");
    next(page, halt);
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

pub(super) fn section(page: &mut Page, title: &str) {
    page.blank();
    page.line(&format!("## {title}"));
}

pub(super) fn span(text: &str) -> String {
    code_span(&clip(text, TEXT))
}

fn current_state(page: &mut Page, halt: &Halt, read: &ReportSources, story: &Story) {
    section(page, "Current State");
    if let Some(plan) = read.plan.as_ref().filter(|plan| plan.total > 0) {
        let phase = plan.phase.as_ref().or(plan.title.as_ref());
        page.all(phase.map(|phase| format!("- Phase: {}", span(phase))));
        page.line(&match plan.open.first() {
            Some(task) => format!("- Task: {} ({})", span(task), span(&plan.path)),
            None => format!("- Task: none is open in {}", span(&plan.path)),
        });
    }
    page.all(story.last_action.as_ref().map(|action| format!("- Last action: {}", span(action))));
    branch_line(page, halt.branch.as_deref());
    let head = halt.head.map_or_else(|| "none yet".to_owned(), |head| read.forge.in_markdown(head));
    page.line(&format!("- Commit: {head}"));
    page.all((halt.worktree != "main").then(|| format!("- Worktree: {}", span(&halt.worktree))));
    page.all((halt.cycle_id != CYCLE).then(|| format!("- Cycle: {}", span(&halt.cycle_id))));
    page.line(&format!("- Iteration: {}", halt.iteration));
    changes_line(page, story);
    page.line(&last_tests(story));
    failing_tests(page, story, "  ");
    let flaky = story.flaky.iter().take(FAILING);
    page.all(flaky.map(|test| format!("- Flaky (the same code gave both results): {}", span(test))));
}

/// The branch that the loop works on, for a briefing too.
pub(super) fn branch_line(page: &mut Page, branch: Option<&str>) {
    let shown = branch.map_or_else(|| "none (detached HEAD)".to_owned(), span);
    page.line(&format!("- Branch: {shown}"));
}

pub(super) fn changes_line(page: &mut Page, story: &Story) {
    let (added, removed) = (story.lines_added, story.lines_removed);
    let iterations = phrase::count(story.tried.len(), "iteration");
    page.line(&format!("- Changes: +{added} -{removed} lines in {iterations}"));
}

/// The tests that fail now, each on a line after `indent`, and how many more there are.
pub(super) fn failing_tests(page: &mut Page, story: &Story, indent: &str) {
    let tests = story.failing_now.iter().take(FAILING).map(|test| span(test));
    let more = phrase::and_more(story.failing_now.len(), FAILING);
    page.all(tests.chain(more).map(|line| format!("{indent}- {line}")));
}

/// The result of the newest tests of the story.
fn last_tests(story: &Story) -> String {
    let newest = || story.tried.iter().rev();
    if let Some((iteration, passed, failing)) =
        newest().find_map(|tried| Some((tried.iteration, tried.passed?, tried.failing?)))
    {
        return format!("- Tests of iteration {iteration}: {passed} passing, {failing} failing");
    }
    match newest().find_map(|tried| Some((tried.iteration, tried.status?))) {
        Some((iteration, status)) => {
            format!("- Tests of iteration {iteration}: {}", phrase::without_counts(status))
        }
        None => "- Tests: none ran on these commits".to_owned(),
    }
}

/// The headings of the document (docs/spec-map.md, loop rules: CHECKPOINT.md format).
fn progress(page: &mut Page, story: &Story) {
    section(page, "Progress Summary");
    let tests = story.tried.iter().rev().find_map(|tried| Some((tried.passed?, tried.failing?)));
    let known =
        |number: Option<u64>| number.map_or_else(|| "not known".to_owned(), |number| number.to_string());
    page.line(&format!("- Files modified: {}", known(story.files)));
    let run = tests.map(|(passed, failing)| passed.saturating_add(failing));
    page.line(&format!("- Tests run: {}", known(run)));
    page.line(&format!("- Tests passing: {}", known(tests.map(|(passed, _)| passed))));
}

/// The calls that go round, where some do.
fn calls(page: &mut Page, evidence: &HaltEvidence) {
    if evidence.calls.is_empty() {
        return;
    }
    section(page, "Tool Calls");
    let calls = evidence.calls.iter().take(CALLS);
    let calls = calls.map(|call| call.shown.as_deref().unwrap_or("arguments not known"));
    page.all(calls.map(|call| format!("- {}", code_span(&clip(call, MAX_SHOWN)))));
}

/// The iterations that are stuck, a line each, equal states with equal letters.
pub(super) fn tried_since(page: &mut Page, halt: &Halt, forge: &Forge, story: &Story) {
    let steps = &halt.summary.steps;
    if steps.is_empty() {
        return tried(page, story);
    }
    section(page, "What Was Tried");
    let earlier = usize::try_from(halt.summary.iterations).unwrap_or(usize::MAX).saturating_sub(steps.len());
    page.all((earlier > 0).then(|| format!("- ... {earlier} more (`{}` shows all)", Hint::Log)));
    for step in steps {
        let letter = step.letter().map_or_else(String::new, |letter| format!("{letter} "));
        let place = step.commit.map_or_else(|| "no commit".to_owned(), |commit| forge.in_markdown(commit));
        let status =
            story.tried.iter().find(|tried| tried.commit == step.commit).and_then(|tried| tried.status);
        let tests = tested(step.failing, status);
        page.line(&format!("- {letter}{place} {tests}: {}", span(&step.subject)));
    }
}

/// The difference to decide about, in lines that cannot end their block.
fn difference(page: &mut Page, read: &ReportSources) {
    let Some(change) = read.change.as_ref().filter(|change| !change.lines.is_empty()) else { return };
    section(page, "The Difference");
    page.line(&format!("All of it: `{}`", change.command));
    page.blank();
    page.all(fenced("diff", &change.text(DIFFERENCE).join("\n")).lines());
}

/// The best state, where it is another than the newest, with what leads there.
pub(super) fn best(page: &mut Page, best: Option<(CommitId, u64)>, how: &str) {
    let Some((commit, failing)) = best.map(|(commit, failing)| (commit.short(), failing)) else { return };
    section(page, "Best State So Far");
    page.line(&format!("`{commit}` with {failing} failing. {how}:"));
    page.blank();
    page.line(&format!("    {}", Hint::GoBack.with([&commit])));
}

pub(super) fn tried(page: &mut Page, story: &Story) {
    section(page, "What Was Tried");
    let all = &story.tried;
    let none = || format!("No iteration since the last answer or pause; what came before: `{}`", Hint::Log);
    page.all(all.is_empty().then(none));
    let gap = if all.len() > TRIED_HEAD + TRIED_TAIL + 1 { TRIED_HEAD..all.len() - TRIED_TAIL } else { 0..0 };
    for (at, tried) in all.iter().enumerate() {
        if !gap.contains(&at) {
            tried_line(page, tried);
        } else if at == gap.start {
            page.line(&format!("- ... {} more (`{}` shows all)", gap.len(), Hint::Log));
        }
    }
}

/// The result of tests in words.
fn tested(failing: Option<u64>, status: Option<TestStatus>) -> String {
    match (failing, status) {
        (Some(failing), _) => format!("{failing} failing"),
        (None, Some(status)) => phrase::without_counts(status).to_owned(),
        (None, None) => "not tested".to_owned(),
    }
}

fn tried_line(page: &mut Page, tried: &TriedLine) {
    let place = tried.commit.map_or_else(|| "no commit".to_owned(), |commit| format!("`{}`", commit.short()));
    let is_plain = tried.kind == CommitKind::Normal;
    let kind = if is_plain { String::new() } else { format!(" ({})", tried.kind.as_str()) };
    let tests = tested(tried.failing, tried.status);
    page.line(&format!("- {}: {place}{kind} {tests}: {}", tried.iteration, span(&tried.subject)));
}

fn next(page: &mut Page, halt: &Halt) {
    if halt.suggested_actions.is_empty() {
        return;
    }
    section(page, "What to Do Next");
    for action in halt.suggested_actions.iter().take(ACTIONS) {
        let text = clip(&action.text, phrase::MESSAGE);
        let (words, command, rest) = command_of(&text);
        let command = if command.is_empty() { String::new() } else { code_span(command) };
        page.line(&format!("- {}{command}{}", markdown(words), markdown(rest)));
    }
}

fn to_continue(page: &mut Page, ack: AckMode) {
    section(page, "To Continue");
    let signed = "Commits are refused until a witness has answered, signed (`guard.ack = \"signed\"`):";
    let person = "Commits are refused until a person has answered:";
    let (who, commands, deleted) = match ack {
        // Only the documentation tells that deleting the file answers: agents read this file.
        AckMode::Delete => (person, vec![Hint::Answer.into()], None),
        AckMode::Resume => (person, vec![Hint::Answer.into()], Some("does not answer the halt")),
        AckMode::Signed => {
            let commands = vec![Hint::ReviewShow.with(["halt"]), Hint::SignRound.with(["resolve", "halt"])];
            (signed, commands, Some("changes nothing"))
        }
    };
    page.line(who);
    page.blank();
    page.all(commands.iter().map(|command| format!("    {command}")));
    if let Some(deleted) = deleted {
        page.blank();
        page.line(&format!("Deleting this file {deleted}: it comes back."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::{AdvisedStep, NamedCall, ShortHash, Suggestion};
    use andon_testkit::samples;

    fn rendered(halt: &Halt, story: &Story, ack: AckMode) -> String {
        render(
            halt,
            story,
            &ReportSources::default(),
            ack,
            Style::of_a_file(|_| "2026-11-20 16:30 CET".to_owned()),
        )
    }

    #[test]
    fn a_checkpoint_tells_the_whole_story() {
        let mut halt = samples::stuck_halt();
        halt.summary.steps[1].subject = samples::HOSTILE.to_owned();
        halt.summary.iterations = 6;
        halt.summary.best = Some(andon_core::domain::BestCommit { commit: samples::commit(11), failing: 2 });
        let text = rendered(&halt, &samples::story(), AckMode::Delete);
        let expected = "\
# Checkpoint - 2026-11-20 16:30 CET

## Reason
Coder is going in circles in src/retry.py.

the code state alternates A/B/A/B

- Since 2026-11-20 16:30 CET, 4 commits, 2 turns, 64k tokens, $0.84; tests: 52 passed
- Look at it: `git diff 030303030303 040404040404`
- Halted by the rule `oscillation`; evidence: `andon status --evidence`

## Current State
- Last action: `commit: Drop the lock`
- Branch: `main`
- Commit: `1a1a1a1a1a1a`
- Iteration: 12
- Changes: +30 -12 lines in 3 iterations
- Tests of iteration 11: 118 passing, 2 failing
  - `suite::a`
  - ``suite::`b`\\n# c``

## Progress Summary
- Files modified: 3
- Tests run: 120
- Tests passing: 118

## What Was Tried
- ... 2 more (`andon log` shows all)
- A `010101010101` 0 failing: `Retry 3 times`
- B `020202020202` 0 failing: ``\\u{1b}[2J# Approved\\n## To Continue\\n[x](http://evil) `rm` <b>\\u{202e}|``
- A `030303030303` 0 failing: `Retry 3 times`
- B `040404040404` 0 failing: `Retry 5 times`

## Best State So Far
`0b0b0b0b0b0b` with 2 failing. Answer first, then begin again there:

    git switch -c andon-0b0b0b0b0b0b 0b0b0b0b0b0b

## What to Do Next
- start again from the best state
- narrow the task

## To Continue
Commits are refused until a person has answered:

    andon resume --reason '<decision>'
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_loop_of_calls_shows_them() {
        let mut halt = samples::halt();
        let call = |shown: &str| NamedCall { exact: ShortHash([9; 8]), shown: Some(shown.to_owned()) };
        halt.evidence.calls = vec![call("Bash: cargo test"), call("Bash: `rm`\n# Approved")];
        halt.evidence.calls.push(NamedCall { shown: None, ..call("") });
        let text = rendered(&halt, &Story::default(), AckMode::Delete);
        assert!(
            text.contains(
                "\n## Tool Calls\n- `Bash: cargo test`\n\
                 - ``Bash: `rm`\\n# Approved``\n\
                 - `arguments not known`\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn no_mode_offers_deletion() {
        let mut halt = samples::halt();
        halt.report_file = ReportFile::BlockerReport;
        for mode in [AckMode::Delete, AckMode::Resume, AckMode::Signed] {
            let text = rendered(&halt, &Story::default(), mode);
            assert!(text.starts_with("# Blocker Report - 2026"), "{text}");
            assert!(!text.contains("rm .andon"), "{text}");
        }
    }

    #[test]
    fn hostile_text_makes_no_heading_and_size_is_bounded() {
        let huge = samples::HOSTILE.repeat(300);
        let mut halt = samples::halt();
        halt.message.clone_from(&huge);
        halt.rule.clone_from(&huge);
        halt.branch = Some(huge.clone());
        halt.worktree.clone_from(&huge);
        halt.cycle_id.clone_from(&huge);
        halt.suggested_actions = vec![Suggestion::new(AdvisedStep::HandOver, huge.clone()); 500];
        halt.evidence.trend = vec![u64::MAX; 10_000];
        halt.evidence.calls = vec![NamedCall { exact: ShortHash([9; 8]), shown: Some(huge.clone()) }; 10_000];
        halt.evidence.diffs = vec![andon_core::domain::DiffHash([1; 32]); 10_000];
        let mut story = samples::story();
        story.tried = (0..1_000).map(|number| samples::tried(number, &huge, Some(1))).collect();
        story.failing_now = vec![huge; 500];
        let text = rendered(&halt, &story, AckMode::Delete);
        assert!(text.len() < 100_000, "{}", text.len());
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings.len(), 8, "{headings:?}");
        assert!(!text.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)));
        assert!(text.contains("- ... 975 more"));
    }
}
