//! `andon sync`: records and ledgers of this clone and of a remote become the union of both.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{Exit, FormatArg, Shell, output};
use andon_core::domain::{Diagnostic, Effect, Level, StandingHalt};
use andon_core::escape::terminal_clip;
use andon_engine::sync::{Sync, SyncDirection, peer, unasked};
use andon_engine::text::{Page, Style, message, phrase};
use andon_engine::view::{SyncReport, TransferCounts};
use andon_engine::{Context, Result, Workspace, asking, gate::guard, halts};
use andon_git::{Online, Prompt};

/// Exchanges records and ledgers with a remote.
pub fn run(shell: &Shell, args: &SyncArgs) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let online = Online { prompt: prompt(shell, &ws), patience: None };
    let result = exchange(&shell.ctx, &ws, args, online)?;
    shell.show(args.format.format, "sync", &result, |style| text(&result, style));
    let needs_a_person = result.found.iter().any(|one: &Diagnostic| one.level >= Level::Block);
    Ok(if needs_a_person { Exit::Refused } else { Exit::Allowed })
}

/// No prompt for a password where no person is.
fn prompt(shell: &Shell, ws: &Workspace) -> Prompt {
    if shell.ctx.var("GIT_TERMINAL_PROMPT") != Some("0") && output::has_terminal() {
        Prompt::Allowed
    } else {
        unasked(&shell.ctx, ws)
    }
}

/// `andon sync`
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// A git remote, or an address such as that of a fork; default: the branch's remote, else origin
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Exchange with a bundle file instead: read what it holds, and rewrite it if it lacks something
    #[arg(long, value_name = "FILE", conflicts_with = "remote")]
    pub bundle: Option<PathBuf>,
    /// Fetch only: nothing is pushed, no file is written
    #[arg(long)]
    pub fetch_only: bool,
    /// Take the records of clones that have sent nothing for DAYS (30) over, and remove their refs at the remote
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    #[arg(conflicts_with_all = ["bundle", "fetch_only"])]
    pub fold: Option<u32>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Unites the records and ledgers of this clone with those of another.
fn exchange(ctx: &Context, ws: &Workspace, args: &SyncArgs, online: Online) -> Result<SyncReport> {
    let way = if args.fetch_only { SyncDirection::FetchOnly } else { SyncDirection::Both };
    // An answer by deletion that no hook has seen yet is to travel too.
    let halted = halts::resolve(ctx, ws)?.halt;
    let report = if let Some(file) = &args.bundle {
        let file = ctx.cwd.join(file);
        let (peer, there) = peer::bundle(&file, way)?;
        let mut work = Sync::new(ctx, &ws.repo, peer, online)?;
        if there {
            work.exchange(SyncDirection::FetchOnly)?;
        }
        if way == SyncDirection::Both {
            work.write_bundle(&file)?;
        }
        work.finish()
    } else {
        let peer = peer::choose(&ws.repo, args.remote.as_deref())?;
        let mut work = Sync::new(ctx, &ws.repo, peer, online)?;
        work.exchange(way)?;
        if way == SyncDirection::Both && guard::settle_owed(ctx, ws)? {
            work.exchange(way)?;
        }
        if let Some(days) = args.fold {
            work.fold(days)?;
        }
        work.finish()
    };
    show(ctx, ws, halted.as_ref())?;
    Ok(report)
}

/// The files for people follow what came: a halt of another clone gets its report file here, an answered one loses it.
fn show(ctx: &Context, ws: &Workspace, halted: Option<&StandingHalt>) -> Result<()> {
    // Rounds of other clones that have come call people here as well.
    asking::call_people(ctx, ws);
    let resolved = halts::resolve(ctx, ws)?;
    match resolved.halt {
        Some(_) => resolved.failed.map_or(Ok(()), Err),
        None if halted.is_some() => {
            let report_files = andon_core::domain::ReportFile::ALL
                .map(|(report_file, _)| Effect::RemoveReportFile(report_file));
            andon_engine::effect::carry_out(&report_files, &ws.site(ctx))?;
            Ok(())
        }
        None => Ok(()),
    }
}

/// The report for a person: what was found wrong, and one line.
pub fn text(report: &SyncReport, style: Style) -> String {
    let mut page = Page::new(style);
    for one in &report.found {
        message::push(&mut page, one);
    }
    let parts: Vec<String> = [(report.received, "received"), (report.sent, "sent")]
        .into_iter()
        .filter_map(|(moved, way)| Some(format!("{} {way}", words(moved)?)))
        .chain(
            (report.folded > 0).then(|| format!("{} folded", phrase::count(report.folded, "silent writer"))),
        )
        .collect();
    let what = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    page.line(&format!("synced with {}: {what}", terminal_clip(&report.remote, 100)));
    page.finish()
}

fn words(moved: TransferCounts) -> Option<String> {
    let records = (moved.records > 0).then(|| phrase::count(moved.records, "record"));
    let entries = (moved.entries > 0).then(|| phrase::count(moved.entries, "ledger entry"));
    let parts: Vec<String> = records.into_iter().chain(entries).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Diagnostic;

    #[test]
    fn one_line_says_what_went_over() {
        let mut report = SyncReport { remote: "origin".to_owned(), ..SyncReport::default() };
        assert_eq!(text(&report, Style::Plain), "synced with origin: nothing new\n");
        report.received = TransferCounts { records: 1, entries: 2 };
        report.sent = TransferCounts { records: 0, entries: 1 };
        report.found.push(Diagnostic::warning("odd").code("x").help("do"));
        assert_eq!(
            text(&report, Style::Plain),
            "warning[x]: odd\n  help: do\n\
             synced with origin: 1 record and 2 ledger entries received, 1 ledger entry sent\n"
        );
        let value = andon_testkit::samples::value_of(&report);
        assert_eq!(value["received"], serde_json::json!({"records": 1, "ledger_entries": 2}));
        assert_eq!(value["found"][0]["code"], "x");
    }
}
