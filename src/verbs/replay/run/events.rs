//! `andon replay --events FILE`: the same fold and the same rules over a stream of events, one at a time, so that a
//! stream of any length takes the memory of the window. A halt holds until the stream answers it.

use std::io::BufRead;

use super::lookahead::{self, StreamOptions};
use andon_config::Config;
use andon_core::change::normalize::Normalizer;
use andon_core::detect::{self, Situation, Stops};
use andon_core::domain::decision::{Decision, Halt, HaltEvidence, Stage, StandingHalt, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::escalation::EscalationMode;
use andon_core::domain::facts::Fact;
use andon_core::domain::ids::EntryId;
use andon_core::domain::settings::RuleSettings;
use andon_core::domain::time::Timestamp;
use andon_core::history::{EventEffect, Fold, Timeline};
use andon_core::policy::{self, HaltPlace};
use andon_engine::adapter::events::Dates;
use andon_engine::error::OpsError;
use andon_engine::range::uncertainty;
use andon_engine::text::line_summary::LineSummary;

/// The number of lines without a fact after which a stream counts as something else.
const MAX_REFUSED: u64 = 1_000_000;
/// Lines of one stream: some ten gigabytes. A device that never ends must end here.
const MAX_LINES: u64 = 100_000_000;

/// What is left to say after the last decision.
pub struct EventsEnd {
    /// The first remarks about single lines.
    pub remarks: Vec<Diagnostic>,
    /// Lines that are no facts.
    pub refused: u64,
}

/// Replays the events of `input`; `show` gets the number of each line that is a fact, from 1, and the decision on it.
pub fn run(
    config: &Config,
    now: Timestamp,
    input: &mut dyn BufRead,
    show: &mut dyn FnMut(u64, Decision),
) -> Result<EventsEnd, OpsError> {
    let settings = super::settings(&config.rules);
    let mut engine = Engine::new(config, settings);
    let patterns = Normalizer::new(&config.normalize)?;
    each_fact(StreamOptions { now, patterns: &patterns }, input, &mut |number, fact| {
        show(number, engine.take(fact));
    })
}

/// Hands each fact of `input` to `take`, with the number of its line from 1.
pub(in crate::verbs) fn each_fact(
    at: StreamOptions<'_>,
    input: &mut dyn BufRead,
    take: &mut dyn FnMut(u64, Fact),
) -> Result<EventsEnd, OpsError> {
    let mut tally = LineSummary::default();
    let mut dates = Dates::default();
    lookahead::each_batch(at, input, &mut |batch| {
        for told in batch {
            tally.line = tally.line.saturating_add(1);
            within_bounds(&tally)?;
            match told.dated(&mut dates) {
                Some(Ok(parsed)) => {
                    tally.odd(parsed.odd.map(|odd| Diagnostic::warning(odd).code("event")));
                    take(tally.line, parsed.fact);
                }
                Some(Err(error)) => tally.refuse(&error),
                None => {}
            }
        }
        Ok(())
    })?;
    let refused = tally.refused;
    Ok(EventsEnd { remarks: tally.remarks(), refused })
}

fn within_bounds(tally: &LineSummary) -> Result<(), OpsError> {
    let what = if tally.refused > MAX_REFUSED {
        format!("more than {MAX_REFUSED} lines that are no events, up to line {}", tally.line)
    } else if tally.line > MAX_LINES {
        format!("more than {MAX_LINES} lines")
    } else {
        return Ok(());
    };
    Err(OpsError::Input(std::io::Error::new(std::io::ErrorKind::InvalidData, what)))
}

/// The fold, the rules and the halt that holds.
pub(super) struct Engine {
    fold: Fold,
    settings: RuleSettings,
    mode: EscalationMode,
    standing: Option<StandingHalt>,
}

impl Engine {
    pub(super) fn new(config: &Config, settings: RuleSettings) -> Self {
        let fold =
            Fold::new(config.guard.session_gap).in_workflow(config.workflow.clone()).counting(config.cached);
        Self { fold, settings, mode: uncertainty::mode(config), standing: None }
    }

    /// Folds a fact, and decides.
    pub(super) fn take(&mut self, fact: Fact) -> Decision {
        let answers = matches!(fact, Fact::Ack(_));
        // As in hooks: a commit is already made, and weighs less than a turn that could continue.
        let at = if matches!(fact, Fact::Commit(_)) { Stage::PostCommit } else { Stage::Turn };
        let effect = self.fold.push(fact);
        if answers {
            self.standing = None;
        }
        let findings = match effect {
            // While the loop is halted no rule runs: the answer begins a new window.
            EventEffect::Nothing | EventEffect::Within | EventEffect::Iteration
                if self.standing.is_some() =>
            {
                Vec::new()
            }
            EventEffect::Nothing => Vec::new(),
            EventEffect::Within => self.ask(Stage::Event),
            EventEffect::Iteration => self.ask(at),
        };
        let mut decision = policy::decide(findings, self.standing.clone());
        if self.standing.is_none() && decision.verdict == Verdict::Halt {
            decision.halted = halted(&decision, self.fold.timeline());
            self.standing = decision.halted.as_deref().map(standing);
        }
        decision
    }

    fn ask(&self, stage: Stage) -> Vec<andon_core::domain::findings::Finding> {
        let timeline = self.fold.timeline();
        let episode = match stage {
            Stage::Event => None,
            Stage::PreCommit
            | Stage::Halts
            | Stage::PostCommit
            | Stage::PrePush
            | Stage::Complete
            | Stage::Check
            | Stage::Turn
            | Stage::Replay => uncertainty::episode(timeline, &self.settings, self.mode),
        };
        let situation =
            Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: episode.as_ref() };
        detect::run(&situation, &self.settings)
    }
}

/// The halt of `decision`, from everything that was folded so far.
fn halted(decision: &Decision, timeline: &Timeline) -> Option<Box<Halt>> {
    let at = timeline.activity.now.unwrap_or(Timestamp(0));
    let place = HaltPlace { head: None, branch: None, worktree: String::new(), at };
    policy::halting(decision, timeline, &place)
}

/// The halt from then on. It was shown in full where it was made: every later decision has it, and shows its reason
/// only.
fn standing(halt: &Halt) -> StandingHalt {
    let halt = Halt { evidence: HaltEvidence::default(), suggested_actions: Vec::new(), ..halt.clone() };
    StandingHalt { id: EntryId([0; 32]), halt }
}
