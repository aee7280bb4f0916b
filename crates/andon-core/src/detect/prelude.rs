//! The names that nearly every rule uses.

pub(super) use super::progress::{Gain, gained_since};
pub(super) use super::rule::{ANY_EVENT, LOOP, Rule, RuleInput};
pub(super) use super::situation::Situation;
pub(super) use super::words;
pub(super) use crate::domain::about::{About, Advice, Counts, EventClass, RuleSubject};
pub(super) use crate::domain::decision::AdvisedStep;
pub(super) use crate::domain::decision::Stage;
pub(super) use crate::domain::escalation::Signal;
pub(super) use crate::domain::findings::{Detail, Figures};
pub(super) use crate::domain::findings::{Evidence, Finding, HaltReason, Level, Limit, ReportFile};
pub(super) use crate::domain::settings::{Param, RuleSetting, Sense, Word};
