//! The summary of a halt, from the window: which iterations are stuck, since when, and what they have cost.

use super::reason_of;
use crate::domain::{
    BestCommit, Client, CodeId, CommitId, Evidence, FailingTest, Finding, HaltReason, HaltSummary,
    RuleSubject, SummaryStep, TestCounts, Timestamp,
};
use crate::history::{DEFAULT_NODE, Iteration, Source, Timeline, Turn, failing_count};

/// The summary of the halt that `finding` makes.
pub fn summary(finding: &Finding, timeline: &Timeline, client: Option<Client>) -> HaltSummary {
    let reason = reason_of(finding);
    // Calls, outputs and test runs that go round came after the newest commit, which is not what is stuck.
    let in_turn = matches!(
        finding.about.judges,
        RuleSubject::Calls | RuleSubject::Outputs | RuleSubject::Compactions | RuleSubject::Attempts
    ) && commits(finding).next().is_none();
    let first = if in_turn { timeline.iterations.len() } else { began(finding, reason, timeline) };
    let stuck = &timeline.iterations[first..];
    let tests = timeline.newest_tests();
    let failing = failing(timeline);
    let (tokens, cost_micros) = match reason {
        HaltReason::BudgetExceeded | HaltReason::UserStop => spent_in_all(timeline),
        _ if in_turn => spent_in_turn(timeline),
        HaltReason::Oscillating | HaltReason::Stalled | HaltReason::RepeatedError => spent(stuck, timeline),
    };
    let started = timeline.activity.newest_turn().and_then(|turn| turn.started);
    let of_turn = || started.max(timeline.newest().map(|one| one.at)).filter(|_| in_turn);
    HaltSummary {
        who: who_of(stuck, client),
        since: stuck.iter().map(|one| one.at).find(|at| at.0 > 0).or_else(of_turn),
        iterations: count(stuck.len()),
        commits: count(stuck.iter().filter(|one| one.commit.is_some()).count()),
        tokens,
        cost_micros,
        tests: tests
            .and_then(|tests| Some(TestCounts { passed: tests.passed, failing: failing_count(tests)? })),
        failing,
        steps: steps(stuck, reason),
        files: files(finding),
        best: best(timeline),
    }
    .bounded()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The index of the first iteration that is stuck: of a circle its oldest state, of a failure the first run with it, of a
/// change the first that was the same. What used a budget up is all that counted towards it; what a person stops is the run.
fn began(finding: &Finding, reason: HaltReason, timeline: &Timeline) -> usize {
    let iterations = &timeline.iterations;
    let newest = iterations.len().saturating_sub(1);
    let by_commit = first_named(finding, iterations);
    match reason {
        HaltReason::BudgetExceeded | HaltReason::UserStop => 0,
        HaltReason::Oscillating => circle(finding, iterations).or(by_commit).unwrap_or(newest),
        HaltReason::Stalled | HaltReason::RepeatedError => {
            let same = [
                alike(iterations, |newest, one| Some(same_change(newest, one))),
                alike(iterations, same_failure),
            ];
            same.into_iter().chain(by_commit).min().unwrap_or(newest)
        }
    }
}

/// The oldest iteration that the evidence names.
fn first_named(finding: &Finding, iterations: &[Iteration]) -> Option<usize> {
    let named = |one: &Iteration| one.commit.is_some_and(|commit| commits(finding).any(|it| it == commit));
    iterations.iter().position(named)
}

fn commits(finding: &Finding) -> impl Iterator<Item = CommitId> {
    let commit = |one: &Evidence| if let Evidence::Commit(commit) = one { Some(*commit) } else { None };
    finding.evidence.iter().filter_map(commit)
}

/// The oldest of the newest iterations whose states are all those of the circle.
fn circle(finding: &Finding, iterations: &[Iteration]) -> Option<usize> {
    let code = |one: &Evidence| if let Evidence::Code(code) = one { Some(*code) } else { None };
    let states: Vec<CodeId> = finding.evidence.iter().filter_map(code).collect();
    if states.len() < 2 {
        return None;
    }
    let outside = iterations.iter().rposition(|one| !states.contains(&one.code));
    let first = outside.map_or(0, |at| at + 1);
    (first < iterations.len()).then_some(first)
}

/// The oldest of the newest iterations that are all `like` the newest one; the newest where there are none.
fn alike(iterations: &[Iteration], like: fn(&Iteration, &Iteration) -> Option<bool>) -> usize {
    let Some((newest, before)) = iterations.split_last() else { return 0 };
    let mut first = before.len();
    for (at, one) in before.iter().enumerate().rev() {
        match like(newest, one) {
            Some(true) => first = at,
            Some(false) => break,
            None => {}
        }
    }
    first
}

fn same_change(newest: &Iteration, one: &Iteration) -> bool {
    (newest.diff.empty && one.diff.empty) || newest.diff.hash == one.diff.hash
}

/// Untested iterations in between say nothing.
fn same_failure(newest: &Iteration, one: &Iteration) -> Option<bool> {
    let newest = newest.tests.as_ref().filter(|tests| !tests.is_green());
    match (newest, &one.tests) {
        (None, _) => Some(false),
        (Some(_), None) => None,
        (Some(newest), Some(tests)) => Some(!tests.is_green() && tests.failing == newest.failing),
    }
}

/// Who is stuck: nodes, else the client at work. Authors are not asked, who are the nodes of commits without a record: agents commit
/// under the name of the person whose machine it is.
fn who_of(stuck: &[Iteration], client: Option<Client>) -> Vec<String> {
    let is_node = |one: &Iteration| one.node != DEFAULT_NODE && one.node != author(one);
    let nodes = names(stuck, |one| Some(one.node.as_str()).filter(|_| is_node(one)));
    if nodes.is_empty() { client.iter().map(|client| client.title().to_owned()).collect() } else { nodes }
}

/// Iterations whose makers are named.
const NEWEST: usize = 6;

/// Who made the newest iterations, the newest last: nodes, or authors where no workflow names any.
pub fn makers(timeline: &Timeline) -> Vec<String> {
    let all = &timeline.iterations;
    names(&all[all.len().saturating_sub(NEWEST)..], |one| {
        let is_author = one.node == DEFAULT_NODE && !author(one).is_empty();
        Some(if is_author { author(one) } else { one.node.as_str() })
    })
}

fn author(one: &Iteration) -> &str {
    one.author.split('<').next().unwrap_or_default().trim()
}

/// The names of iterations, the newest last. At most [`HaltSummary::MAX_WHO`].
fn names(all: &[Iteration], name: impl Fn(&Iteration) -> Option<&str>) -> Vec<String> {
    let mut who: Vec<String> = Vec::new();
    for name in all.iter().rev().filter_map(name) {
        if !name.is_empty() && !who.iter().any(|known| known == name) {
            who.push(name.to_owned());
        }
    }
    who.truncate(HaltSummary::MAX_WHO);
    who.reverse();
    who
}

/// Tokens and cost of the commits that are stuck, and what turns spent since they began that is in no commit.
fn spent(stuck: &[Iteration], timeline: &Timeline) -> (Option<u64>, Option<u64>) {
    let of_commits = stuck.iter().filter_map(|one| one.usage.clone());
    let committed = stuck.iter().rev().find(|one| one.source == Source::Commit).map(|one| one.at);
    // Without a commit, the first turn that is stuck counts as well.
    let since = committed.or(stuck.first().map(|one| Timestamp(one.at.0.saturating_sub(1))));
    let turns = timeline.activity.turns.iter().chain(timeline.activity.newest_turn());
    let mut counted: Vec<u64> = Vec::new();
    let turns = turns.filter(|turn| {
        // A turn that was not announced and that goes on has no time yet: it began after the commit before it. One with
        // commits goes on after them.
        let at = if turn.commits == 0 { turn.started.or(turn.ended) } else { turn.ended };
        let new = at.is_none_or(|at| Some(at) > since) && !counted.contains(&turn.number);
        counted.push(turn.number);
        new
    });
    let all: Vec<_> = of_commits.chain(turns.map(Turn::uncommitted)).collect();
    known(all.iter().map(|usage| (usage.tokens(), usage.cost_micros())))
}

/// Tokens and cost of the turn at work since its newest commit.
fn spent_in_turn(timeline: &Timeline) -> (Option<u64>, Option<u64>) {
    let spent = timeline.activity.newest_turn().map(Turn::uncommitted);
    known(spent.iter().map(|usage| (usage.tokens(), usage.cost_micros())))
}

/// Tokens and cost of all nodes since the window began.
fn spent_in_all(timeline: &Timeline) -> (Option<u64>, Option<u64>) {
    known(timeline.activity.nodes.values().map(|node| (node.tokens, node.cost)))
}

fn known(spent: impl Iterator<Item = (u64, u64)>) -> (Option<u64>, Option<u64>) {
    let (tokens, cost) = spent.fold((0_u64, 0_u64), |(tokens, cost), (more, dearer)| {
        (tokens.saturating_add(more), cost.saturating_add(dearer))
    });
    ((tokens > 0).then_some(tokens), (cost > 0).then_some(cost))
}

/// Returns the tests that fail now, with the errors that are known; those of the run come first.
fn failing(timeline: &Timeline) -> Vec<FailingTest> {
    let Some(tests) = timeline.newest_tests().filter(|tests| !tests.is_green()) else { return Vec::new() };
    let said = &tests.said;
    let of_run = said.iter().filter(|one| one.test.is_none()).cloned();
    let of_tests = tests.failing.iter().map(|test| {
        let known = said.iter().find(|one| one.test.as_ref() == Some(test));
        known.cloned().unwrap_or_else(|| FailingTest { test: Some(test.clone()), error: None })
    });
    of_run.chain(of_tests).take(HaltSummary::MAX_FAILING).collect()
}

/// The newest of what is stuck, with equal letters for equal states of the code where some come again.
fn steps(stuck: &[Iteration], reason: HaltReason) -> Vec<SummaryStep> {
    let newest = &stuck[stuck.len().saturating_sub(HaltSummary::MAX_STEPS)..];
    let mut states: Vec<CodeId> = Vec::new();
    for one in newest {
        if !states.contains(&one.code) {
            states.push(one.code);
        }
    }
    let comes_again = states.len() > 1 && states.len() < newest.len() && reason == HaltReason::Oscillating;
    let state = |one: &Iteration| {
        let at = states.iter().position(|code| *code == one.code)?;
        u8::try_from(at).ok().filter(|_| comes_again)
    };
    let step = |one: &Iteration| SummaryStep {
        state: state(one),
        commit: one.commit_here().filter(|_| one.source == Source::Commit),
        subject: one.subject.clone(),
        failing: one.tests.as_ref().and_then(failing_count),
    };
    newest.iter().map(step).collect()
}

fn files(finding: &Finding) -> Vec<String> {
    finding.evidence.iter().filter_map(Evidence::path).map(str::to_owned).collect()
}

/// The commit with the fewest failing tests, where fewer fail there than now.
fn best(timeline: &Timeline) -> Option<BestCommit> {
    let (commit, failing) = timeline.best()?;
    let fewer = timeline.newest_tests().and_then(failing_count).is_none_or(|now| failing < now);
    (fewer && timeline.newest()?.commit != Some(commit)).then_some(BestCommit { commit, failing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Level, Usage};
    use crate::testkit::{commit, green, red, timeline};

    fn finding(reason: HaltReason, evidence: Vec<Evidence>) -> Finding {
        let found = andon_finding();
        Finding { reason: Some(reason), evidence, ..found }
    }

    fn andon_finding() -> Finding {
        let rule = crate::detect::REGISTRY.iter().find(|rule| rule.level == Level::Halt).unwrap();
        rule.finding(Level::Halt, "it happened")
    }

    #[test]
    fn a_circle_begins_where_its_first_state_came_and_has_letters() {
        let line = timeline(vec![
            commit(9).tests(green(9, 5)),
            commit(1).tests(green(1, 5)).subject("a"),
            commit(2).tests(green(2, 5)).subject("b"),
            commit(1).tests(green(1, 5)).subject("a again"),
            commit(2).tests(green(2, 5)).subject("b again"),
        ]);
        let codes = [1, 2].map(|state| Evidence::Code(line.iterations[state].code));
        let found = summary(&finding(HaltReason::Oscillating, codes.to_vec()), &line, None);
        let letters: String = found.steps.iter().filter_map(SummaryStep::letter).collect();
        assert_eq!((letters.as_str(), found.commits, found.best), ("ABAB", 4, None));
        assert_eq!(found.between(), line.iterations[3].commit.zip(line.iterations[4].commit));
        assert!(found.failing.is_empty());
    }

    #[test]
    fn a_failure_begins_with_the_first_run_that_failed_so() {
        let mut last = red(5, &["t"], 9);
        last.said = vec![FailingTest { test: Some("t".into()), error: Some("expected 47".into()) }];
        let line = timeline(vec![
            commit(1).tests(green(1, 9)),
            commit(2).tests(red(2, &["u"], 9)),
            commit(3).tests(red(3, &["t"], 9)),
            commit(4),
            commit(5).tests(last),
        ]);
        let found = summary(&finding(HaltReason::Stalled, Vec::new()), &line, None);
        assert_eq!(found.commits, 3);
        assert_eq!(found.failing[0].error.as_deref(), Some("expected 47"));
        assert!(found.who.is_empty() && !makers(&line).is_empty(), "authors are people");
        assert_eq!(found.tests, Some(TestCounts { passed: 8, failing: 1 }));
        assert_eq!(found.best.map(|best| best.failing), Some(0));
        assert!(!found.goes_round());
    }

    #[test]
    fn calls_that_go_round_began_after_the_commit_and_cost_what_came_since() {
        use crate::domain::{EventKind, Fact};
        use crate::testkit::{event, folded};
        let spent =
            |tokens| event(EventKind::Usage(Usage { input_tokens: Some(tokens), ..Usage::default() }));
        let made = |state: u8, tokens| {
            let mut made = commit(state).at(60 * i64::from(state));
            made.record().usage = Some(Usage { input_tokens: Some(tokens), ..Usage::default() });
            Fact::Commit(Box::new(made.0))
        };
        let mut facts = vec![spent(500), made(1, 500), spent(90)];
        let mut of_calls = finding(HaltReason::Stalled, Vec::new());
        of_calls.about.judges = RuleSubject::Calls;
        let found = summary(&of_calls, &folded(facts.clone()), Some(Client::Claude));
        assert_eq!(found.who, ["Claude Code"], "an agent commits under the name of a person");
        assert_eq!((found.commits, found.steps.len(), found.tokens), (0, 0, Some(90)));
        assert!(found.since.is_some());
        facts.extend([made(2, 90), spent(70)]);
        assert_eq!(
            summary(&of_calls, &folded(facts), None).tokens,
            Some(70),
            "the next turn began with its commit"
        );
    }

    #[test]
    fn nothing_recorded_is_no_panic() {
        let line = timeline(Vec::new());
        for (reason, _) in HaltReason::ALL {
            let found = summary(&finding(reason, Vec::new()), &line, None);
            assert_eq!((found.iterations, found.between()), (0, None));
        }
    }
}
