//! No story of edits, tests and commits gets past the scopes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{log, packages};
use crate::support::Stage;

/// A step of a story.
#[derive(Debug, Clone)]
enum Step {
    Edit(usize, u8),
    Test(Option<usize>),
    Commit(Option<usize>),
    Amend,
}

const SCOPES: [(&str, &[&str]); 3] = [("core", &["core"]), ("cli", &["cli", "core"]), ("web", &["web"])];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..4_usize, 0..3_u8).prop_map(|(file, content)| Step::Edit(file, content)),
        3 => prop::option::of(0..3_usize).prop_map(Step::Test),
        4 => prop::option::of(0..3_usize).prop_map(Step::Commit),
        1 => Just(Step::Amend),
    ];
    prop::collection::vec(step, 6..14)
}

/// What the tests of each scope read at a commit, told once.
type Reads = BTreeMap<String, [String; 3]>;

fn reads<'a>(stage: &Stage, told: &'a mut Reads, commit: &str) -> &'a [String; 3] {
    told.entry(commit.to_owned()).or_insert_with(|| SCOPES.map(|(_, dirs)| read_at(stage, commit, dirs)))
}

/// What `cksum` says of the files below some directories, at a commit.
fn read_at(stage: &Stage, commit: &str, dirs: &[&str]) -> String {
    let mut args = vec!["ls-tree", "-r", "--name-only", commit];
    args.extend(dirs);
    let mut files: Vec<String> = stage.git(&args).ok().stdout.lines().map(str::to_owned).collect();
    files.sort();
    let files: Vec<String> = files.iter().map(|file| format!("{commit}:{file}")).collect();
    let args: Vec<&str> = ["show"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let text = stage.git(&args).ok().stdout;
    let sum = stage.run_in(stage.dir(), "cksum", &[], Some(text.as_bytes()));
    sum.ok().stdout.trim().to_owned()
}

/// No commit passes that changes what the tests of a scope read, unless these tests ran on exactly that.
#[test]
fn no_commit_passes_whose_scopes_were_not_tested_on_its_code() {
    let config = Config { cases: 6, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let told = runner.run(&steps(), |steps| {
        let stage = packages();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        // The tests of the first commit.
        let (mut before, mut told) = (stage.head(), Reads::new());
        for ((scope, _), read) in SCOPES.iter().zip(reads(&stage, &mut told, &before)) {
            seen.insert(format!("{scope} {read}"));
        }
        for step in steps {
            match step {
                Step::Edit(file, content) => {
                    let path = ["core/a.py", "cli/a.py", "web/a.py", "core/b.py"][file];
                    stage.write(path, ["1\n", "2\n", "bad\n"][usize::from(content)]);
                }
                Step::Test(None) => drop(stage.andon(&["test"])),
                Step::Test(Some(scope)) => drop(stage.andon(&["test", SCOPES[scope].0])),
                Step::Commit(None) => drop(stage.git(&["commit", "-qam", "All"])),
                Step::Commit(Some(scope)) => {
                    stage.git(&["add", SCOPES[scope].0]).ok();
                    drop(stage.git(&["commit", "-qm", "One", SCOPES[scope].0]));
                }
                Step::Amend => drop(stage.git(&["commit", "-qa", "--amend", "-m", "Amended"])),
            }
            seen.extend(log(&stage).lines().map(str::to_owned));
            let now = stage.head();
            if now == before {
                continue;
            }
            let parent = stage.git(&["rev-parse", "HEAD~"]).ok().stdout.trim().to_owned();
            before.clone_from(&now);
            let old = reads(&stage, &mut told, &parent).clone();
            for (((scope, _), read), old) in SCOPES.iter().zip(reads(&stage, &mut told, &now)).zip(old) {
                let changed = *read != old;
                let tested = seen.contains(&format!("{scope} {read}"));
                prop_assert!(!changed || tested, "{} of {} was not tested", scope, now);
            }
        }
        Ok(())
    });
    told.unwrap();
}
