//! A walk that reads the ids of a stretch of commits first, and then what is needed of their texts, in rounds
//! ([`super::need`]). While one stretch is judged, the next is read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::crew::{Crew, Hand};
use super::need::{self, Ask, Read, Seen};
use super::outline::{Outline, Recorded, windows};
use super::{Depth, Facts, Found, Job, Pace, Walked, derived, remembering, walk};
use crate::detect::{LineThresholds, line_thresholds};
use crate::domain::change::{ChangeFacts, Nature};
use crate::domain::facts::DiffSummary;
use crate::domain::ids::{CommitId, HunkHash};
use crate::domain::settings::RuleSettings;
use crate::domain::time::Span;
use crate::git::Repo;
use crate::history::Strike;
use crate::ops::derive::Derived;
use crate::ops::error::OpsError;
use crate::record::derived::{DerivedWriter, Remembered};
use crate::record::diff::Glance;

/// Commits of a stretch: what is found in them is held until all of it is known.
const STRETCH: usize = 2048;

/// What the judgement needs.
pub(in crate::ops) struct Lazily<'a> {
    pub outlines: &'a [Outline],
    pub rules: &'a RuleSettings,
    pub gap: Span,
}

/// As [`walk`] over `lazily.outlines` (`job.commits` is not looked at), but with no more texts than the rules need.
pub(in crate::ops) fn lazily(
    repo: &Repo,
    job: &Job<'_>,
    (lazily, pace): (&Lazily<'_>, &mut Pace<'_>),
    take: &mut dyn FnMut(Found) -> Result<(), OpsError>,
) -> Result<Walked, OpsError> {
    repo.cache_nothing();
    let (total, stop) = (lazily.outlines.len(), pace.stop);
    let ended = AtomicBool::new(false);
    let (sender, receiver) = sync_channel(1);
    let (threads, common_dir) = (pace.threads, repo.common_dir());
    let done = thread::scope(|scope| {
        let ended = &ended;
        scope.spawn(move || {
            let crew = Crew { ctx: job.ctx, config: job.config, tip: job.tip, threads, stop };
            Reader::new(crew, job, lazily, common_dir).read(ended, &sender);
        });
        let mut done = 0;
        let result: Result<(), OpsError> =
            receiver.iter().try_for_each(|stretch: Result<Vec<Found>, OpsError>| {
                for found in stretch? {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    take(found)?;
                    done += 1;
                    (pace.progress)(done, total);
                }
                Ok(())
            });
        ended.store(true, Ordering::Relaxed);
        drop(receiver);
        result.map(|()| done)
    })?;
    Ok(if done == total { Walked::Whole } else { Walked::Part { done, of: total } })
}

/// Who reads ahead.
struct Reader<'a> {
    crew: Crew<'a>,
    job: &'a Job<'a>,
    lazily: &'a Lazily<'a>,
    least: LineThresholds,
    windows: Vec<Option<usize>>,
    /// The last commit that builds on each, within one window.
    last_child: Vec<usize>,
    line: Vec<Seen>,
    common_dir: &'a Path,
}

impl<'a> Reader<'a> {
    fn new(crew: Crew<'a>, job: &'a Job<'a>, lazily: &'a Lazily<'a>, common_dir: &'a Path) -> Self {
        let windows = windows(lazily.outlines, lazily.gap);
        let mut last_child = vec![0; windows.len()];
        for (at, before) in windows.iter().enumerate() {
            if let Some(before) = before {
                last_child[*before] = at;
            }
        }
        let least = line_thresholds(lazily.rules);
        Self { crew, job, lazily, least, windows, last_child, line: Vec::new(), common_dir }
    }

    fn read(mut self, ended: &AtomicBool, to: &SyncSender<Result<Vec<Found>, OpsError>>) {
        for outlines in self.lazily.outlines.chunks(STRETCH) {
            let (found, broken) = self.stretch(outlines);
            let stopped = found.len() < outlines.len() || ended.load(Ordering::Relaxed);
            if to.send(Ok(found)).is_err() {
                return;
            }
            if let Some(error) = broken {
                let _gone = to.send(Err(error));
                return;
            }
            if stopped {
                return;
            }
        }
    }

    /// What is found in some commits, and the error that the one after them gave.
    fn stretch(&mut self, outlines: &[Outline]) -> (Vec<Found>, Option<OpsError>) {
        let from = self.line.len();
        let commits: Vec<(CommitId, Depth)> = outlines.iter().map(|one| (one.id, Depth::Ids)).collect();
        let job = Job { commits: &commits, ..*self.job };
        let mut found: Vec<Found> = Vec::with_capacity(commits.len());
        let mut broken = self.ids(&job, &mut found).err();
        let end = from + outlines.len();
        for (number, one) in found.iter().enumerate() {
            let seen = self.seen(from + number, end, one);
            self.line.push(seen);
        }
        loop {
            let asked: Vec<(usize, Ask)> = need::asked(&self.line, from, &self.least).into_iter().collect();
            if asked.is_empty() || self.crew.stop.load(Ordering::Relaxed) {
                break;
            }
            if let Err((at, error)) = self.round(&asked, from, &mut found).map_err(|broken| *broken) {
                // As if one had been read after the other: what comes before is known all the same.
                found.truncate(at - from);
                self.line.truncate(at);
                broken = Some(error);
            }
        }
        (found, broken)
    }

    fn ids(&self, job: &Job<'_>, found: &mut Vec<Found>) -> Result<(), OpsError> {
        let mut pace = Pace { threads: self.crew.threads, stop: self.crew.stop, progress: &mut |_, _| {} };
        let repo = Repo::open(&self.crew.ctx.cwd, &self.crew.ctx.repo_env)?;
        walk(&repo, job, &mut pace, &mut |one| {
            found.push(one);
            Ok(())
        })?;
        Ok(())
    }

    fn seen(&self, at: usize, end: usize, found: &Found) -> Seen {
        let outline = &self.lazily.outlines[at];
        let least = &self.least;
        let seen = |code, diff: &DiffSummary, change: Option<&ChangeFacts>, read| Seen {
            before: self.windows[at],
            strike: Strike::from(outline.kind),
            recorded: outline.recorded == Recorded::Yes,
            passed_over: least.undo.as_ref().is_some_and(|undo| undo.passes_over(&found.commit.subject)),
            open: self.last_child[at] >= end,
            code,
            diff: diff.clone(),
            change: change.cloned().unwrap_or_else(nothing),
            read,
        };
        match &found.facts {
            Facts::Recorded(record) => seen(record.code, &record.diff, record.change.as_ref(), Read::Whole),
            Facts::Derived(derived, _) => seen(derived.code, &derived.diff, Some(&derived.change), Read::Ids),
        }
    }

    /// Reads what one round asks for.
    fn round(
        &mut self,
        asked: &[(usize, Ask)],
        from: usize,
        found: &mut [Found],
    ) -> Result<(), Box<(usize, OpsError)>> {
        let mut answers: Vec<Answer> = Vec::with_capacity(asked.len());
        let ask =
            |hand: &mut Hand<'_>, asked: &(usize, Ask)| self.answer(hand, *asked, &found[asked.0 - from]);
        let ended = self.crew.each(asked, &ask, &mut |answer| {
            answers.push(answer);
            Ok(())
        });
        let mut writer = DerivedWriter::new(self.common_dir);
        let known = answers.len();
        for ((at, _), answer) in asked.iter().zip(answers) {
            match answer {
                Answer::Glance(Glance::Differs { apart }) => self.line[*at].read = Read::Differs { apart },
                Answer::Glance(Glance::Unclear) => self.line[*at].read = Read::Unclear,
                Answer::Whole(new, entry) => {
                    writer.push(&entry);
                    let seen = &mut self.line[*at];
                    (seen.diff, seen.change, seen.read) = (new.diff.clone(), new.change.clone(), Read::Whole);
                    if let Facts::Derived(derived, _) = &mut found[at - from].facts {
                        **derived = *new;
                    }
                }
            }
        }
        writer.flush();
        ended.map_err(|error| Box::new((asked.get(known).map_or(from, |asked| asked.0), error)))
    }

    fn answer(
        &self,
        hand: &mut Hand<'_>,
        (at, ask): (usize, Ask),
        found: &Found,
    ) -> Result<Answer, OpsError> {
        let Found { commit, facts, .. } = found;
        let depth = match ask {
            Ask::Glance(before) => {
                let steps = before.iter().flat_map(|before| &self.line[*before].change.paths);
                let others: Vec<HunkHash> = steps.map(|step| step.path).collect();
                return hand.deriver.glance(commit, &others).map(Answer::Glance);
            }
            Ask::Documents => Depth::Documents,
            Ask::Text => Depth::Text,
        };
        let code = self.line[at].code;
        let deriver = &mut hand.deriver;
        let known = self.job.cache.get(commit.id, Remembered::Texts);
        if known.is_some() && !deriver.is_shallow() && depth == Depth::Text {
            return derived(self.job, deriver, (commit, depth)).map(|(new, entry)| Answer::whole(new, entry));
        }
        debug_assert!(matches!(facts, Facts::Derived(..)), "a record needs no texts");
        let new = deriver.derive_diff(commit, (code, depth))?;
        let entry = remembering(self.job.cache, deriver, (commit.id, depth), &new);
        Ok(Answer::whole(new, entry))
    }
}

/// What a round gave for one commit.
enum Answer {
    Glance(Glance),
    Whole(Box<Derived>, Vec<u8>),
}

impl Answer {
    fn whole(derived: Derived, entry: Vec<u8>) -> Self {
        Self::Whole(Box::new(derived), entry)
    }
}

/// The change of a record of an earlier version.
fn nothing() -> ChangeFacts {
    ChangeFacts { nature: Nature::Work, paths: Vec::new(), truncated: true, docs: None }
}
