//! The names that nearly every rule uses.

pub(super) use super::progress::{Gain, gained_since};
pub(super) use super::rule::{ANY_EVENT, LOOP, Rule, RuleInput};
pub(super) use super::situation::Situation;
pub(super) use super::words;
pub(super) use crate::domain::{
    About, Advice, AdvisedStep, Detail, EventClass, Evidence, Figures, Finding, HaltReason, Level, Limit,
    Nesting, Param, ReportFile, RuleSetting, RuleSubject, Sense, Signal, Stage, Word,
};
