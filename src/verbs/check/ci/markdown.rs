//! What a reviewer of a pull request needs to know of its commits, in fewer than 60 lines of Markdown.

use crate::verbs::check::{text as check, text::Group};
use crate::view::check::{CheckOutcome, CheckReport};
use andon_core::escape::{clip, code_span, markdown, shell_quote, terminal_clip};
use andon_engine::text::message::Severity;
use andon_engine::text::phrase;

use super::code;

/// Lines of the messages; head and foot take the rest of the 60.
const BUDGET: usize = 44;
/// Commits that a message names.
const COMMITS: usize = 3;
/// Columns of one text.
const COLUMNS: usize = 300;

/// A verdict, then the messages, gravest first, as many as there is room for.
pub fn summary(report: &CheckReport) -> String {
    let mut page = format!("## {}\n\n{}\n", title(report), subtitle(report));
    if let Some(tests) = &report.tests {
        page.push_str(&format!("\n{}.\n", text(&check::tests_line(tests))));
    }
    let groups = check::groups(report);
    let mut left = BUDGET;
    let mut shown = 0;
    for lines in groups.iter().map(|group| item(group)) {
        let Some(rest) = left.checked_sub(lines.len()) else { break };
        left = rest;
        shown += 1;
        page.push_str(&format!("\n{}", lines.join("\n")));
    }
    if shown > 0 {
        page.push('\n');
    }
    if shown < groups.len() {
        page.push_str(&format!("- and {}\n", phrase::count(groups.len() - shown, "more message")));
    }
    let test = if report.tests.is_some() { "--test " } else { "" };
    let again = format!("andon check {test}{}", shell_quote(&terminal_clip(&report.range, COLUMNS)));
    page.push_str(&format!("\nDerived from the commits; again by {}\n", code_span(&again)));
    page
}

fn title(report: &CheckReport) -> String {
    match report.outcome() {
        CheckOutcome::Fine => match check::counted(report) {
            none if none.is_empty() => "Andon: in order".to_owned(),
            some => format!("Andon: in order, {some}"),
        },
        CheckOutcome::Violated => format!("Andon: {}", check::counted(report)),
        CheckOutcome::Undecided => "Andon: cannot decide, evidence is missing".to_owned(),
    }
}

fn subtitle(report: &CheckReport) -> String {
    let range = code_span(&clip(&report.range, COLUMNS));
    let by = report.configuration.map(|commit| format!(", by the configuration of `{}`", commit.short()));
    format!("{} in {range}{}.", phrase::count(report.commits, "commit"), by.unwrap_or_default())
}

fn item(group: &Group<'_>) -> Vec<String> {
    let first = group.first;
    let word = match group.severity() {
        Severity::Error => "**error**",
        Severity::Warning => "**warning**",
        Severity::Note => "note",
    };
    let many = match group.commits.len() {
        0 | 1 => String::new(),
        many => format!(" ({})", andon_core::domain::counted::count(many, "commit")),
    };
    let code = code_span(&clip(code(first), 60));
    let mut lines = vec![format!("- {word} {code}: {}{many}", text(&first.message))];
    let commits = group.commits.iter().take(COMMITS);
    lines.extend(commits.map(|at| format!("  - `{}` {}", at.commit.short(), text(&at.subject))));
    if group.commits.len() > COMMITS {
        lines.push(format!("  - and {} more", group.commits.len() - COMMITS));
    }
    if let Some(help) = first.help.first() {
        lines.push(format!("  - help: {}", text(help)));
    }
    lines
}

/// A text of a stranger, in one line. Cut before it is escaped: a cut must not part an escape from what it escapes.
fn text(raw: &str) -> String {
    markdown(&clip(raw, COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::diagnostic::Diagnostic;
    use andon_core::domain::findings::Level;

    #[test]
    fn a_reviewer_reads_what_is_wrong_and_what_to_do() {
        let mut violations: Vec<_> =
            (1..=5).map(|byte| about(byte, "missing-record", Level::Block)).collect();
        violations.push(about(20, "hook-bypass", Level::Warn));
        assert_eq!(
            summary(&report(violations)),
            "## Andon: 5 errors, 1 warning\n\
             \n\
             12 commits in `main..HEAD`, by the configuration of `abababababab`.\n\
             \n\
             - **error** `missing-record`: about missing-record (5 commits)\n\
             \x20 - `010101010101` Change 1\n\
             \x20 - `020202020202` Change 2\n\
             \x20 - `030303030303` Change 3\n\
             \x20 - and 2 more\n\
             \x20 - help: andon sync\n\
             - **warning** `hook-bypass`: about hook-bypass\n\
             \x20 - `141414141414` Change 20\n\
             \x20 - help: andon sync\n\
             \n\
             Derived from the commits; again by `andon check main..HEAD`\n"
        );
    }

    #[test]
    fn all_well_is_said_in_a_line() {
        assert_eq!(
            summary(&report(vec![])),
            "## Andon: in order\n\n12 commits in `main..HEAD`, by the configuration of `abababababab`.\n\n\
             Derived from the commits; again by `andon check main..HEAD`\n"
        );
        let mut unsure = report(vec![]);
        unsure.undecided.push(Diagnostic::error("there are no records").code("no-records"));
        assert!(summary(&unsure).starts_with("## Andon: cannot decide, evidence is missing\n"));
    }

    #[test]
    fn it_stays_below_sixty_lines() {
        let many = (1..=200)
            .flat_map(|code| (1..=9).map(move |byte| about(byte, &format!("code-{code}"), Level::Block)))
            .collect();
        let shown = summary(&report(many));
        assert!(shown.lines().count() < 60, "{shown}");
        assert!(shown.contains("- and 193 more messages\n"), "{shown}");
    }

    #[test]
    fn hostile_texts_are_shown() {
        let shown = summary(&hostile());
        assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{shown}");
        assert!(!shown.contains("[c](d)\n") && !shown.contains("\n# "), "{shown}");
        for line in shown.lines().filter(|line| !line.is_empty()) {
            assert!(
                ["## ", "- ", "  - ", "12 ", "Derived"].iter().any(|head| line.starts_with(head)),
                "{line}"
            );
        }
    }
}
