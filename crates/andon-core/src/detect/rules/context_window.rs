//! `context-window`: the agent's context window fills up.

use crate::detect::prelude::*;
use crate::domain::{ContextWindowUse, FillSource, Hint, PROMPT, Pressure, Thresholds, context::percent};
use crate::history::{Door, Timeline};

/// The size of a window that no one names.
const DEFAULT_WINDOW: u64 = 200_000;
/// The consequences that an estimate may have.
const ESTIMATES: &[&str] = &["off", "warn", "block"];

const WINDOW: Param<u64> = Param::total("window", DEFAULT_WINDOW, 1);
const WARN: Param<u64> = Param::rising_percent("warn", 75);
const COMPACT: Param<u64> = Param::rising_percent("compact", 80);
const BLOCK: Param<u64> = Param::rising_percent("block", 85);
const ESTIMATE: Param<Word> = Param::word("estimate", "warn", ESTIMATES);
const ESTIMATE_LINES: Param<u64> = Param::total("estimate_lines", 500, 1);
const ESTIMATE_PERCENT: Param<u64> = Param::total("estimate_percent", 70, 1);

/// Shown and warned of by the engine, which asks for its level and its limits.
pub static RULE: Rule = Rule {
    level: Level::Block,
    reason: HaltReason::BudgetExceeded,
    about: About::new(EventClass::Compaction).advising(AdvisedStep::CompactContext),
    params: &[
        WINDOW.spec,
        WARN.spec,
        COMPACT.spec,
        BLOCK.spec,
        ESTIMATE.spec,
        ESTIMATE_LINES.spec,
        ESTIMATE_PERCENT.spec,
    ],
    ..Rule::of_events("context-window", include_str!("context_window.md"), check)
};

/// The thresholds and the size of the window of `node`: as configured, else as its client names it.
pub(in crate::detect) fn limits(timeline: &Timeline, node: &str, setting: &RuleSetting) -> (Thresholds, u64) {
    let thresholds = Thresholds {
        warn: setting.count(&WARN),
        compact: setting.count(&COMPACT),
        block: setting.count(&BLOCK),
    };
    let configured = Some(setting.count(&WINDOW)).filter(|window| *window != DEFAULT_WINDOW);
    (thresholds, configured.or(timeline.context_window(node).size).unwrap_or(DEFAULT_WINDOW))
}

/// The fill of the context window of `node`; `None` where it is unknown.
pub(in crate::detect) fn context_use(
    timeline: &Timeline,
    node: &str,
    setting: &RuleSetting,
) -> Option<ContextWindowUse> {
    let (thresholds, window) = limits(timeline, node, setting);
    let lines = timeline.context_window(node).lines;
    let estimate = setting.word(&ESTIMATE);
    let guess = || {
        (estimate != "off" && lines > 0).then(|| (estimated(lines, window, setting), FillSource::Estimate))
    };
    let (used, source) = timeline.context_window_tokens(node).or_else(guess)?;
    let pressure = match percent(used, window) {
        full if full >= thresholds.block => Pressure::HardBlock,
        full if full >= thresholds.compact => Pressure::Mandatory,
        full if full >= thresholds.warn => Pressure::Warning,
        _ => Pressure::Free,
    };
    let most =
        if source == FillSource::Estimate && estimate != "block" { Pressure::Warning } else { pressure };
    let pressure = pressure.min(most);
    Some(ContextWindowUse { node: node.to_owned(), used, source, lines, window, thresholds, pressure })
}

/// `min(100, lines * 70 / 500)` percent of the window, in tokens.
fn estimated(lines: u64, window: u64, setting: &RuleSetting) -> u64 {
    let window = u128::from(window);
    let of = u128::from(setting.count(&ESTIMATE_LINES)).saturating_mul(100);
    let share = u128::from(lines).saturating_mul(u128::from(setting.count(&ESTIMATE_PERCENT)));
    let tokens = share.saturating_mul(window).checked_div(of).unwrap_or(window);
    u64::try_from(tokens.min(window)).unwrap_or(u64::MAX)
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let found = context_use(timeline, timeline.context_window_node(), setting)?;
    let most = match (found.pressure, situation.stage, timeline.activity.windows.door) {
        (Pressure::Free, _, _) => return None,
        // The commit is made, and committing is the best that can be done before a compaction; and the summary has to
        // be written with tools.
        (_, Stage::PostCommit, _)
        | (Pressure::Warning, _, _)
        | (Pressure::Mandatory, Stage::Event, Door::Within) => Level::Warn,
        (Pressure::Mandatory, _, _) => Level::Block,
        (Pressure::HardBlock, _, _) => Level::Halt,
    };
    Some(finding(&found, setting.level.min(most)))
}

/// The message for how full the context window is.
pub fn finding(found: &ContextWindowUse, level: Level) -> Finding {
    let evidence =
        format!("{} tokens of {}, {}", found.used, words::bounded(&found.node), found.source.as_str());
    let Thresholds { warn, compact, block } = found.thresholds;
    let threshold = match found.pressure {
        Pressure::Free | Pressure::Warning => warn,
        Pressure::Mandatory => compact,
        Pressure::HardBlock => block,
    };
    let figures = Figures::Fill { percent: found.percent(), threshold };
    Finding {
        evidence: vec![Evidence::Text(evidence)],
        help: help(found),
        ..RULE.finding(level, Detail::new(message(found)).with_figures(figures))
    }
}

/// Returns one sentence that says what happened.
fn message(found: &ContextWindowUse) -> String {
    let about = if found.source == FillSource::Estimate { "about " } else { "" };
    let from = match found.source {
        FillSource::Reported => String::new(),
        FillSource::Computed => ", from its input and cached tokens".to_owned(),
        FillSource::Estimate => format!(", an estimate from {}", words::count(found.lines, "line")),
    };
    let (tokens, percent) = (format!("{about}{} of {} tokens", found.used, found.window), found.percent());
    match found.pressure {
        Pressure::Free | Pressure::Warning => {
            format!("the context window is {percent} % full: {tokens}{from}")
        }
        Pressure::Mandatory => {
            format!("compaction is mandatory before the next turn: {tokens} ({percent} %){from}")
        }
        Pressure::HardBlock => {
            format!("no tool call until the context window is cleared: {tokens} ({percent} %){from}")
        }
    }
}

fn help(found: &ContextWindowUse) -> Vec<String> {
    let mut help = match found.pressure {
        Pressure::Free | Pressure::Warning => {
            vec![Hint::ObserveCompaction.led("compact soon: /compact, then")]
        }
        Pressure::Mandatory | Pressure::HardBlock => vec![
            format!("/compact, or begin a new session with: {PROMPT}"),
            Hint::ObserveCompaction.led("then say that the window is cleared"),
        ],
    };
    if found.used > found.window {
        help.push(format!(
            "if the window is larger than {} tokens, in andon.toml under [rules]:  context-window = {{ window = N }}",
            found.window
        ));
    }
    help
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::situation::Stops;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{EventKind, Fact, ParamValue, Renewal, Usage};
    use crate::testkit::{call, event, event_of, folded, turn_end};

    fn reported(tokens: u64) -> Fact {
        event(EventKind::Usage(Usage { context_tokens: Some(tokens), ..Usage::default() }))
    }

    fn lines(lines: u64) -> Fact {
        event(EventKind::Usage(Usage { output_lines: Some(lines), ..Usage::default() }))
    }

    fn called() -> Fact {
        event(EventKind::ToolCall(call("Bash", 1, None)))
    }

    fn level(facts: Vec<Fact>, stage: Stage, setting: &RuleSetting) -> Option<Level> {
        let timeline = &folded(facts);
        let situation = Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None };
        check(&situation, setting).map(|finding| finding.level)
    }

    #[test]
    fn what_is_suggested_names_the_prompt() {
        let text = crate::domain::about::section(RULE.prose, "Advice");
        assert!(text.ends_with(PROMPT), "{text}");
    }

    #[test]
    fn the_thresholds_are_those_of_the_document_at_each_door() {
        let (none, warn, block) = (None, Some(Level::Warn), Some(Level::Block));
        let setting = RULE.defaults();
        for (tokens, call, turn, commit) in [
            (0, none, none, none),
            (149_999, none, none, none),
            (150_000, warn, warn, warn),
            (159_999, warn, warn, warn),
            (160_000, warn, block, warn),
            (169_999, warn, block, warn),
            (170_000, block, block, warn),
            (u64::MAX, block, block, warn),
        ] {
            let before = |fact| vec![reported(tokens), fact];
            let called = level(before(called()), Stage::Event, &setting);
            let began = level(before(event(EventKind::TurnStart)), Stage::Event, &setting);
            let ended = level(before(turn_end(1)), Stage::Turn, &setting);
            let replayed = level(before(turn_end(1)), Stage::Replay, &setting);
            let committed = level(before(turn_end(1)), Stage::PostCommit, &setting);
            assert_eq!(
                (called, began, ended, replayed, committed),
                (call, turn, turn, turn, commit),
                "{tokens}"
            );
        }
    }

    #[test]
    fn the_level_bounds_what_it_does() {
        for (is, mandatory, hard) in [
            (Level::Note, Level::Note, Level::Note),
            (Level::Warn, Level::Warn, Level::Warn),
            (Level::Block, Level::Block, Level::Block),
            (Level::Halt, Level::Block, Level::Halt),
        ] {
            let setting = RuleSetting { level: is, ..RULE.defaults() };
            let at = |tokens| level(vec![reported(tokens)], Stage::Event, &setting);
            assert_eq!((at(165_000), at(180_000)), (Some(mandatory), Some(hard)), "{is:?}");
        }
    }

    #[test]
    fn window_and_thresholds_are_parameters() {
        let count = |name, value| (name, ParamValue::Count(value));
        let trips =
            |tokens, params: &[_]| asked_with(&RULE, &folded(vec![reported(tokens)]), params).is_some();
        assert!(!trips(150_000, &[count("window", 1_000_000)]));
        assert!(trips(750_000, &[count("window", 1_000_000)]));
        assert!(trips(100_000, &[count("warn", 50)]));
        let block =
            asked_with(&RULE, &folded(vec![reported(100_000)]), &[count("block", 50), count("compact", 40)]);
        assert!(block.is_some_and(|finding| finding.message().starts_with("no tool call")));
        assert!(trips(1, &[count("window", 0)]), "nothing fits into nothing, and nothing panics");
    }

    #[test]
    fn the_window_is_that_of_the_model_and_nothing_empties_nothing() {
        let named = |size| event(EventKind::Usage(Usage { window_tokens: Some(size), ..Usage::default() }));
        let at = |facts: Vec<Fact>| asked_of(&RULE, &folded(facts)).is_some();
        assert!(at(vec![reported(180_000)]));
        assert!(!at(vec![named(258_400), reported(180_000)]));
        assert!(!at(vec![
            named(1_000_000),
            event(EventKind::Renewed(Renewal::Compaction)),
            reported(700_000)
        ]));
        assert!(at(vec![named(258_400), reported(200_000)]));
        let asked = |window| [("window", ParamValue::Count(window))];
        let line = folded(vec![named(1_000_000), reported(180_000)]);
        assert!(asked_with(&RULE, &line, &asked(190_000)).is_some(), "what a person configured goes before");
        let nothing = event(EventKind::Usage(Usage {
            context_tokens: Some(0),
            input_tokens: Some(0),
            cached_tokens: Some(0),
            ..Usage::default()
        }));
        assert!(at(vec![reported(180_000), nothing]));
    }

    #[test]
    fn an_estimate_says_so_and_warns_at_the_most_unless_told_otherwise() {
        let word = |is| [("estimate", ParamValue::Word { is, of: ESTIMATES })];
        let asked = |count, is| asked_with(&RULE, &folded(vec![lines(count)]), &word(is));
        assert!(asked(535, "warn").is_none());
        let finding = asked(536, "warn").unwrap();
        assert_eq!(
            finding.message(),
            "the context window is 75 % full: about 150080 of 200000 tokens, an estimate from 536 lines"
        );
        assert_eq!(asked(u64::MAX, "warn").map(|finding| finding.level), Some(Level::Warn));
        assert_eq!(asked(u64::MAX, "block").map(|finding| finding.level), Some(Level::Block));
        assert!(asked(u64::MAX, "off").is_none());
        let better = folded(vec![lines(9_999), reported(10)]);
        assert!(asked_of(&RULE, &better).is_none(), "what is reported goes before");
    }

    proptest! {
        #[test]
        fn a_cleared_window_is_free_and_more_tokens_never_weigh_less(
            mut facts in crate::testkit::arbitrary::facts(),
            (fewer, more) in (any::<u64>(), any::<u64>()),
            call in any::<bool>(),
        ) {
            let setting = RULE.defaults();
            let door = |tokens| vec![reported(tokens), if call { called() } else { event(EventKind::TurnStart) }];
            let at = |tokens| level(door(tokens), Stage::Event, &setting);
            let (fewer, more) = (fewer.min(more) % 400_000, more % 400_000);
            prop_assert!(at(fewer.min(more)) <= at(more));
            facts.push(lines(more));
            let estimated = folded(facts.clone());
            let found = context_use(&estimated, estimated.context_window_node(), &setting);
            let guessed = found.filter(|found| found.source == FillSource::Estimate);
            let most = guessed.map_or(Pressure::Free, |found| found.pressure);
            prop_assert!(most <= Pressure::Warning);
            facts.push(event(EventKind::Renewed(Renewal::Compaction)));
            prop_assert_eq!(level(facts, Stage::Event, &setting), None);
        }
    }

    #[test]
    fn a_cleared_window_and_that_of_another_node_say_nothing() {
        let cleared = |how| folded(vec![reported(190_000), event(EventKind::Renewed(how))]);
        assert!(asked_of(&RULE, &cleared(Renewal::Compaction)).is_none());
        assert!(asked_of(&RULE, &cleared(Renewal::SessionStart)).is_none());
        assert!(asked_of(&RULE, &folded(vec![reported(190_000), reported(20_000)])).is_none());
        let other = folded(vec![reported(190_000), event_of("reviewer", 1, EventKind::TurnStart)]);
        assert!(asked_of(&RULE, &other).is_none());
    }

    #[test]
    fn more_than_fits_asks_whether_the_window_is_right() {
        let finding = asked_of(&RULE, &folded(vec![reported(400_000)])).unwrap();
        insta::assert_snapshot!(finding.message(), @"no tool call until the context window is cleared: 400000 of 200000 tokens (200 %)");
        assert!(finding.help.iter().any(|line| line.contains("window = N")), "{:?}", finding.help);
    }
}
