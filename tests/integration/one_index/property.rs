//! Random days at six doors: gate, `andon test`, `complete`, `status`, push and `check` are held against each other and
//! against a model, which knows from a log what each scope's tests have read and from git what they would read.
//!
//! `ANDON_INDEX_SEEDS=10000 cargo test --test integration one_index::property` plays more days, `ANDON_INDEX_FROM` says where
//! they begin, and `ANDON_INDEX_SEED=7` plays one and tells it. With `TMPDIR=/dev/shm` they play in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::support::{Out, Stage, image::built};

/// Days in an ordinary run.
const DAYS: u64 = 8;
/// Days that failed once, which an ordinary run plays too.
const FAILED: [u64; 8] = [29, 85, 97, 447, 484, 500, 821, 963];
const STEPS: usize = 14;

/// Each scope with the folders that its tests read: its own, then those of what it needs.
const SCOPES: [(&str, &[&str]); 3] = [("core", &["core"]), ("cli", &["cli", "core"]), ("web", &["web"])];
const FILES: [&str; 4] = ["core/a.py", "cli/a.py", "web/a.py", "core/b.py"];
const CONTENTS: [&str; 4] = ["1\n", "2\n", "3\n", "bad\n"];

/// Prints a line for each file below the named folders, in TAP; `bad` fails. What it read goes into a log.
const RUN: &str = r#"scope=$1; shift
files=$(find "$@" -name '*.py' | sort); read=
for file in $files; do read="$read$file=$(cat "$file");"; done
echo "$scope $read" >> "$SCOPE_LOG"
code=0; n=0
for file in $files; do
  n=$((n + 1))
  if grep -q bad "$file"; then echo "not ok $n - $file"; code=1; else echo "ok $n - $file"; fi
done
echo "1..$n"
exit $code
"#;

/// Rules about the loop are not asked here.
const QUIET: &str = "[rules]\noscillation = \"off\"\nrecurrence = \"off\"\nundo-churn = \"off\"\nunchanged-diff = \"off\"\n\
    repeated-failures = \"off\"\nfailures-not-decreasing = \"off\"\nconsecutive-failures = \"off\"\nred-runs = \"off\"\n\
    refused-commits = \"off\"\nrework = \"off\"\nfile-comebacks = \"off\"\nreverted-attempts = \"off\"\nrepeated-error = \"off\"\n\
    co-occurrence = \"off\"\nweak-change = \"off\"\ntest-weakening = \"off\"\n";

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// The files of a tree with what is in them.
type Tree = BTreeMap<String, String>;

/// What a scope's tests read.
fn view((scope, folders): (&str, &[&str]), tree: &Tree) -> String {
    let inside = |path: &str| folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    let read =
        tree.iter().filter(|(path, _)| inside(path)).map(|(path, content)| format!("{path}={content};"));
    format!("{scope} {}", read.collect::<String>())
}

struct Day {
    stage: Stage,
    /// The worktree in which the day goes on, and the other one.
    here: PathBuf,
    there: PathBuf,
    scoped: bool,
    base: String,
    /// Commits that git made: nobody has to have tested them.
    made: BTreeSet<String>,
    told: String,
}

fn ground(scoped: bool) -> Stage {
    let stage = Stage::installed();
    stage.git(&["config", "core.fsync", "none"]).ok();
    stage.set("SCOPE_LOG", stage.root().join("scope.log").to_str().unwrap());
    for file in FILES {
        stage.write(file, "1\n");
    }
    stage.write("run.sh", RUN);
    let mut config = "[test]\ncommand = \"sh run.sh all core cli web\"\n".to_owned();
    if scoped {
        for (scope, folders) in SCOPES {
            let needs = if scope == "cli" { "needs = [\"core\"]\n" } else { "" };
            let command = format!("sh run.sh {scope} {}", folders.join(" "));
            let _ = write!(
                config,
                "[test.scopes.{scope}]\npaths = [\"{scope}/**\"]\n{needs}command = \"{command}\"\n"
            );
        }
    }
    stage.write("andon.toml", config + QUIET);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test", "--all"]).ok();
    stage.git(&["commit", "-qm", "Packages"]).ok();
    stage.git(&["worktree", "add", "-qb", "side", "../side"]).ok();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage
}

impl Day {
    fn new(seed: u64) -> Self {
        let scoped = !seed.is_multiple_of(4);
        let stage = if scoped { built!(ground(true)) } else { built!(ground(false)) };
        stage.set("SCOPE_LOG", stage.root().join("scope.log").to_str().unwrap());
        let (here, there, base) = (stage.dir().to_owned(), stage.root().join("side"), stage.head());
        Self { stage, here, there, scoped, base, made: BTreeSet::new(), told: String::new() }
    }

    fn git(&self, args: &[&str]) -> Out {
        self.stage.git_in(&self.here, args)
    }

    fn andon(&self, args: &[&str]) -> Out {
        self.stage.andon_in(&self.here, args)
    }

    fn line(&self, args: &[&str]) -> String {
        self.git(args).stdout.trim().to_owned()
    }

    /// The code of a commit, or of the index.
    fn tree(&self, commit: Option<&str>) -> Tree {
        let mut args = vec!["grep", "-I", "", commit.unwrap_or("--cached"), "--", "*.py"];
        if commit.is_none() {
            args = vec!["grep", "-I", "--cached", "", "--", "*.py"];
        }
        let found = self.git(&args).stdout;
        let lines = found.lines().filter_map(|line| {
            let line = commit.and_then(|commit| line.strip_prefix(commit)?.strip_prefix(':')).unwrap_or(line);
            let (path, content) = line.split_once(':')?;
            Some((path.to_owned(), content.to_owned()))
        });
        lines.collect()
    }

    fn scopes(&self) -> Vec<(&'static str, &'static [&'static str])> {
        if self.scoped { SCOPES.to_vec() } else { vec![("all", &["core", "cli", "web"])] }
    }

    /// What the tests have read so far. A run of everything that passes speaks for each scope.
    fn seen(&self) -> BTreeSet<String> {
        let log = std::fs::read_to_string(self.stage.root().join("scope.log")).unwrap_or_default();
        let mut seen: BTreeSet<String> = log.lines().map(str::to_owned).collect();
        let whole: Vec<Tree> = log
            .lines()
            .filter_map(|line| line.strip_prefix("all "))
            .filter(|read| !read.contains("bad"))
            .map(tree_of)
            .collect();
        seen.extend(whole.iter().flat_map(|tree| SCOPES.map(|scope| view(scope, tree))));
        seen
    }

    /// The scopes whose tests are asked for where `before` became `now`, and did not run.
    fn lacking(&self, now: &Tree, before: Option<&Tree>) -> Vec<&'static str> {
        let seen = self.seen();
        let red = |scope| {
            let read = view(scope, now);
            read.contains("bad") && seen.contains(&read)
        };
        let waits = |name: &str| before.is_some() && name == "cli" && red(SCOPES[0]);
        let asked = self
            .scopes()
            .into_iter()
            .filter(|scope| before.is_none_or(|before| view(*scope, before) != view(*scope, now)));
        asked
            .filter(|scope| !seen.contains(&view(*scope, now)) && !waits(scope.0))
            .map(|scope| scope.0)
            .collect()
    }

    fn is_red(&self, tree: &Tree) -> bool {
        self.scopes().into_iter().any(|scope| view(scope, tree).contains("bad"))
    }

    fn head(&self) -> String {
        self.line(&["rev-parse", "HEAD"])
    }

    fn fail(&self, what: &str, out: &Out) -> ! {
        panic!("{what}\n{}\n--- the day\n{}", out.shown(), self.told)
    }

    /// Stages everything and commits: the gate against the model.
    fn commit(&mut self, args: &[&str]) {
        self.git(&["add", "-A"]).ok();
        let amends = args.contains(&"--amend");
        let before = self.tree(Some(if amends { "HEAD~" } else { "HEAD" }));
        let (now, head) = (self.tree(None), self.head());
        // An amend is compared with what it is made of.
        let against = if amends { self.tree(Some("HEAD")) } else { before };
        let lacking = self.lacking(&now, Some(&against));
        let out = self.git(args);
        let passed = self.head() != head;
        if passed && !lacking.is_empty() {
            self.fail(&format!("the gate passed {lacking:?}, which nobody tested"), &out);
        }
        if !passed && lacking.is_empty() && now != against {
            self.fail("the gate refused what is tested", &out);
        }
        if amends && passed && self.made.contains(&head) {
            self.made.insert(self.head());
        }
    }

    /// Git itself refuses an amend that takes the whole change back.
    fn amend(&mut self) {
        self.commit(&["commit", "-q", "--amend", "--no-edit", "--allow-empty"]);
    }

    /// Git makes commits of commits; where it cannot, nothing happened.
    fn make(&mut self, args: &[&str]) {
        let before: BTreeSet<String> =
            self.git(&["rev-list", "--all"]).stdout.lines().map(str::to_owned).collect();
        if self.git(args).code != 0 {
            for abort in [
                &["merge", "--abort"][..],
                &["rebase", "--abort"],
                &["cherry-pick", "--abort"],
                &["reset", "-q", "--hard"],
            ] {
                self.git(abort);
            }
        }
        let after = self.git(&["rev-list", "--all", "HEAD"]).stdout;
        self.made.extend(after.lines().filter(|id| !before.contains(*id)).map(str::to_owned));
    }

    fn is_clean(&self) -> bool {
        self.line(&["status", "--porcelain"]).is_empty()
    }

    /// The worktree goes, and what ran in it counts all the same.
    fn replace_worktree(&mut self) {
        std::mem::swap(&mut self.here, &mut self.there);
        self.git(&["worktree", "remove", "--force", "../side"]).ok();
        self.git(&["worktree", "add", "-q", "--detach", "../side"]).ok();
    }

    fn step(&mut self, dice: &mut Dice) {
        let branch = ["main", "side", "one", "two"][dice.roll(4)];
        let back = format!("HEAD~{}", 1 + dice.roll(2));
        let kind = dice.roll(20);
        let _ = writeln!(self.told, "{kind} {branch} {back} in {}", self.here.display());
        match kind {
            0..=4 => {
                let sides = if dice.roll(3) == 0 { 4 } else { 3 };
                let (file, content) = (FILES[dice.roll(4)], CONTENTS[dice.roll(sides)]);
                let _ = writeln!(self.told, "  {file} = {content:?}");
                std::fs::write(self.here.join(file), content).unwrap();
            }
            5..=7 => drop(self.andon(&["test"])),
            8 if self.scoped => drop(self.andon(&["test", SCOPES[dice.roll(3)].0])),
            9..=11 => {
                self.andon(&["test"]);
                self.commit(&["commit", "-qm", "Tested"]);
            }
            12 => self.commit(&["commit", "-qm", "As it is"]),
            13 => {
                self.git(&["switch", "-q", branch]);
                self.git(&["switch", "-qc", branch]);
            }
            14 if self.is_clean() && dice.roll(4) > 0 => std::mem::swap(&mut self.here, &mut self.there),
            14 if self.here.ends_with("side") && self.is_clean() => self.replace_worktree(),
            15 if self.is_clean() => {
                let out = self.git(&["merge", "-q", "--squash", branch]);
                if out.code != 0 {
                    self.git(&["reset", "-q", "--hard"]);
                }
                self.commit(&["commit", "-qm", "Squashed"]);
            }
            16 if self.is_clean()
                && self.git(&["merge-base", "--is-ancestor", &self.base, &back]).code == 0 =>
            {
                self.git(&["reset", "-q", "--soft", &back]).ok();
                self.commit(&["commit", "-qm", "At once"]);
            }
            17 if self.is_clean() => {
                let base = self.base.clone();
                let all: [&[&str]; 4] = [
                    &["merge", "-q", "--no-edit", branch],
                    &["rebase", "-q", branch],
                    &["cherry-pick", branch],
                    &["rebase", "-q", "--exec", "git commit --amend --no-edit --signoff -q", &base],
                ];
                self.make(all[dice.roll(4)]);
            }
            18 => {
                self.git(&["stash", "-q"]);
                self.andon(&["test"]);
                self.git(&["stash", "pop", "-q"]);
            }
            _ if self.head() != self.base => self.amend(),
            _ => {}
        }
        if self.git(&["ls-files", "-u"]).stdout.is_empty() {
            return;
        }
        self.git(&["reset", "-q", "--hard"]);
    }

    /// The doors against the model, at HEAD.
    fn compare(&mut self) {
        self.git(&["stash", "-qu"]);
        let (head, base) = (self.head(), self.base.clone());
        let now = self.tree(Some(&head));
        let (lacking, red) = (self.lacking(&now, None), self.is_red(&now));
        let (tested, made) = (lacking.is_empty(), self.made.contains(&head));
        let range: Vec<String> =
            self.line(&["rev-list", &format!("{base}..HEAD")]).lines().map(str::to_owned).collect();
        let plan = self.andon(&["test", "--dry-run"]);
        if self.scoped && tested && !red && plan.stdout.contains("would run") {
            self.fail("andon test would run what is tested", &plan);
        }
        for scope in lacking.iter().filter(|_| self.scoped) {
            if !plan.stdout.contains(&format!("would run scope {scope}:")) {
                self.fail(&format!("andon test would not run {scope}"), &plan);
            }
        }
        let complete = self.andon(&["complete"]);
        let status = self.andon(&["status", "--format", "json"]);
        let push = self.git(&[
            "push",
            "-qf",
            self.stage.root().join("remote.git").to_str().unwrap(),
            "HEAD:refs/heads/x",
        ]);
        let check = self.andon(&["check", &format!("{base}..HEAD")]);
        for (door, out) in [("complete", &complete), ("push", &push), ("check", &check)] {
            if range.is_empty() {
                break;
            }
            if tested && !red && out.code != 0 {
                self.fail(&format!("{door} refused what is tested"), out);
            }
            // What git made of tested commits needs no tests of its own.
            if (!tested && !made || tested && red) && out.code == 0 {
                self.fail(&format!("{door} passed what is untested or red: {lacking:?}"), out);
            }
        }
        if tested && !status.stdout.contains("\"status\"") {
            self.fail("status knows no result", &status);
        }
        self.git(&["stash", "pop", "-q"]);
    }
}

fn tree_of(read: &str) -> Tree {
    let one = |file: &str| file.split_once('=').map(|(path, content)| (path.to_owned(), content.to_owned()));
    read.split(';').filter_map(one).collect()
}

fn play(seed: u64) -> String {
    let mut day = Day::new(seed);
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1));
    for step in 0..STEPS {
        day.step(&mut dice);
        // Each day has its gate; the doors that read are asked less often, for they take most of the time.
        if step % 5 == 4 && seed.is_multiple_of(4) {
            day.compare();
        }
    }
    day.compare();
    day.told
}

#[test]
fn no_door_contradicts_another_or_the_model() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    if let Some(seed) = number("ANDON_INDEX_SEED") {
        println!("{}", play(seed));
        return;
    }
    let (from, days) = (number("ANDON_INDEX_FROM").unwrap_or(0), number("ANDON_INDEX_SEEDS").unwrap_or(DAYS));
    let seeds = (from..from + days).chain(FAILED.into_iter().filter(|_| days == DAYS));
    let failed: Vec<u64> = seeds.filter(|seed| std::panic::catch_unwind(|| play(*seed)).is_err()).collect();
    assert!(failed.is_empty(), "ANDON_INDEX_SEED= one of {failed:?}");
}
