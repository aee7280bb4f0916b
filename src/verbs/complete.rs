//! `andon complete`: the dirty bits, and whether the task may be called done (docs/spec-map.md, loop rules: Dirty Bit Checks).

use serde_json::{Value, json};

use crate::cli::{Exit, FormatArg, Shell};
use crate::setup::live;
use andon_core::domain::{Diagnostic, Level};
use andon_core::policy::{Bit, BitReasons};
use andon_engine::text::{Page, Style, message, phrase};
use andon_engine::{Context, Result, Workspace, gate::completion, recording::bound, view::CompleteView};

/// Says whether the task may be called done; undecided where the tests ran and there was none.
pub fn run(shell: &Shell, args: &FormatArg) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let mut view = judged(&shell.ctx, &ws)?;
    view.problems.extend(live::warning(&shell.ctx, &ws.repo));
    shell.show(args.format, "complete", &json(&view), |style| text(&view, style));
    Ok(match view.can_complete {
        Bit::Yes => Exit::Allowed,
        Bit::No => Exit::Refused,
        Bit::Unknown => Exit::Undecided,
    })
}

/// Judges the working tree as it is now. For a person whom the guard does not bind, it reports what is open and refuses nothing.
fn judged(ctx: &Context, ws: &Workspace) -> Result<CompleteView> {
    let view = completion::view(ctx, ws)?;
    if bound::binds(ctx, ws) {
        return Ok(view);
    }
    let problems = view.problems.into_iter().map(|problem| Diagnostic { level: Level::Note, ..problem });
    Ok(CompleteView { can_complete: Bit::Yes, prompt: None, problems: problems.collect(), ..view })
}

/// The dirty bits for a person.
pub fn text(view: &CompleteView, style: Style) -> String {
    let mut page = Page::new(style);
    let BitReasons { tests_run, tests_passing, docs_updated } = &view.reasons;
    let bits = &view.bits;
    let shown = [
        ("code modified", bits.code_modified, &None),
        ("tests run", bits.tests_run, tests_run),
        ("tests passing", bits.tests_passing, tests_passing),
        ("docs updated", bits.docs_updated.unwrap_or(Bit::Unknown), docs_updated),
    ];
    for (label, bit, reason) in shown {
        let reason =
            reason.as_ref().map(|reason| format!(": {}", phrase::message(reason))).unwrap_or_default();
        let word = match bit {
            Bit::Yes => "yes",
            Bit::No => "no",
            Bit::Unknown => "not known",
        };
        page.line(&format!("  {label:<15}{word}{reason}"));
    }
    for problem in &view.problems {
        message::push(&mut page, problem);
    }
    if let Some(prompt) = &view.prompt {
        page.line(&phrase::message(prompt));
    }
    page.line(&match view.can_complete {
        Bit::Yes => style.green("the task can be completed"),
        Bit::No => style.red("the task cannot be completed"),
        Bit::Unknown => style.yellow("whether the task can be completed is not known"),
    });
    page.finish()
}

/// The dirty bits for a program: `andon/complete@1`; what is not known is `null`.
fn json(view: &CompleteView) -> Value {
    let CompleteView { bits, reasons, .. } = view;
    json!({
        "schema": "andon/complete@1",
        "dirty_bits": {
            "code_modified": bits.code_modified.known(),
            "tests_run": bits.tests_run.known(),
            "tests_passing": bits.tests_passing.known(),
            "docs_updated": bits.docs_updated.and_then(Bit::known),
        },
        "reasons": {
            "code_modified": null,
            "tests_run": reasons.tests_run,
            "tests_passing": reasons.tests_passing,
            "docs_updated": reasons.docs_updated,
        },
        "can_complete": view.can_complete.known(),
        "prompt": view.prompt,
        "problems": view.problems,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_core::domain::Counts;
    use andon_core::policy::DirtyBits;
    use andon_testkit::samples::value_of;

    fn view() -> CompleteView {
        CompleteView {
            bits: DirtyBits {
                code_modified: Bit::Yes,
                tests_run: Bit::No,
                tests_passing: Bit::Unknown,
                docs_updated: None,
                counts: Counts::default(),
            },
            reasons: BitReasons {
                tests_run: Some("the code was modified and the tests have not run on it".to_owned()),
                ..BitReasons::default()
            },
            can_complete: Bit::No,
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
