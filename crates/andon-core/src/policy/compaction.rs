//! Mandatory compaction: the briefing of the next session, and the notice that a compaction is due (docs/spec-map.md,
//! loop rules: context compaction gate). Pure: files are written and programs started in `andon-engine`.

use super::plan::HaltPlace;
use crate::domain::{Briefing, BriefingGround, Effect, Hint, Notice, NoticeKind, Plan, Pressure};
use crate::escape::first;
use crate::history::{Timeline, failing_count};

/// Items of a plan that a briefing names.
const ITEMS: usize = 5;
/// Characters of a name or an item.
const CHARS: usize = 160;

/// The briefing of the next session.
pub fn briefing(timeline: &Timeline, place: &HaltPlace, ground: BriefingGround) -> Briefing {
    let next = next(timeline, &ground);
    Briefing {
        at: place.at,
        branch: place.branch.clone(),
        head: place.head,
        iteration: timeline.counted(),
        story: timeline.story(),
        ground,
        next,
    }
}

/// The responses to a window that has to be compacted: the briefing, and a notice once an episode, which ends when the
/// window is cleared. Nothing below that. `rule` is the one that watches the window.
pub fn compaction(
    timeline: &Timeline,
    place: &HaltPlace,
    briefing: Briefing,
    rule: &'static str,
) -> Vec<Effect> {
    let context = briefing.ground.context.as_ref();
    let Some(context) = context.filter(|found| found.pressure >= Pressure::Mandatory) else {
        return Vec::new();
    };
    let since = timeline.context_window(&context.node).since;
    let since = since.map_or_else(|| "-".to_owned(), |since| since.to_string());
    let (node, pressure) = (&context.node, context.pressure.as_str());
    let episode = format!("{}:{rule}:{node}:{since}:{pressure}", place.worktree);
    let notice = Notice {
        rule: rule.to_owned(),
        message: format!("the context window of {} is full to {} %", first(node, CHARS), context.percent()),
        branch: place.branch.clone(),
        ..Notice::new(NoticeKind::CompactionDue, episode, place.worktree.clone(), place.at)
    };
    vec![Effect::Brief(Box::new(briefing)), Effect::Notify(Box::new(notice))]
}

/// Returns the next steps: a halt before everything, then what fails, then the plan.
fn next(timeline: &Timeline, ground: &BriefingGround) -> Vec<String> {
    if let Some(halt) = &ground.halt {
        let report_file = halt.report_file.file_name();
        return vec![format!("wait for a person: the loop is halted, see .andon/{report_file}")];
    }
    let mut next = Vec::new();
    match timeline.newest_tests() {
        Some(tests) if !tests.is_green() => {
            let first = tests.failing.first().map(|name| format!("make {} pass", first(name, CHARS)));
            let hint = first.unwrap_or_else(|| "make the tests run to their end".to_owned());
            next.push(Hint::Test.led(&hint));
            next.extend(best(timeline));
        }
        Some(_) => {}
        None => next.push(Hint::Test.led("run the tests on the code as it is")),
    }
    if let Some(plan) = &ground.plan {
        next.extend(plan.open.first().map(|item| format!("go on in {} with: {item}", plan.path)));
    }
    next.push(Hint::Complete.led("when nothing of the goal is left"));
    next
}

/// The commit to fall back on, where the newest state fails more.
fn best(timeline: &Timeline) -> Option<String> {
    let (commit, failing) = timeline.best()?;
    let now = timeline.newest_tests().and_then(failing_count)?;
    (failing < now).then(|| format!("or go back to {} with {failing} failing", commit.short()))
}

/// Reads a planning document: its title and what of its checklists is open.
pub fn plan_of(path: &str, text: &str) -> Plan {
    let mut plan = Plan { path: path.to_owned(), ..Plan::default() };
    let (mut begins, mut heading) = (None, None);
    for line in text.lines().map(str::trim) {
        let title = line.trim_start_matches('#').trim();
        if plan.title.is_none() && line.starts_with('#') && !title.is_empty() {
            plan.title = Some(first(title, CHARS));
        }
        if line.starts_with('#') && !title.is_empty() {
            heading = Some(first(title, CHARS));
        }
        begins = begins.or_else(|| Some(line).filter(|line| !line.is_empty()));
        let item = line.strip_prefix(['-', '*', '+']).map(str::trim_start);
        let Some((mark, item)) = item.and_then(|item| item.strip_prefix('[')?.split_once(']')) else {
            continue;
        };
        match mark {
            " " | "" if plan.open.len() < ITEMS => {
                plan.phase = plan.phase.or_else(|| heading.clone());
                plan.open.push(first(item.trim(), CHARS));
            }
            " " | "" => {}
            "x" | "X" => plan.done = plan.done.saturating_add(1),
            _ => continue,
        }
        plan.total = plan.total.saturating_add(1);
    }
    plan.title = plan.title.or_else(|| begins.map(|line| first(line, CHARS)));
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ContextWindowUse, FillSource, Thresholds};
    use crate::policy::tests::place;
    use crate::testkit::{commit, green, red, timeline};

    fn ground(pressure: Pressure) -> BriefingGround {
        let thresholds = Thresholds { warn: 75, compact: 80, block: 85 };
        let context = ContextWindowUse {
            node: "agent".into(),
            used: 162_000,
            source: FillSource::Reported,
            lines: 0,
            window: 200_000,
            thresholds,
            pressure,
        };
        let plan = plan_of("PLAN.md", "# Ship it\n- [x] a\n- [ ] the parser\n");
        BriefingGround {
            plan: Some(plan),
            cap: Some(100),
            context: Some(context),
            ..BriefingGround::default()
        }
    }

    #[test]
    fn a_plan_is_its_title_and_what_is_open() {
        let plan = plan_of("TODO.md", "\n intro\n## The `goal`\n* [X] a\n  + [ ] b\n- [?] c\n- [] d\n- e\n");
        assert_eq!(plan.title.as_deref(), Some("The `goal`"));
        assert_eq!((plan.open, plan.done, plan.total), (vec!["b".to_owned(), "d".to_owned()], 1, 3));
        assert_eq!(plan_of("x", "only words\nmore").title.as_deref(), Some("only words"));
        assert_eq!(plan_of("x", "").title, None);
        let long = "- [ ] ä\n".repeat(1_000) + &"#".repeat(10_000);
        let plan = plan_of("x", &long);
        assert_eq!((plan.open.len(), plan.total), (ITEMS, 1_000));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "([-*+ #\\[\\]xX\\n]|.){0,200}") {
            let plan = plan_of("x", &text);
            proptest::prop_assert!(plan.open.len() <= ITEMS && plan.done <= plan.total);
        }
    }

    #[test]
    fn the_next_step_is_what_fails_then_what_is_open() {
        let steps = |line: &Timeline| briefing(line, &place(), ground(Pressure::Mandatory)).next;
        let done = "when nothing of the goal is left: andon complete";
        let open = "go on in PLAN.md with: the parser";
        assert_eq!(steps(&timeline(vec![commit(1).tests(green(1, 9))])), [open, done]);
        assert_eq!(
            steps(&timeline(vec![commit(1)])),
            ["run the tests on the code as it is: andon test", open, done]
        );
        let worse =
            timeline(vec![commit(1).tests(red(1, &["a"], 9)), commit(2).tests(red(2, &["b", "c"], 9))]);
        let found = steps(&worse);
        assert_eq!(found[0], "make b pass: andon test");
        assert!(found[1].starts_with("or go back to ") && found[1].ends_with(" with 1 failing"), "{found:?}");
    }

    #[test]
    fn only_a_window_that_must_be_compacted_leads_to_anything() {
        let line = timeline(vec![commit(1)]);
        let responses = |pressure| {
            let reported = briefing(&line, &place(), ground(pressure));
            compaction(&line, &place(), reported, "context-window")
        };
        assert_eq!(responses(Pressure::Warning), []);
        let [Effect::Brief(_), Effect::Notify(mandatory)] = &responses(Pressure::Mandatory)[..] else {
            panic!()
        };
        let [Effect::Brief(_), Effect::Notify(hard)] = &responses(Pressure::HardBlock)[..] else { panic!() };
        assert_eq!(mandatory.message, "the context window of agent is full to 81 %");
        assert_ne!(mandatory.episode, hard.episode);
    }
}
