//! `andon complete`: the dirty bits, and whether the task may be called done (docs/spec-map.md, loop rules:
//! Dirty Bit Checks).

use super::message;
use super::page::Page;
use super::phrase;
use super::style::Style;
use crate::domain::diagnostic::Diagnostic;
use crate::wire::v1::output::{BitsJson, CompleteJson};

/// A question that may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenQuestion {
    /// The answer is yes, by what is recorded.
    Yes,
    /// The answer is no, by what is recorded.
    No,
    /// Not known, or does not apply.
    Unknown,
}

impl OpenQuestion {
    fn known(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "not known",
        }
    }
}

/// The dirty bits. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteView {
    /// There is code that is not committed.
    pub code_modified: OpenQuestion,
    /// The tests ran on exactly this code.
    pub tests_run: OpenQuestion,
    /// They pass.
    pub tests_passing: OpenQuestion,
    /// Documents moved with the declared API.
    pub docs_updated: OpenQuestion,
    /// Why the bits that stand in the way are as they are.
    pub reasons: Reasons,
    /// Whether the task may be called done.
    pub can_complete: OpenQuestion,
    /// What to do first when it may not.
    pub prompt: Option<String>,
    /// What stands in the way.
    pub problems: Vec<Diagnostic>,
}

/// Why a bit is not as it has to be; `None` where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Of `tests_run`.
    pub tests_run: Option<String>,
    /// Of `tests_passing`.
    pub tests_passing: Option<String>,
    /// Of `docs_updated`.
    pub docs_updated: Option<String>,
}

/// The dirty bits for a person.
pub fn text(view: &CompleteView, style: Style) -> String {
    let mut page = Page::new(style);
    let Reasons { tests_run, tests_passing, docs_updated } = &view.reasons;
    let bits = [
        ("code modified", view.code_modified, &None),
        ("tests run", view.tests_run, tests_run),
        ("tests passing", view.tests_passing, tests_passing),
        ("docs updated", view.docs_updated, docs_updated),
    ];
    for (label, answer, reason) in bits {
        let reason =
            reason.as_ref().map(|reason| format!(": {}", phrase::message(reason))).unwrap_or_default();
        page.line(&format!("  {label:<15}{}{reason}", answer.word()));
    }
    for problem in &view.problems {
        message::push(&mut page, problem);
    }
    if let Some(prompt) = &view.prompt {
        page.line(&phrase::message(prompt));
    }
    page.line(&match view.can_complete {
        OpenQuestion::Yes => style.green("the task can be completed"),
        OpenQuestion::No => style.red("the task cannot be completed"),
        OpenQuestion::Unknown => style.yellow("whether the task can be completed is not known"),
    });
    page.finish()
}

/// The dirty bits for a program: `andon/complete@1`; what is not known is `null`.
pub fn json(view: &CompleteView) -> CompleteJson<'_> {
    let reasons = &view.reasons;
    CompleteJson {
        schema: "andon/complete@1",
        dirty_bits: BitsJson {
            code_modified: view.code_modified.known(),
            tests_run: view.tests_run.known(),
            tests_passing: view.tests_passing.known(),
            docs_updated: view.docs_updated.known(),
        },
        reasons: BitsJson {
            code_modified: None,
            tests_run: reasons.tests_run.as_deref(),
            tests_passing: reasons.tests_passing.as_deref(),
            docs_updated: reasons.docs_updated.as_deref(),
        },
        can_complete: view.can_complete.known(),
        prompt: view.prompt.as_deref(),
        problems: super::json::diagnostics(&view.problems),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples::value_of;
    use super::*;

    fn view() -> CompleteView {
        CompleteView {
            code_modified: OpenQuestion::Yes,
            tests_run: OpenQuestion::No,
            tests_passing: OpenQuestion::Unknown,
            docs_updated: OpenQuestion::Unknown,
            reasons: Reasons {
                tests_run: Some("the code was modified and the tests have not run on it".to_owned()),
                ..Reasons::default()
            },
            can_complete: OpenQuestion::No,
            prompt: Some(
                "You modified code but haven't run tests. Run tests now with: andon test".to_owned(),
            ),
            problems: vec![],
        }
    }

    #[test]
    fn bits_in_words() {
        let expected = "  code modified  yes
  tests run      no: the code was modified and the tests have not run on it
  tests passing  not known
  docs updated   not known
You modified code but haven't run tests. Run tests now with: andon test
the task cannot be completed
";
        assert_eq!(text(&view(), Style::Plain), expected);
    }

    #[test]
    fn bits_in_json() {
        let value = value_of(&json(&view()));
        assert_eq!(
            value["dirty_bits"],
            json!({ "code_modified": true, "tests_run": false, "tests_passing": null, "docs_updated": null })
        );
        assert_eq!(value["can_complete"], false);
    }
}
