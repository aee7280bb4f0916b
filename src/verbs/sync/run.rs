//! `andon sync`: records and ledgers of this clone and of a remote become the union of both.

use std::path::PathBuf;

use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::effect::Effect;
use andon_core::domain::findings::Level;
use andon_engine::asking;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::halts;
use andon_engine::sync::{Sync, SyncDirection, peer, visited};
use andon_engine::view::sync::SyncReport;
use andon_engine::workspace::Workspace;
use andon_git::Online;

/// Who is to be synced with.
pub enum SyncPeers {
    /// A remote by its name, or whatever is at an address; `None`: the remote that the branch follows, `origin`, or
    /// the only one.
    Remote {
        /// Its name or address.
        name: Option<String>,
        /// After how many days of silence the records of a writer are folded into this clone's ref; `None`: never.
        fold: Option<u32>,
    },
    /// Into or out of a bundle file.
    Bundle(PathBuf),
}

/// Unites the records and ledgers of this clone with those of another.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    with: SyncPeers,
    how: (SyncDirection, Online),
) -> Result<SyncReport, OpsError> {
    let (way, online) = how;
    // An answer by deletion that no hook has seen yet is to travel too.
    let halted = halts::resolve(ctx, ws)?.halt;
    let report = match with {
        SyncPeers::Remote { name, fold } => {
            let peer = peer::choose(&ws.repo, name.as_deref())?;
            visited(ws, &peer.clone(), || {
                let mut work = Sync::new(ctx, ws, peer, online);
                work.exchange(way)?;
                if let Some(days) = fold {
                    work.fold(days)?;
                }
                Ok(work.finish())
            })?
        }
        SyncPeers::Bundle(file) => {
            let file = ctx.cwd.join(file);
            let (peer, there) = peer::bundle(&file, way)?;
            visited(ws, &peer.clone(), || {
                let mut work = Sync::new(ctx, ws, peer, online);
                if there {
                    work.exchange(SyncDirection::FetchOnly)?;
                }
                if way == SyncDirection::Both {
                    work.write_bundle(&file)?;
                }
                Ok(work.finish())
            })?
        }
    };
    show(ctx, ws, halted.is_some())?;
    Ok(report)
}

/// The files for people follow what came: a halt of another clone gets its report file here, an answered one loses it.
fn show(ctx: &Context, ws: &Workspace, was_halted: bool) -> Result<(), OpsError> {
    // Rounds of other clones that have come call people here as well.
    asking::call_people(ctx, ws);
    let resolved = halts::resolve(ctx, ws)?;
    match resolved.halt {
        Some(_) => resolved.failed.map_or(Ok(()), Err),
        None if was_halted => {
            let report_files = andon_core::domain::findings::ReportFile::ALL
                .map(|(report_file, _)| Effect::RemoveReportFile(report_file));
            andon_engine::effect::carry_out(&report_files, &ws.site(ctx))?;
            Ok(())
        }
        None => Ok(()),
    }
}

/// What refused or forked refs mean for the exit code: a person has to look.
pub fn needs_a_person(report: &SyncReport) -> bool {
    report.found.iter().any(|one: &Diagnostic| one.level >= Level::Block)
}
