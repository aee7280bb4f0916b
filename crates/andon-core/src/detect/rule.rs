//! The shape of a rule. Everything about a rule is in its own file, the documentation included, so that `config
//! schema`, the manual and the check cannot tell different stories.

use std::borrow::Cow;

use serde::Serialize;

use super::excuses::{BY_THE_CLOCK, ExcuseText, PROGRESS, honoured_by, is_by_the_clock};
use super::{Situation, attempts::progress};
use crate::domain::{
    About, Detail, EventClass, Finding, HaltReason, Level, Limit, ParamSpec, ReportFile, RuleSetting,
    RuleSettings, Stage, about::section,
};

/// A rule of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Kebab-case id, the key in `[rules]`.
    pub id: &'static str,
    /// The rest of what a person needs to know, in Markdown: the file `<rule>.md` next to the rule. [`Rule::docs`] reads it.
    pub prose: &'static str,
    /// Default level. Signals have `warn`: one of them alone never halts.
    pub level: Level,
    /// The reason, should it halt.
    pub reason: HaltReason,
    /// The file that shows it, should it halt.
    pub report_file: ReportFile,
    /// Its properties for the rest of the code.
    pub about: About,
    /// The parameters that `[rules]` may set, with their defaults, in the order in which they are documented.
    pub params: &'static [ParamSpec],
    /// The stages at which it is evaluated.
    pub stages: &'static [Stage],
    /// Its input in addition to the facts at hand: a hook reads no more than its active rules need.
    pub reads: RuleInput,
    /// The check: pure, never panics, `None` when all is well. Never called at [`Level::Off`].
    pub check: Check,
}

/// The check of a rule.
type Check = fn(&Situation<'_>, &RuleSetting) -> Option<Finding>;

/// The input of a rule in addition to the facts at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleInput {
    /// Nothing: the tree, its evidence and the files for people decide.
    Tree,
    /// Records of the commits before: ids, tests, outputs, gates. Its counts are numbers of records: twice the
    /// largest is read.
    Records,
    /// Running totals and events of the journal: its counts say nothing about records.
    Totals,
}

/// The documentation of a rule: each text with one line a paragraph and one a list item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Docs {
    /// The exact condition under which it trips.
    pub trips: String,
    /// The reasons for this threshold and this level.
    pub why: String,
    /// A story in which it trips.
    pub example: String,
    /// Settings that tune it.
    pub tune: String,
    /// The requirement it comes from.
    #[serde(skip)]
    pub source: String,
}

impl Docs {
    /// Reads the sections of a rule's page; a section that is missing is empty.
    fn of(prose: &str) -> Self {
        let text = |title| unfolded(section(prose, title));
        let trips = unfolded(prose.split("\n## ").next().unwrap_or_default());
        let (why, example, tune, source) = (text("Why"), text("Example"), text("Tuning"), text("Source"));
        Self { trips, why, example, tune, source }
    }
}

/// `text` with the lines of each paragraph and of each list item joined.
fn unfolded(text: &str) -> String {
    let mut whole = String::new();
    for line in text.trim().lines() {
        let begins = whole.is_empty() || whole.ends_with('\n');
        whole.push_str(match line {
            "" => "\n\n",
            _ if begins => "",
            item if item.starts_with("- ") => "\n",
            _ => " ",
        });
        whole.push_str(line.trim_start());
    }
    whole
}

impl Rule {
    /// A rule about iterations, as most are: it halts a stalled loop, by the records. Each rule states what differs.
    pub(super) const fn of_iterations(id: &'static str, prose: &'static str, check: Check) -> Self {
        Self {
            id,
            prose,
            level: Level::Halt,
            reason: HaltReason::Stalled,
            report_file: ReportFile::Checkpoint,
            about: About::new(EventClass::Stall),
            params: &[],
            stages: LOOP,
            reads: RuleInput::Records,
            check,
        }
    }

    /// A rule about events within a turn, by the running totals.
    pub(super) const fn of_events(id: &'static str, prose: &'static str, check: Check) -> Self {
        Self { stages: ANY_EVENT, reads: RuleInput::Totals, ..Self::of_iterations(id, prose, check) }
    }

    pub fn docs(&self) -> Docs {
        Docs::of(self.prose)
    }

    /// The condition under which it trips, in one line: the section "Summary" of its page.
    pub fn summary(&self) -> &'static str {
        section(self.prose, "Summary")
    }

    /// A clause about the halted loop, to follow the name of its agent: the section "Stuck"; `None` where the halt's reason
    /// says it.
    pub fn stuck(&self) -> Option<&'static str> {
        Some(section(self.prose, "Stuck")).filter(|clause| !clause.is_empty())
    }

    /// The meanings of the parameters, `name: sentence` in a line: the section "Parameters".
    pub fn param_docs(&self) -> &'static str {
        section(self.prose, "Parameters")
    }

    /// A finding of this rule with its detail, and the section "Hint" as its help: for `Finding { evidence, ..here }`.
    pub fn finding(&self, level: Level, found: impl Into<Detail>) -> Finding {
        Finding {
            rule: self.id,
            level,
            reason: Some(self.reason),
            report_file: self.report_file,
            about: self.about,
            detail: found.into(),
            files: Vec::new(),
            evidence: Vec::new(),
            help: section(self.prose, "Hint").lines().map(str::to_owned).collect(),
            echo_of: None,
            page: self.prose,
        }
    }

    /// Returns the finding of the rule. Commits that a program makes by the clock, such as data that it fetches, are not the
    /// work of a loop: anything that goes round in them is a note at most.
    pub fn found(&self, situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
        let found = (self.check)(situation, setting)?;
        let excused =
            self.is_about_rounds() && found.level > Level::Note && is_by_the_clock(situation.timeline);
        let counts = self.is_of_iterations() && found.level > Level::Note;
        let progress = counts.then(|| progress(situation.timeline)).flatten();
        let limits = [excused.then_some(BY_THE_CLOCK), progress];
        Some(found.within(limits.into_iter().flatten().map(Limit::note)))
    }

    /// Returns whether it judges iterations by the records.
    pub(super) fn is_of_iterations(&self) -> bool {
        self.stages == LOOP && self.reads == RuleInput::Records
    }

    /// Returns whether it judges what goes round in commits.
    fn is_about_rounds(&self) -> bool {
        let goes_round = self.reason == HaltReason::Oscillating || self.about.signal.is_some();
        self.is_of_iterations() && goes_round
    }

    /// The excuses that lessen its findings or keep a commit from counting, each with its meaning.
    pub fn excuses(&self) -> impl Iterator<Item = ExcuseText> {
        let clock: &[&str] = if self.is_about_rounds() { &[BY_THE_CLOCK] } else { &[] };
        let progress: &[&str] = if self.is_of_iterations() { &PROGRESS } else { &[] };
        honoured_by(self.id, [clock, progress].concat())
    }

    /// This rule's level and parameters before any configuration.
    pub fn defaults(&self) -> RuleSetting {
        let params = self.params.iter().map(|param| (param.name, param.default())).collect();
        RuleSetting { level: self.level, params }
    }

    /// The setting of this rule; `None` while it is off.
    pub fn active<'s>(&self, settings: &'s RuleSettings) -> Option<Cow<'s, RuleSetting>> {
        Some(self.setting(settings)).filter(|setting| setting.level > Level::Off)
    }

    pub fn level_in(&self, settings: &RuleSettings) -> Level {
        settings.get(self.id).map_or(self.level, |setting| setting.level)
    }

    /// The `settings` of this rule, else its defaults. Borrowed: every rule runs at every commit of a history.
    pub fn setting<'s>(&self, settings: &'s RuleSettings) -> Cow<'s, RuleSetting> {
        settings.get(self.id).map_or_else(|| Cow::Owned(self.defaults()), Cow::Borrowed)
    }
}

/// The stages of a rule about the loop: after an iteration, and when history is replayed. At level `block` such a rule
/// acts like `warn`, because its commit has been made already.
pub(super) const LOOP: &[Stage] = &[Stage::PostCommit, Stage::Turn, Stage::Replay];

/// The stages of a rule that can also run within a turn.
pub(super) const ANY_EVENT: &[Stage] = &[Stage::PostCommit, Stage::Turn, Stage::Replay, Stage::Event];
