//! Every hint leads out, and loses nothing: a person who follows the first `help:` of a refusal word for word and
//! commits again passes within two tries, and every content, every staged part, `MERGE_HEAD` and the author are still
//! there.

mod asked;
mod every;
mod shown;
mod states;

use std::{collections::BTreeMap, fs, path::Path};

use crate::support::{Out, Stage, andon_path, image::built};

/// Rounds that a person is asked for.
const ROUNDS: usize = 2;

/// A repository in which `*.c` is code, with three such files and a tested commit.
fn ground() -> Stage {
    built!({
        let stage = Stage::new();
        stage.write("check.sh", "echo 1..1; echo 'ok 1 - a'\n");
        stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
        for name in ["one.c", "two.c", "sp ace.c", "[x].c"] {
            stage.write(name, "1\n2\n3\n4\n5\n");
        }
        stage.andon(&["install"]).ok();
        stage.tested_commit_of("--all", "Start");
        let path = std::env::var("PATH").unwrap_or_default();
        stage.set("PATH", &format!("{}:{path}", andon_path().parent().unwrap().display()));
        stage
    })
}

/// The first command of a refusal.
fn first_help(out: &Out) -> String {
    let line = out.stderr.lines().find_map(|line| line.trim_start().strip_prefix("help: "));
    line.unwrap_or_else(|| panic!("no help in\n{out}")).to_owned()
}

fn sh(stage: &Stage, line: &str) -> Out {
    stage.run_in(stage.dir(), "sh", &["-c", line], None)
}

/// Commits, following the first hint after each refusal; the hints that were followed.
#[track_caller]
fn commit(stage: &Stage, args: &[&str]) -> Vec<String> {
    let mut followed = Vec::new();
    loop {
        let out = stage.git(args);
        if out.code == 0 {
            return followed;
        }
        assert!(followed.len() < ROUNDS, "after {followed:?}\n{out}");
        let help = first_help(&out);
        followed.push(help.clone());
        sh(stage, &help).ok();
    }
}

/// Every file of the working tree with its content; repositories inside by their files, too.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![dir.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap().map(Result::unwrap) {
            let (name, path) = (entry.file_name(), entry.path());
            if entry.file_type().unwrap().is_dir() {
                if name != ".git" && name != ".andon" {
                    waiting.push(path);
                }
            } else {
                let key = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
                found.insert(key, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// What the index has beside HEAD: path and blob of each staged change.
fn staged(stage: &Stage) -> BTreeMap<String, String> {
    let out = stage
        .git(&["-c", "safe.directory=*", "diff", "--cached", "--raw", "-z", "--abbrev=40", "--no-renames"])
        .ok()
        .stdout;
    let mut fields = out.split('\0');
    let mut found = BTreeMap::new();
    while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
        if let Some(id) = meta.split(' ').nth(3) {
            found.insert(path.to_owned(), id.to_owned());
        }
    }
    found
}

/// The blob of a path in a tree; zeros where it is not there.
fn blob(stage: &Stage, at: &str, path: &str) -> String {
    let out = stage.git(&["rev-parse", "--verify", "--quiet", &format!("{at}:{path}")]);
    if out.code == 0 { out.stdout.trim().to_owned() } else { "0".repeat(40) }
}

fn edit(stage: &Stage, path: &str, line: usize, text: &str) {
    let mut lines: Vec<String> = stage.read(path).lines().map(str::to_owned).collect();
    text.clone_into(&mut lines[line]);
    stage.write(path, lines.join("\n") + "\n");
}

/// What was there before the hints, to be compared with what is there afterwards.
struct Before {
    contents: BTreeMap<String, Vec<u8>>,
    staged: BTreeMap<String, String>,
}

impl Before {
    fn new(stage: &Stage) -> Self {
        Self { contents: contents(stage.dir()), staged: staged(stage) }
    }

    #[track_caller]
    fn is_still_there(&self, stage: &Stage, told: &str) {
        assert_eq!(contents(stage.dir()), self.contents, "{told}");
        for (path, id) in &self.staged {
            let here = [blob(stage, "HEAD", path), blob(stage, "", path)];
            assert!(here.contains(id), "{told}: the staged part of {path} is gone");
        }
        stage.git(&["stash", "list"]).ok().lacks("stash");
    }
}

#[test]
fn a_commit_of_a_part_is_tested_in_a_checkout_of_its_own() {
    let stage = ground();
    edit(&stage, "one.c", 0, "staged");
    stage.git(&["add", "one.c"]).ok();
    edit(&stage, "one.c", 0, "not staged");
    stage.andon(&["test"]).ok();
    let before = Before::new(&stage);
    assert_eq!(commit(&stage, &["commit", "-qm", "Part"]), ["andon test --staged"]);
    before.is_still_there(&stage, "partly staged");
    assert_eq!(stage.git(&["show", "HEAD:one.c"]).ok().stdout, "staged\n2\n3\n4\n5\n");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn named_paths_are_tested_as_they_will_be_committed() {
    let stage = ground();
    edit(&stage, "one.c", 0, "mine");
    edit(&stage, "sp ace.c", 0, "other work");
    edit(&stage, "two.c", 0, "staged");
    stage.git(&["add", "two.c"]).ok();
    stage.andon(&["test"]).ok();
    let before = Before::new(&stage);
    let followed = commit(&stage, &["commit", "-qm", "One", "--", "one.c"]);
    assert!(followed.len() == 1 && followed[0].starts_with("andon test --tree "), "{followed:?}");
    before.is_still_there(&stage, "paths given");
    assert_eq!(stage.git(&["diff", "--name-only", "HEAD~1", "HEAD"]).ok().stdout, "one.c\n");
}

#[test]
fn files_that_are_not_staged_are_named() {
    let stage = ground();
    edit(&stage, "one.c", 0, "staged");
    stage.git(&["add", "one.c"]).ok();
    edit(&stage, "sp ace.c", 0, "unstaged");
    edit(&stage, "[x].c", 0, "unstaged");
    stage.write("new.c", "new");
    stage.write("intended.c", "new");
    stage.git(&["add", "-N", "intended.c"]).ok();
    stage.andon(&["test"]).ok();
    let before = Before::new(&stage);
    let followed = commit(&stage, &["commit", "-qm", "All"]);
    assert_eq!(followed, ["git add -- ':(literal)[x].c' intended.c new.c 'sp ace.c'"]);
    before.is_still_there(&stage, "unstaged");
}

/// Each operation of git with work that is not staged beside it.
#[test]
fn an_operation_under_way_is_neither_ended_nor_changed() {
    for operation in [Way::Merge, Way::Pick, Way::Revert, Way::Rebase] {
        let stage = ground();
        operation.begin(&stage);
        edit(&stage, "two.c", 4, "not staged");
        stage.write("new.c", "untracked");
        stage.andon(&["test"]).ok();
        let before = Before::new(&stage);
        let followed = commit(&stage, &["commit", "-q", "--no-edit"]);
        assert_eq!(followed, ["andon test --staged"], "{operation:?}");
        before.is_still_there(&stage, &format!("{operation:?}"));
        operation.is_whole(&stage);
    }
}

/// A repository beside this one.
fn beside(stage: &Stage, name: &str) {
    let dir = stage.root().join(name);
    fs::create_dir(&dir).unwrap();
    stage.git_in(&dir, &["init", "-q", "-b", "main", "."]).ok();
    fs::write(dir.join("in.c"), "1\n").unwrap();
    stage.git_in(&dir, &["add", "."]).ok();
    stage.git_in(&dir, &["commit", "-qm", "Inside"]).ok();
}

/// A submodule whose files were edited, and one whose HEAD moved: neither is staged.
#[test]
fn a_changed_submodule_beside_the_work_stays_as_it_is() {
    for is_committed in [false, true] {
        let stage = ground();
        beside(&stage, "lib");
        stage.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib"]).ok();
        stage.tested_commit("-qm", "Add the library");
        let pinned = blob(&stage, "HEAD", "lib");
        stage.write("lib/in.c", "2\n");
        if is_committed {
            stage.git_in(&stage.path("lib"), &["commit", "-qam", "Inside again"]).ok();
        }
        edit(&stage, "one.c", 0, "the work");
        stage.git(&["add", "one.c"]).ok();
        stage.andon(&["test"]).ok();
        let before = Before::new(&stage);
        stage.git(&["commit", "-qm", "Work"]).refused().says("untested-edit").says("lib");
        let followed = commit(&stage, &["commit", "-qm", "Work"]);
        before.is_still_there(&stage, "submodule");
        // Another commit of the library is work like an edited file; what is not committed there stays there.
        if is_committed {
            assert_eq!(followed, ["git add -- lib"]);
        } else {
            assert_eq!(followed, ["andon test --staged"]);
            assert_eq!(blob(&stage, "HEAD", "lib"), pinned);
            stage.git(&["status", "--porcelain"]).ok().says(" M lib");
        }
        let inside = stage.git_in(&stage.path("lib"), &["log", "-1", "--format=%s"]).ok().stdout;
        assert_eq!(inside, if is_committed { "Inside again\n" } else { "Inside\n" });
        stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    }
}

/// A repository inside that is not added, as clones and tools leave them.
#[test]
fn a_nested_repository_beside_the_work_is_not_taken_along() {
    let stage = ground();
    beside(&stage, "repo/nested");
    let nested = stage.path("nested");
    let tip = stage.git_in(&nested, &["rev-parse", "HEAD"]).ok().stdout;
    stage.write("nested/more.c", "not committed there either\n");
    edit(&stage, "one.c", 0, "the work");
    stage.git(&["add", "one.c"]).ok();
    stage.andon(&["test"]).ok();
    let before = Before::new(&stage);
    stage.git(&["commit", "-qm", "Work"]).refused().says("untested-edit").says("nested");
    assert_eq!(commit(&stage, &["commit", "-qm", "Work"]), ["andon test --staged"]);
    before.is_still_there(&stage, "nested");
    stage.git(&["ls-files", "--stage"]).ok().lacks("160000").lacks("nested");
    assert_eq!(stage.git_in(&nested, &["rev-parse", "HEAD"]).ok().stdout, tip);
    stage.git_in(&nested, &["status", "--porcelain"]).ok().says("?? more.c");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

/// How a commit comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Merge,
    Pick,
    Revert,
    Rebase,
}

impl Way {
    const ALL: [Self; 5] = [Self::Plain, Self::Merge, Self::Pick, Self::Revert, Self::Rebase];

    /// Begins it and resolves its conflict in `one.c`.
    fn begin(self, stage: &Stage) {
        let other = |text: &str| {
            edit(stage, "one.c", 2, text);
            stage.andon(&["test"]).ok();
            stage.git(&["commit", "-qam", text, "--author", "Other <other@example.org>"]).ok();
        };
        match self {
            Self::Plain => {}
            Self::Merge | Self::Pick | Self::Rebase => {
                stage.git(&["switch", "-qc", "side"]).ok();
                other("side");
                stage.git(&["switch", "-q", "main"]).ok();
                other("main");
                let args: &[&str] = match self {
                    Self::Merge => &["merge", "-q", "side"],
                    Self::Pick => &["cherry-pick", "side"],
                    Self::Plain | Self::Revert | Self::Rebase => &["rebase", "-q", "main", "side"],
                };
                stage.git(args).refused();
            }
            Self::Revert => {
                other("first");
                other("second");
                stage.git(&["revert", "--no-edit", "HEAD~1"]).refused();
            }
        }
        if self != Self::Plain {
            stage.add("one.c", "1\n2\nresolved\n4\n5\n");
        }
    }

    /// Parents and author are what they should be.
    #[track_caller]
    fn is_whole(self, stage: &Stage) {
        let facts = stage.git(&["log", "-1", "--format=%P|%an"]).ok().stdout;
        let (parents, author) = facts.trim().split_once('|').unwrap();
        let wanted = if self == Self::Merge { 2 } else { 1 };
        assert_eq!(parents.split(' ').count(), wanted, "{self:?}: parents");
        // `git commit` takes no author over from a rebase; only `git rebase --continue` does.
        if self == Self::Pick {
            assert_eq!(author, "Other", "{self:?}: the author");
        }
    }
}

/// A small generator of numbers: the same story for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = self.below(u64::try_from(of.len()).unwrap());
        &of[usize::try_from(at).unwrap()]
    }
}

/// Something that happens in the working tree.
fn happens(stage: &Stage, dice: &mut Dice, told: &mut Vec<String>) {
    let files = ["one.c", "two.c", "sp ace.c", "[x].c"];
    let (file, mark) = (*dice.one(&files), dice.below(1000));
    let what = dice.below(12);
    let there = stage.exists(file);
    match what {
        0 | 1 if there => edit(stage, file, 0, &format!("edit {mark}")),
        2 | 3 if there => {
            edit(stage, file, 0, &format!("staged {mark}"));
            stage.git(&["add", "--", &format!(":(literal){file}")]).ok();
        }
        4 if there => {
            edit(stage, file, 0, &format!("part {mark}"));
            stage.git(&["add", "--", &format!(":(literal){file}")]).ok();
            edit(stage, file, 0, &format!("rest {mark}"));
        }
        5 => stage.write(&format!("new{mark}.c"), "untracked code"),
        6 => stage.write(&format!("scratch{mark}.notes"), "untracked notes"),
        7 => {
            let name = format!("intended{mark}.c");
            stage.write(&name, "declared");
            stage.git(&["add", "-N", &name]).ok();
        }
        8 => {
            let name = format!("nested{mark}");
            stage.git(&["init", "-q", &name]).ok();
            stage.write(&format!("{name}/in.c"), "another repository");
        }
        9 => {
            let name = format!(".claude/worktrees/w{mark}");
            stage.git(&["worktree", "add", "-q", "--detach", &name]).ok();
        }
        10 if there && file != "one.c" => fs::remove_file(stage.path(file)).unwrap(),
        11 => {
            stage.andon(&["test"]).ok();
        }
        _ => return,
    }
    told.push(format!("{what}:{file}:{mark}"));
}

/// Stories that are played; `ANDON_HINT_STORIES` says how many others.
const STORIES: u64 = 8;

#[test]
fn the_first_hint_leads_out_of_random_states() {
    let stories = std::env::var("ANDON_HINT_STORIES").ok().and_then(|text| text.parse().ok());
    let from = std::env::var("ANDON_HINT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut played = 0;
    for seed in from..from + stories.unwrap_or(STORIES) {
        played += usize::from(play(seed));
    }
    println!("{played} stories were refused and led out");
}

/// Plays the story of a seed; whether a commit of it was refused.
fn play(seed: u64) -> bool {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let stage = ground();
    // In turn, so that a few stories have all of them.
    let way = Way::ALL[usize::try_from(seed).unwrap() % Way::ALL.len()];
    let mut told = vec![format!("seed {seed}: {way:?}")];
    way.begin(&stage);
    for _ in 0..=dice.below(6) {
        happens(&stage, &mut dice, &mut told);
    }
    edit(&stage, "one.c", 1, "the work");
    stage.git(&["add", "one.c"]).ok();
    if dice.below(2) == 0 {
        happens(&stage, &mut dice, &mut told);
    }
    // git itself takes no paths while it has something under way.
    let args: &[&str] = match dice.below(if way == Way::Plain { 4 } else { 3 }) {
        0 | 1 => &["commit", "-q", "--no-edit", "-m", "Work"],
        2 => &["commit", "-q", "-a", "-m", "Work"],
        _ => &["commit", "-q", "-m", "Work", "--", "one.c"],
    };
    told.push(args.join(" "));
    let told = told.join(", ");
    let before = Before::new(&stage);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| commit(&stage, args)));
    let followed = result.unwrap_or_else(|_| panic!("{told}"));
    let told = format!("{told}, followed {followed:?}");
    // What `-a` stages is staged.
    let mut before = before;
    if args.contains(&"-a") {
        before.staged.clear();
    } else if args.contains(&"--") {
        // git itself commits a named file as it is in the working tree, whatever is staged of it.
        before.staged.remove("one.c");
    }
    before.is_still_there(&stage, &told);
    way.is_whole(&stage);
    stage.git(&["ls-files", "--stage"]).ok().lacks("160000");
    if std::env::var_os("ANDON_TEST_SHOW").is_some() {
        println!("{told}");
    }
    !followed.is_empty()
}
