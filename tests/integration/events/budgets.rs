//! Cycles, turns and budgets of a workflow.

use insta::assert_snapshot;

use super::observe;
use crate::support::Stage;

const FLOW: &str = "[test]\ncommand = \"sh check.sh\"\n[workflow]\nnodes.coder = { trailer = \"Agent: coder\" }\n\
                    nodes.verifier = { edits = false }\nedges = [\n  { from = \"coder\", to = \"verifier\" },\n\
                    { from = \"verifier\", to = \"coder\", anchor = true, max_iterations = 2 },\n]\n";

#[test]
fn cycles_are_counted_shown_and_halted() {
    let stage = Stage::installed();
    stage.write("andon.toml", FLOW);
    for round in 1..3 {
        stage
            .iterate(&format!("{round}\n"), &["ok a", "ok b"], &format!("Round {round}\n\nAgent: coder"))
            .ok();
        assert_eq!(stage.record("HEAD")["node"], "coder");
        stage.steps("andon tick --node coder; andon tick --node verifier");
    }
    stage.andon(&["status"]).ok().says("cycle      Loop 1/2  coder, verifier");
    assert_snapshot!(observe(&stage, "turn_start", "{\"node\":\"coder\"}\n").shown(), @r"
    exit 1
    --- stderr
    error[cycle-iterations]: HALTED: coder and verifier have used up a budget
      what   the cycle of coder, verifier has reached Loop 2/2
      since  TIME, 3 commits, 2 turns; tests: 2 passed
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    ");
    let status = stage.andon(&["status", "--format", "json"]).ok();
    let status = status.json();
    assert_eq!(status["cycles"][0]["badge"], "Loop 2/2");
    assert_eq!(status["last_halt"]["cycle_id"], "coder+verifier:coder->verifier,verifier->coder");
    assert_eq!(status["last_halt"]["halt_reason"], "budget_exceeded");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    stage.andon(&["status"]).ok().says("Loop 0/2  coder, verifier");
}

#[test]
fn a_reviewer_that_changes_nothing_is_not_idle() {
    let stage = Stage::installed();
    stage.write("andon.toml", FLOW);
    for _ in 0..5 {
        stage.andon(&["tick", "--node", "verifier"]).ok();
    }
    stage.write("andon.toml", "[workflow]\nnodes.a = {}\nedges = [{ from = \"a\", to = \"b\" }]\n");
    assert_snapshot!(stage.andon(&["tick"]).shown(), @r#"
    exit 2
    --- stderr
    error[config]: node `b` is not declared
      --> andon.toml:3:10
         |
       3 | edges = [{ from = "a", to = "b" }]
         |          ^
      help: known here: a
    "#);
}

#[test]
fn a_million_events_take_the_memory_of_a_window() {
    let stage = Stage::bare_ground();
    let lines: String = (0..20_000)
        .map(|n| match n % 4 {
            0 => format!("{{\"type\":\"tool_call\",\"tool\":\"Edit\",\"args\":{{\"n\":{n}}}}}\n"),
            1 => format!(
                "{{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{{\"n\":{n}}},\"result\":\"{n}\"}}\n"
            ),
            2 => format!("{{\"type\":\"commit\",\"code\":\"{n}\"}}\n"),
            _ => "{\"type\":\"turn_end\"}\n".to_owned(),
        })
        .collect();
    stage.write("../events.jsonl", &lines);
    assert_snapshot!(stage.andon(&["replay", "--events", "../events.jsonl"]).ok().shown(), @r"
    exit 0
    --- stdout
    HALT  event 399
      error[iteration-cap] (budget exceeded): Reached iteration cap: 100/100
        halted: the loop has used up a budget
        diffs: HASH HASH HASH HASH HASH HASH
      then 19601 steps under that halt
    replayed 20000 steps of ../events.jsonl: would have halted once
    ");
}

/// Budgets count from the beginning of a run, however long the journal is by then: at 256 KiB a reader of its end
/// alone would have forgotten the first of the money.
#[test]
fn a_budget_halts_exactly_where_it_is_spent_in_a_long_journal() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = {}\n\
                  edges = [ { from = \"coder\", to = \"coder\", anchor = true, max_cost = \"4.002\" } ]\n";
    stage.write("andon.toml", config);
    let session = "s".repeat(200);
    let spend = |count: usize| {
        let line = format!("{{\"cost_usd\":\"0.001\",\"node\":\"coder\",\"session\":\"{session}\"}}\n");
        observe(&stage, "usage", &line.repeat(count))
    };
    // Some of it in one go, some bit by bit: batches do not matter.
    spend(1_500).ok();
    for _ in 0..5 {
        spend(500).ok();
    }
    let size = std::fs::metadata(stage.dir().join(".git/andon/journal.jsonl")).unwrap().len();
    assert!(size > 3 * (256 << 10), "{size}");
    spend(1).ok();
    std::fs::remove_file(stage.dir().join(".git/andon/cache/totals")).unwrap();
    assert_snapshot!(spend(1).shown(), @"
    exit 1
    --- stderr
    error[cycle-cost]: HALTED: the loop has used up a budget
      what   the cycle of coder has cost 4.00 USD of 4.00 USD
      since  TIME, 1 commit, $4.01; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: look at what the cycle has achieved: andon status
    ");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("cycle-cost"));
    stage.andon(&["resume", "--reason", "more money"]).ok();
    spend(1).ok();
}

#[test]
fn turns_are_counted_beyond_the_window_of_commits() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = { max_turns = 40 }\n\
                  [rules]\nuntested-edit = \"off\"\nnode-turns = \"halt\"\n";
    stage.write("andon.toml", config);
    stage.set("ANDON_NODE", "coder");
    for round in 0..39 {
        stage.write("code.txt", format!("{round}\n"));
        stage.git(&["commit", "-qam", &format!("Step {round}")]).ok();
    }
    stage.write("code.txt", "the last\n");
    stage.git(&["commit", "-qam", "Step 39"]);
    assert!(stage.read(".andon/CHECKPOINT.md").contains("coder has had 40 of 40 turns"));
}

#[test]
fn a_node_that_the_workflow_does_not_know_is_named() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = {}\n");
    observe(&stage, "turn_start", "{\"node\":\"coder\"}\n").ok().lacks("not declared");
    assert_snapshot!(observe(&stage, "turn_start", "{\"node\":\"ghost\"}\n").brief(),
        @r#"exit 0, stderr: warning[event]: node "ghost" is not declared in [workflow]: no budget of a node or a cycle binds it --> line 1"#);
}

#[test]
fn an_answer_frees_a_turn_that_goes_on() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[rules]\nturn-tokens = { max = 100 }\n";
    stage.write("andon.toml", config);
    observe(&stage, "turn_start", "{}\n").ok();
    assert_snapshot!(observe(&stage, "usage", "{\"input_tokens\":100}\n").shown(), @r"
    exit 1
    --- stderr
    error[turn-tokens]: HALTED: the loop has used up a budget
      what   a turn of agent used 100 of 100 tokens
      since  TIME, 1 commit, 100 tokens; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: give the node a smaller task, or less to read
    ");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    observe(&stage, "usage", "{\"input_tokens\":99}\n").ok();
    assert_snapshot!(observe(&stage, "usage", "{\"input_tokens\":1}\n").shown(), @"
    exit 1
    --- stderr
    error[turn-tokens]: HALTED: the loop has used up a budget
      what   a turn of agent used 100 of 100 tokens
      since  TIME, 100 tokens; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: give the node a smaller task, or less to read
    ");
    assert_snapshot!(observe(&stage, "verdict", "{\"approve\":-1}\n").shown(), @r#"
    exit 1
    --- stderr
    error[event]: no fact: the member "approve": invalid type: integer `-1`, expected a whole number of at least 0 and below 2^64
      --> line 1
    error[turn-tokens]: halted AGE: the loop has used up a budget
      what   a turn of agent used 100 of 100 tokens
      since  TIME, 100 tokens; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    "#);
}
