//! Threads that work through a row of things, piece by piece, and one who takes what they find in the order of the row.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::config::Config;
use crate::domain::ids::CommitId;
use crate::git::Repo;
use crate::ops::context::Context;
use crate::ops::derive::Deriver;
use crate::ops::error::OpsError;
use crate::record::normalize::Normalizer;
use crate::record::store::NotesStore;

/// Things of a piece: neighbours, which have files in common.
const PIECE: usize = 32;
/// Pieces that a thread may be ahead.
const AHEAD: usize = 8;
/// Most threads: beyond, they wait for one another in libgit2.
const MAX_THREADS: usize = 32;

/// What the threads have in common.
#[derive(Clone, Copy)]
pub(super) struct Crew<'a> {
    pub ctx: &'a Context,
    pub config: &'a Config,
    pub normalizer: &'a Normalizer,
    /// The notes commit whose records count.
    pub tip: Option<CommitId>,
    pub threads: Option<NonZeroUsize>,
    /// Set when all are to end with what they have found.
    pub stop: &'a AtomicBool,
}

/// What each thread has for itself.
pub(super) struct Hand<'r> {
    pub repo: &'r Repo,
    pub store: NotesStore<'r>,
    pub deriver: Deriver<'r>,
}

type Piece<O> = Result<Vec<O>, OpsError>;
type One<'a, I, O> = &'a (dyn Fn(&mut Hand<'_>, &I) -> Result<O, OpsError> + Sync);

impl Crew<'_> {
    /// Does `one` with each of `items` and hands what comes of it to `take`, in their order. An error ends it at its
    /// place, as if they had been looked at one after the other.
    pub(super) fn each<I: Sync, O: Send>(
        &self,
        items: &[I],
        one: One<'_, I, O>,
        take: &mut dyn FnMut(O) -> Result<(), OpsError>,
    ) -> Result<(), OpsError> {
        let (total, stop) = (items.len(), self.stop);
        let ended = AtomicBool::new(false);
        let halt = || stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed);
        thread::scope(|scope| {
            let threads = self.count(total);
            let receivers: Vec<Receiver<Piece<O>>> = (0..threads)
                .map(|number| {
                    let (sender, receiver) = sync_channel(AHEAD);
                    let halt = &halt;
                    let mine = move || items.chunks(PIECE).skip(number).step_by(threads);
                    scope.spawn(move || {
                        if let Err(error) = self.pieces(&mut mine(), (one, halt), &sender) {
                            let _gone = sender.send(Err(error));
                        }
                    });
                    receiver
                })
                .collect();
            let result: Result<(), OpsError> = (0..total.div_ceil(PIECE)).try_for_each(|piece| {
                // A thread that has gone was told to stop.
                let from = &receivers[piece % threads];
                let Ok(found) = from.recv() else { return Ok(()) };
                let found = found?;
                let short = found.len() < PIECE.min(total - piece * PIECE);
                for one in found {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    take(one)?;
                }
                // What cut a piece short comes after it; nothing does when the thread was told to stop.
                if short { from.recv().map_or(Ok(()), |broken| broken.map(|_| ())) } else { Ok(()) }
            });
            // A thread must not wait for somebody who takes its pieces no more.
            ended.store(true, Ordering::Relaxed);
            drop(receivers);
            result
        })
    }

    fn count(&self, items: usize) -> usize {
        let threads =
            self.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        threads.min(MAX_THREADS).min(items.div_ceil(PIECE)).max(1)
    }

    /// What one thread does: its pieces, in order, until they are done or nobody takes them any more.
    fn pieces<I, O>(
        &self,
        mine: &mut dyn Iterator<Item = &[I]>,
        (one, halt): (One<'_, I, O>, &dyn Fn() -> bool),
        to: &SyncSender<Piece<O>>,
    ) -> Result<(), OpsError> {
        let repo = Repo::open(&self.ctx.cwd, &self.ctx.repo_env)?;
        let store = NotesStore::at(&repo, self.tip);
        let deriver = Deriver::in_bulk(&repo, &self.config.paths.rules, self.normalizer);
        let mut hand = Hand { repo: &repo, store, deriver };
        for piece in mine {
            let mut found = Vec::with_capacity(piece.len());
            let mut broken = None;
            for item in piece {
                if halt() {
                    break;
                }
                match one(&mut hand, item) {
                    Ok(one) => found.push(one),
                    Err(error) => {
                        broken = Some(error);
                        break;
                    }
                }
            }
            let short = found.len() < piece.len();
            let sent = to.send(Ok(found)).is_ok();
            if let Some(error) = broken {
                return Err(error);
            }
            if short || !sent {
                return Ok(());
            }
        }
        Ok(())
    }
}
