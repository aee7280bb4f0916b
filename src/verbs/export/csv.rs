//! CSV as RFC 4180 has it: a line a commit, whether or not it has a record.

use super::plain;
use andon_core::domain::{CommitRecord, Counts, Level, Recording};
use andon_engine::view::{HistoryCommit, HistoryView};

const COLUMNS: &str = "commit,committed_at,state,iteration,node,session,kind,gate,recorded,tests,tests_total,tests_passed,\
    tests_failing,tests_skipped,files,added,removed,warnings,halt,skipped,input_tokens,output_tokens,cost_usd,subject";

/// A heading, then the commits in the order of the range.
pub fn table(view: &HistoryView) -> String {
    let mut text = format!("{COLUMNS}\r\n");
    for commit in &view.commits {
        let halts = view.halts.iter().filter(|last| last.halt.head == Some(commit.commit));
        let halted: Vec<&str> = halts.map(|last| last.halt.rule.as_str()).collect();
        text.push_str(&line(&cells(commit, &halted.join(" "))));
    }
    text
}

fn cells(commit: &HistoryCommit, halted: &str) -> Vec<String> {
    let mut cells = vec![commit.commit.to_string(), commit.at.to_string(), commit.state.name().to_owned()];
    match commit.state.record() {
        Some(record) => cells.extend(of_record(record, halted)),
        None => cells.resize(COLUMNS.split(',').count() - 1, String::new()),
    }
    cells.push(commit.subject.clone());
    cells
}

fn of_record(record: &CommitRecord, halted: &str) -> Vec<String> {
    let tests = record.tests.as_ref();
    let count =
        |of: fn(&Counts) -> u64| tests.map(|tests| of(&tests.counts()).to_string()).unwrap_or_default();
    let warnings = record.findings.iter().filter(|finding| finding.level >= Level::Warn);
    let usage = record.usage.as_ref();
    let tokens = |of: Option<u64>| of.map(|tokens| tokens.to_string()).unwrap_or_default();
    vec![
        record.number().map(|number| number.to_string()).unwrap_or_default(),
        record.node.clone(),
        record.session.clone().unwrap_or_default(),
        record.kind.as_str().to_owned(),
        record.gate.as_str().to_owned(),
        recorded(record.recording).to_owned(),
        tests.map(|tests| tests.status.as_str().to_owned()).unwrap_or_default(),
        count(|counts| counts.total),
        count(|counts| counts.passed),
        count(Counts::failing),
        count(|counts| counts.skipped),
        record.diff.files.to_string(),
        record.diff.added.to_string(),
        record.diff.removed.to_string(),
        warnings.map(|finding| finding.rule.as_str()).collect::<Vec<_>>().join(" "),
        halted.to_owned(),
        record.skipped.iter().map(|skip| skip.rule.as_str()).collect::<Vec<_>>().join(" "),
        tokens(usage.and_then(|usage| usage.input_tokens)),
        tokens(usage.and_then(|usage| usage.output_tokens)),
        usage.and_then(|usage| usage.cost_usd.clone()).unwrap_or_default(),
    ]
}

fn recorded(recording: Recording) -> &'static str {
    match recording {
        Recording::AtCommit => "at-commit",
        Recording::CaughtUp | Recording::Patched => "later",
        Recording::Moved => "moved",
        Recording::Backfilled => "backfilled",
        Recording::Derived => "derived",
    }
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("{}\r\n", cells.join(","))
}

/// A spreadsheet takes a text for a formula by how it begins; an apostrophe before it makes it a text. Numbers of ours
/// have no sign.
fn cell(raw: &str) -> String {
    let text = plain(raw);
    let guard =
        if text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with('\\') { "'" } else { "" };
    if text.contains([',', '"', ';']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::view;
    use super::*;

    #[test]
    fn every_line_has_every_column() {
        let shown = table(&view("Fix, \"it\""));
        let lines: Vec<&str> = shown.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], COLUMNS);
        assert_eq!(
            lines[1],
            format!("{},2026-11-20T15:30:00Z,missing{}\"Fix, \"\"it\"\"\"", "09".repeat(20), ",".repeat(21))
        );
        assert_eq!(
            lines[3],
            format!(
                "{},2026-11-20T15:33:00Z,recorded,3,agent,s-1,normal,passed,at-commit,failed,120,118,2,0,3,10,2,\
                 recurrence,oscillation,,10,,0.5,\"Fix, \"\"it\"\"\"",
                "02".repeat(20)
            )
        );
    }

    #[test]
    fn no_text_is_a_formula_or_another_line() {
        for (text, shown) in [
            ("=HYPERLINK(\"http://evil\")", "\"'=HYPERLINK(\"\"http://evil\"\")\""),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM", "'@SUM"),
            (" =1", "\"' =1\""),
            ("\t=1", "'\\t=1"),
            ("a\r\nb", "a\\r\\nb"),
            ("a;b", "\"a;b\""),
            ("plain - text", "plain - text"),
        ] {
            assert_eq!(cell(text), shown);
        }
    }
}
