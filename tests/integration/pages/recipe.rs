//! The workflow of docs/agents.md for GitHub Actions: read as GitHub reads it, and its steps run with a stand-in for the agent.

use std::path::Path;

use serde_json::Value;

use super::{blocks, stage};
use crate::support::{Out, Stage};

const TO_JSON: &str = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";

fn page() -> Vec<blocks::Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md");
    blocks::read(&std::fs::read_to_string(path).unwrap())
}

/// The workflow; `None` where no program here reads YAML.
fn workflow(stage: &Stage) -> Option<Value> {
    let block = page().into_iter().find(|block| block.text.contains(".github/workflows/agent.yml")).unwrap();
    if stage.run_in(stage.dir(), "python3", &["-c", "import yaml"], None).code != 0 {
        println!("left out: python3 has no yaml here");
        return None;
    }
    let out = stage.run_in(stage.dir(), "python3", &["-c", TO_JSON], Some(block.text.as_bytes())).ok();
    Some(serde_json::from_str(&out.stdout).unwrap())
}

/// A repository as the page's walk leaves it, with a remote, and an agent that is stuck in place of the client.
fn ground(stage: &Stage) {
    let run = |script: &str| stage.run_in(stage.dir(), "bash", &["-ec", script], None).ok();
    run("git init -q -b main . && git init -q --bare ../remote.git && git remote add origin ../remote.git");
    for block in page() {
        if let Some(file) = block.file.filter(|file| file != "orchestrate.py") {
            stage.write(&file, block.text);
        }
    }
    stage.write("answer.c", "50\n");
    stage.write("../bin/claude", "#!/bin/sh\necho \"$PROMPT\" >> ../prompts\nexec sh agent.sh\n");
    let path = format!("{}:{}", stage.root().join("bin").display(), std::env::var("PATH").unwrap());
    let andon = crate::support::andon_path();
    stage.set("PATH", &format!("{}:{path}", andon.parent().unwrap().display()));
    stage.set("HOME", stage.root().to_str().unwrap());
    run("chmod +x ../bin/claude && git add --all && git commit -qm Start && git push -q origin main");
}

fn step(stage: &Stage, text: &str) -> Out {
    let text = text.replace("${{ github.run_id }}", "1");
    assert!(!text.contains("${{"), "{text}");
    stage.run_in(stage.dir(), "bash", &["-ec", &text], None)
}

#[test]
fn the_workflow_with_an_agent_runs_and_a_halt_ends_it() {
    let stage = stage();
    let Some(workflow) = workflow(&stage) else { return };
    assert_eq!(workflow["permissions"]["contents"], "write");
    let job = &workflow["jobs"]["agent"];
    assert!(job["timeout-minutes"].is_u64() && job["runs-on"].is_string());
    let steps = job["steps"].as_array().unwrap();
    let one_deed = |step: &Value| step["uses"].is_string() != step["run"].is_string();
    assert!(steps.iter().all(one_deed), "{steps:?}");
    assert_eq!(steps[0]["with"]["fetch-depth"], 0);
    ground(&stage);
    let mut codes = Vec::new();
    for text in steps.iter().filter_map(|step| step["run"].as_str()) {
        if !text.contains("cargo install") {
            let out = step(&stage, text);
            println!("{text}{out}");
            codes.push(out.code);
        }
    }
    // Installed; halted; pushed whatever was before.
    assert_eq!(codes, [0, 1, 0]);
    assert_eq!(steps.last().unwrap()["if"], "always()");
    stage.andon(&["status"]).ok().says("HALTED");
    let refs = stage.git(&["ls-remote", "origin"]).ok().stdout;
    for name in ["refs/heads/agent-1", "refs/andon/records/", "refs/andon/ledger/"] {
        assert!(refs.contains(name), "{name} in {refs}");
    }
    let prompts = std::fs::read_to_string(stage.root().join("prompts")).unwrap();
    assert!(prompts.lines().count() >= 3, "each turn says where to go on: {prompts}");
}
