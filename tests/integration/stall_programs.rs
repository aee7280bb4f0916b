//! What a halt sets in motion: the fallback chain, a reviewer, the advisor's question, and the way on that the files of a halt
//! name (docs/spec-map.md, loop safety: auto escalation policy; loop rules: fallback chain, advisor, CHECKPOINT.md).

use crate::escalate::{json, reword, reword_until_halted, started, user_config};
use crate::support::{Out, Stage, andon_path};

const CHAIN: &str = "[fallback]\nproviders = [\"claude\", \"gemini\", \"local\"]\n";

fn configured(policy: &str, program: &str) -> Stage {
    let stage = started();
    user_config(&stage, &format!("[on_stall]\ncommand = [\"sh\", \"-c\", '''{program}''']\n"));
    let config = format!("[test]\ncommand = \"sh check.sh\"\n[on_stall]\npolicy = \"{policy}\"\n{CHAIN}");
    stage.write("andon.toml", config);
    stage.commit_of("-A", "Say what a stall leads to");
    stage
}

fn provider(stage: &Stage) -> String {
    let status = json(&stage.andon(&["status", "--format", "json"]).stdout);
    status["provider"].as_str().unwrap_or_default().to_owned()
}

/// Rewords from `first` on until the loop stalls.
fn stalled(stage: &Stage, first: u32) -> Out {
    let said = (first..first + 10).map(|number| reword(stage, number));
    said.into_iter().find(|out| out.all().contains("co-occurrence")).expect("it never stalled")
}

#[test]
fn the_chain_goes_on_at_each_stall_and_back_to_the_primary_after_an_answer() {
    let stage = configured("retry_with_new_provider", "cat >> ../got.jsonl");
    assert_eq!(provider(&stage), "claude");
    stalled(&stage, 1).says("the next provider, gemini, which was started");
    assert_eq!(provider(&stage), "gemini");
    stage.andon(&["status", "--exit-code"]).ok();
    let advice = json(&stage.andon(&["advise", "--format", "json"]).ok().stdout);
    assert_eq!(advice["current"], "gemini");
    stalled(&stage, 21).says("the next provider, local, which was started");
    assert_eq!(provider(&stage), "local");
    let got = std::fs::read_to_string(stage.root().join("got.jsonl")).unwrap();
    let providers: Vec<String> = got.lines().map(|line| json(line)["provider"].to_string()).collect();
    assert_eq!(providers, ["\"gemini\"", "\"local\""]);
    // The chain has none left: a person is asked, and the primary begins again.
    stalled(&stage, 41).lacks("which was started");
    reword(&stage, 60).refused();
    stage.andon(&["resume", "--reason", "the words are good"]).ok();
    assert_eq!(provider(&stage), "claude");
    reword(&stage, 61).ok();
    stage.andon(&["log"]).ok().says("the fallback chain, for gemini");
}

#[test]
fn the_started_program_can_work_and_has_a_clean_environment() {
    let andon = andon_path();
    let work = format!(
        "cat > /dev/null; env | grep -E '^(GIT_|ANDON_HOOK|ANDON_CHAIN)' > ../environment; printf 'fn b() -> u8 {{ 7 }}\\n' > b.rs; \
         git add b.rs && {} test && git commit -qm 'By the next provider'",
        andon.display()
    );
    let stage = configured("retry_with_new_provider", &work);
    stalled(&stage, 1).says("the next provider, gemini");
    assert_eq!(stage.git(&["log", "-1", "--format=%s"]).ok().stdout.trim(), "By the next provider");
    let environment = std::fs::read_to_string(stage.root().join("environment")).unwrap();
    for name in [
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_EDITOR",
        "GIT_AUTHOR_DATE",
        "GIT_PREFIX",
        "ANDON_HOOK",
        "ANDON_CHAIN",
    ] {
        assert!(!environment.lines().any(|line| line.starts_with(&format!("{name}="))), "{environment}");
    }
}

#[test]
fn where_the_program_fails_the_halt_stands_again() {
    let stage = configured("retry_with_new_provider", "exit 3");
    stalled(&stage, 1).says("the program of [on_stall] ended with 3");
    stage.andon(&["status", "--exit-code"]).exits(1);
    assert!(stage.read(".andon/CHECKPOINT.md").contains("gemini did not go on"));
    reword(&stage, 30).refused();
}

#[test]
fn refused_commits_fail_the_gate_too() {
    let stage = Stage::installed();
    user_config(&stage, "[on_stall]\ncommand = [\"sh\", \"-c\", \"cat > ../got.json\"]\n");
    let chain = "[fallback]\nproviders = [\"claude\", \"gemini on failed_gate\"]\n";
    let policy = "[on_stall]\npolicy = \"retry_with_new_provider\"\n";
    stage.write("andon.toml", format!("[test]\ncommand = \"sh check.sh\"\n{policy}{chain}"));
    stage.git(&["commit", "-qam", "Name the chain"]).ok();
    for number in 1..=5 {
        stage.write("code.txt", format!("{number}\n"));
        stage.git(&["commit", "-qam", "Untested"]).refused();
    }
    let got = json(&std::fs::read_to_string(stage.root().join("got.json")).unwrap());
    assert_eq!((&got["provider"], &got["halt"]["rule"]), (&"gemini".into(), &"refused-commits".into()));
}

/// Which provider a halt starts, by the chain and by what halts: each condition alone, and in each order.
#[test]
fn the_condition_that_holds_chooses_the_provider_and_status_says_why() {
    let (red, same) = ("three red commits", "the same call");
    let table = [
        (r#""second on failed_gate", "third on stop_event""#, red, Some(("second", "failed_gate"))),
        (r#""third on stop_event", "second on failed_gate""#, red, Some(("third", "stop_event"))),
        (r#""second on failed_gate""#, red, Some(("second", "failed_gate"))),
        (r#""second on stop_event, failed_gate""#, red, Some(("second", "stop_event, failed_gate"))),
        (r#""second""#, red, Some(("second", "failed_gate, stop_event"))),
        (r#""second on context_exhausted""#, red, None),
        (r#""second on failed_gate", "third on stop_event""#, same, Some(("third", "stop_event"))),
        (r#""second on failed_gate""#, same, None),
    ];
    for (chain, trouble, wanted) in table {
        let stage = Stage::installed();
        user_config(&stage, "[on_stall]\ncommand = [\"sh\", \"-c\", \"cat >> ../got.jsonl\"]\n");
        let policy = "[on_stall]\npolicy = \"retry_with_new_provider\"\n";
        let chain = format!("[fallback]\nproviders = [\"first\", {chain}]\n");
        stage.write("andon.toml", format!("[test]\ncommand = \"sh check.sh\"\n{policy}{chain}"));
        stage.git(&["commit", "-qam", "Name the chain"]).ok();
        if trouble == red {
            for number in 1..=3 {
                stage.iterate(&format!("{number}\n"), &["not ok a", "ok b"], &format!("Try {number}"));
            }
        } else {
            calls(&stage);
        }
        let got = std::fs::read_to_string(stage.root().join("got.jsonl")).ok();
        let started = got.as_deref().map(|got| json(got.lines().next().unwrap())["provider"].to_string());
        assert_eq!(started, wanted.map(|(name, _)| format!("{name:?}")), "{chain} {trouble}");
        let status = json(&stage.andon(&["status", "--format", "json"]).stdout);
        let why = status["provider_reason"].as_str().unwrap_or_default();
        assert!(
            why.ends_with(&wanted.map_or_else(String::new, |(name, on)| format!("{name} goes on ({on})"))),
            "{why}"
        );
    }
}

#[test]
fn the_answer_of_a_reviewer_is_advice() {
    let stage = configured("spawn_reviewer", "cat > /dev/null; echo Split the function in two.");
    reword_until_halted(&stage);
    reword(&stage, 20).refused();
    assert_eq!(stage.read(".andon/ADVISOR_ANSWER.md").trim(), "Split the function in two.");
    stage.andon(&["advise", "--record"]).ok().says("the reviewer sh");
    reword(&stage, 21).ok();
    stage.andon(&["log"]).ok().says("Split the function in two.");
}

#[test]
fn the_name_in_the_requirements_is_accepted() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[on_stall]\npolicy = \"switch_to_interactive\"\n",
    );
    stage.andon(&["config", "check"]).ok();
}

#[test]
fn the_question_for_an_advisor_shows_what_happened_and_no_hashes() {
    let stage = started();
    let transcript = stage.root().join("session.jsonl");
    let line =
        |number: u32| format!("{{\"type\":\"assistant\",\"text\":\"line {number} of the session\"}}\n");
    std::fs::write(&transcript, (1..=600).map(line).collect::<String>()).unwrap();
    let payload =
        serde_json::json!({ "session_id": "s", "source": "startup", "transcript_path": transcript });
    let hook = &["agent", "hook", "claude", "SessionStart"];
    stage.run_in(stage.dir(), andon_path(), hook, Some(payload.to_string().as_bytes())).ok();
    let tests = "echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo '  ---'; echo '  message: expected 1, found 2'; echo '  ...'; exit 1\n";
    stage.write("check.sh", tests);
    stage.git(&["commit", "-qanm", "Test otherwise"]).ok();
    let asked = (1..=10).any(|number| {
        reword(&stage, number);
        stage.exists(".andon/ADVISOR_PROMPT.md")
    });
    assert!(asked, "it never halted");
    let question = stage.read(".andon/ADVISOR_PROMPT.md");
    assert!(question.contains("line 600 of the session") && question.contains("line 101 of"), "{question}");
    assert!(!question.contains("line 100 of"), "the last 500 lines");
    assert!(question.contains("- Fails now: `b"), "{question}");
    assert!(question.contains("## The error of the first failing test"), "{question}");
    let adds = |line: &str| line.starts_with('+') && line.contains("// version");
    assert!(question.contains("git diff ") && question.lines().any(adds), "{question}");
    let hash = |word: &str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = question.split(|c: char| !c.is_alphanumeric());
    assert_eq!(words.filter(|word| hash(word)).count(), 0, "{question}");
}

#[test]
fn a_checkpoint_has_the_headings_of_the_document() {
    let stage = Stage::installed();
    stage.write("PLAN.md", "# The great plan\n\n## Phase P\n\n- [x] P.1 begin\n- [ ] P.2 run the tests\n");
    stage.commit_of(".", "Plan");
    stage.iterate("1\n", &["ok a", "not ok b"], "Try it").ok();
    stage.andon(&["stop", "--reason", "look"]).ok();
    let shown = stage.read(".andon/CHECKPOINT.md");
    for line in [
        "- Phase: `Phase P`\n",
        "- Task: `P.2 run the tests` (`PLAN.md`)\n",
        "- Last action: `commit: Try it`\n",
        "## Progress Summary\n",
        "- Tests run: 2\n",
        "- Tests passing: 1\n",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(shown.contains("- Files modified: "), "{shown}");
}

/// The same call ten times, which halts the loop; true where the next provider was started.
fn calls(stage: &Stage) -> bool {
    let call = b"{\"tool\":\"Bash\",\"args\":{\"command\":\"make\"},\"result\":\"1 failed\"}\n";
    for _ in 0..10 {
        stage.feed(&["observe", "tool_call"], call);
    }
    stage.root().join("got.jsonl").exists()
}

/// Each way in which an answer comes about, after which of STOP and PAUSE each that a person put up is still there.
#[test]
fn stops_of_people_end_by_an_answer_that_names_them_or_by_deletion() {
    type Way = (&'static str, &'static str, fn(&Stage, &[&str]));
    let put = |stage: &Stage, files: &[&str]| {
        for file in files {
            stage.write(&format!(".andon/{file}"), "andon: lunch\nby: Pat\nat: noon\n");
        }
    };
    let ways: [Way; 5] = [
        ("the reset of a counter, and that the halt was mistaken", "interactive", |stage, files| {
            stage.andon(&["resume", "--counter", "consecutive-failures", "--reason", "go on"]).ok();
            let out = stage.andon(&["resume", "--mistaken", "--reason", "go on"]).ok();
            for file in files {
                out.clone().says(&format!("not lifted, it is answered by itself: {file}"));
            }
        }),
        ("andon resume of another halt", "interactive", |stage, files| {
            let out = stage.andon(&["resume", "--reason", "go on"]).ok();
            for file in files {
                let told = format!("not lifted, it is answered by itself: {file}, put up by Pat at noon");
                out.clone().says(&told);
            }
        }),
        ("the deletion of its file", "interactive", |stage, _| {
            std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
            reword(stage, 20).says("answered-halt");
        }),
        ("the answer of a reviewer", "spawn_reviewer", |stage, _| {
            reword(stage, 20).refused();
            stage.andon(&["advise", "--record"]).ok();
        }),
        ("the next provider", "retry_with_new_provider", |stage, _| assert!(!calls(stage), "it was started")),
    ];
    assert!(calls(&configured("retry_with_new_provider", "cat >> ../got.jsonl")), "nothing stops it");
    for files in [&["STOP"][..], &["PAUSE"], &["STOP", "PAUSE"]] {
        for (name, policy, answer) in ways {
            let stage = configured(policy, "cat >> ../got.jsonl; echo Split it.");
            if policy != "retry_with_new_provider" {
                reword_until_halted(&stage);
            }
            put(&stage, files);
            answer(&stage, files);
            for file in files {
                assert!(stage.exists(&format!(".andon/{file}")), "{name}: {file}");
            }
            reword(&stage, 50).refused().says("user-stop");
        }
        // Those of the stop itself.
        let stage = started();
        put(&stage, files);
        reword(&stage, 1).refused();
        let out = stage.andon(&["resume", "--reason", "go on"]).ok();
        for file in files {
            out.clone().says(&format!("lifted: {file}, put up by Pat at noon"));
        }
        reword(&stage, 1).ok();
        put(&stage, files);
        reword(&stage, 2).refused();
        for file in files {
            std::fs::remove_file(stage.path(&format!(".andon/{file}"))).unwrap();
        }
        reword(&stage, 2).ok().says("answered-halt");
    }
}

#[test]
fn a_resume_lifts_no_stop_that_came_after_the_halt_it_answers() {
    let stage = started();
    stage.andon(&["pause", "--reason", "lunch"]).ok();
    stage.write(".andon/STOP", "");
    let out = stage.andon(&["resume", "--reason", "back"]).ok().says("lifted: PAUSE, put up by");
    out.says("not lifted, it is answered by itself: STOP, put up by hand at 20");
    assert!(stage.exists(".andon/STOP") && !stage.exists(".andon/PAUSE"));
    stage.andon(&["resume", "--reason", "both"]).ok().says("lifted: STOP");
    reword(&stage, 1).ok();
    // A pause that Andon makes is never written over that of a person.
    stage.write(".andon/PAUSE", "of a person\n");
    stage.andon(&["status"]).ok().says("PAUSE");
    std::fs::remove_file(stage.path(".andon/PAUSE")).unwrap();
    reword(&stage, 2).ok();
}

/// Runs the command that the file names, with a decision in it.
fn own_way(stage: &Stage, file: &str) {
    let text = stage.read(file);
    let line = text.lines().find(|line| line.trim().starts_with("andon resume --reason")).unwrap();
    assert!(line.contains("'<decision>'"), "{line}");
    stage.andon(&["resume", "--reason", "<decision>"]).exits(2);
    stage.andon(&["resume", "--reason", "go on"]).ok();
}

#[test]
fn a_stop_works_on_a_fresh_install_and_its_own_way_on_too() {
    let stage = Stage::new();
    stage.andon(&["install"]).ok();
    stage.run_in(stage.dir(), "touch", &[".andon/STOP"], None).ok();
    stage.write("a.rs", "fn main() {}\n");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "First"]).refused().says("user-stop");
    own_way(&stage, ".andon/CHECKPOINT.md");
    stage.steps("git commit -qm First; andon uninstall");
    assert!(!stage.exists(".andon"), "nothing is left where nothing happened");
}

#[test]
fn a_blocker_report_that_came_after_a_checkpoint_names_its_own_way_on() {
    let stage = Stage::installed();
    let call = b"{\"tool\":\"Bash\",\"args\":{\"command\":\"make\"},\"result\":\"1 failed\"}\n";
    for _ in 0..10 {
        stage.feed(&["observe", "tool_call"], call);
    }
    assert!(stage.exists(".andon/CHECKPOINT.md") && stage.exists(".andon/BLOCKER_REPORT.md"));
    own_way(&stage, ".andon/BLOCKER_REPORT.md");
    stage.iterate("2\n", &["ok a"], "Go on").ok();
    stage.andon(&["status", "--exit-code"]).ok();
}

#[test]
fn documents_that_undo_each_other_halt_in_commits_and_in_turns() {
    let text = |number: u32| if number % 2 == 1 { "# Long\n\nMany words.\n" } else { "# Short\n" };
    let stage = Stage::installed();
    stage.write("README.md", text(0));
    stage.commit_of(".", "Describe it");
    let halted = (1..=6).find(|number| {
        stage.write("README.md", text(*number));
        stage.git(&["commit", "-qam", "Review the words"]).all().contains("docs-loop")
    });
    assert_eq!(halted, Some(3));
    assert!(stage.read(".andon/CHECKPOINT.md").contains("update the documents"));
    let stage = Stage::installed();
    let halted = (1..=6).find(|number| {
        stage.write("README.md", text(*number));
        stage.andon(&["tick"]).all().contains("docs-loop")
    });
    assert!(halted.is_some_and(|number| number <= 5), "{halted:?}");
}

#[test]
fn a_replayed_session_shows_what_was_asked() {
    let stage = Stage::installed();
    stage.set("ANDON_SESSION", "s-1");
    let call = b"{\"tool\":\"Bash\",\"args\":{\"command\":\"cargo test --lib\"},\"result\":\"ok\"}\n";
    stage.feed(&["observe", "tool_call"], call).ok();
    stage.andon(&["replay", "--session", "s-1"]).ok().says("tool_call Bash: cargo test --lib");
}
