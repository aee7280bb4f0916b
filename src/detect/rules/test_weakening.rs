//! `test-weakening`: tests went, or ask less, while earlier ones failed.

use std::fmt;

use crate::detect::rule::{Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::weakened::Patterns;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::decision::Stage;
use crate::domain::detail::Found;
use crate::domain::facts::Weakening;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};
use crate::domain::tests::{TestEvidence, TestStatus};
use crate::history::{Timeline, failing_count};

pub(in crate::detect) const TESTS_PARAM: Param<Vec<String>> =
    Param::list("tests", TESTS, "How a line that declares a test begins, as `ENDING,ENDING: TEXT`.");
pub(in crate::detect) const SKIPS_PARAM: Param<Vec<String>> =
    Param::list("skips", SKIPS, "What a test that is skipped holds, as `ENDING,ENDING: TEXT`.");
pub(in crate::detect) const ASSERTIONS_PARAM: Param<Vec<String>> = Param::list(
    "assertions",
    ASSERTIONS,
    "What a line that asserts something holds, as `ENDING,ENDING: TEXT`.",
);

/// Texts of changed tests are read only where this rule is on; `andon check` asks it about a range.
pub static RULE: Rule = Rule {
    id: "test-weakening",
    summary: "tests deleted, newly skipped or stripped of assertions while earlier ones failed",
    docs: Docs {
        trips: "The last test run on earlier code had failures, and the commit removes tests, skips some \
                that ran, or leaves some with fewer assertions; or fewer tests fail and fewer tests ran. A \
                test whose body turns up elsewhere or under another name was moved. Such a fall of the \
                failing count earns no credit in `failures-not-decreasing` and `consecutive-failures`. A \
                trailer `Tests-Removed: reason` in the commit message waives the finding and gives the \
                credit; the reason is shown wherever the commit is.",
        why: "A warning, because tests are removed for good reasons too. It states the facts and accuses \
              nobody.",
        source: "docs/spec-map.md: Loop safety, verification progress; settled choice 8",
        example: "Failing tests fall from 7 to 2 while the tests that ran fell from 120 to 112: a warning, \
                  and no progress.",
        tune: "`test-weakening = \"note\"`; `tests`, `skips` and `assertions` are lists of `\"ENDING,ENDING: \
               TEXT\"`.",
    },
    level: Level::Warn,
    reason: HaltReason::Stalled,
    report_file: ReportFile::Checkpoint,
    about: About {
        waiver: Some("a trailer of the message waives it: Tests-Removed: why"),
        ..About::of(EventClass::DirtyBit)
    },
    params: &[TESTS_PARAM.spec, SKIPS_PARAM.spec, ASSERTIONS_PARAM.spec],
    stages: &[Stage::PostCommit, Stage::Check, Stage::Replay],
    reads: Reads::Records,
    check,
};

const TESTS: &[&str] = &[
    "rs: #[test]",
    "rs: #[tokio::test",
    "rs: #[rstest",
    "py: def test",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: it(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: test(",
    "go: func Test",
    "java,kt,groovy: @Test",
    "java,kt: @ParameterizedTest",
    "cs: [Test",
    "cs: [Fact",
    "rb: it ",
    "rb: test ",
    "rb: def test_",
    "php: function test",
    "c,cc,cpp,cxx,h: TEST(",
    "c,cc,cpp,cxx,h: TEST_F(",
    "c,cc,cpp,cxx,h: TEST_P(",
    "bats: @test ",
];
const SKIPS: &[&str] = &[
    "rs: #[ignore",
    "py: @pytest.mark.skip",
    "py: @pytest.mark.xfail",
    "py: @unittest.skip",
    "py: @unittest.expectedFailure",
    "py: pytest.skip(",
    "py: self.skipTest(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: it.skip(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: it.todo(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: test.skip(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: test.todo(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: xit(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: xtest(",
    "go: t.Skip",
    "java,kt: @Disabled",
    "java,kt: @Ignore",
    "cs: [Ignore",
    "cs: Skip =",
    "rb: xit ",
    "rb: skip",
    "rb: pending",
    "php: markTestSkipped",
    "php: markTestIncomplete",
    "c,cc,cpp,cxx,h: GTEST_SKIP",
    "c,cc,cpp,cxx,h: DISABLED_",
    "bats: skip",
];
const ASSERTIONS: &[&str] = &[
    "rs: assert",
    "py: assert",
    "py: pytest.raises",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: expect(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts: assert",
    "go: t.Error",
    "go: t.Fatal",
    "go: assert.",
    "go: require.",
    "java,kt,groovy: assert",
    "cs: Assert.",
    "rb: expect(",
    "rb: assert",
    "php: assert",
    "c,cc,cpp,cxx,h: EXPECT_",
    "c,cc,cpp,cxx,h: ASSERT_",
    "bats: [ ",
    "bats: assert",
];

impl<'a> Patterns<'a> {
    /// As the rule is set.
    pub fn of(setting: &'a RuleSetting) -> Self {
        Self {
            tests: setting.list(&TESTS_PARAM),
            skips: setting.list(&SKIPS_PARAM),
            assertions: setting.list(&ASSERTIONS_PARAM),
        }
    }
}

/// What went, or asks less.
#[derive(Debug)]
struct Weaker {
    counts: Counts,
    taken: Option<Weakening>,
    waiver: Option<String>,
}

/// How the counts went.
#[derive(Debug)]
enum Counts {
    /// So many failed before.
    Failed(u64),
    /// Fewer fail and fewer ran; and more are skipped, where a pair says so.
    Fewer { before: Open, failing: u64, ran: u64, skipped: Option<(u64, u64)> },
}

impl Found for Weaker {}

impl fmt::Display for Weaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.counts {
            Counts::Failed(failing) => {
                write!(f, "{} failed before this commit", words::count(*failing, "test"))?;
            }
            Counts::Fewer { before: Open { failing: failed, ran: before }, failing, ran, skipped } => {
                write!(f, "{failed} -> {failing} failing while the tests that ran went {before} -> {ran}")?;
                if let Some((before, now)) = skipped {
                    write!(f, " and those that were skipped {before} -> {now}")?;
                }
            }
        }
        if let Some(taken) = self.taken.as_ref().map(taken).filter(|taken| !taken.is_empty()) {
            write!(f, ": {taken}")?;
        }
        match &self.waiver {
            Some(reason) => write!(f, "; waived by Tests-Removed: {}", words::bounded(reason)),
            None => f.write_str("; this earns no credit in the trend"),
        }
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest()?;
    let open = open(situation.timeline)?;
    let fewer = newest.tests.as_ref().and_then(|now| {
        let skipped = situation.timeline.last_result_before(newest.code).map(|before| before.counts.skipped);
        fewer(open, now, skipped)
    });
    let waiver = newest.weakening.as_ref().and_then(|found| found.waiver.clone());
    let taken = newest.weakening.clone().filter(|found| !taken(found).is_empty());
    if taken.is_none() && fewer.is_none() {
        return None;
    }
    let level = if waiver.is_some() { setting.level.min(Level::Note) } else { setting.level };
    let mut evidence: Vec<Evidence> = newest.commit.map(Evidence::Commit).into_iter().collect();
    evidence.extend(newest.tests.as_ref().map(|tests| Evidence::Tests(tests.signature)));
    let mut help = Vec::new();
    if waiver.is_none() {
        help.push(
            "where the tests are no longer right, say why: git commit --amend --trailer 'Tests-Removed: REASON'"
                .to_owned(),
        );
        help.extend(newest.commit.map(|commit| format!("git show {}", commit.short())));
    }
    let counts = fewer.unwrap_or(Counts::Failed(open.failing));
    Some(Finding { evidence, help, ..RULE.finding(level, Weaker { counts, taken, waiver }) })
}

/// The last run on earlier code, where it had failures.
#[derive(Debug, Clone, Copy)]
struct Open {
    failing: u64,
    ran: u64,
}

/// As the record of the newest iteration has it, else the last result of the window on other code.
fn open(timeline: &Timeline) -> Option<Open> {
    let newest = timeline.newest()?;
    let open = if let Some(found) = &newest.weakening {
        Open { failing: found.failing, ran: found.ran }
    } else {
        let last = timeline.last_result_before(newest.code)?;
        Open { failing: failing_count(last)?, ran: last.counts.ran() }
    };
    (open.failing > 0).then_some(open)
}

/// Where both counts fell; `skipped` were skipped before: a skip that no diff shows is told by the report alone.
fn fewer(before: Open, now: &TestEvidence, skipped: Option<u64>) -> Option<Counts> {
    let (failing, ran) = (failing_count(now)?, now.counts.ran());
    let reported = matches!(now.status, TestStatus::Passed | TestStatus::Failed) && ran > 0;
    let skipped = skipped.map(|before| (before, now.counts.skipped)).filter(|(before, now)| now > before);
    let fell = reported && failing < before.failing && ran < before.ran;
    fell.then_some(Counts::Fewer { before, failing, ran, skipped })
}

fn taken(found: &Weakening) -> String {
    let parts = [
        ("removed", &found.removed),
        ("newly skipped", &found.skipped),
        ("with fewer assertions", &found.loosened),
    ];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty()).map(|(how, names)| {
        let count = words::count(words::len(names), "test");
        format!("{count} {how} ({})", words::list(names, words::len(names)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::rules::{consecutive_failures, failures_not_decreasing};
    use crate::detect::testkit::{checked, checked_at};
    use crate::history::testkit::{Commit, commit, green, red};

    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

    fn f(state: u8, failing: usize, total: u64) -> Commit {
        commit(state).tests(red(state, &NAMES[..failing], total))
    }

    /// A commit after a run of which seven tests of `ran` failed.
    fn weakened(mut commit: Commit, ran: u64, removed: &[&str], waiver: Option<&str>) -> Commit {
        commit.record().weakening = Some(Weakening {
            failing: 7,
            ran,
            removed: removed.iter().map(ToString::to_string).collect(),
            total: removed.len() as u64,
            waiver: waiver.map(ToOwned::to_owned),
            ..Weakening::default()
        });
        commit
    }

    #[test]
    fn the_message_says_the_facts() {
        let finding =
            checked(&RULE, vec![f(1, 7, 120), weakened(f(2, 2, 112), 120, &["x", "y"], None)]).unwrap();
        assert_eq!(
            finding.message(),
            "7 -> 2 failing while the tests that ran went 120 -> 112: 2 tests removed (x, y); this earns no credit \
             in the trend"
        );
        assert_eq!(finding.level, Level::Warn);
        let finding = checked(&RULE, vec![f(1, 7, 120), f(2, 2, 112)]).unwrap();
        assert!(
            finding.message().ends_with("120 -> 112; this earns no credit in the trend"),
            "{}",
            finding.message()
        );
        let mut untested = commit(2);
        untested.record().weakening = Some(Weakening {
            failing: 1,
            ran: 9,
            skipped: vec!["s".into()],
            loosened: vec!["l".into()],
            total: 2,
            ..Weakening::default()
        });
        let finding = checked(&RULE, vec![f(1, 1, 9), untested]).unwrap();
        assert_eq!(
            finding.message(),
            "1 test failed before this commit: 1 test newly skipped (s), 1 test with fewer assertions (l); this \
             earns no credit in the trend"
        );
    }

    #[test]
    fn a_waiver_is_shown_and_never_worth_a_warning() {
        let commits = || vec![f(1, 7, 9), weakened(f(2, 2, 4), 9, &["x"], Some("moved to the other crate"))];
        let finding = checked(&RULE, commits()).unwrap();
        assert_eq!(finding.level, Level::Note);
        assert!(finding.message().ends_with("waived by Tests-Removed: moved to the other crate"));
        assert_eq!(checked_at(&RULE, commits(), Level::Halt).map(|found| found.level), Some(Level::Note));
    }

    #[test]
    fn only_while_failures_are_open_and_for_the_newest_commit() {
        let table = [
            (vec![f(1, 2, 9), weakened(commit(2), 9, &["x"], None)], true),
            (vec![f(1, 2, 9), weakened(commit(2), 9, &["x"], None), commit(3)], false),
            (vec![commit(1).tests(green(1, 9)), commit(2).tests(green(2, 7))], false),
            (vec![f(1, 2, 9), commit(5), commit(2).tests(green(2, 8))], true),
            (vec![f(1, 2, 9), commit(5).tests(green(5, 9)), f(2, 1, 8)], false),
            (vec![f(1, 2, 9), f(2, 3, 8)], false),
            (vec![f(1, 2, 9), f(2, 1, 9)], false),
        ];
        for (commits, trips) in table {
            assert_eq!(checked(&RULE, commits.clone()).is_some(), trips, "{commits:?}");
        }
    }

    #[test]
    fn removed_tests_earn_no_credit_even_where_others_take_their_place() {
        // Each step removes failing tests and adds as many that pass: the totals do not show it.
        let steps = |waiver| {
            vec![
                f(1, 7, 9),
                weakened(f(2, 5, 9), 9, &["f", "g"], waiver),
                weakened(f(3, 3, 9), 9, &["d", "e"], waiver),
                weakened(f(4, 1, 9), 9, &["b", "c"], waiver),
            ]
        };
        let consecutive = &consecutive_failures::RULE;
        assert!(checked(consecutive, steps(None)).is_some());
        assert!(checked(consecutive, steps(Some("obsolete"))).is_none());
        let mut stuck = steps(None);
        stuck.extend([f(5, 1, 9), f(6, 1, 9)]);
        assert!(checked(&failures_not_decreasing::RULE, stuck).is_some());
    }
}
