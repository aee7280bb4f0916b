//! `andon report`: one page from what is recorded, whatever state the repository is in.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::{check::halted, support::Stage};

fn page(stage: &Stage, args: &[&str]) -> String {
    stage.andon(&[&["report"], args].concat()).ok().stdout
}

#[test]
fn a_halted_loop_says_why_since_when_and_what_to_do() {
    let stage = halted();
    let shown = page(&stage, &[]);
    for part in [
        "<span class=\"state bad\">Halted</span>",
        "is stuck on 1 failing test</strong> (repeated-failures)",
        "andon resume --reason &#39;&lt;decision&gt;&#39;",
        "1, 1 unanswered",
        "What was tried",
        "From the first to the last",
        "<span class=\"add\"><span class=\"line\">1</span>+ 3</span>",
        "No answer yet",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    stage.andon(&["resume", "--reason", "the <fixture> was broken"]).ok();
    let shown = page(&stage, &["HEAD"]);
    assert!(shown.contains("<q>the &lt;fixture&gt; was broken</q>"), "{shown}");
    assert!(shown.contains("No halt waits for a person; the tests of HEAD fail."), "{shown}");
}

#[test]
fn what_was_pushed_leads_to_the_forge() {
    let stage = halted();
    stage.git(&["remote", "add", "origin", "git@github.com:shop/tax.git"]).ok();
    assert!(!page(&stage, &[]).contains("https://"), "nothing is known to be there");
    let [first, head] = ["HEAD~1", "HEAD"].map(|rev| stage.git(&["rev-parse", rev]).ok().stdout);
    let [first, head] = [first.trim(), head.trim()];
    stage.git(&["update-ref", "refs/remotes/origin/main", first]).ok();
    let shown = page(&stage, &[]);
    assert!(shown.contains(&format!("<a href=\"https://github.com/shop/tax/commit/{first}\">")), "{shown}");
    assert!(!shown.contains(&format!("tax/commit/{head}")), "it was not pushed: {shown}");
    stage.git(&["update-ref", "refs/remotes/origin/main", head]).ok();
    let shown = page(&stage, &[]);
    assert!(
        shown.contains(&format!("<a href=\"https://github.com/shop/tax/blob/{head}/code.txt#L1\">1</a>")),
        "{shown}"
    );
    let comment = stage.andon(&["check", "HEAD", "--format", "markdown"]).stdout;
    assert!(comment.contains(&format!("](https://github.com/shop/tax/commit/{head})")), "{comment}");
    assert!(comment.contains("```diff\n") && comment.contains("\n+    1  3\n"), "{comment}");
}

#[test]
fn the_same_facts_make_the_same_bytes_whenever_it_is_made() {
    let stage = halted();
    let first = page(&stage, &["HEAD"]);
    stage.pass(86_400);
    stage.andon(&["report", "HEAD", "-o", "report.html"]).ok();
    // The page itself is an untracked file now: the state of the tree is no part of what a range tells.
    assert_eq!(stage.read("report.html"), first);
    assert!(!first.contains("http:") && !first.contains("src="), "nothing is fetched");
}

#[test]
fn any_repository_has_a_page() {
    let stage = Stage::new();
    assert!(page(&stage, &[]).contains("No commit in the range."));
    stage.write("a.txt", "a");
    stage.commit_of(".", "Before Andon");
    assert!(page(&stage, &[]).contains("data-k=\"m\""));
    stage.andon(&["report", "nowhere..HEAD"]).exits(2).says("unknown revision");
    for (place, hint) in [
        ("nowhere/report.html", "make its directory first: mkdir -p "),
        (".", "name a file in that directory"),
        ("/", "name a file in that directory"),
        ("a.txt/report.html", "check the permissions"),
    ] {
        for verb in [&["report"][..], &["export", "--csv"]] {
            let out = stage.andon(&[verb, &["-o", place]].concat()).exits(2);
            out.says("cannot write").says(hint).lacks("rm -r");
        }
    }
}

#[test]
fn damage_is_named_and_the_rest_is_shown() {
    let stage = halted();
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", "{ not a record", "HEAD~1"]).ok();
    let shown = page(&stage, &["HEAD"]);
    assert!(shown.contains("record not readable") && shown.contains("Try 3"), "{shown}");
    let tip = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    let blob = stage.git(&["hash-object", "-w", "code.txt"]).ok().stdout;
    let path = stage.path(".git").join(tip.lines().next().unwrap());
    std::fs::write(path, blob).unwrap();
    let shown = page(&stage, &["HEAD"]);
    assert!(shown.contains("What could not be read") && shown.contains("Try 3"), "{shown}");
}

#[test]
fn iterations_have_a_lane_for_each_worktree() {
    let stage = Stage::installed();
    stage.git(&["worktree", "add", "-q", "../side", "-b", "side"]).ok();
    let side = stage.root().canonicalize().unwrap().join("side");
    stage.steps_in(&side, "echo side > code.txt; andon test; git commit -qam Side");
    stage.iterate("main\n", &["ok a"], "Main").ok();
    stage.git(&["merge", "-q", "-s", "ours", "--no-edit", "side"]).ok();
    assert_eq!(stage.record("side")["worktree"], "side");
    assert!(stage.record("HEAD^1")["worktree"].is_null());
    let shown = page(&stage, &["HEAD"]);
    assert!(shown.contains("<div class=\"lane\"><p>agent, worktree side <span"), "{shown}");
    stage.andon(&["show", "side"]).ok().says("worktree   side");
    // Amended in the main worktree, it was made there.
    stage.steps("git switch -q --detach side; git commit -q --amend -m 'Side again'");
    assert!(stage.record("HEAD")["worktree"].is_null());
}
