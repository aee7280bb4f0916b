//! Tests that a commit takes away where that is hard to see: in large sweeps, merges, renamed files, and runs that leave
//! them out. And honest changes that look alike.

use crate::support::{Out, Stage, image::built};

fn quiet() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("andon.toml", "[rules]\nuntested-edit = \"off\"\n");
        stage
    })
}

fn python(names: &[&str]) -> String {
    let test =
        |name: &&str| format!("def test_{name}():\n    x = make_{name}()\n    assert x == '{name}'\n\n");
    names.iter().map(test).collect()
}

fn rust(file: usize, tests: usize) -> String {
    let test = |at: usize| {
        format!(
            "#[test]\nfn case_{file}_{at}() {{\n    let it = parse_{file}(\"{at}\");\n    assert_eq!(it.len(), {at});\n}}\n\n"
        )
    };
    format!("use x::*;\n\n{}", (0..tests).map(test).collect::<String>())
}

fn commit(stage: &Stage, message: &str) -> Out {
    stage.git(&["add", "-A"]).ok();
    stage.git(&["commit", "-qm", message]).ok()
}

#[test]
fn a_large_sweep_is_counted_and_a_large_move_is_none() {
    let stage = quiet();
    for file in 0..300 {
        stage.write(&format!("tests/t{file}.rs"), rust(file, 8));
    }
    commit(&stage, "Many tests");
    stage.git(&["mv", "tests", "unit"]).ok();
    for file in 0..300 {
        stage.write(&format!("unit/t{file}.rs"), rust(file, 8).replace("use x", "use y"));
    }
    commit(&stage, "Move them").lacks("test-weakening");
    for file in 0..300 {
        let tests = if file == 298 { 7 } else { 8 };
        stage.write(&format!("unit/t{file}.rs"), rust(file, tests));
    }
    commit(&stage, "One goes beside many changes").says("1 test removed (case_298_7)\n");
    stage.git(&["rm", "-rq", "unit"]).ok();
    commit(&stage, "Sweep").says("2399 tests removed (case_0_0, ");
}

#[test]
fn where_a_bound_is_met_no_number_is_exact() {
    let stage = quiet();
    stage.write("tests/t.rs", rust(0, 17_000));
    commit(&stage, "Very many tests");
    stage.git(&["rm", "-q", "tests/t.rs"]).ok();
    commit(&stage, "Sweep").says("warning[test-weakening]: at least 16384 tests removed (");
    assert_eq!(stage.record("HEAD")["weakening"]["extent"], "at-least");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("at least 16384 tests removed (");
}

#[test]
fn a_waiver_counts_wherever_it_stands_in_the_body() {
    let bodies = [
        "Squashed commit of the following:\n\ncommit 1234567\n\n    del\n\n    Tests-Removed: feature gone\n",
        "del\n\nTests-Removed: feature gone\n\nmore\n",
        "Remove feature (#12)\n\n* del\n\nTests-Removed: feature gone\n\n* more\n",
        "del\n\n* Tests-Removed: feature gone\n\nCo-authored-by: A <a@b>\n",
    ];
    for (at, body) in bodies.into_iter().enumerate() {
        let stage = quiet();
        let file = format!("tests/test_{at}.py");
        stage.write(&file, python(&[&format!("a{at}"), &format!("b{at}")]));
        commit(&stage, "Add tests");
        stage.git(&["rm", "-q", &file]).ok();
        commit(&stage, body).lacks("warning[test-weakening]");
        let check = stage.andon(&["check", "HEAD~1..HEAD"]).ok();
        check.says("; waived by Tests-Removed: feature gone").lacks("warning[");
    }
}

#[test]
fn a_merge_waives_what_its_branch_removed() {
    let stage = quiet();
    stage.write("tests/test_a.py", python(&["one", "two"]));
    commit(&stage, "Base");
    stage.steps("git checkout -qb side; git rm -q tests/test_a.py");
    commit(&stage, "Delete").says("2 tests removed");
    stage.steps("git checkout -q -; echo 1 > other.txt");
    commit(&stage, "Other");
    let merge = ["merge", "-q", "--no-ff", "side", "-m", "Merge side", "-m", "Tests-Removed: feature gone"];
    stage.git(&merge).ok().lacks("test-weakening");
    let check = stage.andon(&["check", "HEAD~2..HEAD"]).ok();
    check.says("note[test-weakening]: 2 tests removed").says("waived by Tests-Removed in ").lacks("warning[");
}

#[test]
fn what_a_merge_itself_drops_is_told() {
    let stage = quiet();
    stage.write("tests/test_a.py", python(&["one", "two"]));
    stage.write("tests/test_b.py", python(&["three"]));
    commit(&stage, "Base");
    stage.steps("git checkout -qb side; git rm -q tests/test_b.py");
    commit(&stage, "Delete on the side").says("1 test removed (test_three)");
    stage.git(&["checkout", "-q", "-"]).ok();
    stage.write("tests/test_c.py", python(&["four"]));
    commit(&stage, "Add here");
    stage.steps("git merge -q --no-ff --no-commit side; git rm -q tests/test_a.py");
    stage.steps("git rm -qf tests/test_c.py");
    // Neither parent had removed those two files; the third went where it was reported.
    let told = "warning[test-weakening]: 3 tests removed (test_one, test_two, test_four)";
    commit(&stage, "Merge side").says(told);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says(told);
}

#[test]
fn a_file_that_its_runner_does_not_find_any_more_has_lost_its_tests() {
    let it = |name: &str| format!("it('{name}', () => {{\n  expect(make('{name}')).toBe(1);\n}});\n");
    let table = [
        ("src/x.test.ts", "src/x.ts", it("adds")),
        ("src/y.test.ts", "src/y.test.ts.bak", it("subtracts")),
        ("tests/test_b.py", "tests/b_tests.py", python(&["one"])),
        (
            "pkg/a_test.go",
            "pkg/a.go",
            "func TestA(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Error(1)\n\t}\n}\n".into(),
        ),
        ("spec/x_spec.rb", "spec/x.rb", "it \"adds\" do\n  expect(one).to eq(1)\nend\n".into()),
    ];
    for (old, new, text) in &table {
        for more in ["", "\n\n\n"] {
            let stage = quiet();
            stage.write(old, text);
            commit(&stage, "Add").lacks("test-weakening");
            stage.git(&["mv", old, new]).ok();
            stage.write(new, format!("{text}{more}"));
            commit(&stage, "Rename").says("1 test removed (");
        }
    }
}

#[test]
fn a_copy_that_came_before_its_source_went_is_a_move() {
    let stage = quiet();
    stage.write("tests/test_a.py", python(&["one", "two"]));
    commit(&stage, "Base");
    stage.write("tests/test_moved.py", python(&["one"]));
    commit(&stage, "Copy");
    stage.write("other.txt", "1\n");
    commit(&stage, "Other");
    stage.git(&["rm", "-q", "tests/test_a.py"]).ok();
    commit(&stage, "Remove").says("1 test removed (test_two)");
    stage.andon(&["check", "HEAD~3..HEAD"]).ok().says("1 test removed (test_two)").lacks("test_one");
}

/// A stage whose runner tells how many tests of `suite.txt` there are, or names them.
fn suite(names: &[&str], prints: &str) -> Stage {
    let stage = Stage::installed();
    stage.write("run.sh", prints);
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n");
    stage.write("suite.txt", list(names));
    tested(&stage, "List the suite").lacks("test-weakening");
    stage
}

const NAMED: &str = "awk '{ n++; print \"ok \" n \" - \" $0 } END { print \"1..\" n }' suite.txt\n";
const COUNTED: &str = "echo \"===== $(wc -l < suite.txt) passed in 0.12s =====\"\n";

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}

fn tested(stage: &Stage, message: &str) -> Out {
    stage.andon(&["test"]).ok();
    commit(stage, message)
}

#[test]
fn tests_that_a_setting_of_the_runner_leaves_out_are_missed_by_their_count() {
    let stage = suite(&["a", "b", "c", "d"], COUNTED);
    stage.write("suite.txt", list(&["a", "b"]));
    let told = "warning[test-weakening]: the tests that ran went 4 -> 2, and no changed test file says why";
    tested(&stage, "Ignore half of it").says(told);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says(told);
    stage.write("other.txt", "1\n");
    tested(&stage, "Other work").lacks("test-weakening");
}

#[test]
fn tests_that_became_a_table_are_not_missed_by_the_run() {
    let each =
        |at: usize| format!("#[test]\nfn a_{at}() {{\n    assert_eq!(add({at}, 1), {});\n}}\n\n", at + 1);
    let table = "#[test]\nfn adds() {\n    for (n, sum) in [(1, 2), (2, 3), (3, 4), (4, 5)] {\n        assert_eq!(add(n, 1), sum);\n    }\n}\n";
    for prints in [NAMED, COUNTED] {
        let stage = suite(&["a_1", "a_2", "a_3", "a_4"], prints);
        stage.write("tests/a.rs", (1..=4).map(each).collect::<String>());
        tested(&stage, "Four tests").lacks("test-weakening");
        stage.write("tests/a.rs", table);
        stage.write("suite.txt", list(&["adds"]));
        tested(&stage, "One table").lacks("test-weakening");
        assert_eq!(stage.record("HEAD")["weakening"]["rows"], 3);
        stage.andon(&["check", "HEAD~1..HEAD"]).ok().lacks("test-weakening");
    }
}

#[test]
fn new_tests_do_not_hide_those_that_are_gone() {
    let stage = suite(&["a_1", "b_1", "b_2"], NAMED);
    let test = |name: &str| format!("#[test]\nfn {name}() {{\n    assert_eq!({name}_of(1), 2);\n}}\n\n");
    stage.write("tests/a.rs", test("a_1") + &test("a_5") + &test("a_6"));
    stage.write("suite.txt", list(&["a_1", "a_5", "a_6"]));
    tested(&stage, "More tests").says("2 tests removed (b_1, b_2)\n");
}

#[test]
fn another_clone_names_what_its_first_run_lost() {
    let stage = suite(&["m::a_utf8", "m::a_utf16", "m::b", "m::c # SKIP"], NAMED);
    stage.write("suite.txt", list(&["m::a_utf8", "m::a_utf16", "m::b", "m::c # SKIP", "m::d"]));
    tested(&stage, "One more").lacks("test-weakening");
    let [first, second] = ["HEAD~1", "HEAD"].map(|at| stage.record(at)["tests"].clone());
    let names = |tests: &serde_json::Value| tests["names"].clone();
    assert!(names(&stage.record("HEAD~2")["tests"])["all"].is_array(), "the first run tells all");
    assert_eq!(names(&first)["came"], serde_json::json!(["+m::a_utf16", "+m::a_utf8", "+m::b", "-m::c"]));
    assert_eq!(second["names"]["since"], first["set"]);
    assert_eq!(second["names"]["came"], serde_json::json!(["+m::d"]));
    stage.write("other.txt", "1\n");
    tested(&stage, "The same tests");
    assert!(stage.record("HEAD")["tests"]["names"].is_null());
    std::fs::remove_dir_all(stage.path(".git/andon/cache")).unwrap();
    stage.write("suite.txt", list(&["m::a_utf16", "m::b # SKIP", "m::c # SKIP", "m::d"]));
    let told = "1 test missing in this run (m::a_utf8), 1 test newly skipped (m::b)";
    tested(&stage, "Without a memory").says(told);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says(told);
}

#[test]
fn a_replay_of_unrecorded_commits_tells_what_they_took() {
    let stage = Stage::new();
    stage.write("tests/test_a.py", python(&["one", "two"]));
    commit(&stage, "Base");
    stage.write("tests/test_a.py", python(&["one"]));
    commit(&stage, "Remove");
    stage.andon(&["replay", "HEAD~1..HEAD"]).ok().says("1 test removed (test_two)");
}
