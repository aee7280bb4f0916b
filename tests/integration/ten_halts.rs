//! Ten seconds at night: each kind of halt with the message at the commit alone. A stranger must find in it what is stuck,
//! why, since when, at what cost and what to do, in at most eight lines of 80 columns.

use insta::assert_snapshot;

use crate::events::observe;
use crate::support::{Out, Stage};

/// TAP from `tests.txt`, each failing test with its error.
const CHECK: &str = r#"#!/bin/sh
n=0
echo "1..$(grep -c . tests.txt)"
code=0
while read -r ok name error; do
  n=$((n + 1))
  case "$ok" in
    not) echo "not ok $n - $name"; printf '  ---\n  message: "%s"\n  ...\n' "$error"; code=1 ;;
    ok) echo "ok $n - $name" ;;
  esac
done < tests.txt
exit $code
"#;

/// A shop with 52 tests, made by Robin, then worked on by a loop that reports what it spends.
fn shop(config: &str) -> Stage {
    let stage = Stage::new();
    stage.set("COLUMNS", "80");
    stage.write("check.sh", CHECK);
    stage.write("andon.toml", format!("[test]\ncommand = \"sh check.sh\"\n{config}"));
    stage.write("src/retry.py", "TRIES = 1\n");
    stage.tests(&tests(&[]));
    stage.steps("andon install; git add .; andon test; git commit -qm 'Sell things'");
    stage.set("GIT_AUTHOR_NAME", "coder");
    stage.pass(3600);
    stage
}

/// 52 tests, of which `red` fail.
fn tests(red: &[(&str, &str)]) -> Vec<&'static str> {
    let green = 52 - red.len();
    let lines = (0..green).map(|number| format!("ok test_{number}"));
    let red = red.iter().map(|(name, error)| format!("not {name} {error}"));
    lines.chain(red).map(|line| &*line.leak()).collect()
}

const TAX: &[(&str, &str)] = &[("test_tax_of_a_basket", "expected 47, got 46 (tests/test_tax.py:5)")];

/// A turn that spends, edits, tests and commits.
fn turn(stage: &Stage, code: &str, red: &[(&str, &str)], subject: &str) -> Out {
    stage.pass(120);
    observe(stage, "usage", "{\"input_tokens\":15000,\"output_tokens\":1000,\"cost_usd\":\"0.21\"}\n");
    stage.write("src/retry.py", code);
    stage.tests(&tests(red));
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", subject])
}

/// What git says to the next commit, as the person sees it who is called: the message alone.
fn message(stage: &Stage) -> String {
    stage.pass(3600);
    stage.git(&["add", "-A"]).ok();
    let out = stage.git(&["commit", "--allow-empty", "-qm", "And on"]);
    assert_eq!(out.code, 1, "{out}");
    let text = out.stderr.as_str();
    assert!(text.lines().count() <= 8, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["  what   ", "  since  ", "  look   ", "  answer "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    out.shown()
}

/// The first message, at the moment of the halt; the gate may have warned of the tests before.
fn at_once(out: &Out) -> String {
    let halt = out.stderr.lines().skip_while(|line| !line.contains("HALTED"));
    assert!((6..=8).contains(&halt.count()), "{out}");
    out.shown()
}

#[test]
fn two_states_that_alternate() {
    let stage = shop("");
    let (three, five) = ("TRIES = 3\nWAIT = 100\n", "TRIES = 5\nWAIT = 500\n");
    turn(&stage, three, &[], "Retry 3 times, wait 100 ms").ok();
    turn(&stage, five, &[], "Retry 5 times, wait 500 ms").ok();
    turn(&stage, three, &[], "Back to 3 times, 5 hammer the bank").ok();
    assert_snapshot!(at_once(&turn(&stage, five, &[], "Use 5 times again, 3 give up early")));
    assert_snapshot!(message(&stage));
}

#[test]
fn commits_of_one_turn_cost_once() {
    let stage = shop("[rules]\nturn-timeout = \"off\"\n");
    observe(&stage, "turn_start", "{}\n").ok();
    let (three, five) = ("TRIES = 3\n", "TRIES = 5\n");
    for (code, subject) in [(three, "Try 3"), (five, "Try 5"), (three, "Back to 3")] {
        turn(&stage, code, &[], subject).ok();
    }
    // As with a turn for each commit above.
    turn(&stage, five, &[], "Use 5 again").says("4 commits, 64k tokens, $0.84");
    let page = stage.andon(&["report"]).ok().stdout;
    assert!(page.contains(">60000</td>") && page.contains(">0.840000</td>"), "{page}");
}

#[test]
fn the_same_test_fails_again_and_again() {
    let stage = shop("");
    turn(&stage, "TAX = 1\n", TAX, "Round the tax").ok();
    turn(&stage, "TAX = 2\n", TAX, "Round it per item").ok();
    assert_snapshot!(at_once(&turn(&stage, "TAX = 3\n", TAX, "Round it at the end")));
    assert_snapshot!(message(&stage));
}

#[test]
fn turns_without_a_change() {
    let stage = shop("");
    turn(&stage, "TAX = 1\n", &[], "Add a tax").ok();
    for _ in 0..3 {
        stage.pass(300);
        observe(&stage, "usage", "{\"input_tokens\":9000,\"cost_usd\":\"0.11\"}\n");
        stage.andon(&["tick"]).ok();
    }
    stage.pass(300);
    observe(&stage, "usage", "{\"input_tokens\":9000,\"cost_usd\":\"0.11\"}\n");
    assert_snapshot!(stage.andon(&["tick"]).shown());
    assert_snapshot!(message(&stage));
}

#[test]
fn the_same_tool_call() {
    let stage = shop("");
    turn(&stage, "TAX = 1\n", &[], "Add a tax").ok();
    stage.pass(300);
    observe(&stage, "usage", "{\"input_tokens\":9000,\"cost_usd\":\"0.11\"}\n");
    let call = "{\"tool\":\"Bash\",\"args\":{\"command\":\"pytest tests/test_tax.py -k basket\"},\
                \"result\":\"E   ConnectionError: db:5432 refused\",\"error\":true}\n";
    assert_snapshot!(observe(&stage, "tool_call", &call.repeat(5)).shown());
    assert_snapshot!(message(&stage));
}

#[test]
fn tests_that_are_taken_away() {
    let stage = shop("[rules]\ntest-weakening = \"halt\"\n");
    turn(&stage, "TAX = 1\n", TAX, "Round the tax").ok();
    stage.pass(120);
    stage.write("src/retry.py", "TAX = 2\n");
    stage.tests(&tests(&[])[..50]);
    stage.andon(&["test"]).ok();
    assert_snapshot!(at_once(&stage.git(&["commit", "-qam", "Tidy the tests"])));
    assert_snapshot!(message(&stage));
}

#[test]
fn too_many_iterations() {
    let stage = shop("[rules]\niteration-cap = { max = 5 }\n");
    for number in 2..5 {
        turn(&stage, &format!("TAX = {number}\n"), &[], &format!("Ship to zone {number}")).ok();
    }
    assert_snapshot!(at_once(&turn(&stage, "TAX = 5\n", &[], "Ship to zone 5")));
    assert_snapshot!(message(&stage));
}

#[test]
fn too_much_money() {
    let stage = shop(
        "[workflow]\nnodes.coder = {}\n\
         edges = [{ from = \"coder\", to = \"coder\", anchor = true, max_cost = \"0.50\" }]\n",
    );
    let spend = |dollars: &str| {
        stage.pass(120);
        let line = format!("{{\"node\":\"coder\",\"input_tokens\":20000,\"cost_usd\":\"{dollars}\"}}\n");
        observe(&stage, "usage", &line)
    };
    spend("0.20").ok();
    stage.steps("echo TAX = 1 > src/retry.py; andon test");
    stage.set("ANDON_NODE", "coder");
    stage.git(&["commit", "-qam", "Add a tax"]).ok();
    spend("0.20").ok();
    assert_snapshot!(spend("0.20").shown());
    assert_snapshot!(message(&stage));
}

#[test]
fn reviewers_who_disagree() {
    let stage = shop("[rules]\nverdict-split = \"halt\"\n");
    turn(&stage, "TAX = 1\n", &[], "Add a tax").ok();
    let vote = || observe(&stage, "verdict", "{\"approve\":1,\"reject\":2}\n");
    vote().ok();
    turn(&stage, "TAX = 2\n", &[], "Add a tax, as the review asks").ok();
    assert_snapshot!(vote().shown());
    assert_snapshot!(message(&stage));
}

#[test]
fn a_person_who_stops_it() {
    let stage = shop("");
    turn(&stage, "TAX = 1\n", &[], "Add a tax").ok();
    turn(&stage, "TAX = 2\n", &[], "Add a discount").ok();
    stage.set("GIT_AUTHOR_NAME", "Robin");
    stage.set("GIT_COMMITTER_NAME", "Robin");
    assert_snapshot!(stage.andon(&["stop", "--reason", "the tax office changed the rates"]).shown());
    assert_snapshot!(message(&stage));
}

#[test]
fn test_runs_that_cannot_be_read() {
    let stage = shop("");
    let broken = "echo 'ImportError: no module named shop.tax' >&2; exit 2\n";
    let attempt = |code: &str, subject: &str| {
        stage.pass(120);
        stage.write("src/retry.py", code);
        stage.write("check.sh", format!("# {code}{broken}"));
        stage.andon(&["test"]);
        stage.git(&["commit", "-qam", subject])
    };
    attempt("TAX = 1\n", "Move the tax to a module").ok();
    attempt("TAX = 2\n", "Import the tax").ok();
    assert_snapshot!(at_once(&attempt("TAX = 3\n", "Import it otherwise")));
    assert_snapshot!(message(&stage));
}
