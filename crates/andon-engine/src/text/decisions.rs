//! The decisions of people, for the worker who goes on with them: the words first, then why, by whom and when.

use andon_core::domain::HumanDecision;
use andon_core::escape::{clip, markdown, terminal_block, terminal_clip};

/// Most characters of what is to be done, and of a reason.
const WORDS: usize = 4096;
/// Columns of a question, and of names.
const QUESTION: usize = 200;
const NAMES: usize = 120;

/// For a model: who decided what about which question, then the words as they were given.
pub fn for_the_worker(decided: &HumanDecision) -> String {
    let mut out = format!(
        "DECIDED by {} at {} ({}), about: {}\n{}",
        terminal_clip(&decided.by.join(", "), NAMES),
        decided.at,
        terminal_clip(&decided.decision, 40),
        terminal_clip(first_line(&decided.question), QUESTION),
        cut(terminal_block(decided.instruction()).trim())
    );
    if let Some(why) = why(decided) {
        out.push_str(&format!("\nwhy: {}", cut(terminal_block(why).trim())));
    }
    out.push_str("\nDo this first.");
    out
}

/// For a file in Markdown: the words as a quotation.
pub fn in_markdown(decided: &HumanDecision) -> Vec<String> {
    let quoted = |text: &str| -> Vec<String> {
        let text = cut(text.trim());
        text.lines().map(|line| format!("> {}", markdown(line)).trim_end().to_owned()).collect()
    };
    let by = markdown(&clip(&decided.by.join(", "), NAMES));
    let about = markdown(&clip(first_line(&decided.question), QUESTION));
    let mut lines = vec![
        format!("{by} at {}, {}: {about}", decided.at, markdown(&clip(&decided.decision, 40))),
        String::new(),
    ];
    lines.extend(quoted(decided.instruction()));
    if let Some(why) = why(decided) {
        lines.extend([String::new(), "Why:".to_owned(), String::new()]);
        lines.extend(quoted(why));
    }
    lines
}

/// On one line, for a person.
pub fn in_short(decided: &HumanDecision, columns: usize) -> String {
    let words = terminal_clip(decided.instruction(), columns);
    format!(
        "{words} ({}, by {})",
        terminal_clip(&decided.decision, 40),
        terminal_clip(&decided.by.join(", "), NAMES)
    )
}

/// The reason, where it is not the decision itself.
fn why(decided: &HumanDecision) -> Option<&str> {
    decided.words.as_ref().map(|_| decided.rationale.as_str()).filter(|why| !why.trim().is_empty())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn cut(text: &str) -> String {
    text.chars().take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    fn amended() -> HumanDecision {
        HumanDecision {
            round: "1a2b3c4d".into(),
            question: "which parser?\nand why".into(),
            decision: "amend".into(),
            words: Some("Use the hand-written parser.\nKeep *both* tests.".into()),
            rationale: "the table is wrong".into(),
            by: vec!["human:ada".into()],
            at: samples::at(),
        }
    }

    #[test]
    fn the_words_arrive_as_they_were_given() {
        let text = for_the_worker(&amended());
        assert!(
            text.contains("\nUse the hand-written parser.\nKeep *both* tests.\nwhy: the table is wrong\n"),
            "{text}"
        );
        assert!(
            text.starts_with("DECIDED by human:ada at ") && text.contains("about: which parser?\n"),
            "{text}"
        );
        let lines = in_markdown(&amended());
        assert!(lines[2].starts_with("> ") && lines[3].starts_with("> "), "{lines:?}");
    }

    #[test]
    fn without_words_the_reason_is_the_instruction() {
        let resumed = HumanDecision { words: None, decision: "resume".into(), ..amended() };
        let text = for_the_worker(&resumed);
        assert!(text.contains("\nthe table is wrong\nDo this first."), "{text}");
        assert!(!text.contains("why:"), "{text}");
        assert!(in_short(&resumed, 80).starts_with("the table is wrong (resume, by human:ada)"));
    }

    #[test]
    fn hostile_texts_are_harmless_and_bounded() {
        let huge = samples::HOSTILE.repeat(3_000);
        let hostile = HumanDecision {
            words: Some(huge.clone()),
            rationale: huge.clone(),
            question: huge.clone(),
            by: vec![huge],
            ..amended()
        };
        let text = for_the_worker(&hostile);
        assert!(
            text.chars().count() < 10_000
                && !text.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c))
        );
        let lines = in_markdown(&hostile);
        assert!(lines.iter().all(|line| !line.starts_with('#')), "{lines:?}");
    }
}
