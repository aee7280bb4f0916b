//! Code that changes while the tests run: what makes a run prove nothing, and what does not.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// A stage whose test command first does what `ACT` says.
fn stage() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("andon.toml", "[test]\ncommand = 'eval \"$ACT\"; sh check.sh'\n");
        stage.write(".gitignore", "target/\n*.tmp\n");
        stage.write("d/e/f.txt", "f\n");
        stage.set("ACT", ":");
        stage.tested_commit_of(".", "Let the tests act");
        stage
    })
}

#[test]
fn what_changes_is_named_and_what_does_not_passes() {
    let stage = stage();
    let cases: [(&str, Option<&str>); 16] = [
        ("echo two > code.txt", Some("ran: code.txt ")),
        ("echo two > d/e/f.txt; echo two > code.txt", Some("ran: code.txt, d/e/f.txt ")),
        ("echo new > d/new.txt", Some("needs one more: d/new.txt ")),
        ("mkdir -p n/m; echo new > n/m/o.txt", Some("needs one more: n/m/o.txt ")),
        ("rm code.txt", Some("ran: code.txt ")),
        ("mv d/e z", Some("ran: d/e/f.txt, z/f.txt ")),
        ("chmod +x code.txt", Some("ran: code.txt ")),
        ("rm -r d; echo file > d", Some("ran: d/e/f.txt ")),
        ("echo noise > .gitignore", None),
        ("touch code.txt; chmod 600 code.txt", None),
        ("cat code.txt > c.tmp; cat c.tmp > code.txt", None),
        ("cp code.txt c.tmp; rm code.txt; mv c.tmp code.txt", None),
        ("mv d z; mkdir z/new; rmdir z/new; mv z d; touch d/e/x.tmp", None),
        ("mkdir -p target/x; echo x > target/x/y; echo x > noise.tmp", None),
        ("echo new > new.txt; rm new.txt; mkdir empty", None),
        ("seq 4500 | while read n; do : > $n.tmp; done", None),
    ];
    for (act, named) in cases {
        stage.set("ACT", act);
        let out = stage.andon(&["test"]).ok();
        match named {
            Some(named) => out.says("changed while the tests").says(named),
            None => out.lacks("changed while the tests"),
        };
        stage.steps("git reset -q --hard; git clean -qfdx -e .andon");
    }
}

#[test]
fn a_file_that_is_made_anew_ends_as_it_was() {
    let stage = stage();
    stage.write("code.txt", "two\n");
    stage.set("ACT", "rm code.txt; sleep 1; (sleep 1; echo two) > code.txt; sleep 1");
    stage.andon(&["test"]).ok().lacks("changed while the tests");
    stage.git(&["commit", "-qam", "Two"]).ok();
}

#[test]
fn untracked_code_is_looked_at_again() {
    let stage = stage();
    for act in ["echo two > u/v/w.txt", "echo two > u/v/x.txt", "rm u/v/w.txt", "echo two > new.txt"] {
        stage.steps("echo one > u/v/w.txt; echo one > new.txt");
        stage.set("ACT", act);
        stage.andon(&["test"]).ok().says("the code changed while the tests ran");
        stage.set("ACT", "cat new.txt > n.tmp; cat n.tmp > new.txt; cat n.tmp > u/v/w.txt");
        stage.andon(&["test"]).ok();
        stage.andon(&["test"]).ok().lacks("changed while the tests");
        stage.git(&["clean", "-qfdx", "-e", ".andon"]).ok();
    }
}

#[test]
fn a_commit_beside_the_run_and_a_rewritten_index_change_no_code() {
    let stage = stage();
    stage.write("code.txt", "two\n");
    stage.set("ACT", "git add code.txt; git -c core.hooksPath=/dev/null commit -qm Two");
    stage.andon(&["test"]).ok().lacks("changed while the tests");
    stage.set("ACT", "git rm -q --cached code.txt; echo code.txt > .git/info/exclude");
    assert_snapshot!(stage.andon(&["test"]).shown(), @"
    exit 0
    --- stdout
    1..2
    ok 1 - a
    ok 2 - b
    --- stderr
    warning: changed while the tests ran: code.txt (stage it, or name it in .gitignore or paths.ignore)
    warning[test-run]: the code changed while the tests ran; the run proves nothing
      help: andon test
    ");
}

#[test]
fn thousands_of_directories_are_looked_at() {
    let stage = stage();
    for number in 0..2_000 {
        stage.write(&format!("many/{}/{number}/file", number % 20), "1");
    }
    stage.git(&["add", "."]).ok();
    stage.set("ACT", ":");
    stage.andon(&["test"]).ok().lacks("warning");
    stage.set("ACT", "echo 2 > many/7/1987/file");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stdout: 1..2
    ok 1 - a
    ok 2 - b
    stderr: warning: changed while the tests ran: many/7/1987/file (stage it, or name it in .gitignore or paths.ignore)
    warning[test-run]: the code changed while the tests ran; the run proves nothing
    ");
}

/// A stage with a package `src/app`, of which there is another version, and a link to one of two directories.
fn swapped() -> Stage {
    built!({
        let stage = stage();
        stage.write(".gitignore", "target/\n*.tmp\ngood/\nkept/\n__pycache__/\nout/\n");
        stage.steps("echo 1 > src/app/a.py; echo 2 > src/app/deep/b.py; echo 3 > src/v1/c.py");
        stage.steps("echo 4 > src/v2/c.py; echo 5 > good/a.py");
        std::os::unix::fs::symlink("v1", stage.path("src/current")).unwrap();
        stage.tested_commit_of(".", "Add a package");
        stage
    })
}

#[test]
fn code_that_is_swapped_for_the_run_and_put_back_is_told() {
    let stage = swapped();
    for (act, named) in [
        ("mv src/app kept; cp -r good src/app; sleep 0.1; rm -rf src/app; mv kept src/app", "src/app"),
        ("mv src/app kept; ln -s ../good src/app; sleep 0.1; rm src/app; mv kept src/app", "src/app"),
        ("cp -r src kept; rm -rf src; cp -r good src; rm -rf src; mv kept src", "src"),
        (
            "mv src/app/deep kept; mkdir src/app/deep; rmdir src/app/deep; mv kept src/app/deep",
            "src/app/deep",
        ),
        ("ln -sfn v2 src/current; sleep 0.1; ln -sfn v1 src/current", "src/current"),
    ] {
        stage.set("ACT", act);
        let told = format!("moved away or replaced while the tests ran, and put back: {named}");
        stage.andon(&["test"]).ok().says(&told).says("the run proves nothing");
    }
}

#[test]
fn code_that_git_takes_away_for_the_run_is_told() {
    let stage = swapped();
    let told = "replaced while the tests ran, and put back: src/app/a.py";
    stage.steps("git branch old; echo 9 > src/app/a.py");
    for act in [
        "git stash -q; sleep 0.1; git stash pop -q",
        "git stash push -q -- src/app; git stash pop -q",
        "git stash -qk; git stash pop -q --index",
    ] {
        stage.set("ACT", act);
        stage.andon(&["test"]).ok().says(told).says("the run proves nothing");
    }
    stage.set("ACT", "git -c core.hooksPath=/dev/null commit -qam Nine; touch src/other.tmp");
    stage.andon(&["test"]).ok().lacks("proves nothing");
    stage.set("ACT", "git switch -q old; git switch -q -");
    stage.andon(&["test"]).ok().says(told).says("the run proves nothing");
}

#[test]
fn whoever_works_in_the_directories_of_the_code_swaps_none() {
    let stage = swapped();
    for act in [
        "touch src/app/x.tmp; rm src/app/x.tmp; mkdir src/app/__pycache__; touch src/app/__pycache__/y",
        "chmod -R u+w . ; touch x.tmp src/x.tmp",
        "chmod 755 src/app; touch src/app/deep/z.tmp",
        "rm -rf src/app/deep; mkdir src/app/deep; echo 2 > src/app/deep/b.py",
        "mkdir -p out; mv out out2; mv out2 out; rm -rf out",
        "cp src/app/a.py a.tmp; mv a.tmp src/app/a.py",
        "git stash -q 2> err.tmp; git stash pop -q 2> err.tmp; true",
        "touch src/app; touch src",
        "tar cf app.tmp src/app; tar xf app.tmp",
        "ls -lR > ls.tmp; find src -type f -exec cat {} + > all.tmp",
    ] {
        stage.set("ACT", act);
        stage.andon(&["test"]).ok().lacks("moved away").lacks("proves nothing");
    }
}
