//! All families, and what is asked of each.

use crate::agent::Agent;
use crate::{fake, healthy, programs, releases, stuck, toggles, tools};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckRequest {
    /// It is found; within so many iterations or calls, where the requirements say so.
    Found(Unit, Option<u64>),
    /// It is let alone.
    LeftAlone,
}

/// What is counted until it is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Iterations.
    Iterations,
    /// Tool calls.
    Calls,
}

/// A family.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What is asked of it.
    pub asked: CheckRequest,
    /// Its part of `andon.toml`.
    pub config: &'static str,
    /// One run of it.
    pub run: fn(&mut Agent),
}

const fn found(name: &'static str, within: u64, run: fn(&mut Agent)) -> Family {
    let limit = if within == 0 { None } else { Some(within) };
    Family { name, asked: CheckRequest::Found(Unit::Iterations, limit), config: "", run }
}

const fn calls(name: &'static str, run: fn(&mut Agent)) -> Family {
    Family { name, asked: CheckRequest::Found(Unit::Calls, None), config: "", run }
}

const fn alone(name: &'static str, run: fn(&mut Agent)) -> Family {
    Family { name, asked: CheckRequest::LeftAlone, config: "", run }
}

const fn alone_with(name: &'static str, config: &'static str, run: fn(&mut Agent)) -> Family {
    Family { name, asked: CheckRequest::LeftAlone, config, run }
}

/// A planner that edits nothing. The budgets of a declared workflow are switched off: what is measured is detection.
const PLANNER: &str = "[rules]\nnode-turns = \"off\"\ncycle-iterations = \"off\"\n[workflow]\nnodes.planner = { edits = false }\nnodes.coder = {}\n\
edges = [{ from = \"planner\", to = \"coder\" }, { from = \"coder\", to = \"planner\" }, { from = \"planner\", to = \"planner\" }]\n";

/// Every family.
pub static FAMILIES: [Family; 68] = [
    found("idle turns", 3, stuck::idle),
    found("empty commits", 0, stuck::empty),
    found("A/B/A/B", 4, stuck::two),
    found("period 3", 6, stuck::three),
    found("period 4", 8, stuck::four),
    found("period 5", 10, stuck::five),
    found("period 6", 12, stuck::six),
    found("recurrence at random distance", 0, stuck::recurrence),
    found("same failing set", 3, stuck::same_failures),
    found("rotating sets, flat count", 0, stuck::rotating),
    found("fake progress: log", 6, fake::log),
    found("fake progress: timestamp", 6, fake::timestamp),
    found("fake progress: white space", 6, fake::space),
    found("fake progress: comment", 6, fake::comments),
    found("fake progress: version bump", 6, fake::version),
    found("fake progress: chmod", 6, fake::chmod),
    found("fake progress: rename ping-pong", 6, fake::rename),
    found("tests deleted", 0, stuck::deleted),
    found("tests skipped", 0, stuck::skipped),
    found("amend loop", 0, stuck::amend),
    found("rebase loop", 0, stuck::rebase),
    calls("identical tool call", tools::identical),
    calls("interleaved tool calls", tools::interleaved),
    calls("varying arguments, same answer", tools::same_answer),
    calls("volatile ids in answers", tools::volatile),
    calls("reordered keys", tools::reordered),
    calls("the same edit again", tools::same_edit),
    calls("the same refusal", tools::same_refusal),
    calls("a program that is not there", tools::missing_program),
    calls("rows of six to twelve calls", tools::long_row),
    calls("one call, ever other errors", tools::other_errors),
    calls("compactions in vain", tools::compactions),
    calls("outputs A/B/A/B", tools::outputs),
    found("ping-pong behind unrelated churn", 0, stuck::hidden),
    found("irregular comebacks of one file", 0, stuck::comebacks),
    found("repeated outputs", 0, stuck::outputs),
    found("council split", 0, stuck::council),
    alone("steady test-driven work", healthy::test_driven),
    alone("refactoring, failures rise and fall", healthy::refactoring),
    alone("new untracked files", healthy::untracked),
    alone_with("planning node without edits", PLANNER, healthy::planner),
    alone("plan document moves", healthy::plan_document),
    alone("batch edits", healthy::batch),
    alone("polling, answers change", healthy::polling),
    alone("quiet commands", tools::quiet),
    alone("waiting", tools::waiting),
    alone("polling, only masked numbers move", tools::masked_progress),
    alone("one revert", releases::one_revert),
    alone("revert and reland", releases::reland),
    alone("release and rollback", releases::release),
    alone("deploy branch", releases::deploy),
    alone("flaky test", healthy::flaky),
    alone("merges, rebases, amends", healthy::merges),
    alone("tests re-run after each edit", healthy::rerun),
    alone("a status toggled beside real work", toggles::status),
    alone("a list of features, one after the other", toggles::features),
    alone("the same line at several places", toggles::same_line),
    alone("empty releases, merges, build starts", toggles::releases),
    alone("an acceptance test written first", toggles::acceptance),
    alone("a feature flag on and off", toggles::flag),
    alone("a pull request lands again, twice", toggles::relanded),
    alone("release pairs in words of one's own", toggles::own_words),
    alone("sessions that read the same files", toggles::sessions),
    alone("the same words after every step", toggles::same_words),
    alone_with("a scraper of two answers", programs::IGNORED, programs::scraper),
    alone_with("a status page", programs::IGNORED, programs::status_page),
    alone_with("data that are fetched", programs::IGNORED, programs::fetched),
    alone("deployments by commit", programs::gitops),
];
