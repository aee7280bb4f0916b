//! `andon check`: judges a range of commits, for CI.

pub mod ci;
pub mod run;
pub mod text;

use std::path::{Path, PathBuf};
use std::{num::NonZeroUsize, str::FromStr};

use clap::Args;

use self::run::{RangeRequest, TestsWanted};
use crate::cli::{Exit, Shell, args::share, output, progress};
use crate::verbs::calibrate::text::as_check;
use crate::verbs::test::{run as test, run::OutputTarget};
use andon_config::TestCommand;
use andon_core::domain::{CommitId, Diagnostic, EntryId};
use andon_engine::calibrate::{self, CalibrationRequest, GoodSource, SettingsOf};
use andon_engine::effect::{EffectError, append_text, write_report};
use andon_engine::text::{Forge, Style};
use andon_engine::view::{CheckOutcome, CheckReport};
use andon_engine::{OpsError, Result, Workspace, context::local, evidence::TestedCode, json};
use andon_git::Repo;
use testreport::Stream;

/// `andon check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Commits to judge, such as origin/main..HEAD; default: the range that CI or pre-commit names
    #[arg(value_name = "RANGE", conflicts_with_all = ["from_ref", "to_ref"])]
    pub range: Option<String>,
    /// The left side of the range; its configuration is the one that counts
    #[arg(long, value_name = "REV", requires = "to_ref")]
    pub from_ref: Option<String>,
    /// The tip of the range
    #[arg(long, value_name = "REV", requires = "from_ref")]
    pub to_ref: Option<String>,
    /// Run the tests of the code at the tip. When they pass, they count as evidence for commits without a record; when they fail, the
    /// check is red
    #[arg(long, conflicts_with_all = ["test_report", "calibration"])]
    pub test: bool,
    /// Take the report of a run that the CI has made at the tip instead; may be given several times
    #[arg(long, value_name = "FILE", requires = "exit_code", conflicts_with = "calibration")]
    pub test_report: Vec<PathBuf>,
    /// Exit code of the command of that run
    #[arg(long, value_name = "N", requires = "test_report", allow_negative_numbers = true)]
    pub exit_code: Option<i32>,
    /// Prove that a commit (given as RANGE; default HEAD) is the squash of these commits, and judge them
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["from_ref", "to_ref"])]
    pub squash_of: Option<String>,
    /// The ledger whose witnesses must have answered the halts; default: guard.ledger at the base of the range
    #[arg(long, value_name = "ID")]
    pub policy_id: Option<EntryId>,
    /// Trust what an earlier run derived (git directory, andon/cache/derived), to continue one that was stopped
    #[arg(long)]
    pub cached: bool,
    /// Derive the calibration of RANGE (default HEAD) again instead, and say whether the thresholds of andon.toml still
    /// hold its promise: a good run is halted with a chance of SHARE at most
    #[arg(long, value_name = "SHARE", require_equals = true, num_args = 0..=1, default_missing_value = "0.01",
        value_parser = share, conflicts_with_all = ["from_ref", "to_ref", "squash_of", "policy_id", "cached"])]
    pub calibration: Option<f64>,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format; may be given several times, each further one with its file
    #[arg(long = "format", value_name = "FORMAT[=FILE]", default_value = "text")]
    pub formats: Vec<WantedFormat>,
}

/// Judges a range.
pub fn run(shell: &Shell, args: &CheckArgs) -> Result<Exit> {
    shell.take_in_fetched();
    refuse_mixtures(&args.formats)?;
    let result = match args.calibration {
        Some(alpha) => calibration(shell, args, alpha)?,
        None => judged(shell, args)?,
    };
    deliver(shell, &result, &args.formats);
    Ok(match result.outcome() {
        CheckOutcome::Fine => Exit::Allowed,
        CheckOutcome::Violated => Exit::Refused,
        CheckOutcome::Undecided => Exit::Undecided,
    })
}

/// Checks the thresholds against the promise of a calibration.
fn calibration(shell: &Shell, args: &CheckArgs, alpha: f64) -> Result<CheckReport> {
    let ws = Workspace::open(&shell.ctx)?;
    let range = args.range.as_deref().unwrap_or("HEAD");
    let wanted = CalibrationRequest { good: GoodSource::Range(range), alpha };
    let found = progress::walk(shell, "check", args.threads, |pace, _| {
        calibrate::run(&shell.ctx, SettingsOf::Repository(&ws), &wanted, pace)
    })?;
    Ok(as_check(&found, range))
}

fn judged(shell: &Shell, args: &CheckArgs) -> Result<CheckReport> {
    let mut asked = range_of(args);
    if let Some(wanted) = wanted(args) {
        let out = shell.out;
        // Standard output belongs to the result, which may be a document.
        let mut pass = |_: Stream, bytes: &[u8]| out.pass_err(bytes);
        let screens = output::screens();
        let own = written_files(&args.formats);
        let mut runner = |ws: &Workspace, command: &TestCommand| {
            let shown = OutputTarget { screens: &screens, pass: &mut pass };
            let (_, executed) = test::execute(&shell.ctx, ws, TestedCode::now(ws)?, command, shown)?;
            Ok(executed.map_err(|error| error.to_string()))
        };
        asked.tests = Some(run::tests_at_tip(&shell.ctx, &asked, &wanted, &own, &mut runner)?);
    }
    progress::walk(shell, "check", args.threads, |pace, _| run::run(&shell.ctx, &asked, pace))
}

fn wanted(args: &CheckArgs) -> Option<TestsWanted> {
    match (args.test, args.exit_code) {
        (true, _) => Some(TestsWanted::Run),
        (false, Some(exit_code)) => Some(TestsWanted::Report { files: args.test_report.clone(), exit_code }),
        (false, None) => None,
    }
}

fn range_of(args: &CheckArgs) -> RangeRequest {
    let (policy, cached) = (args.policy_id, args.cached);
    let plain = RangeRequest { policy, cached, ..RangeRequest::default() };
    if let Some(range) = &args.squash_of {
        let squash = Some(args.range.clone().unwrap_or_else(|| "HEAD".to_owned()));
        RangeRequest { range: Some(range.clone()), squash, ..plain }
    } else {
        let refs = args.from_ref.clone().zip(args.to_ref.clone());
        RangeRequest { range: args.range.clone(), refs, ..plain }
    }
}

andon_core::named_enum! {
    /// A form of the result of `andon check`.
    pub enum CheckFormat, "a format" {
        /// Lines for people.
        Text = "text",
        /// `andon/check@1`.
        Json = "json",
        /// SARIF 2.1.0, for code scanning.
        Sarif = "sarif",
        /// JUnit XML.
        Junit = "junit",
        /// Annotations of GitHub Actions.
        Github = "github",
        /// A code quality report of GitLab.
        Gitlab = "gitlab",
        /// A summary for a pull request.
        Markdown = "markdown",
    }
}

impl CheckFormat {
    pub fn names() -> Vec<String> {
        Self::ALL.iter().map(|(_, name)| (*name).to_owned()).collect()
    }

    /// True when it is lines among others, or a document of its own.
    pub fn is_lines(self) -> bool {
        matches!(self, Self::Text | Self::Github)
    }
}

/// `sarif`, or `sarif=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFormat {
    pub form: CheckFormat,
    /// Its file; `None` is standard output.
    pub file: Option<PathBuf>,
}

impl FromStr for WantedFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
        let form = CheckFormat::from_name(name)
            .ok_or_else(|| format!("the formats are {}", CheckFormat::names().join(", ")))?;
        match file {
            Some("") => Err(format!("no file after `{name}=`")),
            file => Ok(Self { form, file: file.map(PathBuf::from) }),
        }
    }
}

/// The reports for GitLab, in the working directory: the names that `hooks/ci/gitlab.yml` hands to it.
const OF_GITLAB: [(CheckFormat, &str); 2] =
    [(CheckFormat::Gitlab, "andon-code-quality.json"), (CheckFormat::Junit, "andon-junit.xml")];

/// One document on standard output, or lines: not both.
fn refuse_mixtures(wanted: &[WantedFormat]) -> Result<()> {
    let mut shown = wanted.iter().filter(|one| one.file.is_none());
    let documents = shown.clone().filter(|one| !one.form.is_lines()).count();
    if documents > 1 || documents == 1 && shown.any(|one| one.form.is_lines()) {
        return Err(OpsError::usage(
            "only one format can go to standard output",
            "give the others a file: --format sarif=andon.sarif",
        ));
    }
    Ok(())
}

/// The files that a check writes: one that an earlier check left is no change of the code.
fn written_files(wanted: &[WantedFormat]) -> Vec<PathBuf> {
    let asked = wanted.iter().filter_map(|one| one.file.clone());
    asked.chain(OF_GITLAB.iter().map(|(_, name)| PathBuf::from(name))).collect()
}

/// Shows and writes a result.
fn deliver(shell: &Shell, report: &CheckReport, wanted: &[WantedFormat]) {
    let is_github = shell.ctx.var("GITHUB_ACTIONS") == Some("true");
    let mut shown: Vec<CheckFormat> =
        wanted.iter().filter(|one| one.file.is_none()).map(|one| one.form).collect();
    if shown.is_empty() {
        shown.push(CheckFormat::Text);
    }
    for form in &shown {
        let text = rendered(shell, report, *form, shell.out.out);
        shell.out.result(&if is_github && *form == CheckFormat::Text { ci::forge::log(&text) } else { text });
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
        CheckFormat::Text => text::text(report, style),
        CheckFormat::Json => json::line_as_declared(&text::json(report)),
        CheckFormat::Sarif => ci::sarif::document(report, &forge(shell, report)),
        CheckFormat::Junit => ci::forge::junit(report),
        CheckFormat::Github => ci::forge::annotations(report),
        CheckFormat::Gitlab => ci::forge::code_quality(report),
        CheckFormat::Markdown => markdown(shell, report),
    }
}

/// For people elsewhere, and for later: times with their date, and links where the forge is known.
fn markdown(shell: &Shell, report: &CheckReport) -> String {
    ci::markdown::summary(report, &forge(shell, report), Style::of_a_file(local))
}

/// The forge that shows the commits of a result.
fn forge(shell: &Shell, report: &CheckReport) -> Forge {
    let Ok(repo) = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env) else { return Forge::default() };
    let of_messages = text::groups(report).into_iter().flat_map(|group| group.commits);
    let mut named: Vec<CommitId> = of_messages.map(|at| at.commit).collect();
    named.extend(report.configuration);
    named.extend(report.halt.iter().filter_map(|halt| halt.head));
    Forge::detect(&shell.ctx, &repo, &named)
}

/// Annotations go where no document is: the runner reads both streams.
fn to_github(shell: &Shell, report: &CheckReport, shown: &[CheckFormat]) {
    if !shown.contains(&CheckFormat::Github) {
        let annotations = ci::forge::annotations(report);
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
        shell.tell(&[Diagnostic::warning(err.to_string()).helps(err.help())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_may_name_its_file() {
        let read = |text: &str| text.parse::<WantedFormat>();
        assert_eq!(read("sarif"), Ok(WantedFormat { form: CheckFormat::Sarif, file: None }));
        let file = Some(PathBuf::from("a=b.xml"));
        assert_eq!(read("junit=a=b.xml"), Ok(WantedFormat { form: CheckFormat::Junit, file }));
        assert_eq!(read("junit="), Err("no file after `junit=`".to_owned()));
        assert_eq!(
            read("xml"),
            Err("the formats are text, json, sarif, junit, github, gitlab, markdown".to_owned())
        );
    }
}
