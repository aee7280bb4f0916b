//! A walk that reads the ids of a stretch of commits first, and then what is needed of their texts, in rounds
//! ([`super::need`]). While one stretch is judged, the next is read.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::crew::{Crew, Hand};
use super::need;
use super::outline::{Outline, Recorded, windows};
use super::seen::{self, Ask, Lines, Read, Seen, Window};
use super::{Depth, Facts, Found, Job, LEG, Pace, REMEMBERED, Walked, derived, one, remembering};
use crate::detect::{LineThresholds, line_thresholds};
use crate::domain::change::{ChangeFacts, Nature};
use crate::domain::facts::DiffSummary;
use crate::domain::ids::{CommitId, HunkHash};
use crate::domain::settings::RuleSettings;
use crate::domain::time::Span;
use crate::git::{Change, Repo};
use crate::history::Strike;
use crate::ops::derive::{Derived, Deriver};
use crate::ops::error::OpsError;
use crate::record::derived::{DerivedWriter, Remembered};
use crate::record::diff::{Glance, Hunks};
use crate::record::normalize::Normalizer;

/// Commits of a stretch: what is found in them is held until all of it is known. Few in a test build, as of a leg.
const STRETCH: usize = if cfg!(debug_assertions) { 32 } else { 2048 };

/// What the judgement needs.
pub(in crate::ops) struct Lazily<'a> {
    pub outlines: &'a [Outline],
    pub rules: &'a RuleSettings,
    pub gap: Span,
}

/// As [`super::walk`] over `lazily.outlines` (`job.commits` is not looked at), but with no more texts than the rules need.
pub(in crate::ops) fn lazily(
    repo: &Repo,
    job: &Job<'_>,
    (lazily, pace): (&Lazily<'_>, &mut Pace<'_>),
    take: &mut dyn FnMut(Found) -> Result<(), OpsError>,
) -> Result<Walked, OpsError> {
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let (total, stop) = (lazily.outlines.len(), pace.stop);
    let ended = AtomicBool::new(false);
    let (sender, receiver) = sync_channel(1);
    let crew = job.crew(&normalizer, (pace.threads, stop));
    let kept = (repo.common_dir(), total >= REMEMBERED && !repo.is_shallow());
    let done = thread::scope(|scope| {
        let ended = &ended;
        scope.spawn(move || Reader::new(crew, job, lazily, kept).read(ended, &sender));
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
    /// Whether what is found out of windows is worth to be remembered, and will be true again.
    remembers: bool,
    /// What it depends on beside the commits.
    salt: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn new(
        crew: Crew<'a>,
        job: &'a Job<'a>,
        lazily: &'a Lazily<'a>,
        (common_dir, remembers): (&'a Path, bool),
    ) -> Self {
        let windows = windows(lazily.outlines, lazily.gap);
        let mut last_child = vec![0; windows.len()];
        for (at, before) in windows.iter().enumerate() {
            if let Some(before) = before {
                last_child[*before] = at;
            }
        }
        let least = line_thresholds(lazily.rules);
        let salt = format!("{least:?}").into_bytes();
        let line = Vec::with_capacity(windows.len());
        Self { crew, job, lazily, least, windows, last_child, line, common_dir, remembers, salt }
    }

    fn read(mut self, ended: &AtomicBool, to: &SyncSender<Result<Vec<Found>, OpsError>>) {
        let mut held = None;
        for (number, outlines) in self.lazily.outlines.chunks(STRETCH).enumerate() {
            if number.is_multiple_of(LEG / STRETCH) {
                // Closed before the next is opened.
                drop(held.take());
                held = self.held(outlines);
            }
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

    /// What keeps the packs open from round to round of a leg.
    fn held(&self, outlines: &[Outline]) -> Option<Repo> {
        let repo = Repo::open(&self.job.ctx.cwd, &self.job.ctx.repo_env).ok()?;
        repo.tree_of(outlines.first()?.id).ok().map(|_| repo)
    }

    /// What is found in some commits, and the error that the one after them gave.
    fn stretch(&mut self, outlines: &[Outline]) -> (Vec<Found>, Option<OpsError>) {
        let from = self.line.len();
        let mut found: Vec<Found> = Vec::with_capacity(outlines.len());
        let mut broken = self.ids(outlines, &mut found).err();
        let end = from + outlines.len();
        for (number, one) in found.iter().enumerate() {
            let seen = self.seen(from + number, end, one);
            self.line.push(seen);
        }
        self.recall(from);
        loop {
            let asked: Vec<(usize, Ask)> =
                need::asked(&mut self.line, from, &self.least).into_iter().collect();
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
        self.remember(from);
        (found, broken)
    }

    fn ids(&self, outlines: &[Outline], found: &mut Vec<Found>) -> Result<(), OpsError> {
        let read = |hand: &mut Hand<'_>, outline: &Outline| {
            let commit = outline.info.clone().map_or_else(|| hand.repo.commit(outline.id), Ok)?;
            one(self.job, hand, (commit, Depth::Ids))
        };
        let mut writer = DerivedWriter::new(self.common_dir);
        let ended = self.crew.each(outlines, &read, &mut |one| {
            if self.lazily.outlines.len() >= REMEMBERED {
                writer.push(&one.entry);
            }
            found.push(one);
            Ok(())
        });
        writer.flush();
        ended
    }

    /// What an earlier walk found out of the windows from `from` on.
    fn recall(&mut self, from: usize) {
        if !self.remembers {
            return;
        }
        for at in from..self.line.len() {
            if let Some((oldest, newest)) = self.ends(at)
                && self.job.cache.is_quiet(&self.salt, oldest, newest)
            {
                self.line[at].window = Window::Plain;
            }
        }
    }

    /// Remembers what was found out, and lets go of what no later question is about.
    fn remember(&mut self, from: usize) {
        let mut writer = DerivedWriter::new(self.common_dir);
        for at in from..self.line.len() {
            if self.remembers
                && self.line[at].window == Window::Quiet
                && let Some((oldest, newest)) = self.ends(at)
            {
                writer.push(&self.job.cache.quiet_entry(&self.salt, oldest, newest));
            }
        }
        writer.flush();
        for seen in &mut self.line[from..] {
            seen.lines = Lines::Unknown;
        }
    }

    /// The oldest and the newest commit of the window that ends at `at`, when rules are asked about it.
    fn ends(&self, at: usize) -> Option<(CommitId, CommitId)> {
        let window = seen::window(&self.line, at);
        let asks = self.line[at].strike == Strike::Candidate && !seen::is_read(&self.line, &window);
        let id = |at: usize| self.lazily.outlines.get(at).map(|outline| outline.id);
        id(*window.last().filter(|_| asks)?).zip(id(at))
    }

    fn seen(&self, at: usize, end: usize, found: &Found) -> Seen {
        let outline = &self.lazily.outlines[at];
        let least = &self.least;
        let seen = |code, diff: &DiffSummary, change: Option<&ChangeFacts>, read| Seen {
            before: self.windows[at],
            strike: Strike::of(outline.kind, change),
            recorded: outline.recorded == Recorded::Yes,
            passed_over: least.undo.as_ref().is_some_and(|undo| undo.passes_over(&found.commit.subject)),
            open: self.last_child[at] >= end,
            code,
            diff: diff.clone(),
            change: change.cloned().unwrap_or_else(nothing),
            read,
            lines: Lines::Unknown,
            strong: None,
            window: Window::New,
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
                Answer::Part(Part { glance, lines, strong, lacked }) => {
                    let seen = &mut self.line[*at];
                    seen.read = match glance {
                        Glance::Differs { apart } => Read::Differs { apart },
                        Glance::Unclear => Read::Unclear,
                    };
                    seen.strong = strong.or(seen.strong);
                    if let Some(lines) = lines {
                        seen.lines = lines;
                    }
                    self.remembers &= !lacked;
                }
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
        let Found { commit, facts, changes, .. } = found;
        let deriver = &mut hand.deriver;
        let depth = match ask {
            Ask::Documents => Depth::Documents,
            Ask::Glance(_) | Ask::Strength | Ask::Sketch | Ask::Hunks | Ask::Text => Depth::Text,
        };
        let known = self.job.cache.get(commit.id, Remembered::Texts);
        if known.is_some() && !deriver.is_shallow() && depth == Depth::Text {
            let known = derived(self.job, deriver, (commit, depth))?;
            return Ok(Answer::whole(known.derived, known.entry));
        }
        let changes = changes
            .as_ref()
            .map_or_else(|| deriver.changes(commit).map(Cow::Owned), |known| Ok(Cow::Borrowed(known)))?;
        if let Ask::Glance(_) | Ask::Strength | Ask::Sketch | Ask::Hunks = ask {
            return self.part(deriver, (at, ask), &changes);
        }
        debug_assert!(matches!(facts, Facts::Derived(..)), "a record needs no texts");
        let new = deriver.derive_changes(commit, (self.line[at].code, depth), &changes)?;
        let entry = remembering(self.job.cache, deriver, (commit.id, depth), &new);
        Ok(Answer::whole(new, entry))
    }

    /// What is asked of a commit that need not be read whole. A look at one file comes with every such answer: the texts
    /// are at hand.
    fn part(
        &self,
        deriver: &mut Deriver<'_>,
        (at, ask): (usize, Ask),
        changes: &[Change],
    ) -> Result<Answer, OpsError> {
        let mut before = seen::window(&self.line, at).into_iter().skip(1);
        let before = before.find(|before| self.line[*before].strike == Strike::Candidate);
        let steps = before.iter().flat_map(|before| &self.line[*before].change.paths);
        let others: Vec<HunkHash> = steps.map(|step| step.path).collect();
        let (lines, strong) = match ask {
            Ask::Sketch => (Some(Lines::Sketch(deriver.sketch(changes)?)), None),
            Ask::Hunks => {
                let Hunks { hunks, strong } = deriver.hunk_lines(changes)?;
                (Some(Lines::Hunks(hunks)), Some(strong))
            }
            Ask::Strength => (None, Some(deriver.is_strong(changes)?)),
            Ask::Glance(_) | Ask::Documents | Ask::Text => (None, None),
        };
        let glance = deriver.glance(changes, &others)?;
        Ok(Answer::Part(Part { glance, lines, strong, lacked: deriver.lacked() }))
    }
}

/// What a round gave for one commit.
enum Answer {
    Part(Part),
    Whole(Box<Derived>, Vec<u8>),
}

/// What was found out without reading it whole.
struct Part {
    glance: Glance,
    lines: Option<Lines>,
    strong: Option<bool>,
    /// A text was not there.
    lacked: bool,
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
