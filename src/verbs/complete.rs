//! `andon complete`: the dirty bits, and whether the task may be called done (docs/spec-map.md, loop rules: Dirty Bit Checks).

use crate::cli::{Shell, error::Exit, format_arg::FormatArg, output::Format};
use crate::json::printing as json;
use andon_core::domain::{diagnostic::Diagnostic, findings::Level};
use andon_engine::text::{message, phrase};
use andon_engine::view::complete::{CompleteView, OpenQuestion, Reasons};
use andon_engine::{
    context::Context, error::OpsError, gate::completion, recording::bound, text::page::Page,
    text::style::Style, workspace::Workspace,
};
use serde_json::{Value, json};

/// Says whether the task may be called done; undecided where the tests ran and there was none.
pub fn run(shell: &Shell, args: &FormatArg) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let view = judged(&shell.ctx, &ws)?;
    shell.out.result(&match args.format {
        Format::Text => text(&view, shell.out.out),
        Format::Json => json::line(&json(&view)),
    });
    Ok(match view.can_complete {
        OpenQuestion::Yes => Exit::Allowed,
        OpenQuestion::No => Exit::Refused,
        OpenQuestion::Unknown => Exit::Undecided,
    })
}

/// Judges the working tree as it is now. For a person whom the guard does not bind, it reports what is open and refuses nothing.
fn judged(ctx: &Context, ws: &Workspace) -> Result<CompleteView, OpsError> {
    let view = completion::view(ctx, ws)?;
    if bound::binds(ctx, ws) {
        return Ok(view);
    }
    let problems = view.problems.into_iter().map(|problem| Diagnostic { level: Level::Note, ..problem });
    Ok(CompleteView { can_complete: OpenQuestion::Yes, prompt: None, problems: problems.collect(), ..view })
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
fn json(view: &CompleteView) -> Value {
    let reasons = &view.reasons;
    json!({
        "schema": "andon/complete@1",
        "dirty_bits": {
            "code_modified": view.code_modified.known(),
            "tests_run": view.tests_run.known(),
            "tests_passing": view.tests_passing.known(),
            "docs_updated": view.docs_updated.known(),
        },
        "reasons": {
            "code_modified": null,
            "tests_run": reasons.tests_run,
            "tests_passing": reasons.tests_passing,
            "docs_updated": reasons.docs_updated,
        },
        "can_complete": view.can_complete.known(),
        "prompt": view.prompt,
        "problems": json::diagnostics(&view.problems),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples::value_of;
    use serde_json::json;

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
