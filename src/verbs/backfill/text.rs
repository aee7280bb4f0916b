//! `andon backfill`: how many commits got a record.

use crate::verbs::backfill::view::BackfillReport;
use andon_core::escape::terminal_clip;
use andon_engine::text::phrase;

/// The outcome of a backfill as one line for a terminal.
pub fn text(report: &BackfillReport) -> String {
    let there = match report.there {
        0 => "none had a record yet".to_owned(),
        there => format!("{} already had a record", phrase::count(there, "commit")),
    };
    let mut line = format!(
        "backfilled {} of {}; {there}",
        phrase::count(report.written, "record"),
        terminal_clip(&report.range, 100),
    );
    if report.left > 0 {
        line.push_str(&format!("; {} left", phrase::count(report.left, "commit")));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_testkit::samples::value_of;

    #[test]
    fn one_line_says_what_was_written_and_what_is_left() {
        let mut report = BackfillReport { range: "HEAD".to_owned(), written: 3, there: 1, left: 0 };
        assert_eq!(text(&report), "backfilled 3 records of HEAD; 1 commit already had a record\n");
        report.left = 2;
        assert_eq!(
            text(&report),
            "backfilled 3 records of HEAD; 1 commit already had a record; 2 commits left\n"
        );
        assert_eq!(value_of(&report), json!({ "range": "HEAD", "written": 3, "there": 1, "left": 2 }));
    }
}
