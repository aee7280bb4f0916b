//! `andon explain FILE...`: reads reports as `andon test` would, outside of any run.

use std::path::{Path, PathBuf};

use crate::verbs::explain::view::{ExplainedFile, ExplainedRun};
use andon_config::TestCommand;
use andon_core::domain::ids::CodeId;
use andon_core::domain::signatures::coarse_signature;
use andon_core::domain::tests::TestEvidence;
use andon_engine::context::Context;
use andon_engine::effect::report_files;
use andon_engine::workspace::Workspace;
use testreport::{Examination, ExitKind, ReportProblem, ReportReading, Root, UnreadableReport};

/// The report files to explain, and how to read them.
pub struct ExplainRequest<'a> {
    /// The report files, relative to the working directory.
    pub files: &'a [PathBuf],
    /// The project's root in each file; the last one counts for the files after it. Without any, the
    /// repository's, or the working directory.
    pub roots: &'a [PathBuf],
    /// The exit code of the run.
    pub exit: i32,
}

/// Reads each file. In a repository with a configuration its `[normalize]` patterns and its test command count, so
/// that signatures are those of the records.
pub fn run(ctx: &Context, asked: &ExplainRequest<'_>) -> Vec<ExplainedFile> {
    let ws = Workspace::open_lenient(ctx).ok();
    let own = ws.as_ref().and_then(|ws| ws.repo.workdir()).unwrap_or(&ctx.cwd).to_owned();
    let patterns = ws.as_ref().map(|ws| ws.config.normalize.clone()).unwrap_or_default();
    let command = ws.as_ref().and_then(|ws| ws.config.test.command.as_ref()).map(TestCommand::display);
    let format = ws.as_ref().and_then(|ws| ws.config.test.format);
    let explain = |(number, path): (usize, &PathBuf)| {
        let root = asked.roots.get(number).or(asked.roots.last()).map_or(own.as_path(), PathBuf::as_path);
        let root = Root::new(&ctx.cwd.join(root).to_string_lossy()).with_patterns(&patterns);
        let name = path.to_string_lossy().into_owned();
        let examination = Examination::new(&name, &root).only(format);
        let read = read(&ctx.cwd.join(path), &name, examination, ExitKind::Code(asked.exit));
        ExplainedFile { read: read.map(|found| explained(found, command.as_deref())), name }
    };
    asked.files.iter().enumerate().map(explain).collect()
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
