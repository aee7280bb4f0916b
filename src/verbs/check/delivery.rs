//! Where the result of a check goes: the requested forms, and what a forge's CI reads by itself. A report that cannot
//! be written is a warning: the verdict does not change.

use std::path::{Path, PathBuf};

use crate::cli::Shell;
use crate::verbs::check::format::{CheckFormat, WantedFormat};
use crate::view::check::CheckReport;
use crate::{
    report::json,
    verbs::check::{ci, text as check},
};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_engine::context::local;
use andon_engine::effect::{EffectError, append_text, write_report};
use andon_engine::error::OpsError;
use andon_engine::text::forge::Forge;
use andon_engine::text::message;
use andon_engine::text::style::Style;
use andon_git::Repo;

/// What GitLab is given, in the working directory: the names that `hooks/ci/gitlab.yml` hands to it.
const OF_GITLAB: [(CheckFormat, &str); 2] =
    [(CheckFormat::Gitlab, "andon-code-quality.json"), (CheckFormat::Junit, "andon-junit.xml")];

/// One document on standard output, or lines: not both.
pub(super) fn refuse_mixtures(wanted: &[WantedFormat]) -> Result<(), OpsError> {
    let mut shown = wanted.iter().filter(|one| one.file.is_none());
    let documents = shown.clone().filter(|one| !one.form.is_lines()).count();
    if documents > 1 || documents == 1 && shown.any(|one| one.form.is_lines()) {
        return Err(OpsError::Usage {
            what: "only one format can go to standard output".to_owned(),
            help: "give the others a file: --format sarif=andon.sarif".to_owned(),
        });
    }
    Ok(())
}

/// The files that a check writes: one that an earlier check left is no change of the code.
pub(super) fn files(wanted: &[WantedFormat]) -> Vec<PathBuf> {
    let asked = wanted.iter().filter_map(|one| one.file.clone());
    asked.chain(OF_GITLAB.iter().map(|(_, name)| PathBuf::from(name))).collect()
}

/// Shows and writes a result.
pub(super) fn deliver(shell: &Shell, report: &CheckReport, wanted: &[WantedFormat]) {
    let is_github = shell.ctx.var("GITHUB_ACTIONS") == Some("true");
    let mut shown: Vec<CheckFormat> =
        wanted.iter().filter(|one| one.file.is_none()).map(|one| one.form).collect();
    if shown.is_empty() {
        shown.push(CheckFormat::Text);
    }
    for form in &shown {
        let text = rendered(shell, report, *form, shell.out.out);
        shell.out.result(&if is_github && *form == CheckFormat::Text {
            ci::github::log(&text)
        } else {
            text
        });
    }
    for one in wanted {
        if let Some(file) = &one.file {
            write(shell, file, &rendered(shell, report, one.form, Style::Plain));
        }
    }
    if is_github {
        to_github(shell, report, &shown);
    }
    if shell.ctx.var("GITLAB_CI") == Some("true") {
        for (form, name) in OF_GITLAB {
            if wanted.iter().all(|one| one.form != form) {
                write(shell, Path::new(name), &rendered(shell, report, form, Style::Plain));
            }
        }
    }
}

fn rendered(shell: &Shell, report: &CheckReport, form: CheckFormat, style: Style) -> String {
    match form {
        CheckFormat::Text => check::text(report, style),
        CheckFormat::Json => json::line_as_declared(&check::json(report)),
        CheckFormat::Sarif => ci::sarif::document(report, &forge(shell, report)),
        CheckFormat::Junit => ci::junit::document(report),
        CheckFormat::Github => ci::github::annotations(report),
        CheckFormat::Gitlab => ci::gitlab::code_quality(report),
        CheckFormat::Markdown => markdown(shell, report),
    }
}

/// For people elsewhere, and for later: times with their date, and links where the forge is known.
fn markdown(shell: &Shell, report: &CheckReport) -> String {
    ci::markdown::summary(report, &forge(shell, report), Style::of_a_file(local))
}

/// Where the commits that a result names can be looked at.
fn forge(shell: &Shell, report: &CheckReport) -> Forge {
    let Ok(repo) = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env) else { return Forge::default() };
    let of_messages = check::groups(report).into_iter().flat_map(|group| group.commits);
    let mut named: Vec<CommitId> = of_messages.map(|at| at.commit).collect();
    named.extend(report.configuration);
    named.extend(report.halt.iter().filter_map(|halt| halt.head));
    Forge::detect(&shell.ctx, &repo, &named)
}

/// Annotations go where no document is: the runner reads both streams.
fn to_github(shell: &Shell, report: &CheckReport, shown: &[CheckFormat]) {
    if !shown.contains(&CheckFormat::Github) {
        let annotations = ci::github::annotations(report);
        if shown.iter().all(|form| form.is_lines()) {
            shell.out.result(&annotations);
        } else {
            shell.out.message(&annotations);
        }
    }
    if let Some(file) = shell.ctx.var("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) {
        warn(shell, append_text(Path::new(file), &format!("{}\n", markdown(shell, report))));
    }
}

fn write(shell: &Shell, file: &Path, text: &str) {
    warn(shell, write_report(&shell.ctx.cwd.join(file), text));
}

fn warn(shell: &Shell, written: Result<(), EffectError>) {
    if let Err(err) = written {
        let warning = Diagnostic::warning(err.to_string());
        let warning = err.help().into_iter().fold(warning, Diagnostic::help);
        shell.out.message(&message::diagnostic(&warning, shell.out.err));
    }
}
