//! `andon export`: the records of a range, in the forms that spreadsheets, trace viewers and collectors read. Made of the same
//! view as the page of `andon report`.

pub mod csv;
pub mod otlp;

use std::{collections::BTreeMap, path::PathBuf};

use clap::{ArgGroup, Args};

use crate::cli::{Exit, Shell};
use crate::verbs::{report::gather, status};
use andon_core::domain::{CommitId, CommitRecord, Diagnostic, Timestamp, plural::count};
use andon_core::escape;
use andon_engine::view::{HistoryCommit, HistoryView, history::track};
use andon_engine::{Result, Workspace};

/// `andon export`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("form").required(true)))]
pub struct ExportArgs {
    /// Commits to export, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// A table with a line a commit
    #[arg(long, group = "form")]
    pub csv: bool,
    /// The trace format of Chrome, for Perfetto
    #[arg(long, group = "form")]
    pub chrome_trace: bool,
    /// Spans and logs of OpenTelemetry: a line of OTLP as JSON each
    #[arg(long, group = "form")]
    pub otlp_json: bool,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Writes what is recorded of a range.
pub fn run(shell: &Shell, args: &ExportArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    // After the ledger was lost, only this still knows the unanswered halt.
    let mut view = gather(&ws, status::view(&shell.ctx, &ws).ok(), &args.range)?;
    if view.left_out > 0 {
        let what = format!("left out: {} of the range", count(view.left_out, "older commit"));
        view.warnings.push(Diagnostic::warning(what).help("export them as a range of their own"));
    }
    let text = if args.csv {
        csv::table(&view)
    } else if args.chrome_trace {
        otlp::chrome_trace(&view)
    } else {
        otlp::lines(&view)
    };
    shell.tell(&view.warnings);
    shell.deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Allowed)
}

/// Columns of one text.
const TEXT: usize = 1_000;

/// A commit with its record, and how long it took as far as that shows.
struct Iteration<'a> {
    commit: &'a HistoryCommit,
    record: &'a CommitRecord,
    /// When the node's commit before it was made, if that is not too long ago; else its own time.
    from: Timestamp,
    /// The rule that halted the loop at it.
    halted: Option<&'a str>,
}

impl Iteration<'_> {
    /// The actor whose iterations follow one another: a node in a worktree.
    fn track(&self) -> String {
        track(self.record)
    }
}

/// The recorded commits, each after the one before it of its node in its worktree.
fn iterations(view: &HistoryView) -> Vec<Iteration<'_>> {
    let halted: BTreeMap<CommitId, &str> =
        view.halts.iter().filter_map(|last| Some((last.halt.head?, last.halt.rule.as_str()))).collect();
    let begun = view.commits.iter().zip(view.begun());
    let recorded = begun.filter_map(|(commit, from)| {
        let halted = halted.get(&commit.commit).copied();
        Some(Iteration { commit, record: commit.state.record()?, from, halted })
    });
    recorded.collect()
}

/// A text of a stranger on one line, its hidden characters visible, bounded.
fn plain(text: &str) -> String {
    escape::terminal_clip(text, TEXT)
}

#[cfg(test)]
mod samples {
    use crate::verbs::status::text::tests::view as status;
    use andon_core::domain::{EntryId, Usage};
    use andon_engine::view::{HistoryCommit, HistoryView, LastHalt, RecordState};
    use andon_testkit::samples;

    /// Two commits of one session, one without a record, and a halt that was answered.
    pub(super) fn view(subject: &str) -> HistoryView {
        let commit = |byte: u8, seconds: i64, failing: Option<u64>| {
            let mut record = samples::record();
            record.tests = failing.map(samples::evidence);
            record.session = Some("s-1".to_owned());
            record.usage =
                Some(Usage { input_tokens: Some(10), cost_usd: Some("0.5".to_owned()), ..Usage::default() });
            let mut at = samples::at();
            at.0 += seconds;
            HistoryCommit {
                commit: samples::commit(byte),
                subject: subject.to_owned(),
                at,
                state: failing.map_or(RecordState::Missing, |_| RecordState::Recorded(Box::new(record))),
            }
        };
        let mut halt = samples::halt();
        halt.head = Some(samples::commit(2));
        HistoryView {
            now: Some(status()),
            range: "HEAD".to_owned(),
            commits: vec![commit(9, 0, None), commit(1, 60, Some(0)), commit(2, 180, Some(2))],
            left_out: 0,
            changes: std::collections::BTreeMap::new(),
            forge: andon_engine::text::Forge::default(),
            halts: vec![LastHalt { id: EntryId([9; 32]), halt, ack: Some(samples::ack()) }],
            open: Vec::new(),
            decided: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{samples::view, *};

    #[test]
    fn an_iteration_lasts_from_the_commit_before_it_unless_somebody_slept() {
        let mut value = view("x");
        let lasted = |view: &HistoryView| -> Vec<i64> {
            iterations(view).iter().map(|one| one.commit.at.0 - one.from.0).collect()
        };
        assert_eq!(lasted(&value), [0, 120]);
        value.commits[2].at.0 += 6 * 3600;
        assert_eq!(lasted(&value), [0, 0]);
        // A clock that was set back takes no time either.
        value.commits[2].at.0 = 0;
        assert_eq!(lasted(&value), [0, 0]);
    }
}
