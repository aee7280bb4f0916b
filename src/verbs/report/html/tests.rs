//! The page as a value: its content, that no text becomes markup, and how large it gets.

use std::collections::BTreeSet;

use regex::Regex;

use super::page;
use crate::verbs::status::text::tests::view as status;
use andon_core::domain::{CommitId, Diagnostic, EntryId, Gate, Level, Oid, Skip, Timestamp, Usage};
use andon_engine::text::{Forge, ShownChange, ShownLine};
use andon_engine::view::{HistoryCommit, HistoryView, LastHalt, LoopState, RecordState};
use andon_engine::{asking::WaitingRound, json::RoundPrecedentJson};
use andon_testkit::samples::{self, HOSTILE};

/// Markup that a page would obey.
const TRAP: &str = "</script><img src=x onerror=alert(1)>\"'><style>*{}</style>&lt;\u{0}\u{202e}";

fn id(number: usize) -> CommitId {
    let mut bytes = [0x1a; 20];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    CommitId(Oid::from_bytes(&bytes).unwrap())
}

fn commit(number: usize, subject: &str) -> HistoryCommit {
    let mut record = samples::record();
    record.iteration = number as u64;
    record.tests = Some(samples::evidence((number % 7) as u64));
    record.diff.added = number as u64;
    record.findings.truncate(usize::from(number.is_multiple_of(5)));
    let state = RecordState::Recorded(Box::new(record));
    let at = Timestamp(samples::at().0 + 60 * i64::try_from(number).unwrap());
    HistoryCommit { commit: id(number), subject: subject.to_owned(), at, state }
}

fn view(commits: Vec<HistoryCommit>) -> HistoryView {
    HistoryView {
        now: Some(status()),
        range: "HEAD".to_owned(),
        commits,
        left_out: 0,
        changes: std::collections::BTreeMap::new(),
        forge: Forge::default(),
        halts: Vec::new(),
        open: Vec::new(),
        decided: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Every text of a stranger, in every place that shows one.
fn hostile() -> HistoryView {
    let text = format!("{TRAP}{HOSTILE}");
    let mut commits: Vec<HistoryCommit> = (0..12).map(|number| commit(number, &text)).collect();
    for (number, one) in commits.iter_mut().enumerate() {
        let RecordState::Recorded(record) = &mut one.state else { continue };
        record.node.clone_from(&text);
        record.guards = vec![text.clone()];
        record.worktree = Some(text.clone());
        record.gate = if number == 3 { Gate::Bypassed } else { Gate::Passed };
        record.skipped = vec![Skip { rule: text.clone(), reason: text.clone(), agent: Some(text.clone()) }];
        record.usage = Some(Usage { cost_usd: Some(text.clone()), ..Usage::default() });
        record.findings = samples::record().findings;
        for finding in &mut record.findings {
            (finding.rule, finding.message) = (text.clone(), text.clone());
        }
        if let Some(tests) = &mut record.tests {
            tests.flaky = vec![text.clone()];
        }
    }
    commits[1].state = RecordState::Missing;
    commits[2].state = RecordState::Unreadable(text.clone());
    let mut view = view(commits);
    let (mut halt, mut ack) = (samples::halt(), samples::ack());
    halt.head = Some(id(11));
    for field in [&mut halt.rule, &mut halt.message, &mut halt.cycle_id, &mut halt.worktree] {
        field.clone_from(&text);
    }
    halt.branch = Some(text.clone());
    halt.suggested_actions[0].text.clone_from(&text);
    (ack.by, ack.reason) = (text.clone(), text.clone());
    let last = LastHalt { id: EntryId([9; 32]), halt, ack: None };
    let lines = vec![
        ShownLine::File { path: text.clone(), old: Some(text.clone()) },
        ShownLine::Removed(7, text.clone()),
        ShownLine::Added(7, text.clone()),
    ];
    let (before, command) = (Some(id(10)), text.clone());
    view.changes.insert(id(11), ShownChange { before, after: id(11), lines, is_cut: true, command });
    view.halts = vec![LastHalt { ack: Some(ack), ..last.clone() }, last.clone()];
    let now = view.now.as_mut().unwrap();
    now.state = LoopState::Halted;
    now.last_halt = Some(last);
    for field in [&mut now.worktree, &mut now.node, &mut view.range] {
        field.clone_from(&text);
    }
    (now.branch, now.session) = (Some(text.clone()), Some(text.clone()));
    now.flaky = vec![text.clone()];
    view.warnings = vec![Diagnostic::new(Level::Warn, text.clone()).at(text.clone()).help(text.clone())];
    rounds(&mut view, &text);
    view
}

/// Rounds that say `text` wherever they can.
fn rounds(view: &mut HistoryView, text: &str) {
    view.open.push(WaitingRound {
        id: text.to_owned(),
        status: "OPEN".to_owned(),
        question: text.to_owned(),
        since: samples::at(),
        may_answer: vec![text.to_owned()],
        triggers: vec![text.to_owned()],
        caps: Vec::new(),
        missing: 0,
        advice: None,
    });
    view.decided.push(RoundPrecedentJson {
        round: text.to_owned(),
        words: Some(text.to_owned()),
        tags: vec![text.to_owned()],
        question: text.to_owned(),
        decision: text.to_owned(),
        rationale: text.to_owned(),
        standing: "current".to_owned(),
        by: vec![text.to_owned()],
    });
}

#[test]
fn what_is_asked_first_stands_first() {
    let mut halted = view((0..5).map(|number| commit(number, "Try again")).collect());
    let now = halted.now.as_mut().unwrap();
    now.state = LoopState::Halted;
    let open = LastHalt { id: EntryId([9; 32]), halt: samples::stuck_halt(), ack: None };
    now.last_halt = Some(open.clone());
    halted.halts = vec![open];
    let shown = page(&halted);
    let order = [
        "<title>Halted: HEAD - Andon</title>",
        "<span class=\"state bad\">Halted</span>",
        "<strong>coder is going in circles in src/retry.py</strong> (oscillation): the last 4 commits switch",
        "Since <time datetime=\"2026-11-20T15:20:00Z\">2026-11-20 15:20</time> UTC, 4 commits, 64k tokens, $0.84.",
        "Read <code>.andon/CHECKPOINT.md</code>, decide, then run",
        "andon resume --reason &#39;&lt;decision&gt;&#39;",
        "<h2 id=\"h-trend\">",
        "<h2 id=\"h-lanes\">",
        "<h2 id=\"h-halts\">",
        "<h2 id=\"h-commits\">",
        "<summary>Reproduce</summary>",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page(&halted), shown);
}

#[test]
fn each_state_says_what_to_do() {
    for (state, says) in [
        (LoopState::Idle, "No halt waits for a person; the tests of HEAD fail."),
        (LoopState::Running, "No halt waits for a person; the tests of HEAD fail."),
        (LoopState::Stopped, "Decide, then run"),
        (LoopState::Paused, "Decide, then run"),
        (LoopState::NotInstalled, "andon install"),
        (LoopState::HooksGone, "Commits are neither checked nor recorded"),
        (LoopState::Disabled, "ANDON=0"),
    ] {
        let mut view = view(Vec::new());
        view.now.as_mut().unwrap().state = state;
        let shown = page(&view);
        assert!(shown.contains(says), "{state:?}: {shown}");
    }
}

#[test]
fn no_text_becomes_markup() {
    let shown = page(&hostile());
    let (head, rest) = shown.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, tail) = rest.split_once("<script>").unwrap();
    let (_, tail) = tail.split_once("</script>").unwrap();
    let known: BTreeSet<&str> = "a body br button code dd details div dl dt figcaption figure footer form g h1 h2 h3 head header \
        html input label li link main meta option output p path pre q region script section select span strong style \
        summary svg table tbody td th thead time title tr ul"
        .split(' ')
        .collect();
    let attributes = Regex::new(r#"^(?: [A-Za-z-]+(?:=(?:"[^"<>]*"|[^ \t\r\n"'<>=]+))?)*/?$"#).unwrap();
    let handlers = Regex::new(" on[a-z]+=").unwrap();
    for part in [head, body, tail] {
        for tag in part.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap_or_else(|| panic!("{tag}"));
            assert!(!text.contains('>'), "{text}");
            if tag.starts_with('!') {
                continue;
            }
            let name = tag.trim_start_matches('/');
            let end = name.find([' ', '/']).unwrap_or(name.len());
            assert!(known.contains(&name[..end].to_ascii_lowercase().as_str()), "{tag}");
            assert!(name[end..].starts_with(" http-equiv") || attributes.is_match(&name[end..]), "{tag}");
            assert!(!handlers.is_match(&name[end..]) && !name[end..].contains("http:"), "{tag}");
        }
    }
    let shown = shown.replace(super::STYLE, "").replace(super::SCRIPT, "");
    assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)));
}

#[test]
fn ten_thousand_commits_stay_below_three_megabytes() {
    let subject = "Rework the parser so that nested lists are read as they stand";
    let mut view = view((0..10_000).map(|number| commit(number, subject)).collect());
    let last = LastHalt { id: EntryId([9; 32]), halt: samples::halt(), ack: Some(samples::ack()) };
    view.halts = vec![last; 300];
    let shown = page(&view);
    assert!(shown.len() < 3_000_000, "{} bytes", shown.len());
    assert_eq!(shown.matches("\n<tr").count(), 10_000);
    // A picture has no more columns than can be seen.
    let longest = shown.split(" d=\"").skip(1).map(|path| path.find('"').unwrap()).max();
    assert!(longest < Some(15_000), "{longest:?}");
}

#[test]
fn each_commit_says_how_long_it_took() {
    let mut commits: Vec<HistoryCommit> = (0..4).map(|number| commit(number, "Work")).collect();
    commits[2].at.0 += 4_000;
    commits[3].at.0 += 40_000;
    let shown = page(&view(commits));
    let took = Regex::new("</time></td><td>([^<]*)</td>").unwrap();
    let found: Vec<&str> = took.captures_iter(&shown).map(|one| one.get(1).unwrap().as_str()).collect();
    assert_eq!(found, ["", "1h 7m", "1m", ""], "the newest came after a night");
}

#[test]
fn an_empty_range_and_one_commit_have_a_page() {
    let shown = page(&view(Vec::new()));
    assert!(shown.contains("No commit in the range.") && shown.matches("<section").count() == 1, "{shown}");
    let shown = page(&view(vec![commit(1, "Start")]));
    assert!(shown.contains("id=\"h-commits\"") && !shown.contains("id=\"h-trend\""), "{shown}");
}
