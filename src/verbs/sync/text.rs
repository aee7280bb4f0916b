//! `andon sync`: what went over, and what was found on the other side.

use andon_engine::view::sync::{SyncReport, TransferCounts};

use crate::json::SyncJson;
use crate::report::json;
use andon_core::escape::terminal_clip;
use andon_engine::text::message;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;

/// The report for a person: what was found wrong, and one line.
pub fn text(report: &SyncReport, style: Style) -> String {
    let mut page = Page::new(style);
    for one in &report.found {
        message::push(&mut page, one);
    }
    let parts: Vec<String> = [(report.received, "received"), (report.sent, "sent")]
        .into_iter()
        .filter_map(|(moved, way)| Some(format!("{} {way}", words(moved)?)))
        .chain(
            (report.folded > 0).then(|| format!("{} folded", phrase::count(report.folded, "silent writer"))),
        )
        .collect();
    let what = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    page.line(&format!("synced with {}: {what}", terminal_clip(&report.remote, 100)));
    page.finish()
}

fn words(moved: TransferCounts) -> Option<String> {
    let records = (moved.records > 0).then(|| phrase::count(moved.records, "record"));
    let entries = (moved.entries > 0).then(|| phrase::count(moved.entries, "ledger entry"));
    let parts: Vec<String> = records.into_iter().chain(entries).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// The report for a program: `andon/sync@1`.
pub fn json(report: &SyncReport) -> SyncJson<'_> {
    SyncJson {
        schema: "andon/sync@1",
        remote: &report.remote,
        received: report.received,
        sent: report.sent,
        folded: report.folded,
        retries: report.retries,
        found: json::diagnostics(&report.found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::diagnostic::Diagnostic;

    #[test]
    fn one_line_says_what_went_over() {
        let mut report = SyncReport { remote: "origin".to_owned(), ..SyncReport::default() };
        assert_eq!(text(&report, Style::Plain), "synced with origin: nothing new\n");
        report.received = TransferCounts { records: 1, entries: 2 };
        report.sent = TransferCounts { records: 0, entries: 1 };
        report.found.push(Diagnostic::warning("odd").code("x").help("do"));
        assert_eq!(
            text(&report, Style::Plain),
            "warning[x]: odd\n  help: do\n\
             synced with origin: 1 record and 2 ledger entries received, 1 ledger entry sent\n"
        );
        let value = andon_testkit::samples::value_of(&json(&report));
        assert_eq!(value["received"], serde_json::json!({"records": 1, "ledger_entries": 2}));
        assert_eq!(value["found"][0]["code"], "x");
    }
}
