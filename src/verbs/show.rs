//! `andon show REV`: everything recorded about one commit.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{Exit, FormatArg, Shell};
use andon_core::domain::{CommitRecord, Diagnostic, Digest, Hint, Level, TestEvidence, Usage, Weakening};
use andon_core::escape::terminal_clip;
use andon_engine::text::{Page, Style, message, phrase};
use andon_engine::view::{LoggedCommit, RecordState};
use andon_engine::{Result, Workspace, json, range::Numbers};
use andon_store::NotesStore;

/// `andon show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The commit
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Shows one record in full.
pub fn run(shell: &Shell, args: &ShowArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let view = find(&ws, &args.revision)?;
    shell.show(args.format.format, "show", &view, |style| text(&view, style));
    Ok(Exit::Allowed)
}

/// Failing tests listed in the text; JSON has all that were recorded.
const FAILING: usize = 50;
/// Columns of a name.
const NAME: usize = 160;

/// One commit and its record. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ShowView {
    /// The commit with what is recorded about it.
    #[serde(flatten)]
    shown: LoggedCommit,
    /// sha256 of the record's line, which the next record names as `prev`.
    digest: Option<Digest>,
    /// Keys of a newer version, kept as they are.
    extra: BTreeMap<String, Value>,
}

/// Reads the record of a commit.
fn find(ws: &Workspace, revision: &str) -> Result<ShowView> {
    let commit = ws.repo.commit(ws.repo.resolve(revision)?)?;
    let store = NotesStore::open(&ws.repo)?;
    let (state, digest, extra) = match store.get(commit.id) {
        Ok(Some(stored)) => (
            RecordState::Recorded(Box::new(Numbers::new(ws, &store)?.on(commit.id, stored.record))),
            Some(stored.line_digest),
            stored.extra.into_members(),
        ),
        Ok(None) => (RecordState::Missing, None, BTreeMap::new()),
        Err(err) => (RecordState::Unreadable(err.to_string()), None, BTreeMap::new()),
    };
    let shown = LoggedCommit { commit: commit.id, subject: commit.subject, state };
    Ok(ShowView { shown, digest, extra })
}

/// The record for a person.
fn text(view: &ShowView, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.yellow(&format!("commit {}", view.shown.commit)));
    page.line(&format!("    {}", terminal_clip(&view.shown.subject, NAME)));
    page.blank();
    match &view.shown.state {
        RecordState::Recorded(record) => whole(&mut page, record),
        RecordState::Missing => {
            page.line("no record: the commit was made without Andon, or its note was not fetched");
        }
        RecordState::Unreadable(why) => {
            let help = Hint::ReadNotes.with([&view.shown.commit.short()]);
            let error = Diagnostic::error(why.clone()).code("unreadable-record").help(help);
            message::push(&mut page, &error);
        }
    }
    page.fields("record", view.digest.map(|digest| digest.to_string()));
    for (key, value) in &view.extra {
        let text = format!("{key} = {}", json::one_line(value));
        page.field("unknown", &terminal_clip(&text, NAME));
    }
    page.finish()
}

fn whole(page: &mut Page, record: &CommitRecord) {
    let marks = phrase::marks(record);
    let number = record.number().map(|number| number.to_string());
    page.field("iteration", number.as_deref().unwrap_or("none of its own"));
    page.field("node", &terminal_clip(&record.node, NAME));
    page.fields("session", record.session.as_ref().map(|session| terminal_clip(session, NAME)));
    page.field("kind", record.kind.as_str());
    let carried = record.carries.as_ref();
    page.fields("carries", carried.map(|it| format!("continues the attempt of {}", it.commit.short())));
    page.field("gate", record.gate.as_str());
    page.fields(
        "guards",
        (!record.guards.is_empty()).then(|| terminal_clip(&record.guards.join(", "), NAME)),
    );
    page.fields("worktree", record.worktree.as_ref().map(|worktree| terminal_clip(worktree, NAME)));
    page.field("recorded", &page.style.when(record.recorded_at));
    page.fields("note", (!marks.is_empty()).then(|| page.style.yellow(&marks.join(", "))));
    page.field("tree", &record.tree.to_string());
    page.field("parent", &or_none(record.parent.as_ref()));
    page.field("prev", &or_none(record.prev.line().as_ref()));
    page.field("code", &record.code.to_string());
    page.field("diff", &record.diff.hash.to_string());
    let cut = if record.diff.truncated { ", cut" } else { "" };
    let hunks = phrase::count(record.diff.hunks.len(), "hunk");
    page.field("", &format!("{}, {hunks}{cut}", phrase::diff(&record.diff)));
    match &record.tests {
        Some(evidence) => tests(page, evidence),
        None => page.field("tests", "none on this code"),
    }
    if let Some(found) = &record.weakening {
        weakening(page, found);
    }
    let style = page.style;
    page.fields("skipped", record.skipped.iter().map(|skip| style.yellow(&phrase::skip(skip))));
    for output in &record.outputs {
        page.field("output", &output.to_string());
    }
    page.fields("usage", record.usage.as_ref().map(usage_shown));
    findings(page, record);
}

fn or_none<T: ToString>(item: Option<&T>) -> String {
    item.map_or_else(|| "none".to_owned(), T::to_string)
}

fn tests(page: &mut Page, evidence: &TestEvidence) {
    let result = phrase::by_result(evidence, &phrase::tests(evidence), page.style);
    let runner = terminal_clip(&evidence.runner, 40);
    let result = format!("{result}{}", page.style.yellow(&phrase::remarks(evidence)));
    page.field("tests", &format!("{result}  ({}, {runner})", terminal_clip(&evidence.command, NAME)));
    page.field("", &format!("signature {}", evidence.signature));
    page.fields("", evidence.errors.map(|errors| format!("errors    {errors}")));
    ids(page, "failing", &evidence.failing[..evidence.failing.len().min(FAILING)]);
    page.fields("", phrase::and_more(evidence.failing.len(), FAILING));
    page.fields("", evidence.truncated.then_some("(the list was cut when it was recorded)"));
    ids(page, "gone", &evidence.lost.gone);
    ids(page, "skipped", &evidence.lost.skipped);
}

fn ids(page: &mut Page, how: &str, tests: &[String]) {
    page.fields("", tests.iter().map(|test| format!("{how:<9} {}", terminal_clip(test, NAME))));
}

fn weakening(page: &mut Page, found: &Weakening) {
    let parts =
        [("removed", &found.removed), ("skipped", &found.skipped), ("fewer assertions", &found.loosened)];
    let lines = |(how, names): (&'static str, &Vec<String>)| {
        names.iter().map(|name| format!("{how}: {}", terminal_clip(name, NAME))).collect::<Vec<_>>()
    };
    page.fields("weakened", parts.into_iter().flat_map(lines));
    let waiver = found.waiver.as_ref();
    page.fields("waived", waiver.map(|reason| format!("Tests-Removed: {}", terminal_clip(reason, NAME))));
}

fn usage_shown(usage: &Usage) -> String {
    let number = |label: &str, tokens: Option<u64>| tokens.map(|tokens| format!("{tokens} {label}"));
    let parts = [
        number("tokens in", usage.input_tokens),
        number("tokens out", usage.output_tokens),
        number("tokens in context", usage.context_tokens),
        usage.cost_usd.as_ref().map(|cost| format!("{} USD", terminal_clip(cost, 40))),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(", ")
}

fn findings(page: &mut Page, record: &CommitRecord) {
    let shown: Vec<_> = record.findings.iter().filter(|finding| finding.level > Level::Off).collect();
    if shown.is_empty() {
        return;
    }
    page.heading("Findings at the commit");
    for finding in shown {
        let diagnostic = Diagnostic::new(finding.level, finding.message.clone()).code(finding.rule.clone());
        message::push(page, &diagnostic);
    }
    page.blank();
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::CarriedAttempt;
    use andon_testkit::samples;

    fn view() -> ShowView {
        ShowView {
            shown: LoggedCommit {
                commit: samples::commit(0x1a),
                subject: "Fix the parser".to_owned(),
                state: RecordState::Recorded(Box::new(samples::record())),
            },
            digest: Some(Digest([7; 32])),
            extra: BTreeMap::from([("mood".to_owned(), Value::from("\u{1b}[2J"))]),
        }
    }

    #[test]
    fn the_text_is_the_whole_record() {
        let shown = text(&view(), Style::Plain);
        let expected = format!(
            "commit {commit}
    Fix the parser

  iteration  3
  node       agent
  kind       normal
  gate       passed
  recorded   2026-11-20T15:30:00Z
  tree       {tree}
  parent     {parent}
  prev       {prev}
  code       {code}
  diff       {diff}
             3 files, +10 -2, 0 hunks
  tests      2 of 120 failing  (cargo test, cargo)
             signature {signature}
             failing   suite::case_0
             failing   suite::case_1

Findings at the commit
warning[recurrence]: seen 2 iterations back

  record     {digest}
  unknown    mood = \"\\u001b[2J\"
",
            commit = "1a".repeat(20),
            tree = "2b".repeat(20),
            parent = "0c".repeat(20),
            prev = "06".repeat(32),
            code = "05".repeat(32),
            diff = "01".repeat(32),
            signature = "03".repeat(32),
            digest = "07".repeat(32),
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_moved_attempt_names_the_commit_that_it_was_made_by() {
        let mut moved = view();
        let mut record = samples::record();
        record.carries = Some(Box::new(CarriedAttempt::new(samples::commit(0x2c), &record)));
        moved.shown.state = RecordState::Recorded(Box::new(record));
        let shown = text(&moved, Style::Plain);
        let line = format!("\n  carries    continues the attempt of {}\n", samples::commit(0x2c).short());
        assert!(shown.contains(&line), "{shown}");
        let value = samples::value_of(&moved);
        let carries = &value["record"]["carries"];
        assert_eq!(carries["commit"], "2c".repeat(20));
        assert_eq!(carries["tests"]["failing"][0], "suite::case_0");
        assert!(samples::value_of(&view())["record"].get("carries").is_none());
    }

    #[test]
    fn a_missing_or_unreadable_record_is_said() {
        let mut missing = view();
        missing.shown.state = RecordState::Missing;
        missing.digest = None;
        missing.extra.clear();
        assert!(text(&missing, Style::Plain).ends_with("or its note was not fetched\n"));
        missing.shown.state = RecordState::Unreadable("not UTF-8\u{1b}".to_owned());
        let shown = text(&missing, Style::Plain);
        let help = format!("  help: git notes --ref=andon show {}\n", missing.shown.commit.short());
        assert!(
            shown.ends_with(&["error[unreadable-record]: not UTF-8\\u{1b}\n", &help].concat()),
            "{shown}"
        );
        assert_eq!(samples::value_of(&missing)["state"], "unreadable");
    }

    #[test]
    fn json_carries_the_record() {
        let view = view();
        let value = samples::value_of(&view);
        assert_eq!(value["record"]["iteration"], 3);
        assert_eq!(value["digest"], "07".repeat(32));
        assert_eq!(value["extra"]["mood"], "\u{1b}[2J");
    }
}
