//! Release tools edit the version and commit it in one step, between which nobody can run `andon test`: where only the project's own
//! version and its changelogs changed, the tests of the commit before count at every door.

use crate::support::Stage;

/// A tested commit of a package of npm with a lock file.
fn package(stage: &Stage) {
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[paths]\nignore = [\"tests.txt\"]\n");
    bump(stage, "1.0.0", "2.0.0");
    stage.write("run.js", "run()\n");
    stage.tested_commit_of("--all", "Begin");
}

/// Writes the version `own` of the package, and `dep` of a dependency in the lock file.
fn bump(stage: &Stage, own: &str, dep: &str) {
    let name = format!("\"name\": \"p\",\n  \"version\": \"{own}\"");
    stage.write("package.json", format!("{{\n  {name}\n}}\n"));
    let of_dep = format!("\"node_modules/dep\": {{ \"version\": \"{dep}\" }}");
    stage.write(
        "package-lock.json",
        format!("{{\n  {name},\n  \"packages\": {{ \"\": {{ {name} }}, {of_dep} }}\n}}\n"),
    );
    stage.write("CHANGELOG", format!("{own}: all\n"));
}

#[test]
fn a_release_is_tested_by_the_tests_before_it_at_every_door() {
    let stage = Stage::installed();
    package(&stage);
    // Two in a row: the second leans on what the first took over.
    for version in ["1.0.1", "1.1.0-rc.1"] {
        bump(&stage, version, "2.0.0");
        stage.git(&["commit", "-qam", version]).ok().says("note[release]");
        assert_eq!(stage.record("HEAD")["tests"]["of_parent"], true);
        stage.andon(&["complete"]).ok();
        stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("carried-evidence");
    }
    stage.git(&["init", "-q", "--bare", "../up.git"]).ok();
    stage.git(&["remote", "add", "origin", "../up.git"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok().lacks("untested-edit");
    stage.git(&["clone", "-q", "-b", "main", "../up.git", "../clone"]).ok();
    let clone = stage.root().join("clone");
    stage.andon_in(&clone, &["sync", "--fetch-only"]).ok();
    stage.andon_in(&clone, &["check", "HEAD~2..HEAD"]).ok().says("carried-evidence");
    // What a forge's button makes of it has no record, and is the same release.
    stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("carried-evidence");
}

#[test]
fn a_release_with_anything_else_in_it_is_refused_and_names_what_its_tool_can_do() {
    let stage = Stage::installed();
    package(&stage);
    bump(&stage, "1.0.1", "2.0.1");
    let refused = stage.git(&["commit", "-qam", "A dependency"]).refused().says("untested-edit");
    refused.says("at_commit = \"run\"").says("\"scripts\": { \"version\": \"andon test\" }");
    bump(&stage, "1.0.1", "2.0.0");
    stage.write("run.js", "walk()\n");
    stage.git(&["commit", "-qam", "Code"]).refused().says("untested-edit");
    stage.git(&["checkout", "-q", "run.js"]).ok();
    stage.git(&["commit", "-qam", "Release"]).ok();
}

#[test]
fn a_release_of_red_code_is_red_and_a_claim_is_no_release() {
    let stage = Stage::installed();
    package(&stage);
    stage.write("run.js", "walk()\n");
    stage.tests(&["not ok 1 - a"]);
    stage.andon(&["test"]).refused();
    stage.git(&["commit", "-qam", "Red"]).ok();
    bump(&stage, "1.0.1", "2.0.0");
    stage.git(&["commit", "-qam", "Release"]).ok().says("failing-tests");
    stage.git(&["init", "-q", "--bare", "../up.git"]).ok();
    stage.git(&["push", "-q", "../up.git", "main"]).refused().says("failing-tests");
    // The record of ordinary work that says that it is a release, and the record of a release that says that it is green.
    let note = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
    let green = note.replace("\"status\":\"failed\"", "\"status\":\"passed\"");
    assert_ne!(note, green);
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &green, "HEAD"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).refused().says("edited-record");
    stage.write("run.js", "sit()\n");
    stage.git(&["commit", "-qam", "Untested", "--no-verify"]).ok();
    let mut record = stage.record("HEAD");
    let mut tests = serde_json::from_str::<serde_json::Value>(&note).unwrap()["tests"].clone();
    tests["code"] = record["code"].clone();
    record["tests"] = tests;
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), "HEAD"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).refused().says("untested-code");
}

#[test]
fn a_scope_that_is_released_keeps_the_result_of_its_tests() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test.scopes.a]\npaths = [\"a/**\"]\ncommand = \"sh check.sh\"\n[test.scopes.b]\npaths = [\"b/**\"]\n\
         command = \"sh check.sh\"\n[paths]\nignore = [\"tests.txt\", \"check.sh\"]\n",
    );
    for name in ["a", "b"] {
        stage.write(
            &format!("{name}/package.json"),
            format!("{{ \"name\": \"{name}\", \"version\": \"1.0.0\" }}\n"),
        );
    }
    stage.tested_commit_of("--all", "Begin");
    stage.write("a/package.json", "{ \"name\": \"a\", \"version\": \"1.1.0\" }\n");
    stage.git(&["commit", "-qam", "Release a"]).ok().says("note[release]");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    stage.git(&["init", "-q", "--bare", "../up.git"]).ok();
    stage.git(&["push", "-q", "../up.git", "main"]).ok().lacks("untested-edit");
    stage.write("b/run.js", "run()\n");
    stage.tested_commit_of("b", "Work on b");
    stage.git(&["push", "-q", "../up.git", "main"]).ok().lacks("untested-edit");
}
