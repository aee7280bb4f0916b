//! The tests: stories that once differed, and random ones.

use std::{collections::BTreeMap, env, sync::Mutex, thread};

use super::compare::{self, Comparison, differences, shortest};
use super::random;
use super::story::{Story, parse};

/// Stories that were told differently once.
const ONCE: &[&str] = &[
    // A session for each process: no run ends with one.
    "plain; edit a 947; commit; commit",
    "cap; session 1; edit a 0; commit; session 2; edit a 1; commit; session 3; edit a 0; commit; session 4; edit a 1; commit",
    "plain; session 1; edit a 1; test a; commit; session 2; edit a 2; test a; commit; session 3; edit a 3; test a; commit",
    "cap; session 1; tick; session 2; tick; session 3; tick; session 4; tick",
    // Decisions within a batch.
    "cap; call Bash 2 0; call Bash 2 0; call Bash 2 0; call Bash 2 3",
    "plain; call Bash 0 0; call Bash 0 0; call Bash 0 0; call Bash 0 0; call Bash 0 0; call Edit 0 0; tick",
    // Tests that run after the commit, or after a turn.
    "plain; edit a 1; test abc; commit; edit a 0; commit; test abc; commit",
    "plain; edit a 0; commit; test !; commit; start; tick",
    "cap; tick; edit a 0; tick; tick; test !; tick",
    "plain once; output 0; tick; output 0; edit a 0; output 0; tick; tick; test a; tick",
    "plain; edit b 218; commit; tick; test abc; tick; tick",
    "cap once; edit a 0; test a; commit; edit b 314; commit; call Edit 0 0; test a; edit b 464; tick; end; test a",
    // Tests speak for the newest of the commits of one code.
    "cap; edit a 0; commit; commit; edit a 0; test a; commit",
    // Code that is edited after its tests failed, within a turn.
    "plain; edit a 1; test a; edit a 2; tick; edit a 3; test a; edit a 4; tick; edit a 5; test a; edit a 6; tick",
    // HEAD is moved away.
    "plain; test a; commit; unmake; commit",
    "plain; commit; branch; node coder; tick; tick",
    "flow; commit; start; tick; unmake; tick",
    "flow once; edit a 0; bypass; branch; amend; edit a 0; commit",
    "plain; commit; branch; revert",
    "plain; test -; commit; branch; node coder; tick; tick",
    // Tests that were red before the first commit, which brings no code.
    "plain once; doc 1; test a; commit; edit a 1; test ab; commit; test a; commit",
    "plain once; doc 1; test a; commit; commit; commit",
    // Work that is done again on another branch carries the attempts before it.
    "plain; commit; edit a 1; commit; branch; commit; edit a 1; commit",
    // Tests that run between a commit and its amend.
    "plain; edit a 1; test a; commit; edit b 0; test !; commit; test a; amend; commit",
    // Budgets of a declared workflow over a history.
    "flow once; node coder; commit; commit; commit",
    "flow once; node verifier; commit; pause 7; commit; commit",
    "flow; node coder; commit; amend; commit; edit a 952; test !",
    "flow; commit; pause 7; tick; bypass",
    "signals once; commit; pause 9; call Edit 1 0; commit",
    // Commits that are not behind HEAD end turns in a loop without a workflow too.
    "plain; test -; commit; tick; branch; commit",
    // A task that is done on another branch does not count in the numbers of a long journal either.
    "cap once; test -; amend; node coder; end; branch; commit",
    "plain; commit; tick; tick; edit a 0; test -; commit; branch; commit",
    // An amend of what a turn left behind changes the code of the commit, whatever the turn said of it.
    "plain; commit; edit a 0; tick; amend; tick; test a; commit; test a",
    // The commit at which a halt was answered is amended.
    "flow once; node coder; commit; commit; commit; amend; commit",
    "plain once; edit a 1; test a; commit; edit a 2; test a; commit; edit a 3; test a; commit; edit a 4; test a; amend; edit a 5; test a; amend; edit a 6; test a; amend",
    // An amended attempt is carried under the id that it has by then.
    "plain once; commit; edit a 0; test a; commit; amend; branch; test ab; commit; edit a 0; test ab; commit",
    // Tests that failed after a commit are no failure of the turn that follows, however long the journal is.
    "cap once; edit a 0; commit; test a; start; edit a 612; tick; edit a 365; test a; commit",
    // A full window at a commit.
    "flow once; usage 160000; commit",
];

/// Stories that are still told differently, each with why. A change that mends one moves it to [`ONCE`].
const STILL: &[&str] = &[
    // The amend is judged as one of the node that made it; then its record gets the node of the commit that it replaced.
    "flow once; node verifier; tick; commit; node agent; edit a 0; amend",
    // `andon test` prints no decision, and a batch that ends with a run does: it warns once more.
    "plain; edit a 1; commit; commit; commit; start; test abc",
];

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Tells stories in two threads; those that differ, with what differs.
fn tell(stories: &[(String, Story)]) -> Vec<String> {
    let next = Mutex::new(0);
    let found = Mutex::new(Vec::new());
    let reached = Mutex::new(BTreeMap::<String, u32>::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some((name, story)) = stories.get(at) else { return };
                    let Comparison { differ, reached: rules } = compare::tell(story);
                    for rule in rules {
                        *reached.lock().unwrap().entry(rule).or_default() += 1;
                    }
                    if !differ.is_empty() {
                        let short = shortest(story);
                        let text = format!("{name}: {short}\n    {}\n", differences(&short).join("\n    "));
                        println!("{text}");
                        found.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    println!("{} stories reached {:#?}", stories.len(), reached.into_inner().unwrap());
    found.into_inner().unwrap()
}

#[test]
fn random_stories_are_told_alike_at_every_door() {
    let (from, count) = (number("ANDON_DOORS_FROM", 0), number("ANDON_DOORS_SEEDS", 8));
    let random = (from..from + count).map(|seed| (format!("seed {seed}"), random::story(seed)));
    let stories: Vec<(String, Story)> = env::var("ANDON_DOORS_STORY")
        .map_or(random.collect(), |text| vec![("told".to_owned(), parse(&text))]);
    let found = tell(&stories);
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), stories.len(), found.concat());
}

#[test]
fn stories_that_differed_once_are_told_alike() {
    let stories: Vec<(String, Story)> = ONCE.iter().map(|text| ((*text).to_owned(), parse(text))).collect();
    let found = tell(&stories);
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), stories.len(), found.concat());
}

#[test]
fn stories_that_still_differ_are_known() {
    let mended: Vec<&&str> =
        STILL.iter().filter(|text| compare::differences(&parse(text)).is_empty()).collect();
    assert!(mended.is_empty(), "told alike now, so they belong to ONCE: {mended:?}");
}

#[test]
fn a_story_reads_back_as_it_is_written() {
    for seed in 0..500 {
        let story = random::story(seed);
        assert_eq!(parse(&story.to_string()), story);
    }
}
