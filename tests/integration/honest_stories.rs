//! What people do to history in ordinary life, one story for each kind. After each, `andon check` finds nothing wrong,
//! or says what is true: that code was not tested. No one is accused of editing a record or bypassing the gate.
//! A story has a line with its name, and behind a colon the error that is true of it; below is what is done.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::support::{Out, Stage, andon_path, image::Built};

/// A repository with a tested commit.
const BEFORE: &str = r#"
git init -q -b main .; git config user.name A; git config user.email a@example.org
printf '[test]\ncommand = "echo 1..1; echo ok 1 - a"\n' > andon.toml
echo base > base.c; andon install >/dev/null 2>&1; git add .; andon test >/dev/null; git commit -qm Base; git tag base
"#;

/// How stories begin, the longest first. Each beginning is built once.
const BEGINNINGS: [&str; 3] = ["feature; moved; ", "feature; ", ""];

/// The words of the stories.
const WORDS: &str = r#"
work() { printf '%s\n' "$2" > "$1"; git add "$1"; andon test >/dev/null 2>&1; git commit -qm "${3-$2}"; }
feature() { git checkout -qb feature base; work a.c a1 One; work b.c b1 Two; work a.c a2 Three; }
moved() { git checkout -q main; work m.c m1 "Main one"; work m.c m2 "Main two"; git checkout -q feature; }
seq() { GIT_SEQUENCE_EDITOR="$1"; export GIT_SEQUENCE_EDITOR; }
"#;

/// Rebases: clean, with conflicts, onto elsewhere, interrupted.
const REBASES: &str = r#"
# rebase clean
feature; moved; git rebase -q main
# rebase clean then amend
feature; moved; git rebase -q main; git commit -q --amend -m "Said better"
# rebase conflict resolved and tested
feature; git checkout -q main; work a.c main "Main one"; work m.c m2 "Main two"; git checkout -q feature
git rebase -q main 2>/dev/null || { echo both > a.c; git add a.c; andon test >/dev/null; git rebase --continue >/dev/null 2>&1 || { echo both2 > a.c; git add a.c; andon test >/dev/null; git rebase --continue >/dev/null; }; }
# rebase conflict resolved by git commit
feature; git checkout -q main; work a.c main "Main one"; git checkout -q feature
git rebase -q main 2>/dev/null || { echo both > a.c; git add a.c; andon test >/dev/null; git commit -qm "One, resolved"; git rebase --continue >/dev/null 2>&1 || { echo both2 > a.c; git add a.c; andon test >/dev/null; git commit -qm "Three, resolved";  git rebase --continue >/dev/null; }; }
# rebase conflict untested: untested-code
feature; git checkout -q main; work a.c main "Main one"; git checkout -q feature
git rebase -q main 2>/dev/null || { echo both > a.c; git add a.c; git rebase --continue >/dev/null 2>&1 || { echo both2 > a.c; git add a.c; git rebase --continue >/dev/null; }; }
# rebase onto
feature; moved; git checkout -q -b other feature; work o.c o1 Other; git rebase -q --onto main feature other
# rebase apply
feature; moved; git rebase -q --apply main
# rebase abort and again
feature; git checkout -q main; work a.c m "Main a"; git checkout -q feature; git rebase -q main >/dev/null 2>&1 || git rebase --abort; work b.c b5 "Go on"
# rebase skip
feature; git checkout -q main; work a.c m "Main a"; git checkout -q feature; git rebase -q main >/dev/null 2>&1 || git rebase --skip >/dev/null 2>&1 || git rebase --skip >/dev/null 2>&1 || true
# rebase with merges
feature; git checkout -qb topic feature~1; work t.c t1 Topic; git checkout -q feature; git merge -q --no-ff --no-edit topic; moved; git rebase -q --rebase-merges main
"#;

/// What `git rebase --interactive` does.
const EDITS: &str = r#"
# autosquash onto a longer main
feature; moved; echo a9 > a.c; andon test >/dev/null; git commit -qa --fixup=HEAD; seq true; git rebase -q -i --autosquash main
# autosquash in the middle
feature; moved; echo b9 > b.c; andon test >/dev/null; git commit -qa --fixup=HEAD~1; seq true; git rebase -q -i --autosquash main
# fixup amend
feature; moved; echo b9 > b.c; andon test >/dev/null; GIT_EDITOR="sed -i 2,9s/Two/Zwei/" git commit -qa --fixup=amend:HEAD~1; seq true; git rebase -q -i --autosquash main
# an edit without tests, then what check advises
feature; moved; seq "sed -i '2s/pick/edit/'"; git rebase -q -i main; echo b7 > b.c; git add b.c; git rebase --continue >/dev/null
advice=$(andon check base..HEAD | sed -n 's/.*help: \(git rebase .*\)/\1/p' | head -n 1); test -n "$advice"; eval "$advice" >/dev/null
# a new commit while a rebase onto a longer main is stopped
feature; moved; seq "sed -i 2s/pick/edit/"; git rebase -q -i main; work x.c x1 Inserted; git rebase --continue >/dev/null
# the same at its end
feature; moved; seq "sed -i 3s/pick/edit/"; git rebase -q -i main; work x.c x1 Inserted; git rebase --continue >/dev/null
# break in a rebase onto a longer main
feature; moved; seq "sed -i 2abreak"; git rebase -q -i main; work x.c x1 Inserted; work y.c y1 Another; git rebase --continue >/dev/null
# split on a longer main
git checkout -qb feature base; work a.c a1 One; echo b > b.c; echo c > c.c; git add .; andon test >/dev/null; git commit -qm Both; work a.c a2 Three; moved
seq "sed -i 2s/pick/edit/"; git rebase -q -i main; git reset -q HEAD~1; rm c.c; work b.c b "Only b"; work c.c c "Only c"; git rebase --continue >/dev/null
# commits of an exec
feature; moved; git rebase -q --exec 'date +%N$$ > g.c; git add g.c; andon test >/dev/null; git commit -qm gen' main >/dev/null
# exec andon test amend
feature; moved; git rebase -q --exec "andon test && git commit --amend --no-edit" main >/dev/null
# exec signoff
feature; git rebase -q --exec "git commit -q --amend --no-edit --signoff" base
# exec signoff onto main
feature; moved; git rebase -q --exec "git commit -q --amend --no-edit --signoff" main
# reword
feature; moved; seq "sed -i '1s/pick/reword/'"; GIT_EDITOR="sed -i 1s/^/Re/" git rebase -q -i main
# reword in place
feature; seq "sed -i '2s/pick/reword/'"; GIT_EDITOR="sed -i 1s/^/Re/" git rebase -q -i base
# edit
feature; moved; seq "sed -i '2s/pick/edit/'"; git rebase -q -i main; echo b7 > b.c; andon test >/dev/null; git commit -qa --amend --no-edit; git rebase --continue >/dev/null
# drop
feature; seq "sed -i '2s/pick/drop/'"; git rebase -q -i base
# reorder
feature; moved; seq "sed -i -e 1{h\;d\;} -e 2{G\;}"; git rebase -q -i main
# split
feature; work c.c c1 Both; echo x > d.c; git add d.c; andon test >/dev/null; git commit -q --amend --no-edit; seq "sed -i '4s/pick/edit/'"; git rebase -q -i base; git reset -q HEAD~1; git add c.c; andon test >/dev/null; mv d.c ../d.c; andon test >/dev/null; git commit -qm "First half"; mv ../d.c d.c; git add d.c; andon test >/dev/null; git commit -qm "Second half"; git rebase --continue >/dev/null
# squash
feature; moved; seq "sed -i '2,3s/pick/squash/'"; git rebase -q -i main
"#;

/// Cherry-picks, reverts and patches.
const PICKS: &str = r#"
# cherry-pick
feature; moved; git checkout -q main; git cherry-pick feature~1 >/dev/null; git cherry-pick -x feature~2 >/dev/null
# cherry-pick -n
feature; moved; git checkout -q main; git cherry-pick -n feature~2; andon test >/dev/null; git commit -qm "Taken by hand"
# cherry-pick range then amend
feature; moved; git checkout -q main; git cherry-pick base..feature >/dev/null; git commit -q --amend -m "Said better"
# cherry-pick conflict
feature; git checkout -q main; work a.c m "Main a"; git cherry-pick feature~2 >/dev/null 2>&1 || { echo both > a.c; git add a.c; andon test >/dev/null; git cherry-pick --continue >/dev/null; }
# revert of revert
feature; git revert --no-edit HEAD >/dev/null; git revert --no-edit HEAD >/dev/null; git commit -q --amend -m "Back again"
# revert -n
feature; git revert -n HEAD; andon test >/dev/null; git commit -qm "Taken back"
# am
feature; moved; git format-patch -q -o ../p base..feature; git checkout -q main; git am -q ../p/*.patch
# commit-tree
feature; p=base; for c in $(git rev-list --reverse base..feature); do p=$(git commit-tree -p $p -m "Rewritten" $c^{tree}); done; git update-ref refs/heads/feature $p
# commit-tree then work
feature; p=base; for c in $(git rev-list --reverse base..feature); do p=$(git commit-tree -p $p -m "Rewritten" $c^{tree}); done; git update-ref refs/heads/feature $p; work z.c z More
# filter-branch
feature; FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'sed s/^/x/' base..feature >/dev/null
"#;

/// Amends, resets, stashes, parts of the work.
const RESETS: &str = r#"
# stash branch
feature; echo s > s.c; git add s.c; git stash -q; work a.c a3 Four; git stash branch side >/dev/null; andon test >/dev/null; git commit -qm "From the stash"
# soft reset
feature; git reset -q --soft base; git commit -qm "Squashed"
# soft reset onto moved main
feature; moved; git checkout -q main; git merge -q --squash feature >/dev/null; andon test >/dev/null; git commit -qm "Squashed"
# mixed reset
feature; git reset -q HEAD~1; git commit -qam "Again"
# hard reset and again
feature; git reset -q --hard HEAD~1; work a.c a2 "Three again"
# andon.toml alone
feature; echo '# one' >> andon.toml; git commit -qam "Config one"; echo '# two' >> andon.toml; git commit -qam "Config two"; work a.c a5 More
# four message amends
feature; for n in 1 2 3 4; do git commit -q --amend -m "Message $n"; done
# amend code
feature; for n in 1 2 3; do echo $n > a.c; andon test >/dev/null; git commit -qa --amend --no-edit; done
# a commit of a part
feature; echo x > x.c; echo y > y.c; git add x.c; mv y.c ..; andon test >/dev/null; git commit -qm X; mv ../y.c .; git add y.c; andon test >/dev/null; git commit -qm Y
# commit --only file
feature; echo n > n.c; git add n.c; mv n.c ../n.c; git rm -q --cached n.c; echo a7 > a.c; andon test >/dev/null; git commit -q -m "Only a" a.c
# reuse message
feature; echo a8 > a.c; andon test >/dev/null; git commit -qa -C HEAD~1; git commit -q --amend --reset-author --no-edit
"#;

/// Colleagues, worktrees and merges.
const SHARED: &str = r#"
# pull rebase of a colleague
git clone -q . ../hub.git --bare; git remote add origin ../hub.git; git push -q -u origin main 2>/dev/null; git clone -q ../hub.git ../two; (cd ../two; git config user.name B; git config user.email b@example.org; andon install >/dev/null 2>&1; work b.c b1 Theirs; work b.c b2 "Theirs two"); work a.c a1 Ours; work a.c a2 "Ours two"; git push -q 2>/dev/null; cd ../two; git pull -q --rebase; git push -q 2>/dev/null; andon check base~0..HEAD 2>&1 || true; cd ../repo; git pull -q --rebase; git fetch -q; andon sync >/dev/null 2>&1
# pull merge of a colleague
git clone -q . ../hub.git --bare; git remote add origin ../hub.git; git push -q -u origin main 2>/dev/null; git clone -q ../hub.git ../two; (cd ../two; git config user.name B; git config user.email b@example.org; andon install >/dev/null 2>&1; work b.c b1 Theirs; git push -q 2>/dev/null); work a.c a1 Ours; git pull -q --no-rebase --no-edit; andon sync >/dev/null 2>&1
# two worktrees
git worktree add -q ../side -b side; (cd ../side; work s.c s1 Side; work s.c s2 "Side two"); work a.c a1 Main; work a.c a2 "Main two"; git merge -q --no-edit side; (cd ../side; git merge -q main; work s.c s3 "Side three"); git merge -q side
# merge conflict
feature; git checkout -q main; work a.c m "Main a"; git merge -q feature >/dev/null 2>&1 || { echo both > a.c; git add a.c; andon test >/dev/null; git commit -q --no-edit; }
"#;

fn sh(stage: &Stage, script: &str) -> Out {
    stage.run_in(stage.dir(), "sh", &["-ec", script], None)
}

/// A repository in which a beginning has happened.
fn begun(beginning: &'static str) -> Stage {
    static BEGUN: Mutex<BTreeMap<&str, Built>> = Mutex::new(BTreeMap::new());
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let ready = begun.entry(beginning).or_insert_with(|| {
        let stage = Stage::bare_ground();
        let path = std::env::var("PATH").unwrap_or_default();
        stage.set("PATH", &format!("{}:{path}", andon_path().parent().unwrap().display()));
        sh(&stage, &format!("{BEFORE}\n{WORDS}\n{beginning}")).ok();
        Built::of(&stage)
    });
    ready.stage()
}

/// Lets each story happen, and asks `andon check` about it.
fn tell(stories: &'static str) {
    let mut wrong = Vec::new();
    for story in stories.split("\n# ").skip(1) {
        let (name, script) = story.trim_end().split_once('\n').unwrap();
        let expected: Vec<&str> = name.split_once(": ").map(|(_, error)| error).into_iter().collect();
        let (beginning, rest) = BEGINNINGS
            .iter()
            .find_map(|beginning| Some((*beginning, script.strip_prefix(beginning)?)))
            .unwrap();
        let stage = begun(beginning);
        let done = sh(&stage, &format!("{WORDS}\n{rest}"));
        let out = stage.andon(&["check", "base..HEAD"]);
        let mut errors: Vec<&str> = out
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("error[")?.split_once(']'))
            .map(|(code, _)| code)
            .collect();
        errors.dedup();
        if done.code != 0 || errors != expected || (out.code != 0) == expected.is_empty() {
            wrong.push(format!("{name}: {done}\n{out}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rebase_of_every_kind() {
    tell(REBASES);
}

#[test]
fn history_that_is_edited() {
    tell(EDITS);
}

#[test]
fn commits_that_are_picked_and_taken_back() {
    tell(PICKS);
}

#[test]
fn work_that_is_set_aside_and_done_again() {
    tell(RESETS);
}

#[test]
fn work_that_is_shared() {
    tell(SHARED);
}
