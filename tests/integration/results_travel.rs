//! A result travels with its code: what git makes of red code is red until a run says otherwise, what it makes of commits
//! that nobody recorded is unrecorded, and one tree has one verdict, whichever command made it.

use crate::support::{Stage, image::built};

/// The test `answer` passes where `a.sh` says 42, `b` where `b.sh` does not say bad.
const CHECK: &str = r"n=0; echo 1..2
if grep -q 42 a.sh; then echo ok 1 - answer; else echo not ok 1 - answer; n=1; fi
if grep -q bad b.sh; then echo not ok 2 - b; n=1; else echo ok 2 - b; fi
exit $n
";

/// Words of the scripts: `tested SUBJECT` commits with a run, `bare ...` runs git as a forge or a clone without hooks does.
const WORDS: &str = r#"
tested() { andon test >/dev/null 2>&1 || :; git add -A && git commit -qm "$1"; }
bare() { git -c core.hooksPath=/dev/null "$@"; }
step() { sed "$1" "$2" > edited && cat edited > "$2" && rm edited; }
"#;

/// A tested `main` with a remote, and `main` moved on beside a branch `topic` that a story fills.
fn stage() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.set("GIT_EDITOR", "true");
        stage.write("check.sh", CHECK);
        stage.write("a.sh", "x=42\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        stage.write("b.sh", "b\n");
        stage.tested_commit_of(".", "Begin");
        stage.git(&["branch", "topic"]).ok();
        stage.write("m.sh", "m\n");
        stage.tested_commit_of(".", "Main");
        stage.git(&["checkout", "-q", "topic"]).ok();
        stage
    })
}

#[track_caller]
fn play(stage: &Stage, script: &str) {
    let program = crate::support::andon_path();
    let words = format!("set -ex; PATH={}:$PATH\n{WORDS}{script}", program.parent().unwrap().display());
    stage.run_in(stage.dir(), "sh", &["-c", &words], None).ok();
}

const BREAK: &str = "step s/42/41/ a.sh; tested Break\n";

/// What makes red code anew, on `main` that moved; the branch that it ends on is judged.
const OF_RED: [(&str, &str); 13] = [
    ("rebase", "git rebase -q main"),
    ("a forge's rebase", "bare rebase -q main"),
    ("pick", "git checkout -q -b other main; git cherry-pick topic"),
    ("merge", "git checkout -q -b other main; git merge -q --no-ff -m Merge topic"),
    (
        "a merge of what was rebased",
        "git rebase -q main; git checkout -q -b other main; git merge -q --no-ff -m Merge topic",
    ),
    ("a forge's merge", "git checkout -q -b other main; bare merge -q --no-ff -m Merge topic"),
    ("update-branch", "git merge -q -m Update main"),
    (
        "a forge's squash",
        "step s/^9/nine/ a.sh; tested More; git checkout -q -b other main; git merge -q --squash topic; bare commit -qm Squashed",
    ),
    (
        "am",
        "git format-patch -q --stdout topic~1..topic > ../patch; git checkout -q -b other main; git am -q ../patch",
    ),
    ("rebase of two", "step s/^9/nine/ a.sh; tested More; git rebase -q main"),
    (
        "rebase, again",
        "git rebase -q main; git checkout -q main; echo n > n.sh; tested More; git checkout -q topic; git rebase -q main",
    ),
    (
        "squash of two",
        "step s/^9/nine/ a.sh; tested More; GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' git rebase -q -i main",
    ),
    ("documents on top", "git rebase -q main; echo text > README.md; git add README.md; git commit -qm Docs"),
];

#[test]
fn what_git_makes_of_red_code_is_red() {
    for (how, script) in OF_RED {
        let stage = stage();
        play(&stage, &format!("{BREAK}{script}"));
        let said = stage.andon(&["check", "main..HEAD"]);
        assert!(said.code == 1 && said.all().contains("error[failing-tests]"), "{how}: {said}");
        assert!(said.all().contains("whose tests do not pass"), "{how}: {said}");
        // The run decides, both ways.
        stage.andon(&["check", "--test", "main..HEAD"]).exits(1).says("the tests of the tip fail");
        stage.git(&["init", "-q", "--bare", "../origin.git"]).ok();
        stage.git(&["push", "-q", "../origin.git", "HEAD:refs/heads/try"]).refused().says("failing-tests");
        stage.andon(&["complete"]).refused().says("failing-tests");
    }
}

/// Stories in which the red is gone, or never came along, by what is known: a warning, as for all that git made.
const OF_GREEN: [(&str, &str); 6] = [
    ("mended on the way", "step s/41/42/ a.sh; tested Mend; git rebase -q main"),
    ("mended, merged", "step s/41/42/ a.sh; step s/^9/nine/ a.sh; tested Mend; git checkout -q -b other main; git merge -q --no-ff -m M topic"),
    ("taken back", "step s/^9/nine/ a.sh; tested More; git revert --no-edit HEAD~1"),
    ("left out", "git checkout -q -b other main; echo o > o.sh; tested Own; git checkout -q -b on main~1; git cherry-pick other"),
    (
        "a red main mended by a branch",
        "git checkout -q -b red; echo r > r.sh; tested Red; git checkout -q topic; step s/41/42/ a.sh; tested Mend
         git checkout -q red; git merge -q --no-ff -m M topic",
    ),
    ("a run says otherwise", "git rebase -q main; step s/41/42/ a.sh; tested Mend; git commit -q --amend -m Again"),
];

#[test]
fn what_was_mended_stays_mended() {
    for (how, script) in OF_GREEN {
        let stage = stage();
        play(&stage, &format!("{BREAK}{script}"));
        let said = stage.andon(&["check", "main~1..HEAD"]);
        assert!(said.code == 0, "{how}: {said}");
    }
}

const ROW: &str = "step s/^1/one/ a.sh; tested A; echo B > B.sh; tested B; step s/^9/nine/ a.sh; tested C\n";

/// Commands that make new commits of those of [`ROW`].
const JOINED: [(&str, &str); 6] = [
    (
        "fixup",
        "step s/^one/uno/ a.sh; andon test >/dev/null; git commit -qa --fixup HEAD~2; git rebase -q -i --autosquash main~1",
    ),
    (
        "amend!",
        "step s/^one/uno/ a.sh; andon test >/dev/null; git commit -qa --fixup=amend:HEAD~2; git rebase -q -i --autosquash main~1",
    ),
    (
        "squash",
        "step s/^5/five/ a.sh; andon test >/dev/null; git commit -qa --squash HEAD~2; git rebase -q -i --autosquash main~1",
    ),
    (
        "fixup, moved",
        "step s/^one/uno/ a.sh; andon test >/dev/null; git commit -qa --fixup HEAD~2; git rebase -q -i --autosquash main",
    ),
    ("squashed, moved", "GIT_SEQUENCE_EDITOR='sed -i 2,3s/pick/squash/' git rebase -q -i main"),
    (
        "fixup, moved, moved again",
        "step s/^one/uno/ a.sh; andon test >/dev/null; git commit -qa --fixup HEAD~2; git rebase -q -i --autosquash main~1; git rebase -q main",
    ),
];

#[test]
fn a_fixup_of_an_older_commit_is_what_a_rebase_makes_of_the_same() {
    for (how, script) in JOINED {
        let stage = stage();
        play(&stage, &format!("{ROW}{script}"));
        let said = stage.andon(&["check", "main..HEAD"]);
        assert!(said.code == 0 && said.all().contains("warning[untested-code]"), "{how}: {said}");
        // The same where the commits that it was made of are not: in a clone that fetched what is there.
        play(&stage, "git init -q --bare ../o.git; git remote add origin ../o.git; git push -q origin main topic; andon sync >/dev/null 2>&1
            git clone -q -b topic ../o.git ../fresh; cd ../fresh; andon sync --fetch-only >/dev/null 2>&1");
        let fresh = stage.root().join("fresh");
        let said = stage.andon_in(&fresh, &["check", "origin/main..HEAD"]);
        assert!(said.code == 0 && said.all().contains("warning[untested-code]"), "{how}, elsewhere: {said}");
    }
}

/// Words of the scripts: `edited SCRIPT` edits A in the middle of a rebase onto `main~1`.
const EDITED: &str = "edited() { GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i main~1; eval \"$1\"; git add -A; git rebase --continue; }
    on_tip() { andon test >/dev/null; git commit -q --amend --no-edit; }\n";

/// Hands that change an older commit while it is moved, then the verdict of `check`, and of `check --test`.
const BY_HAND: [(&str, &str, i32, i32); 10] = [
    ("an edit, the tip tested", "edited 'step s/^5/five/ a.sh'; on_tip", 0, 0),
    (
        "an edit that was tested before",
        "step s/^5/five/ a.sh; andon test; git stash -q; edited 'git stash pop'",
        0,
        0,
    ),
    ("an edit, and a rebase", "edited 'step s/^5/five/ a.sh'; on_tip; git rebase -q main", 0, 0),
    ("an edit, and work", "edited 'step s/^5/five/ a.sh'; echo D > D.sh; tested D", 0, 0),
    (
        "a conflict that was resolved",
        "git checkout -q main; step s/^1/eins/ a.sh; tested E; git checkout -q topic; ! git rebase -q main
         step '/^[<=>]/d' a.sh; git add -A; git rebase --continue; on_tip",
        0,
        0,
    ),
    (
        "a fixup whose conflict was resolved",
        "step s/^one/uno/ a.sh; tested Uno; step s/^uno/eins/ a.sh; andon test >/dev/null; git commit -qa --fixup HEAD~3
         ! git rebase -q -i --autosquash main~1; step '/^[<=>]/d;/^one/d' a.sh; git add -A; ! git rebase --continue
         step '/^[<=>]/d;s/^uno/unus/;/^eins/d' a.sh; git add -A; git rebase --continue",
        1,
        0,
    ),
    ("an edit that nobody tested", "edited 'step s/^5/five/ a.sh'", 1, 0),
    ("the same, moved", "edited 'step s/^5/five/ a.sh'; git rebase -q main", 1, 0),
    ("an edit that fails", "edited 'step s/^5/five/ a.sh; step s/42/41/ a.sh'", 1, 1),
    (
        "what went round the gate, and moved",
        "step s/^5/five/ a.sh; git commit -qan -m Round; echo D > D.sh; tested D; git rebase -q main",
        1,
        1,
    ),
];

#[test]
fn an_edit_in_a_rebase_is_worth_what_the_tests_say_where_it_led_to() {
    for (how, script, code, with_test) in BY_HAND {
        let stage = stage();
        play(&stage, &format!("{EDITED}{ROW}{script}"));
        let said = stage.andon(&["check", "main..HEAD"]).exits(code);
        let level = if code == 0 { "warning" } else { "error" };
        assert!(said.all().contains(&format!("{level}[untested-code]")), "{how}: {said}");
        let said = stage.andon(&["check", "--test", "main..HEAD"]);
        assert_eq!(said.code, with_test, "{how}: {said}");
        play(&stage, "git init -q --bare ../o.git; git remote add origin ../o.git; bare push -q origin main topic; andon sync >/dev/null 2>&1
            git clone -q -b topic ../o.git ../fresh; cd ../fresh; andon sync --fetch-only >/dev/null 2>&1");
        let said = stage.andon_in(&stage.root().join("fresh"), &["check", "origin/main..HEAD"]);
        assert_eq!(said.code, code, "{how}, elsewhere: {said}");
    }
}

const FOREIGN: &str = "git clone -q . ../col; (cd ../col; git config user.name Col; git config user.email col@example.org
    unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
    git checkout -q -b dep origin/main~1; step s/^5/five/ a.sh; git commit -qam Dep; echo d > d.sh; git add -A; git commit -qm More)
    git fetch -q ../col dep:dep; git checkout -q dep\n";

/// Commands that rewrite or take in what nobody recorded.
const MOVED: [(&str, &str); 12] = [
    ("untouched", "true"),
    ("rebase", "git rebase -q main"),
    ("rebase, twice", "git rebase -q main; git checkout -q main; echo n > n.sh; tested More; git checkout -q dep; git rebase -q main"),
    ("pick", "git checkout -q -b other main; git cherry-pick dep~1 dep"),
    ("am", "git format-patch -q --stdout dep~2..dep > ../patch; git checkout -q -b other main; git am -q ../patch"),
    ("rebase, then pick", "git rebase -q main; git checkout -q -b other main; echo n > n.sh; tested More; git cherry-pick dep~1 dep"),
    (
        "rebase, then am",
        "git rebase -q main; git format-patch -q --stdout main..dep > ../patch; git checkout -q -b other main; echo n > n.sh; tested More; git am -q ../patch",
    ),
    ("new message", "git commit -q --amend -m Reworded"),
    ("reword", "GIT_SEQUENCE_EDITOR='sed -i s/pick/reword/' git rebase -q -i main~1"),
    ("merge", "git checkout -q -b other main; git merge -q --no-ff -m Merge dep"),
    ("revert", "git revert --no-edit HEAD~1"),
    (
        "another history",
        "git init -q -b main ../lib; (cd ../lib; echo l > l.c; git add -A; bare commit -qm Lib); git fetch -q ../lib main
         git checkout -q -b other main; git merge -q --allow-unrelated-histories -m Foreign FETCH_HEAD",
    ),
];

#[test]
fn what_is_made_of_unrecorded_commits_counts_as_they_do() {
    for (how, script) in MOVED {
        let stage = stage();
        play(&stage, &format!("{FOREIGN}{script}"));
        let said = stage.andon(&["check", "main~1..HEAD"]);
        assert!(said.code == 3 && said.all().contains("missing-record"), "{how}: {said}");
        let said = stage.andon(&["check", "--test", "main~1..HEAD"]);
        assert!(said.code == 0, "{how}: {said}");
    }
}

/// One's own commits from before the hooks, on a history that nobody recorded.
const BEFORE: &str =
    "git clone -q . ../old; cd ../old; git checkout -q --orphan old origin/main~1; git commit -qm Old
    step s/^5/five/ a.sh; git commit -qam Five; echo d > d.sh; git add -A; git commit -qm More
    git format-patch -q --stdout old~2..old > ../patch; cd ../repo\n";

/// Ways of one's own commits without records to another branch.
const OWN: [(&str, &str); 5] = [
    ("picked", "git fetch -q ../old old:old; git cherry-pick old~1 old"),
    ("sent from another clone", "git am -q ../patch"),
    ("sent from this one", "git fetch -q ../old old:old; git am -q ../patch"),
    (
        "a plain mail",
        "sed 's/^From [0-9a-f]* /From 0000000000000000000000000000000000000000 /' ../patch | git am -q",
    ),
    ("sent, and rebased", "git checkout -q -b sent topic; git am -q ../patch; git rebase -q main"),
];

#[test]
fn own_commits_from_before_the_hooks_count_as_the_unrecorded_ones_that_they_are() {
    for (how, script) in OWN {
        let stage = stage();
        play(&stage, &format!("{BEFORE}git checkout -q -b other main; {script}"));
        let said = stage.andon(&["check", "main..HEAD"]);
        assert!(said.code == 3 && said.all().contains("missing-record"), "{how}: {said}");
        let said = stage.andon(&["check", "--test", "main..HEAD"]);
        assert!(said.code == 0, "{how}: {said}");
    }
}

/// Ways round the gate by a patch: of a commit that went round it, and by hand where a patch stops.
const ROUND: [&str; 5] = [
    "round; git am -q ../patch",
    "round; sed 's/^Date: .*/Date: Mon, 1 Jan 2001 00:00:00 +0000/' ../patch | git am -q",
    "round; sed 's/^From [0-9a-f]* /From 0000000000000000000000000000000000000000 /; s/^Date: .*/Date: Mon, 1 Jan 2001 00:00:00 +0000/' ../patch | git am -q",
    "round; sed 's/^From: .*/From: Other <other@example.org>/' ../patch | git am -q",
    "step s/^5/five/ a.sh; tested Five; git format-patch -q --stdout HEAD~1 > ../patch; git checkout -q main; step s/^5/cinq/ a.sh; tested Cinq
     ! git am -q -3 ../patch; step '/^[<=>]/d' a.sh; echo o > o.sh; git add -A; git commit -qn -m Round; git am -q --skip",
];

#[test]
fn a_patch_is_no_way_round_the_gate() {
    for script in ROUND {
        let stage = stage();
        let round = "round() { echo o > o.sh; git add -A; git commit -qn -m Round; git format-patch -q --stdout HEAD~1 > ../patch; git reset -q --hard HEAD~1; }\n";
        play(&stage, &format!("{round}{script}"));
        let said = stage.andon(&["check", "--test", "HEAD~1..HEAD"]);
        assert!(said.code == 1 && said.all().contains("error[untested-code]"), "{script}: {said}");
    }
}

#[test]
fn going_round_the_hooks_and_moving_it_then_stays_work_without_tests() {
    for script in [
        "git format-patch -q --stdout HEAD~1 > ../patch; git checkout -q -b other main; git am -q ../patch",
        "git rebase -q main",
        "git checkout -q -b other main; git cherry-pick topic",
        "git rebase -q main; git checkout -q -b other main; echo n > n.sh; tested More; git cherry-pick topic",
        "git commit -q --amend -m Reworded",
    ] {
        let stage = stage();
        play(&stage, &format!("echo o > o.sh; git add -A; bare commit -qm Round; {script}"));
        let said = stage.andon(&["check", "--test", "main~1..HEAD"]);
        assert!(said.code == 1 && said.all().contains("untested-code"), "{script}: {said}");
    }
}

#[test]
fn a_subtree_is_no_reason_for_a_rebase() {
    let stage = stage();
    play(&stage, "git init -q -b main ../lib; (cd ../lib; echo l > l.c; git add -A; bare commit -qm Lib); git fetch -q ../lib main
        tree=$(git commit-tree -m Squashed FETCH_HEAD^{tree}); git read-tree --prefix=vendor/ -u $tree
        git reset -q --hard $(git commit-tree -p HEAD -p $tree -m Add $(git write-tree)); andon test >/dev/null; git commit -q --amend -m Add
        (cd ../lib; echo more > l.c; bare commit -qam More); git fetch -q ../lib main
        next=$(git commit-tree -p $tree -m Squashed FETCH_HEAD^{tree}); git merge -q -X subtree=vendor -m Pull $next");
    assert_eq!(stage.read("vendor/l.c"), "more\n");
    stage.andon(&["check", "--test", "main~1..HEAD"]).exits(0);
    stage.andon(&["check", "main~1..HEAD"]).exits(3);
    play(&stage, "echo sneaked > vendor/l.c; git add -A; git commit -q --amend --no-edit --no-verify");
    let said = stage.andon(&["check", "main~1..HEAD"]).exits(1).says("error[untested-code]");
    assert!(!said.all().contains("git rebase"), "{said}");
}

const SCOPES: &str = "[test]\ncommand = \"sh t.sh .\"\n[test.scopes.a]\npaths = [\"a/**\"]\ncommand = \"sh t.sh a\"\n\
    [test.scopes.b]\npaths = [\"b/**\"]\ncommand = \"sh t.sh b\"\n";

#[test]
fn a_scope_that_both_sides_changed_is_named_and_no_result_comes_from_nowhere() {
    let stage = Stage::installed();
    stage.write("andon.toml", SCOPES);
    stage.write("t.sh", "cd $1; echo 1..1; echo ok 1 - $1\n");
    for file in ["a/x", "a/y", "b/x"] {
        stage.write(file, "1\n");
    }
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test", "--all"]).ok();
    stage.git(&["commit", "-qm", "Scopes"]).ok();
    play(&stage, "git checkout -q -b one; echo 2 > a/x; tested One; git checkout -q main; echo 2 > a/y; tested Two
        echo 2 > b/x; tested Three
        git checkout -q one; git merge -q -m Merge main
        git init -q --bare ../o.git; git remote add origin ../o.git; bare push -q origin main one; andon sync >/dev/null 2>&1
        git clone -q -b one ../o.git ../fresh; cd ../fresh; andon sync --fetch-only >/dev/null 2>&1");
    let fresh = stage.root().join("fresh");
    let said = stage.andon_in(&fresh, &["check", "origin/main..HEAD"]).exits(0);
    said.says("both sides changed scope a").lacks("scope b");
    // A result that is said to come from a commit whose record tells another one.
    play(&stage, "git checkout -q main; start=$(git rev-parse main~2)
        git notes --ref=andon show HEAD | sed 's/\"a\":{\\([^}]*\\)\"from\":\"[0-9a-f]*\"/\"a\":{\\1\"from\":\"'$start'\"/' > ../note
        ! git notes --ref=andon show HEAD | cmp -s - ../note
        git notes --ref=andon add -f -F ../note HEAD");
    stage.andon(&["check", "main~1..main"]).exits(1).says("edited-record").says("does not tell it");
}
