//! What goes round, in words: a halt has to name the commits.

use std::fmt;

use super::comebacks::AMONG;
use crate::detect::returns::RepeatedSequence;
use crate::detect::words;
use crate::domain::detail::FindingDetail;
use crate::history::CodeState;

/// What goes round.
#[derive(Debug)]
pub(super) enum Circle {
    /// The code, through as many states as the period has.
    States {
        of: Option<StateList>,
        round: RepeatedSequence,
    },
    File(RepeatedSequence),
    /// The code, without a period.
    Comebacks(u64),
}

impl FindingDetail for Circle {}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States { of, round } => {
                let changes = changes(*round);
                match round.period {
                    2 => write!(f, "the code has switched between the same two versions {changes}")?,
                    period => {
                        let versions = words::count(period, "version");
                        write!(f, "the code has gone round the same {versions} in {changes}")?;
                    }
                }
                match of {
                    Some(StateList::Commits(commits)) => write!(f, " (commits {commits})")?,
                    Some(StateList::Codes(codes)) => write!(f, " ({codes})")?,
                    None => {}
                }
                f.write_str(&on_purpose(*round))
            }
            Self::File(round) => {
                let (period, returns) = (round.period, returns_of(*round));
                write!(
                    f,
                    "one file goes back and forth between {}, {returns}",
                    words::count(period, "state")
                )?;
                f.write_str(&on_purpose(*round))
            }
            Self::Comebacks(count) => {
                write!(
                    f,
                    "the code came back to an earlier state {} in {AMONG} changes",
                    words::times(*count)
                )
            }
        }
    }
}

/// What the states of a circle are known by, listed in words.
#[derive(Debug)]
pub(super) enum StateList {
    /// The commits that brought them.
    Commits(String),
    /// Their own hashes.
    Codes(String),
}

/// How the states of a circle are named: by their commits where all are commits; of two states the hashes say enough.
pub(super) fn named(circle: &[CodeState<'_>]) -> Option<StateList> {
    let listed = |names: Vec<String>| {
        let (last, before) = names.split_last()?;
        Some(format!("{} and {last}", before.join(", ")))
    };
    let commits: Option<Vec<String>> =
        circle.iter().map(|state| state.brought_by.commit.map(|commit| commit.short())).collect();
    let codes = || circle.iter().map(|state| state.code.short()).collect();
    match commits {
        Some(commits) => listed(commits).map(StateList::Commits),
        None if circle.len() == 2 => listed(codes()).map(StateList::Codes),
        None => None,
    }
}

fn changes(round: RepeatedSequence) -> String {
    let changes = u64::try_from(round.returns + round.period).unwrap_or(u64::MAX);
    if round.period == 2 { words::times(changes) } else { words::count(changes, "change") }
}

fn returns_of(round: RepeatedSequence) -> String {
    words::count(u64::try_from(round.returns).unwrap_or(u64::MAX), "return")
}

/// What is to be said about returns that were meant.
fn on_purpose(round: RepeatedSequence) -> String {
    match round.meant {
        0 => String::new(),
        meant => format!("; {meant} of {} by reverts, relands, releases or merges", returns_of(round)),
    }
}
