//! `guard.perpetual` says what is true: it never claims that a run goes on which something else has halted, and every entry
//! point treats a PAUSE alike (docs/spec-map.md, signals and escalation: honest limits).

use insta::assert_snapshot;

use crate::escalate::{reword, started};
use crate::support::{Out, Stage};

fn perpetual(rules: &str) -> Stage {
    let stage = started();
    let config = format!("[guard]\nperpetual = true\n[test]\ncommand = \"sh check.sh\"\n[rules]\n{rules}");
    stage.write("andon.toml", config);
    stage.commit_of("-A", "Run for ever");
    stage
}

fn before_tool(stage: &Stage) -> Out {
    let call = b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"a.rs\"}}";
    stage.feed(&["agent", "hook", "claude", "PreToolUse"], call)
}

#[test]
fn a_halt_of_another_rule_in_the_same_iteration_is_not_denied() {
    let mut together = 0;
    for max in 5..=8 {
        let stage = perpetual(&format!("iteration-cap = {{ max = {max} }}\n"));
        let said =
            (1..=8).map(|number| reword(&stage, number)).find(|out| out.all().contains("co-occurrence"));
        let said = said.map_or_else(String::new, |out| out.all());
        let handoffs = stage.run_in(stage.dir(), "sh", &["-c", "cat .andon/handoffs/*.md"], None).stdout;
        if stage.andon(&["tick"]).code == 0 || !said.contains("iteration-cap") {
            continue;
        }
        together += 1;
        assert!(said.contains("  also   co-occurrence: andon status"), "{said}");
        for claim in ["does not halt the run", "NOT halted", "the run goes on", "commits pass"] {
            assert!(!said.contains(claim) && !handoffs.contains(claim), "{claim}: {said}{handoffs}");
        }
        assert!(handoffs.contains("another rule has halted the run"), "{handoffs}");
    }
    assert!(together > 0, "the cap and the escalation never came together");
}

#[test]
fn a_pause_says_that_it_does_not_hold_and_every_door_agrees() {
    let stage = perpetual("");
    assert_snapshot!(stage.andon(&["pause", "--reason", "lunch"]).shown(), @"
    exit 0
    --- stdout
    not paused, guard.perpetual is set: the next commit or turn clears .andon/PAUSE and says so
      help: andon stop
    ");
    before_tool(&stage).ok();
    stage.andon(&["status", "--exit-code"]).ok();
    // The turn clears it; its notice is in the list.
    stage.andon(&["tick"]).ok().says("allow");
    assert!(
        stage
            .read(".andon/notifications.jsonl")
            .contains("PAUSE was cleared, it does not hold the run (lunch)")
    );
    before_tool(&stage).ok();
    assert!(!stage.exists(".andon/PAUSE"));
    stage.andon(&["stop", "--reason", "enough"]).ok().says("stopped: commits are refused");
    before_tool(&stage).exits(2);
    stage.andon(&["tick"]).refused();
}

#[test]
fn a_pause_that_is_cleared_beside_a_halt_does_not_say_that_the_run_goes_on() {
    let stage = perpetual("");
    stage.git(&["commit", "-qm", "Again", "--allow-empty"]);
    stage.git(&["commit", "-qm", "Again", "--allow-empty"]);
    stage.andon(&["status", "--exit-code"]).exits(1);
    stage.write(".andon/PAUSE", "lunch\n");
    reword(&stage, 1).refused().says("PAUSE was cleared").says("commit refused: halted").lacks("not halted");
}
