//! `andon complete`: the dirty bits, and whether the task may be called done (docs/spec-map.md, loop rules:
//! Dirty Bit Checks).

use crate::json::{BitsJson, CompleteJson};
use andon_engine::text::message;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;
use andon_engine::view::complete::{CompleteView, OpenQuestion, Reasons};

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
        problems: crate::report::json::diagnostics(&view.problems),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_testkit::samples::value_of;

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
