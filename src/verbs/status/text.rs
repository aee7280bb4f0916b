//! The status for a person: badge, state, last halt, trend, tests and the Loop Evidence section (docs/spec-map.md, loop
//! safety: recommended UX).

use andon_core::domain::{Halt, Hint, Level, UncreditedFall, plural::count};
use andon_core::escape::terminal_clip;
use andon_engine::text::page::{unbroken, with_command};
use andon_engine::text::{Glyphs, Page, Style, decisions, halt, message, phrase, spark};
use andon_engine::view::{
    CycleView, FailureSummary, LoopEvidence, LoopState, SkippedAt, StatusView, TestsOf,
};

/// Hashes of each kind shown in the text; JSON has all of them.
const HASHES: usize = 5;
/// Failing tests named per failure summary in the text.
const FAILING: usize = 3;
/// Columns of a name.
const NAME: usize = 100;

fn state(view: &StatusView, style: Style) -> String {
    match view.state {
        LoopState::Idle if view.last_halt.is_some() => {
            style.dim("idle: no iteration since the halt was answered")
        }
        LoopState::Idle => style.dim("idle: nothing recorded yet"),
        LoopState::Running => style.green("running"),
        LoopState::Halted => match open_halt(view) {
            Some(halt) => style.red(&format!("HALTED {}", style.age(halt.at))),
            None => style.red("HALTED"),
        },
        LoopState::Stopped => style.red("stopped (.andon/STOP)"),
        LoopState::Paused => style.yellow("paused (.andon/PAUSE)"),
        LoopState::NotInstalled => {
            style.yellow(&format!("not installed: nothing is guarded ({})", Hint::Install))
        }
        LoopState::HooksGone => style.red("hooks are gone: commits are neither checked nor recorded"),
        LoopState::Disabled => style.yellow("disabled (ANDON=0)"),
    }
}

/// The extent of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusDepth {
    /// The facts that a person acts on.
    Short,
    /// The hashes behind it as well.
    Evidence,
}

/// The status for a person.
pub fn text(view: &StatusView, depth: StatusDepth, style: Style, glyphs: Glyphs) -> String {
    let mut page = Page::new(style);
    let open = open_halt(view);
    page.wrapped(&format!("{}  {}", style.bold(&view.count.to_string()), state(view, style)));
    if let Some(halt) = open {
        open_halt_lines(&mut page, view, halt);
    }
    hooks_gone(&mut page, view);
    place(&mut page, view);
    unrecorded(&mut page, view);
    cycles(&mut page, view);
    if open.is_none() {
        last_halt(&mut page, view);
    }
    decided(&mut page, view);
    waiting(&mut page, view);
    refused(&mut page, view);
    trend(&mut page, view, glyphs);
    counters(&mut page, view);
    tests(&mut page, view);
    if depth == StatusDepth::Evidence {
        loop_evidence(&mut page, view);
    }
    let mut findings = message::gravest_first(&view.findings);
    // The halt is at the top.
    findings.retain(|finding| open.is_none_or(|halt| halt.rule != finding.rule));
    if !findings.is_empty() {
        page.heading("Findings");
        for finding in findings {
            message::push(&mut page, &finding.into());
            if depth == StatusDepth::Evidence && !finding.evidence.is_empty() {
                let evidence = phrase::some_of(&finding.evidence, HASHES, phrase::evidence);
                page.line(&page.style.dim(&format!("  evidence: {evidence}")));
            }
        }
    }
    waived(&mut page, view);
    skipped(&mut page, view);
    message::push_all(&mut page, &view.warnings);
    page.finish()
}

/// The newest of what was passed over: nothing to act on, and no part of the findings.
fn skipped(page: &mut Page, view: &StatusView) {
    if view.skipped.is_empty() {
        return;
    }
    page.heading("Skipped");
    for SkippedAt { commit, skip } in view.skipped.iter().rev().take(HASHES) {
        let line = format!("{} at {}", phrase::skip(skip), commit.short());
        page.line(&page.style.yellow(&format!("  {line}")));
    }
}

/// A waived finding needs no action, and is shown all the same.
fn waived(page: &mut Page, view: &StatusView) {
    let notes = view.findings.iter().filter(|finding| finding.level == Level::Note);
    for finding in notes.filter(|finding| finding.about.waiver.is_some()) {
        page.field("waived", &phrase::message(&finding.message()));
    }
}

/// First of all: while they are gone, nothing else on this page is kept up to date.
fn hooks_gone(page: &mut Page, view: &StatusView) {
    if let Some(gone) = &view.hooks_gone {
        let what = terminal_clip(&gone.what, 2 * NAME);
        let what = if view.state == LoopState::HooksGone { what } else { format!("gone: {what}") };
        page.field("hooks", &page.style.red(&what));
        page.field("", &with_command(&format!("help: {}", terminal_clip(&gone.help, 2 * NAME))));
    }
}

fn place(page: &mut Page, view: &StatusView) {
    let at = view.head.map_or_else(|| "no commit yet".to_owned(), |head| head.short());
    let branch =
        view.branch.as_ref().map_or_else(|| "detached HEAD".to_owned(), |name| terminal_clip(name, NAME));
    page.field("branch", &format!("{branch}, {at}"));
    let linked = Some(&view.worktree).filter(|name| *name != "main");
    page.fields("worktree", linked.map(|name| terminal_clip(name, NAME)));
    // Who made the iterations of the window; none of them says nothing of who reads this.
    let who = view.who.iter().map(|name| terminal_clip(name, NAME));
    let session = view.session.iter().map(|session| format!("session {}", terminal_clip(session, NAME)));
    let by: Vec<String> = who.chain(session).collect();
    page.fields("by", (!by.is_empty()).then(|| by.join(", ")));
    let why = view.provider_reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let provider = view.provider.as_ref();
    page.fields("provider", provider.map(|name| terminal_clip(&format!("{name}{why}"), NAME)));
}

/// Unrecorded commits, where the window crosses some.
fn unrecorded(page: &mut Page, view: &StatusView) {
    let commits = (view.unrecorded > 0).then(|| count(view.unrecorded, "commit"));
    let what = "of the window: made without andon, and counted neither way";
    page.fields("unrecorded", commits.map(|commits| format!("{commits} {what}")));
}

/// The failures that run on, where no halt tells of them yet, and the last compaction.
fn counters(page: &mut Page, view: &StatusView) {
    if view.consecutive_failures > 1 && open_halt(view).is_none() {
        let running = count(view.consecutive_failures, "failed iteration");
        page.field("failures", &format!("{running} running"));
    }
    if let Some(at) = view.last_compaction {
        page.field("compacted", &page.style.when(at));
    }
}

/// A badge for each cycle (docs/spec-map.md, loop safety: recommended UX). Names of nodes come from the configuration.
fn cycles(page: &mut Page, view: &StatusView) {
    let style = page.style;
    let line = |cycle: &CycleView| {
        let full = cycle.max.is_some_and(|max| cycle.iterations >= max);
        let badge = if full { style.red(&cycle.badge()) } else { cycle.badge() };
        format!("{badge}  {}", terminal_clip(&cycle.nodes.join(", "), NAME))
    };
    page.fields("cycle", view.cycles.iter().map(line));
}

/// The halt that waits for an answer.
fn open_halt(view: &StatusView) -> Option<&Halt> {
    let open = view.last_halt.as_ref().filter(|last| last.ack.is_none())?;
    view.state.waits_for_a_person().then_some(&open.halt)
}

/// Who is stuck with what, since when, at what cost, and how to answer.
fn open_halt_lines(page: &mut Page, view: &StatusView, halt: &Halt) {
    let rule = terminal_clip(&halt.rule, NAME);
    let headline = terminal_clip(&halt::headline(halt), 2 * NAME);
    let headline = page.style.bold(&format!("{headline} ({rule})"));
    page.wrap("  ", &headline, "  ");
    halt::push(page, halt, view.report);
    halt::push_answer(page, Hint::Answer.text(), halt);
    if halt.worktree != view.worktree {
        let branch = halt.branch.as_ref().map(|it| format!(", branch {}", terminal_clip(it, NAME)));
        let place = terminal_clip(&halt.worktree, NAME) + &branch.unwrap_or_default();
        page.fact("where", &format!("worktree {place}; one answer frees all"));
    }
    if let Some(best) = halt.summary.best {
        let back = Hint::GoBack.with([&best.commit.short()]);
        page.fact("then", &format!("or begin again at the best state: {}", unbroken(&back)));
    }
    page.blank();
}

/// The newest halt of this worktree that is answered, or about to be.
fn last_halt(page: &mut Page, view: &StatusView) {
    let Some(last) = &view.last_halt else { return };
    let halt = &last.halt;
    let rule = terminal_clip(&halt.rule, NAME);
    page.field("last halt", &format!("{rule}, {}, iteration {}", page.style.when(halt.at), halt.iteration));
    page.field("", &phrase::message(&halt.message));
    match &last.ack {
        Some(ack) => {
            page.field("", &format!("{} {}", phrase::acknowledged(ack), page.style.when(ack.at)));
            page.fields("", phrase::acknowledgment(ack, phrase::MESSAGE));
        }
        None if matches!(view.state, LoopState::NotInstalled | LoopState::Disabled) => {
            page.field("", &format!("not answered yet: {}", unbroken(Hint::Answer.text())));
        }
        None => {
            let file = andon_engine::text::report_file::path(halt.report_file);
            page.field("", &format!("{file} was deleted; the next hook will treat that as an answer"));
        }
    }
}

/// Decisions of people for the work; the newest answer is with its halt already.
fn decided(page: &mut Page, view: &StatusView) {
    let shown = view.decided.iter().filter(|one| one.decision != "resume");
    page.fields("decided", shown.map(|one| decisions::in_short(one, phrase::MESSAGE)));
}

/// The oldest round that waits for a person, and how many more do.
fn waiting(page: &mut Page, view: &StatusView) {
    let Some(first) = view.waiting.first() else { return };
    let more = phrase::and_more(view.waiting.len(), 1).map(|more| format!(" ({more})")).unwrap_or_default();
    let question = terminal_clip(first.question.lines().next().unwrap_or_default(), NAME);
    let since = page.style.when(first.since);
    let line = format!("a round waits for a person since {since}{more}: {question}");
    page.field("waiting", &page.style.yellow(&line));
    let id: String = first.id.chars().take(8).collect();
    page.field("", &with_command(&format!("help: {}", Hint::ReviewShow.with([&terminal_clip(&id, 8)]))));
}

/// The newest refused commits, as long as no commit or test run followed.
fn refused(page: &mut Page, view: &StatusView) {
    let Some(refused) = &view.refused else { return };
    let commits = phrase::count(usize::try_from(refused.count).unwrap_or(usize::MAX), "commit");
    let at = refused.at.map_or_else(String::new, |at| format!(", the last at {}", page.style.when(at)));
    let rule = terminal_clip(&refused.rule, NAME);
    let line = format!("{commits} for untested code ({rule}){at}");
    page.field("refused", &page.style.yellow(&line));
    page.field("", &format!("help: {}", Hint::Test));
}

fn trend(page: &mut Page, view: &StatusView, glyphs: Glyphs) {
    counts(page, view, glyphs);
    let turn = (!view.trend_in_turn.is_empty()).then(|| bars(&view.trend_in_turn, glyphs));
    page.fields("this turn", turn);
    let some = |tests: &[&String], what: &str| {
        let names = phrase::some_of(tests, FAILING, |test| terminal_clip(test, NAME));
        (!tests.is_empty()).then(|| format!("{names} ({what})"))
    };
    page.fields("flaky", some(&view.flaky.iter().collect::<Vec<_>>(), "no part of the trend"));
    let known = view.known_red.keys().collect::<Vec<_>>();
    page.fields("known red", some(&known, "halts nothing until it passes"));
}

fn bars(counts: &[u64], glyphs: Glyphs) -> String {
    format!("{} failing  {}", spark::trend(counts), spark::line(counts, glyphs))
}

/// Falls without credit that are shown.
const FALLS: usize = 3;

fn counts(page: &mut Page, view: &StatusView, glyphs: Glyphs) {
    if view.trend.iter().all(|count| *count == 0) {
        return;
    }
    page.field("trend", &bars(&view.trend, glyphs));
    let fall = |UncreditedFall { from, to, gone }: &UncreditedFall| {
        let tests = phrase::count(*gone, "test");
        format!("{from} -> {to} does not count as progress: {tests} that ran before did not run")
    };
    // The newest ones: a long row of them would bury the rest.
    page.fields("", view.uncredited.iter().rev().take(FALLS).rev().map(fall));
}

fn tests(page: &mut Page, view: &StatusView) {
    match &view.test_command {
        Some(command) => page.field("tests", &terminal_clip(command, NAME)),
        None if view.warnings.iter().any(|one| one.code.as_deref() == Some("config")) => {
            page.field("tests", "not known: the configuration cannot be read");
        }
        None => page.field("tests", "no test.command is configured (andon.toml, [test])"),
    }
    for (label, tests) in [("HEAD", &view.tests.head), ("work tree", &view.tests.work_tree)] {
        if *tests != TestsOf::Nothing {
            page.field("", &format!("{label}: {}", tests_shown(tests, page.style)));
        }
    }
}

fn tests_shown(tests: &TestsOf, style: Style) -> String {
    match tests {
        TestsOf::Ran(evidence) => {
            let result = phrase::by_result(evidence, &phrase::tests(evidence), style);
            format!("{result}{}", style.yellow(&phrase::remarks(evidence)))
        }
        TestsOf::Void(run) => style.yellow(&format!(
            "{}{}, but the run proves nothing: {}",
            phrase::tests(&run.evidence),
            phrase::remarks(&run.evidence),
            phrase::void(run.validity)
        )),
        TestsOf::OtherCode(evidence) => style.yellow(&format!(
            "not run on this code (the last run, on other code: {})",
            phrase::tests(evidence)
        )),
        TestsOf::NeverRan => style.yellow("never run"),
        TestsOf::Nothing => "nothing to test".to_owned(),
        TestsOf::Unknown => "not known".to_owned(),
    }
}

fn loop_evidence(page: &mut Page, view: &StatusView) {
    let evidence = &view.evidence;
    if *evidence == LoopEvidence::default() {
        return;
    }
    page.heading("Loop Evidence");
    hashes(page, "diffs", &evidence.diffs);
    hashes(page, "code", &evidence.codes);
    hashes(page, "failures", &evidence.tests);
    hashes(page, "outputs", &evidence.outputs);
    let skipped = evidence.failures.len().saturating_sub(HASHES);
    page.fields("", evidence.failures[skipped..].iter().map(failure_shown));
    for line in open_halt(view).map(halt::evidence).unwrap_or_default() {
        page.field("halt", &line);
    }
}

fn failure_shown(failure: &FailureSummary) -> String {
    let times = phrase::count(usize::try_from(failure.iterations).unwrap_or(usize::MAX), "iteration");
    let what = if failure.failing.is_empty() {
        failure.status.as_str().replace('_', " ")
    } else {
        phrase::some_of(&failure.failing, FAILING, |test| terminal_clip(test, NAME))
    };
    format!("{} in {times}: {what}", failure.signature.short())
}

/// The newest hashes, oldest first, short: equal ones are what a person looks for.
fn hashes<T: ToString>(page: &mut Page, label: &str, all: &[T]) {
    let skipped = all.len().saturating_sub(HASHES);
    let short = |hash: &T| hash.to_string().chars().take(12).collect::<String>();
    let shown = all[skipped..].iter().map(short).collect::<Vec<_>>().join(" ");
    let shown = if skipped > 0 { format!("... {shown}") } else { shown };
    page.fields(label, (!all.is_empty()).then_some(shown));
}

#[cfg(test)]
pub(crate) mod tests;
