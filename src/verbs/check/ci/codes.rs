//! What each code of a message means, for readers that show rules by themselves: the rules say it of theirs, and this table
//! of what `check` alone finds.

use andon_core::detect;
use andon_core::domain::findings::Level;
use andon_engine::text::message::Severity;

/// A code as a reader of results shows it.
pub(super) struct CodeText {
    /// In one sentence.
    pub(super) summary: String,
    /// All that is to be known of it.
    pub(super) help: String,
    /// The page about it.
    pub(super) page: String,
    /// How grave it is where nothing is configured.
    pub(super) severity: Severity,
}

/// What is known of `code`.
pub(super) fn lookup(code: &str) -> CodeText {
    let pages = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");
    if let Some(rule) = detect::rule(code) {
        let docs = rule.docs();
        return CodeText {
            summary: rule.summary.to_owned(),
            help: format!("{}\n\n{}\n\nExample: {}", docs.trips, docs.why, docs.example),
            page: format!("{pages}/rules/{code}.md"),
            severity: rule.level.into(),
        };
    }
    let known = OF_CHECK.iter().find(|(known, ..)| *known == code);
    let (summary, level) =
        known.map_or(("a message of andon check", Level::Warn), |(_, summary, level)| (*summary, *level));
    CodeText {
        summary: summary.to_owned(),
        help: format!("{summary}. What andon check looks at, and what helps: docs/ci.md."),
        page: format!("{pages}/ci.md"),
        severity: level.into(),
    }
}

/// The codes of `check`, each with a sentence and its usual level.
const OF_CHECK: &[(&str, &str, Level)] = &[
    ("agent-answer", "a halt was answered by deleting its file in the shell of an agent", Level::Block),
    ("answered-halt", "a halt of this range was answered", Level::Note),
    ("broken-chain", "a record does not follow the record of its parent", Level::Block),
    ("carried-evidence", "tests of another commit were carried over", Level::Warn),
    ("chain-begins-anew", "the chain of records begins anew within the range", Level::Warn),
    ("clock-set-back", "a record is older than that of its parent", Level::Warn),
    ("config-added", "the configuration was added within the range", Level::Warn),
    ("config-changed", "the configuration was changed within the range", Level::Warn),
    ("config-older", "the configuration of the base needs another version", Level::Warn),
    ("config-removed", "the configuration was removed within the range", Level::Block),
    ("contradicting-records", "several records of one commit contradict each other", Level::Block),
    ("edited-record", "a record does not say what the commit says", Level::Block),
    ("gate-not-run", "the gate did not run for a commit", Level::Warn),
    ("grafted-history", "grafts change what the history looks like", Level::Block),
    ("halted-commit", "a commit was made while the loop was halted", Level::Block),
    ("handed-in-tests", "a test result was submitted from elsewhere", Level::Warn),
    ("interrupted", "the check was stopped before its end", Level::Block),
    ("late-record", "a record was written later than its commit", Level::Warn),
    ("missing-ledger", "an entry that a record names is missing from the ledger", Level::Block),
    ("missing-record", "a commit has no record", Level::Block),
    ("no-records", "there are no records to check", Level::Block),
    ("not-the-squash", "a commit is not the squash of the range", Level::Block),
    ("open-halt", "the loop on this branch is halted, and no person has answered", Level::Block),
    ("other-author", "a commit has another author than its record", Level::Warn),
    ("other-paths", "other path rules were used for a record", Level::Warn),
    ("other-test-command", "another test command was run", Level::Warn),
    ("partial-clone", "objects that are needed are not in this clone", Level::Block),
    ("partial-record", "a record does not hold everything", Level::Warn),
    ("replaced-object", "an object of the history is replaced", Level::Block),
    ("shallow-clone", "the history that is needed is cut off in this clone", Level::Block),
    ("skipped-rule", "a rule was skipped for a commit", Level::Warn),
    ("test-command-changed", "the test command was changed within the range", Level::Warn),
    ("tip-tested", "the tests at the tip decide", Level::Note),
    ("tip-untested", "the tests at the tip did not run", Level::Block),
    ("unguarded-agent", "a commit of an agent was made without the hooks of its client", Level::Warn),
    ("unreadable-ledger", "an entry of the ledger cannot be read", Level::Block),
    ("unreadable-record", "a record cannot be read", Level::Block),
    ("unrecorded-halt", "a rule halts here, and the ledger has no such halt", Level::Block),
    ("untested-code", "no tests ran on the code of a commit", Level::Block),
    ("untested-squash", "the squash has other code than what was tested", Level::Block),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence_and_a_page() {
        let mut codes: Vec<&str> = OF_CHECK.iter().map(|(code, ..)| *code).collect();
        let sorted = codes.clone();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes, sorted, "sorted, and each once");
        for code in codes.into_iter().chain(detect::REGISTRY.iter().map(|rule| rule.id)).chain(["new-code"]) {
            let text = lookup(code);
            assert!(!text.summary.is_empty() && text.help.len() >= text.summary.len(), "{code}");
            assert!(text.page.starts_with("https://"), "{code}");
        }
        assert!(lookup("oscillation").page.ends_with("rules/oscillation.md"));
    }
}
