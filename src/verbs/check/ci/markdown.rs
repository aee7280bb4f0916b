//! The summary of a pull request's commits for its reviewer, in fewer than 60 lines of Markdown.

use super::code;
use crate::verbs::check::{text as check, text::Group};
use andon_core::domain::{Halt, Hint, Severity};
use andon_core::escape::{clip, code_span, fenced, markdown, shell_quote, terminal_clip};
use andon_engine::text::{Forge, Style, halt, page::command_of, phrase};
use andon_engine::view::{CheckOutcome, CheckReport, check::OPEN_HALT};

/// A hidden mark by which a bot finds the comment that it made before, and edits it.
const MARK: &str = "<!-- andon-check -->";
/// Rows of the table with the difference above it; head and foot take the rest of the 60 lines.
const ROWS: usize = 24;
/// Notes below it.
const NOTES: usize = 8;
/// Commits that a row names.
const COMMITS: usize = 3;
/// Lines of the difference that an open halt is about.
const DIFFERENCE: usize = 10;
/// Columns of one text.
const COLUMNS: usize = 300;

/// An open halt first, then a verdict and one table of messages, gravest first, as many as there is room for.
pub fn summary(report: &CheckReport, forge: &Forge, style: Style) -> String {
    let mut page = format!("{MARK}\n## {}\n\n", title(report));
    if let Some(halt) = &report.halt {
        page.push_str(&stuck(halt, forge, style));
    }
    let difference = difference(report);
    let rows = ROWS.saturating_sub(difference.lines().count());
    page.push_str(&difference);
    page.push_str(&format!("{}\n", subtitle(report, forge)));
    let groups = check::groups(report);
    // The open halt is above already.
    let shown = |group: &&Group<'_>| report.halt.is_none() || code(group.first) != OPEN_HALT;
    let (notes, graver): (Vec<_>, Vec<_>) =
        groups.iter().filter(shown).partition(|group| group.severity() == Severity::Note);
    if !graver.is_empty() {
        page.push_str("\n| | what | commits | what to do |\n|---|---|---|---|\n");
        for group in graver.iter().take(rows) {
            page.push_str(&row(group, forge));
        }
    }
    if graver.len() > rows {
        page.push_str(&format!("\nAnd {}.\n", phrase::count(graver.len() - rows, "more message")));
    }
    if !notes.is_empty() {
        page.push_str(&format!("\n<details><summary>{}</summary>\n\n", phrase::count(notes.len(), "note")));
        for group in notes.iter().take(NOTES) {
            page.push_str(&format!(
                "- {}: {}\n",
                code_span(&clip(code(group.first), 60)),
                text(&group.first.message)
            ));
        }
        page.extend(phrase::and_more(notes.len(), NOTES).map(|more| format!("- {more}\n")));
        page.push_str("\n</details>\n");
    }
    let again = if report.tests.is_some() { Hint::CheckTest } else { Hint::Check };
    let again = again.with([&shell_quote(&terminal_clip(&report.range, COLUMNS))]);
    page.push_str(&format!("\nReproduce with {}\n", code_span(&again)));
    page
}

fn title(report: &CheckReport) -> String {
    let commits = phrase::count(report.commits, "commit");
    if report.halt.is_some() {
        return "🛑 Andon: the loop on this branch is halted".to_owned();
    }
    let counted = check::counted(report);
    match report.outcome() {
        CheckOutcome::Fine if counted.is_empty() => format!("✅ Andon: {commits} checked"),
        CheckOutcome::Fine => format!("✅ Andon: {commits} checked, {counted}"),
        CheckOutcome::Violated => format!("❌ Andon: {counted} in {commits}"),
        CheckOutcome::Undecided => "❓ Andon: cannot decide, evidence is missing".to_owned(),
    }
}

/// The halt that is open at the tip: who is stuck with what, since when, at what cost, and how to answer.
fn stuck(halt: &Halt, forge: &Forge, style: Style) -> String {
    let summary = &halt.summary;
    let rule = code_span(&clip(&halt.rule, 60));
    let mut out = format!("**{}** ({rule}): {}.\n\n", text(&halt::headline(halt)), text(&halt::what(halt)));
    let states = summary.states();
    if halt::goes_round(halt) {
        for (_, step) in states.iter().take(COMMITS) {
            let commit = step.commit.map(|commit| forge.in_markdown(commit)).unwrap_or_default();
            out.push_str(&format!("- {} {commit} {}\n", step.letter().unwrap_or('?'), text(&step.subject)));
        }
    }
    for failing in summary.failing.iter().take(COMMITS) {
        out.push_str(&format!("- {}\n", code_span(&clip(&halt::failing(failing), COLUMNS))));
    }
    out.push_str(&format!("- since {}\n", text(&halt::since(halt, style))));
    if let Some(look) = halt::look(halt) {
        out.push_str(&format!("- look: {}\n", code_span(&look)));
    }
    out.push_str(&format!("- answer: a person decides, then runs {}\n\n", code_span(Hint::Answer.text())));
    out
}

/// The change to decide about, folded.
fn difference(report: &CheckReport) -> String {
    let Some(change) = report.change.as_ref().filter(|change| !change.lines.is_empty()) else {
        return String::new();
    };
    let lines = fenced("diff", &change.text(DIFFERENCE).join("\n"));
    format!("<details><summary>The difference</summary>\n\n{lines}\n</details>\n\n")
}

fn subtitle(report: &CheckReport, forge: &Forge) -> String {
    let range = code_span(&clip(&report.range, COLUMNS));
    let by = report
        .configuration
        .map(|commit| format!(", judged by `andon.toml` as of {}", forge.in_markdown(commit)));
    let mut line =
        format!("{} in {range}{}.", phrase::count(report.commits, "commit"), by.unwrap_or_default());
    if let Some(tests) = &report.tests {
        line.push_str(&format!(" The {}.", text(&check::tests_line(tests))));
    } else if let Some(tests) = &report.recorded {
        line.push_str(&format!(" Tests at the tip: {}.", text(&phrase::tests(tests))));
    }
    line
}

fn row(group: &Group<'_>, forge: &Forge) -> String {
    let first = group.first;
    let sign = match group.severity() {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Note => "ℹ️",
    };
    let mut commits: Vec<String> = group
        .commits
        .iter()
        .take(COMMITS)
        .map(|at| format!("{} {}", forge.in_markdown(at.commit), cell(&text(&clip(&at.subject, 60)))))
        .collect();
    commits.extend(phrase::and_more(group.commits.len(), COMMITS));
    let (code, what) = (code_span(&clip(code(first), 60)), text(&first.message));
    let help = first.help.first().map_or_else(String::new, |help| hint(help));
    format!("| {sign} | {}: {} | {} | {} |\n", cell(&code), cell(&what), commits.join("<br>"), cell(&help))
}

/// A hint with its command as code.
fn hint(help: &str) -> String {
    let help = clip(help, COLUMNS);
    let (words, command, rest) = command_of(&help);
    let command = if command.is_empty() { String::new() } else { code_span(command) };
    format!("{}{command}{}", markdown(words), markdown(rest))
}

/// A bar would end a cell, in code too.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A text of a stranger, in one line. Cut before it is escaped: a cut must not part an escape from what it escapes.
fn text(raw: &str) -> String {
    markdown(&clip(raw, COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::{Diagnostic, Level};
    use andon_engine::text::{ShownChange, ShownLine};
    use andon_testkit::samples;

    fn shown(report: &CheckReport) -> String {
        summary(report, &Forge::default(), Style::Plain)
    }

    #[test]
    fn a_reviewer_reads_what_is_wrong_and_what_to_do() {
        let mut violations: Vec<_> =
            (1..=5).map(|byte| about(byte, "missing-record", Level::Block)).collect();
        violations.push(about(20, "hook-bypass", Level::Warn));
        violations.push(about(21, "answered-halt", Level::Note));
        assert_eq!(
            shown(&report(violations)),
            "<!-- andon-check -->\n\
             ## ❌ Andon: 5 errors, 1 warning in 12 commits\n\
             \n\
             12 commits in `main..HEAD`, judged by `andon.toml` as of `abababababab`.\n\
             \n\
             | | what | commits | what to do |\n\
             |---|---|---|---|\n\
             | ❌ | `missing-record`: about missing-record | `010101010101` Change 1<br>`020202020202` Change 2<br>\
             `030303030303` Change 3<br>and 2 more | `andon sync` |\n\
             | ⚠️ | `hook-bypass`: about hook-bypass | `141414141414` Change 20 | `andon sync` |\n\
             \n\
             <details><summary>1 note</summary>\n\
             \n\
             - `answered-halt`: about answered-halt\n\
             \n\
             </details>\n\
             \n\
             Reproduce with `andon check main..HEAD`\n"
        );
    }

    #[test]
    fn an_open_halt_is_the_first_line() {
        let mut value = report(vec![about(1, "open-halt", Level::Block)]);
        value.halt = Some(Box::new(samples::stuck_halt()));
        let shown = shown(&value);
        let expected = "<!-- andon-check -->\n\
             ## 🛑 Andon: the loop on this branch is halted\n\
             \n\
             **coder is going in circles in src/retry.py** (`oscillation`): the last 4 commits switch between the same two \
             versions.\n\
             \n\
             - A `030303030303` Retry 3 times\n\
             - B `040404040404` Retry 5 times\n\
             - since 2026-11-20T15:20:00Z, 4 commits, 64k tokens, $0.84; tests: 52 passed\n\
             - look: `git diff 030303030303 040404040404`\n\
             - answer: a person decides, then runs `andon resume --reason '<decision>'`\n";
        assert!(shown.starts_with(expected), "{shown}");
        assert!(!shown.contains("| what |"), "said once: {shown}");
    }

    #[test]
    fn all_well_is_said_in_a_line() {
        assert_eq!(
            shown(&report(vec![])),
            "<!-- andon-check -->\n## ✅ Andon: 12 commits checked\n\n\
             12 commits in `main..HEAD`, judged by `andon.toml` as of `abababababab`.\n\n\
             Reproduce with `andon check main..HEAD`\n"
        );
        let mut unsure = report(vec![]);
        unsure.undecided.push(Diagnostic::error("there are no records").code("no-records"));
        assert!(shown(&unsure).contains("## ❓ Andon: cannot decide, evidence is missing\n"));
    }

    #[test]
    fn it_stays_below_sixty_lines() {
        let many = (1..=200)
            .flat_map(|code| {
                let level = if code % 2 == 0 { Level::Block } else { Level::Note };
                (1..=9).map(move |byte| about(byte, &format!("code-{code}"), level))
            })
            .collect();
        let mut value = report(many);
        value.halt = Some(Box::new(samples::stuck_halt()));
        let page = shown(&value);
        assert!(page.lines().count() < 60, "{page}");
        assert!(page.contains("And 76 more messages.\n"), "{page}");
        let lines = (1..80).map(|number| ShownLine::Added(number, "```".to_owned())).collect();
        let (before, after) = (None, samples::commit(4));
        value.change = Some(ShownChange { before, after, lines, is_cut: true, command: "git show 4".into() });
        let page = shown(&value);
        assert!(page.lines().count() < 60, "{page}");
        assert!(
            page.contains("\n````diff\n+    1  ```\n") && page.contains("And 94 more messages.\n"),
            "{page}"
        );
    }

    #[test]
    fn hostile_texts_are_shown() {
        let mut value = hostile();
        let mut halt = samples::stuck_halt();
        halt.rule.clone_from(&value.range);
        halt.summary.who = vec![value.range.clone()];
        halt.summary.steps.iter_mut().for_each(|step| step.subject.clone_from(&value.range));
        value.halt = Some(Box::new(halt));
        let shown = shown(&value);
        assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{shown}");
        assert!(!shown.contains("[c](d)\n") && !shown.contains("\n# "), "{shown}");
        for row in shown.lines().filter(|line| line.starts_with("| ")) {
            let bars = row.replace("\\|", "").matches('|').count();
            assert_eq!(bars, 5, "{row}");
        }
    }
}
