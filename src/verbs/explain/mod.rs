//! `andon explain FILE...`: reads reports as `andon test` would, outside of any run, and shows what each failure became.
//! `andon explain RULE...`: what a rule judges, and the excuses that it honours.

pub mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::{Exit, Format, FormatArg, Shell};
use andon_config::TestCommand;
use andon_core::detect::{self, Docs, ExcuseText, Rule};
use andon_core::domain::{
    CodeId, Diagnostic, HaltReason, Level, Signature, TestEvidence, signatures::coarse_signature,
};
use andon_engine::{Context, Result, Workspace, effect::report_files, json};
use testreport::{Examination, ExitKind, FailureTrace, ReportProblem, ReportReading, Root, UnreadableReport};

/// `andon explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Test reports: files that runners wrote, or their saved output; or names of rules, such as `undo-churn`
    #[arg(required = true, value_name = "FILE|RULE")]
    pub files: Vec<PathBuf>,
    /// Exit code of the run
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "N")]
    pub exit_code: i32,
    /// The project's directory when the report was made, once or for each file; default: the current one
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Output format; json is one line a file
    #[command(flatten)]
    pub format: FormatArg,
}

/// Explains the files. What cannot be read is named, and ends it with 2 after the others were shown.
pub fn run(shell: &Shell, args: &ExplainArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let named = |file: &PathBuf| {
        let rule = detect::rule(file.to_str()?);
        rule.filter(|_| !shell.ctx.cwd.join(file).exists())
    };
    let rules: Vec<&Rule> = args.files.iter().filter_map(named).collect();
    let reports: Vec<PathBuf> = args.files.iter().filter(|file| named(file).is_none()).cloned().collect();
    let files = explain(&shell.ctx, args, &reports);
    shell.out.result(&match args.format.format {
        Format::Text => text::rules(&rules, shell.out.out) + &text::text(&files, shell.out.out),
        Format::Json => {
            let rules: Vec<ExplainedRule> = rules.iter().map(|rule| ExplainedRule::new(rule)).collect();
            json::documents("rule", &rules) + &json::documents("explain", &text::json(&files))
        }
    });
    let unread: Vec<Diagnostic> = files
        .iter()
        .filter_map(|file| file.read.as_ref().err())
        .map(|unread| {
            let help = "name a file that can be read: a report that a test runner wrote, or its saved output; or a rule";
            Diagnostic::error(unread.message.clone()).code(unread.name).help(help)
        })
        .collect();
    if unread.is_empty() {
        return Ok(Exit::Allowed);
    }
    shell.tell(&unread);
    Ok(Exit::Usage)
}

/// A rule with its documentation.
#[derive(Debug, Serialize)]
struct ExplainedRule {
    rule: &'static str,
    summary: &'static str,
    level: Level,
    reason: HaltReason,
    #[serde(flatten)]
    docs: Docs,
    excuses: Vec<ExcuseText>,
}

impl ExplainedRule {
    fn new(rule: &Rule) -> Self {
        let Rule { id, level, reason, .. } = *rule;
        Self {
            rule: id,
            summary: rule.summary(),
            level,
            reason,
            docs: rule.docs(),
            excuses: rule.excuses().collect(),
        }
    }
}

/// A file and what it was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedFile {
    /// The file as it was named.
    pub name: String,
    /// Its result, or why it cannot be read.
    pub read: Result<ExplainedRun, UnreadableReport>,
}

/// The result in one report. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedRun {
    /// As a record would have it; the code it ran on is not known.
    pub evidence: TestEvidence,
    /// The error fingerprint of the coarse level.
    pub coarse: Option<Signature>,
    /// The failures and their way through the rules.
    pub failures: Vec<FailureTrace>,
    /// Problems of the report.
    pub warnings: Vec<String>,
}

/// Reads each file. In a repository with a configuration its `[normalize]` patterns and its test command count, so
/// that signatures are those of the records.
fn explain(ctx: &Context, asked: &ExplainArgs, reports: &[PathBuf]) -> Vec<ExplainedFile> {
    let ws = Workspace::open_lenient(ctx).ok();
    let own = ws.as_ref().and_then(|ws| ws.repo.workdir()).unwrap_or(&ctx.cwd).to_owned();
    let patterns = ws.as_ref().map(|ws| ws.config.normalize.clone()).unwrap_or_default();
    let command = ws.as_ref().and_then(|ws| ws.config.test.command.as_ref()).map(TestCommand::display);
    let format = ws.as_ref().and_then(|ws| ws.config.test.format);
    let one = |(number, path): (usize, &PathBuf)| {
        let root = asked.root.get(number).or(asked.root.last()).map_or(own.as_path(), PathBuf::as_path);
        let root = Root::new(&ctx.cwd.join(root).to_string_lossy()).with_patterns(&patterns);
        let name = path.to_string_lossy().into_owned();
        let examination = Examination::new(&name, &root).only(format);
        let read = read(&ctx.cwd.join(path), &name, examination, ExitKind::Code(asked.exit_code));
        ExplainedFile { read: read.map(|found| explained(found, command.as_deref())), name }
    };
    reports.iter().enumerate().map(one).collect()
}

fn read(
    path: &Path,
    name: &str,
    mut examination: Examination,
    exit: ExitKind,
) -> Result<ReportReading, UnreadableReport> {
    report_files::stream(path, &mut |bytes| examination.push(bytes)).map_err(|error| {
        let problem = ReportProblem::Unreadable(error.to_string());
        UnreadableReport { name: problem.name(), message: format!("{name}: {problem}") }
    })?;
    examination.finish(exit)
}

fn explained(found: ReportReading, command: Option<&str>) -> ExplainedRun {
    ExplainedRun {
        warnings: found.run.warnings.clone(),
        coarse: coarse_signature(&found.run.errors),
        evidence: TestEvidence::from_run(found.run, CodeId([0; 32]), command.unwrap_or_default()),
        failures: found.failures,
    }
}
