//! `andon log`: commits with what was recorded about them, halts and answers in between. A compact table that fits 100
//! columns; findings on lines of their own, so that a healthy run is one line a commit. Records are shown as they are, without
//! judging them; only their numbers are derived.

pub mod safety;

use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::cli::{Exit, FormatArg, Shell};
use andon_core::domain::{Ack, CommitId, CommitRecord, Diagnostic, Halt, Level, Nature, Severity};
use andon_core::escape::{terminal_clip, width};
use andon_core::history::DEFAULT_NODE;
use andon_engine::text::{Page, Style, halt, message, phrase};
use andon_engine::view::{LoggedCommit, RecordState};
use andon_engine::{Result, Workspace, asking, json, range::Numbers, recording::derive};
use andon_store::NotesStore;

/// `andon log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Maximum number of commits or events to show
    #[arg(short = 'n', long, visible_alias = "limit", default_value_t = 20, value_name = "N")]
    pub max_count: usize,
    /// List the safety events instead: refused, skipped, halted, answered, bypassed
    #[arg(long)]
    pub events: bool,
    /// Revision to start at
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Shows the newest records.
pub fn run(shell: &Shell, args: &LogArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.events {
        return events(shell, &ws, args);
    }
    let (entries, warnings) = entries(&ws, &args.revision, args.max_count)?;
    shell.show_all(args.format.format, "log", &entries, |style| text(&entries, style));
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// Shows the newest safety events.
fn events(shell: &Shell, ws: &Workspace, args: &LogArgs) -> Result<Exit> {
    let (events, warnings) = safety::events(ws, &args.revision, args.max_count)?;
    shell.show(args.format.format, "events", &json!({ "events": events }), |style| {
        safety::text(&events, style)
    });
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// The newest `max` commits from `revision` along first parents, newest first, with the halts and
/// acknowledgements that happened at them. The warnings name ledger entries that were skipped.
fn entries(ws: &Workspace, revision: &str, max: usize) -> Result<(Vec<LogEntry>, Vec<Diagnostic>)> {
    if revision == "HEAD" && ws.repo.head()?.commit().is_none() {
        return Ok((Vec::new(), Vec::new()));
    }
    let store = NotesStore::open(&ws.repo)?;
    let (events, skipped) = asking::read_all(&ws.repo, ws.opened)?;
    let mut numbers = Numbers::new(ws, &store)?;
    let mut entries = Vec::new();
    let mut at = Some(ws.repo.resolve(revision)?);
    for _ in 0..max {
        let Some(id) = at else { break };
        let commit = ws.repo.commit(id)?;
        // Newest first: the answer is above the halt, and both are above their commit.
        for event in events.iter().rev().map(|entry| &entry.event) {
            let halt = event.halt().filter(|halt| halt.head == Some(id)).cloned();
            entries.extend(halt.map(|halt| LogEntry::Halt(Box::new(halt))));
            let answer = event.answer().filter(|ack| ack.head == Some(id)).cloned();
            entries.extend(answer.map(|ack| LogEntry::Ack(Box::new(ack))));
        }
        let cut_off = derive::is_cut_off(&ws.repo, &commit);
        let state = RecordState::of(store.get(id), |record| numbers.on(id, record));
        entries.push(LogEntry::Commit(LoggedCommit { commit: id, subject: commit.subject, state }));
        at = commit.parents.first().copied().filter(|_| !cut_off);
    }
    Ok((entries, skipped))
}

/// One line of the log; its JSON has a `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum LogEntry {
    /// A commit of the line that is shown.
    Commit(LoggedCommit),
    /// A halt, at the place in time at which it came.
    Halt(Box<Halt>),
    /// An answer of a person.
    #[serde(serialize_with = "serialize_answer")]
    Ack(Box<Ack>),
}

fn serialize_answer<S: Serializer>(ack: &Ack, serializer: S) -> Result<S::Ok, S::Error> {
    json::answer(ack).serialize(serializer)
}

/// Columns of a line where there is no terminal.
const LINE: usize = 100;
/// Columns of a line that nothing is cut below.
const LEAST: usize = LEAD + 20;
/// Columns before the subject: iteration, commit, tests, diff, each with two blanks after it.
const LEAD: usize = 4 + 2 + 12 + 2 + 12 + 2 + 11 + 2;

/// Columns before a subject that is below its figures.
const BELOW: usize = 6;
/// Columns from which a line has room for who and when.
const WIDE: usize = 120;
/// Columns of a node.
const NODE: usize = 16;

/// The log for a person, in the order given.
fn text(entries: &[LogEntry], style: Style) -> String {
    let mut page = Page::new(style);
    if entries.is_empty() {
        page.line("no commits");
    }
    for entry in entries {
        match entry {
            LogEntry::Commit(LoggedCommit { commit, subject, state }) => {
                commit_line(&mut page, *commit, subject, state);
            }
            LogEntry::Halt(halt) => halt_lines(&mut page, halt),
            LogEntry::Ack(ack) => ack_lines(&mut page, ack),
        }
    }
    page.finish()
}

/// Columns of a line: those of the terminal.
fn columns(page: &Page) -> usize {
    page.style.columns().unwrap_or(LINE)
}

/// The figures of a commit, so many columns wide, and its subject behind them; below them in a narrow terminal.
fn row(page: &mut Page, figures: &str, wide: usize, marks: &str, subject: &str) {
    let columns = columns(page);
    let (before, lead) = if columns < LEAST {
        page.line(figures);
        (" ".repeat(BELOW), BELOW)
    } else {
        (figures.to_owned(), wide)
    };
    let room = columns.saturating_sub(lead + width(marks));
    page.line(&format!("{before}{}{}", page.style.yellow(marks), terminal_clip(subject, room)));
}

fn commit_line(page: &mut Page, commit: CommitId, subject: &str, state: &RecordState) {
    let style = page.style;
    let id = style.yellow(&commit.short());
    let Some(record) = state.record() else {
        let what = match state {
            RecordState::Recorded(_) | RecordState::Missing => style.dim(&format!("{:<25}", "no record")),
            RecordState::Unreadable(_) => style.red(&format!("{:<25}", "unreadable record")),
        };
        row(page, &format!("{:>4}  {id}  {what}  ", "-"), LEAD, "", subject);
        if let Some(why) = state.problem() {
            finding_line(page, Severity::Error, "unreadable-record", why);
        }
        return;
    };
    let tests = tests_column(record, style);
    let diff = diff_column(record);
    let marks = phrase::marks(record);
    let marks = if marks.is_empty() { String::new() } else { format!("[{}] ", marks.join(", ")) };
    let number = record.number().map_or_else(|| "-".to_owned(), |number| number.to_string());
    let when = when(page, record);
    let dim = if when.is_empty() { String::new() } else { style.dim(&when) };
    let figures = format!("{number:>4}  {id}  {tests}  {diff:<11}  {dim}");
    row(page, &figures, LEAD + width(&when), &marks, subject);
    for skip in &record.skipped {
        let line = terminal_clip(&format!("      skipped {}", phrase::skip(skip)), columns(page));
        page.line(&style.yellow(&line));
    }
    for finding in record.findings.iter().filter(|finding| finding.level > Level::Note) {
        finding_line(page, finding.level.into(), &finding.rule, &finding.message);
    }
}

/// Date and node of the commit, where the terminal is wide.
fn when(page: &Page, record: &CommitRecord) -> String {
    if page.style.columns().is_none_or(|columns| columns < WIDE) {
        return String::new();
    }
    let at = page.style.date(record.recorded_at);
    let node = if record.node == DEFAULT_NODE { String::new() } else { terminal_clip(&record.node, NODE) };
    if node.is_empty() { format!("{at}  ") } else { format!("{at}  {node}  ") }
}

fn tests_column(record: &CommitRecord, style: Style) -> String {
    let Some(evidence) = &record.tests else { return style.dim(&format!("{:<12}", "-")) };
    phrase::by_result(evidence, &format!("{:<12}", phrase::tests_short(evidence)), style)
}

fn diff_column(record: &CommitRecord) -> String {
    let diff = &record.diff;
    if record.change.as_ref().is_some_and(|change| change.nature == Nature::Ignored) {
        "ignored".to_owned()
    } else if diff.empty {
        "empty".to_owned()
    } else {
        terminal_clip(&format!("+{} -{}", diff.added, diff.removed), 11)
    }
}

fn finding_line(page: &mut Page, severity: Severity, rule: &str, text: &str) {
    let rule = terminal_clip(rule, 30);
    let room = columns(page).saturating_sub(6 + severity.as_str().len() + rule.len() + 4);
    let head = message::head(severity, Some(&rule), page.style);
    page.line(&format!("      {head}: {}", terminal_clip(text, room)));
}

fn halt_lines(page: &mut Page, halt: &Halt) {
    let rule = terminal_clip(&halt.rule, 30);
    let headline = terminal_clip(&halt::headline(halt), 2 * LINE);
    let line = page.style.red(&format!("{} HALTED: {headline} ({rule})", page.style.date(halt.at)));
    page.wrap("      -- ", &line, "         ");
    page.wrap("         ", &phrase::message(&halt::what(halt)), "         ");
}

fn ack_lines(page: &mut Page, ack: &Ack) {
    let line = page.style.green(&format!("{} {}", page.style.date(ack.at), phrase::acknowledged(ack)));
    page.wrap("      -- ", &line, "         ");
    if let Some(answer) = phrase::acknowledgment(ack, phrase::MESSAGE) {
        page.wrap("         ", &answer, "         ");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use andon_core::domain::{CommitKind, Gate};
    use andon_testkit::samples;

    fn entries() -> Vec<LogEntry> {
        let mut amended = samples::record();
        amended.kind = CommitKind::Amend;
        amended.gate = Gate::Bypassed;
        amended.iteration = 4;
        amended.findings.clear();
        amended.tests = Some(samples::evidence(0));
        amended.diff.empty = true;
        vec![
            LogEntry::Commit(LoggedCommit {
                commit: samples::commit(0x0c),
                subject: "Before Andon".to_owned(),
                state: RecordState::Missing,
            }),
            LogEntry::Commit(LoggedCommit {
                commit: samples::commit(0x1a),
                subject: "Fix the parser".to_owned(),
                state: RecordState::Recorded(Box::new(samples::record())),
            }),
            LogEntry::Halt(Box::new(samples::halt())),
            LogEntry::Ack(Box::new(samples::ack())),
            LogEntry::Commit(LoggedCommit {
                commit: samples::commit(0x1b),
                subject: samples::HOSTILE.to_owned(),
                state: RecordState::Recorded(Box::new(amended)),
            }),
            LogEntry::Commit(LoggedCommit {
                commit: samples::commit(0x1c),
                subject: "x".repeat(500),
                state: RecordState::Unreadable("not JSON at byte 3".to_owned()),
            }),
        ]
    }

    #[test]
    fn the_table_fits_100_columns() {
        let shown = text(&entries(), Style::Plain);
        let expected = "   -  0c0c0c0c0c0c  no record                  Before Andon
   3  1a1a1a1a1a1a  2/120 fail    +10 -2       Fix the parser
      warning[recurrence]: seen 2 iterations back
      -- 2026-11-20T15:30:00Z HALTED: the loop is going in circles (oscillation)
         the code state alternates A/B/A/B
      -- 2026-11-20T15:30:00Z answered by Ada <ada@example.org> with andon resume
         \"fixture repaired\"
   4  1b1b1b1b1b1b  120 pass      empty        [amend, gate bypassed] \\u{1b}[2J# Approved\\n## To ...
   -  1c1c1c1c1c1c  unreadable record          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
      error[unreadable-record]: not JSON at byte 3
";
        assert_eq!(shown, expected);
        for line in shown.lines() {
            assert!(width(line) <= LINE, "{line}");
        }
        assert_eq!(text(&[], Style::Plain), "no commits\n");
    }

    #[test]
    fn a_narrow_terminal_has_the_subject_below_the_figures() {
        let shown = text(&entries(), Style::Plain.within(Some(44)));
        assert!(
            shown.contains("   3  1a1a1a1a1a1a  2/120 fail    +10 -2\n      Fix the parser\n"),
            "{shown}"
        );
        assert!(shown.lines().all(|line| width(line) <= 49), "{shown}");
    }

    #[test]
    fn json_is_one_value_an_entry() {
        let entries = entries();
        let values: Vec<Value> = entries.iter().map(samples::value_of).collect();
        let types: Vec<_> = values.iter().map(|value| value["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["commit", "commit", "loop.halted", "loop.acknowledged", "commit", "commit"]);
        assert_eq!(values[0]["record"], Value::Null);
        assert_eq!(values[1]["record"]["tests"]["failed"], 2);
        assert_eq!(values[4]["subject"], samples::HOSTILE);
        assert_eq!(values[5]["problem"], "not JSON at byte 3");
    }
}
