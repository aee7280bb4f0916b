//! The figures of a family, as a row and as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::families::{CheckRequest, Family, Unit};
use crate::measure::Run;

/// Share of stuck runs that have to be found.
const RECALL: f64 = 0.98;
/// Share of healthy iterations that may carry a warning.
const WARNED: f64 = 0.01;

/// The figures.
pub struct Row {
    /// The family's name.
    pub name: &'static str,
    asked: CheckRequest,
    runs: usize,
    hits: usize,
    early: usize,
    steps: Vec<usize>,
    rules: BTreeMap<String, usize>,
    iterations: usize,
    warned: usize,
    warned_runs: usize,
    warnings: BTreeMap<String, usize>,
    /// Seeds of the runs that did not do as asked.
    pub odd: Vec<u64>,
}

impl Row {
    /// Sums up.
    pub fn new(family: &Family, runs: &[Run]) -> Self {
        let mut row = Self {
            name: family.name,
            asked: family.asked,
            runs: runs.len(),
            hits: 0,
            early: 0,
            steps: Vec::new(),
            rules: BTreeMap::new(),
            iterations: runs.iter().map(|run| run.iterations).sum(),
            warned: runs.iter().map(|run| run.warned).sum(),
            warned_runs: runs.iter().filter(|run| run.warned > 0).count(),
            warnings: BTreeMap::new(),
            odd: Vec::new(),
        };
        for run in runs {
            for (rule, count) in &run.warnings {
                *row.warnings.entry(rule.clone()).or_default() += count;
            }
            row.take(run);
        }
        row.steps.sort_unstable();
        row
    }

    fn take(&mut self, run: &Run) {
        let stuck = self.asked != CheckRequest::LeftAlone;
        match &run.halted {
            Some((rule, 0)) if stuck => {
                self.early += 1;
                self.odd.push(run.seed);
                *self.rules.entry(format!("{rule} (too early)")).or_default() += 1;
            }
            Some((rule, at)) => {
                // A budget that runs out is no detection.
                self.hits += usize::from(rule != "iteration-cap" && rule != "turn-timeout");
                self.steps.push(*at);
                *self.rules.entry(rule.clone()).or_default() += 1;
                if !stuck {
                    self.odd.push(run.seed);
                }
            }
            None if stuck => self.odd.push(run.seed),
            None => {}
        }
    }

    fn percentile(&self, share: f64) -> usize {
        let rank = (share * self.steps.len() as f64).ceil() as usize;
        self.steps.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    fn share(&self) -> f64 {
        self.hits as f64 / self.runs.max(1) as f64
    }

    fn warned_share(&self) -> f64 {
        self.warned as f64 / self.iterations.max(1) as f64
    }

    /// Whether the figures are those asked for.
    pub fn reached(&self) -> bool {
        match self.asked {
            CheckRequest::Found(_, limit) => {
                self.share() >= RECALL && limit.is_none_or(|limit| self.percentile(0.95) as u64 <= limit)
            }
            CheckRequest::LeftAlone => self.hits == 0 && self.warned_share() <= WARNED,
        }
    }

    /// A row of the table.
    pub fn markdown(&self) -> String {
        let (low, high) = wilson(self.hits, self.runs);
        let mark = if self.reached() { "" } else { " **missed**" };
        let rules = |rules: &BTreeMap<String, usize>| {
            let mut rules: Vec<(&String, &usize)> = rules.iter().collect();
            rules.sort_by_key(|(name, count)| (usize::MAX - **count, (*name).clone()));
            rules.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        let name = self.name;
        match self.asked {
            CheckRequest::Found(unit, limit) => {
                let unit = if unit == Unit::Calls { " calls" } else { "" };
                let limit = limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string());
                format!(
                    "| {name} | {} | {:.3} ({low:.3}-{high:.3}){mark} | {}{unit} | {}{unit} | {limit} | {} |",
                    self.runs,
                    self.share(),
                    self.percentile(0.5),
                    self.percentile(0.95),
                    rules(&self.rules),
                )
            }
            CheckRequest::LeftAlone => format!(
                "| {name} | {} | {:.3} ({low:.3}-{high:.3}){mark} | {} of {} ({:.2} %) | {} | {} |",
                self.runs,
                self.share(),
                self.warned,
                self.iterations,
                100.0 * self.warned_share(),
                self.warned_runs,
                [rules(&self.rules), rules(&self.warnings)]
                    .iter()
                    .filter(|text| !text.is_empty())
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
        }
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let (low, high) = wilson(self.hits, self.runs);
        let found = self.asked != CheckRequest::LeftAlone;
        json!({"family": self.name, "kind": if found { "stuck" } else { "healthy" }, "runs": self.runs,
            "halted": self.hits, "share": self.share(), "wilson95": [low, high], "too_early": self.early,
            "median": self.percentile(0.5), "p95": self.percentile(0.95), "rules": self.rules,
            "iterations": self.iterations, "warned": self.warned, "warned_runs": self.warned_runs,
            "warnings": self.warnings, "reached": self.reached(), "seeds": self.odd})
    }
}

/// The Wilson interval of 95 % of a share.
pub fn wilson(hits: usize, runs: usize) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (z, n) = (1.959_964_f64, runs as f64);
    let p = hits as f64 / n;
    let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The head of the table of stuck families.
pub const STUCK: &str = "| stuck family | runs | recall (Wilson 95 %) | median | p95 | within | rules |\n|---|--:|---|--:|--:|--:|---|\n";
/// The head of the table of healthy families.
pub const HEALTHY: &str = "| healthy family | runs | halted (Wilson 95 %) | iterations with a warning | runs with one | by |\n|---|--:|---|---|--:|---|\n";
