//! Agents that disagree, and the people who answer: from `andon round open` to the signed resolution, with real keys.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};
use sha2::Digest as _;

use crate::signed_faults::forge;
use crate::support::people::{by, public, sit_down, steady, with_ann};
use crate::support::{Out, Stage, andon_path};

const CLAIM: &str = "Add the column online, in small batches of rows, while writers go on.";
const CRITIQUE: &str = "Locks pile up behind every batch, replicas lag for hours, and rollback becomes impossible: copy into \
                        shadow tables and swap names.";

/// `andon round ACTION` with an object on standard input.
fn round(stage: &Stage, action: &str, said: &Value) -> Out {
    stage.run_in(stage.dir(), andon_path(), &["round", action], Some(said.to_string().as_bytes()))
}

pub(crate) fn answer(out: &Out) -> Value {
    serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"))
}

/// A question with both statements; its name.
fn asked(stage: &Stage, question: &str) -> String {
    let open = json!({"question": question, "issuer": "agent:planner", "tags": ["migration"], "bounty": 40});
    let name = answer(&round(stage, "open", &open).ok())["round"].as_str().unwrap().to_owned();
    for (role, agent, text) in [("proposer", "agent:coder", CLAIM), ("opposer", "agent:reviewer", CRITIQUE)] {
        round(stage, "say", &json!({"round": name, "role": role, "agent": agent, "text": text})).ok();
    }
    name
}

/// A round that its judge deferred: its entry.
pub(crate) fn deferred(stage: &Stage, question: &str) -> String {
    let name = asked(stage, question);
    let verdict = json!({"round": name, "agent": "agent:judge", "text": "I cannot tell.\n```json\n{\"deferred\": true}\n```\n"});
    answer(&round(stage, "verdict", &verdict).exits(1))["round"].as_str().unwrap().to_owned()
}

#[test]
fn a_judge_decides_or_defers_and_only_the_latter_asks_a_person() {
    let stage = Stage::installed();
    with_ann(&stage);
    let name = asked(&stage, "How do we add the column?");
    let bad = json!({"round": name, "agent": "agent:judge", "text": "Yes."});
    let again = round(&stage, "verdict", &bad).exits(2);
    assert_eq!(answer(&again)["again"], json!(true));
    let good = json!({"round": name, "agent": "agent:judge", "text": "{\"deferred\": false, \"recommendation\": \"Shadow tables.\"}"});
    assert_eq!(answer(&round(&stage, "verdict", &good).ok())["triggers"], json!([]));
    assert_eq!(by(&stage, "ann", &["review"]).ok().stdout, "");
    let closed = round(&stage, "close", &json!({"round": name, "paid_to": "agent:reviewer"})).ok();
    assert_eq!(answer(&closed)["status"], json!("closed"));
    // A trailer that cannot be read twice, and what was never said, need a person.
    let name = asked(&stage, "And the next one?");
    round(&stage, "verdict", &json!({"round": name, "agent": "agent:judge", "text": "Yes."})).exits(2);
    let second =
        round(&stage, "verdict", &json!({"round": name, "agent": "agent:judge", "text": "Yes!"})).exits(1);
    assert_eq!(answer(&second)["triggers"], json!(["parse_failure"]));
    let open = round(&stage, "open", &json!({"question": "Anybody?"})).ok();
    let silent = round(&stage, "close", &json!({"round": answer(&open)["round"]})).exits(1);
    assert_eq!(answer(&silent)["triggers"], json!(["timeout"]));
    // Expired rounds are found by the next command, without a daemon.
    asked(&stage, "Too late?");
    stage.pass(3_600);
    let waiting = by(&stage, "ann", &["review", "--format", "json"]).ok().stdout;
    assert!(waiting.contains("Too late?"), "{waiting}");
}

#[test]
fn a_round_whose_time_is_up_calls_people_at_every_door() {
    let stage = Stage::installed();
    with_ann(&stage);
    let doors: [(&str, &[&str], &str); 7] = [
        ("git", &["commit", "-q", "--allow-empty", "-m", "Next"], ""),
        ("andon", &["tick"], ""),
        ("andon", &["observe", "tool_call"], "{\"tool\":\"Bash\",\"args\":{},\"result\":\"ok\"}\n"),
        ("andon", &["agent", "hook", "claude", "SessionStart"], ""),
        ("andon", &["agent", "hook", "claude", "UserPromptSubmit"], ""),
        ("andon", &["agent", "hook", "claude", "Stop"], ""),
        ("andon", &["watch", "--once"], ""),
    ];
    for (number, (program, args, input)) in doors.into_iter().enumerate() {
        let question = format!("Too late for number {number}?");
        asked(&stage, &question);
        stage.pass(3_600);
        let program = if program == "git" { std::path::PathBuf::from(program) } else { andon_path().clone() };
        let payload =
            json!({"hook_event_name": args.last(), "session_id": "s", "cwd": stage.dir(), "prompt": "go"});
        let input = if args[0] == "agent" { payload.to_string() } else { input.to_owned() };
        stage.run_in(stage.dir(), program, args, Some(input.as_bytes()));
        let told = stage.read(".andon/notifications.jsonl");
        assert_eq!(told.matches(&question).count(), 1, "{args:?}: {told}");
    }
}

#[test]
fn a_round_is_asked_and_answered_in_plain_words() {
    let stage = Stage::installed();
    with_ann(&stage);
    // A debate with oneself is none.
    let name = answer(&round(&stage, "open", &json!({"question": "Me?"})).ok())["round"].clone();
    for (role, text) in [("proposer", CLAIM), ("opposer", CRITIQUE)] {
        round(&stage, "say", &json!({"round": name, "role": role, "agent": "agent:x", "text": text})).ok();
    }
    let verdict = json!({"round": name, "agent": "agent:x", "text": "{\"deferred\": false, \"recommendation\": \"Go.\"}"});
    let told = answer(&round(&stage, "verdict", &verdict).exits(1));
    assert_eq!(told["triggers"], json!(["deferral"]));
    assert!(told["why"].to_string().contains("one agent spoke for both sides"), "{told}");
    // A member that nobody knows is refused at every step, with the nearest name.
    let open = json!({"question": "How many?", "issuer": "agent:planner", "bounty": 40, "tags": ["db"], "min_witnesses": 2});
    let name = answer(&round(&stage, "open", &open).ok())["round"].clone();
    let odd =
        json!({"round": name, "role": "proposer", "agent": "agent:coder", "text": CLAIM, "evidense": []});
    round(&stage, "say", &odd).exits(2).says("did you mean `evidence`?");
    round(&stage, "close", &json!({"round": name, "payed_to": "x"})).exits(2).says("`paid_to`");
    let entry = answer(&round(&stage, "close", &json!({"round": name})).exits(1))["round"].clone();
    let entry = entry.as_str().unwrap();
    // The terms of a round, and who is missing for its panel.
    let shown = by(&stage, "ann", &["review", "show", entry]).ok();
    shown.says("bounty: 40 CC\n").says("topics: db\n").says("witnesses: at least 2\n").says("expiry: ");
    let missing = "its panel cannot be filled without 2 more witnesses: andon witness add";
    by(&stage, "ann", &["review"]).ok().says("may answer: human:ann").says(missing);
    by(&stage, "ann", &["review", "flag", entry, "--reason", "x"]).ok().says("the flag does nothing yet");
    // Who answers alone where a panel decides is told their next step.
    let alone = ["review", "resolve", entry, "--decision", "reject_round", "--rationale", "x"];
    let short = &entry[..8];
    by(&stage, "ann", &alone).exits(1).says(&format!("take a seat: andon review accept {short}"));
    by(&stage, "ann", &["review", "accept", entry]).ok();
    by(&stage, "ann", &alone).exits(1).says(&format!("vote on its panel: andon review ballot {short}"));
    // Over is over, in the same form.
    let over = round(&stage, "close", &json!({"round": name})).exits(1);
    assert!(answer(&over)["why"].to_string().contains("the round is over"), "{over}");
    let alone = asked(&stage, "Agreed?");
    let good = json!({"round": alone, "agent": "agent:judge", "text": "{\"deferred\": false, \"recommendation\": \"Go.\"}"});
    round(&stage, "verdict", &good).ok();
    round(&stage, "close", &json!({"round": alone})).ok();
    let late = answer(
        &round(&stage, "say", &json!({"round": alone, "role": "proposer", "agent": "a", "text": "x"})).ok(),
    );
    assert_eq!((&late["status"], late["why"].is_string()), (&json!("closed"), true), "{late}");
}

#[test]
fn what_an_answer_to_agents_was_worth_is_written_by_the_loop_that_went_on() {
    let stage = Stage::installed();
    with_ann(&stage);
    stage.iterate("1\n", &["ok a", "not ok b"], "Begin").ok();
    stage.iterate("2\n", &["not ok a", "ok b"], "Try").ok();
    let entry = deferred(&stage, "a or b?");
    by(&stage, "ann", &["review", "accept", &entry]).ok();
    let said = [
        "review",
        "resolve",
        entry.as_str(),
        "--decision",
        "accept_opposer",
        "--rationale",
        "b was wrong",
        "--sycophancy",
        "no",
        "it disagrees",
    ];
    by(&stage, "ann", &said).ok();
    let outcomes = |stage: &Stage| {
        let all = stage.andon(&["review", "status", "--ledger", "--format", "json"]).ok().stdout;
        let ledger: Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
        ledger["settlements"].as_array().unwrap().iter().filter(|one| one["converged"] == json!(true)).count()
    };
    for number in 10..17 {
        stage.iterate(&format!("{number}\n"), &["ok a", "ok b"], &format!("Go on {number}")).ok();
    }
    assert_eq!(outcomes(&stage), 0, "seven are not enough");
    stage.iterate("17\n", &["ok a", "ok b"], "Go on 17").ok();
    assert_eq!(outcomes(&stage), 1);
    stage.iterate("18\n", &["ok a", "ok b"], "Go on 18").ok();
    stage.git(&["commit", "-q", "--amend", "-m", "Go on with 18"]).ok();
    assert_eq!(outcomes(&stage), 1, "once");
    let checked = stage.andon(&["check", "HEAD~9..HEAD"]);
    assert!(!checked.all().contains("outcome "), "{checked}");
}

#[test]
fn agreement_is_found_whatever_the_judge_says() {
    let stage = Stage::installed();
    with_ann(&stage);
    let open = json!({"question": "Same?", "issuer": "agent:planner"});
    let name = answer(&round(&stage, "open", &open).ok())["round"].as_str().unwrap().to_owned();
    for (role, text) in [("proposer", CRITIQUE), ("opposer", CRITIQUE)] {
        round(
            &stage,
            "say",
            &json!({"round": name, "role": role, "agent": format!("agent:{role}"), "text": text}),
        )
        .ok();
    }
    let verdict = json!({"round": name, "agent": "agent:judge", "text": "{\"deferred\": false, \"recommendation\": \"Go.\"}"});
    assert_eq!(answer(&round(&stage, "verdict", &verdict).exits(1))["triggers"], json!(["agreement"]));
}

#[test]
fn agents_name_what_they_looked_at() {
    let stage = Stage::installed();
    with_ann(&stage);
    stage.iterate("let lag = 3;\n", &["ok a", "not ok b"], "Copy in batches").ok();
    let head = stage.head();
    let open = json!({"question": "Batches?", "issuer": "agent:planner", "evidence": [{"run": "ci 4711"}]});
    let name = answer(&round(&stage, "open", &open).ok())["round"].as_str().unwrap().to_owned();
    let bad = [
        (json!("HEAD"), "evidence: must be a list"),
        (json!(["HEAD"]), "evidence: each must be an object"),
        (json!([{}]), "evidence: must name a commit, a run or a file"),
        (json!([{"url": "x"}]), "evidence: may name commit, run, file and lines"),
        (json!([{"commit": "beefbeef"}]), "evidence.commit: must name a commit that is here"),
        (json!([{"lines": "3"}]), "evidence.lines: must be of a file"),
        (json!([{"file": "code.txt", "lines": "9-3"}]), "evidence.lines: must be of a file"),
        (json!([{"file": "x".repeat(513)}]), "evidence.file: must have 1 to 512 bytes"),
        (Value::Array(vec![json!({"run": "1"}); 9]), "evidence: must name at most 8 things"),
    ];
    let said = |role: &str, text: &str, evidence: &Value| json!({"round": name, "role": role, "agent": format!("agent:{role}"), "text": text, "evidence": evidence});
    for (evidence, why) in bad {
        round(&stage, "say", &said("proposer", CLAIM, &evidence)).exits(2).says(why);
    }
    let claim = json!([{"commit": "HEAD", "file": "code.txt", "lines": "1-2"}, {"file": "no\u{1b}[2Jwhere"}]);
    round(&stage, "say", &said("proposer", CLAIM, &claim)).ok();
    round(&stage, "say", &said("opposer", CRITIQUE, &json!([{"commit": head, "run": "4712"}]))).ok();
    let verdict = json!({"round": name, "agent": "agent:judge", "text": "{\"deferred\": true}",
        "evidence": [{"commit": "HEAD"}]});
    let entry = answer(&round(&stage, "verdict", &verdict).exits(1))["round"].as_str().unwrap().to_owned();
    let shown = by(&stage, "ann", &["review", "show", &entry, "--format", "json"]).ok().json();
    assert_eq!(shown["said"]["evidence"]["claim"][0]["commit"], json!(head), "{shown}");
    insta::assert_snapshot!(
        "rounds_looked_at",
        steady(&stage, &by(&stage, "ann", &["review", "show", &entry]))
    );
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let stage = Stage::installed();
    let refused = [
        ("open", json!({"tags": ["x"]})),
        ("open", json!({"question": "x", "issuer": "agent:planner", "min_witness": 3})),
        ("open", json!({"question": "x", "bounty": 5})),
        ("open", json!({"question": "x", "min_witnesses": 9})),
        ("open", json!({"question": "x".repeat(5_000)})),
        ("say", json!({"round": "../../etc/passwd", "role": "proposer", "agent": "a", "text": "x"})),
        ("say", json!({"round": "0123456789abcdef", "role": "proposer", "agent": "a", "text": "x"})),
        ("verdict", json!({"agent": "a", "text": "x"})),
    ];
    let said: String =
        refused.iter().map(|(action, said)| round(&stage, action, said).exits(2).stderr).collect();
    insta::assert_snapshot!("round_bad_input", said);
    let no_json = stage.feed(&["round", "open"], b"{").exits(2);
    insta::assert_snapshot!("round_no_json", no_json);
    assert_eq!(stage.git(&["for-each-ref", "refs/andon"]).ok().stdout, "");
    assert!(
        !stage.exists(".git/andon/rounds")
            || std::fs::read_dir(stage.path(".git/andon/rounds")).unwrap().next().is_none()
    );
}

#[test]
fn an_orchestrator_may_use_one_stream() {
    let stage = Stage::installed();
    let lines =
        "{\"action\": \"open\", \"question\": \"One?\"}\n\n{\"action\": \"open\", \"question\": \"Two?\"}\n";
    let out = stage.run_in(stage.dir(), andon_path(), &["observe", "round"], Some(lines.as_bytes())).ok();
    assert_eq!(out.stdout.lines().count(), 2, "{out}");
    let wrong = stage.feed(&["observe", "round"], b"{\"action\": \"dance\"}\n");
    insta::assert_snapshot!("round_no_action", wrong.exits(2));
}

/// Appends a policy that names ann, bo, cy and di, without `solo`; three of them have answered enough to sit anywhere.
fn four_witnesses(stage: &Stage) {
    sit_down(stage, "ann");
    stage.andon(&["witness", "init", "--name", "human:ann"]).ok();
    for who in ["bo", "cy", "di"] {
        by(stage, "ann", &["witness", "add", &format!("human:{who}"), "--key", &public(stage, who)]).ok();
    }
}

fn status_of(stage: &Stage, who: &str) -> Value {
    let out = stage.andon(&["review", "status", &format!("human:{who}"), "--format", "json"]).ok();
    serde_json::from_str(&out.stdout).unwrap()
}

const VOTE: [&str; 7] =
    ["--rationale", "", "--sycophancy", "no", "it names a failure of its own", "--time-spent-seconds", "600"];

fn vote(who: &str, decision: &'static str) -> Vec<String> {
    // Rationales of a panel that are too alike would be collusion.
    let why = match who {
        "bo" => "batches ran for years without trouble in this very table",
        "cy" => "shadow copies double disk usage beyond what we rent",
        _ => "replication lag killed checkout twice last spring",
    };
    let mut args = vec!["--decision".to_owned(), decision.to_owned()];
    args.extend(VOTE.map(|arg| if arg.is_empty() { why.to_owned() } else { arg.to_owned() }));
    args
}

/// Where the ballot of `whose` waits: one clone may hold those of several members.
fn ballot_of(stage: &Stage, round: &str, whose: &str) -> String {
    let key = std::fs::read_to_string(public(stage, whose)).unwrap();
    let key = key.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let digest = sha2::Sha256::digest(key.as_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!(".git/andon/ballots/{round}-{name}.json")
}

pub(crate) fn cast(stage: &Stage, who: &str, round: &str, decision: &'static str) {
    let more = vote(if who == "ann" { "di" } else { who }, decision);
    let mut args = vec!["review".to_owned(), "ballot".to_owned(), round.to_owned()];
    args.extend(more);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    by(stage, who, &args).ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open = std::fs::metadata(stage.path(&ballot_of(stage, round, who))).unwrap().permissions().mode();
        assert_eq!(open & 0o777, 0o600, "the draft of {who} is nobody else's");
    }
}

pub(crate) fn open(stage: &Stage, who: &str, round: &str) -> crate::support::Out {
    by(stage, who, &["review", "reveal", round])
}

#[test]
fn a_ballot_that_could_never_be_revealed_is_not_sealed() {
    let stage = Stage::installed();
    four_witnesses(&stage);
    let round = deferred(&stage, "Which table first?");
    by(&stage, "ann", &["review", "panel", &round, "--reason", "no witness has a record yet"]).ok();
    by(&stage, "ann", &["review", "accept", &round]).ok();
    let hasty = ["review", "ballot", &round, "--decision", "accept_opposer", "--rationale", "it is right"];
    by(&stage, "ann", &hasty).exits(1).says("this ballot: sycophancy_assessment: is missing");
    cast(&stage, "ann", &round, "accept_opposer");
}

#[test]
fn a_panel_overturns_and_everything_follows() {
    let stage = Stage::installed();
    four_witnesses(&stage);
    make_records(&stage);
    let first = resolved_alone(&stage);
    is_a_precedent(&stage, &first);
    is_overturned(&stage, &first);
    is_in_the_books(&stage, &first);
    let books = says_the_same_elsewhere(&stage);
    forging_it_moves_nothing(&stage, &first, &books);
}

fn make_records(stage: &Stage) {
    // No witness has answered anything yet, so none may answer alone: a panel of three makes records for three.
    let warm = deferred(stage, "Which table first?");
    let alone = by(stage, "ann", &["review", "accept", &warm]).exits(1);
    insta::assert_snapshot!("rounds_probation", steady(stage, &alone));
    by(stage, "di", &["review", "panel", &warm, "--reason", "no witness has a record yet"]).ok();
    for who in ["ann", "bo", "cy"] {
        by(stage, who, &["review", "accept", &warm]).ok();
    }
    for (who, decision) in [("ann", "accept_opposer"), ("bo", "accept_proposer"), ("cy", "accept_proposer")] {
        cast(stage, who, &warm, decision);
    }
    for who in ["ann", "bo", "cy"] {
        open(stage, who, &warm).ok();
    }
}

fn resolved_alone(stage: &Stage) -> String {
    // Two agents disagree about a migration, the judge defers, ann resolves alone.
    let first = deferred(stage, "How do we add the column to orders?");
    insta::assert_snapshot!("rounds_accept", steady(stage, &by(stage, "ann", &["review", "accept", &first])));
    stage.pass(800);
    let mut args = vec![
        "review".to_owned(),
        "resolve".to_owned(),
        first.clone(),
        "--attributed-to".to_owned(),
        "agent:coder".to_owned(),
    ];
    args.extend(vote("di", "accept_opposer"));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    insta::assert_snapshot!("rounds_resolve", steady(stage, &by(stage, "ann", &args)));
    assert_eq!(status_of(stage, "ann")["reputation"], json!("1"));
    first
}

fn is_a_precedent(stage: &Stage, first: &str) {
    // A week later (less a day) the same question comes again, and the precedent is handed to the judge.
    stage.pass(6 * 86_400);
    let again = json!({"question": "How do we add the column to invoices?", "issuer": "agent:planner", "tags": ["migration"]});
    let told = answer(&round(stage, "open", &again).ok());
    assert_eq!(told["precedents"][0]["round"], json!(first));
    assert_eq!(
        (&told["precedents"][0]["decision"], &told["precedents"][0]["by"]),
        (&json!("accept_opposer"), &json!(["human:ann"]))
    );
    // An agent that starts again gets it as well, by the words of its plan.
    stage.write("PLAN.md", "# Add the column to the table orders\n\n- [ ] shadow tables\n");
    stage.andon(&["context", "--brief"]).ok();
    let briefing = stage.read(".andon/MISSION_BRIEFING.md");
    let told: Vec<&str> =
        briefing.lines().skip_while(|line| *line != "## Decided by People Before").take(6).collect();
    insta::assert_snapshot!("rounds_briefing", crate::support::people::steady_text(stage, &told.join("\n")));
}

fn is_overturned(stage: &Stage, first: &str) {
    // Another witness flags it, and a panel of three overturns.
    insta::assert_snapshot!(
        "rounds_flag",
        steady(stage, &by(stage, "bo", &["review", "flag", first, "--reason", "shadow tables lost rows"]))
    );
    for who in ["bo", "cy", "di"] {
        by(stage, who, &["review", "accept", first]).ok();
    }
    // Those who decided it the first time do not sit.
    insta::assert_snapshot!(
        "rounds_barred",
        steady(stage, &by(stage, "ann", &["review", "accept", first]).exits(1))
    );
    cast(stage, "bo", first, "accept_proposer");
    cast(stage, "cy", first, "accept_proposer");
    // Nothing is opened before all have committed.
    insta::assert_snapshot!("rounds_early", steady(stage, &open(stage, "bo", first).exits(1)));
    cast(stage, "di", first, "accept_opposer");
    // A ballot that was changed after it was sealed is none.
    let ballot = ballot_of(stage, first, "bo");
    let sealed = stage.read(&ballot);
    stage.write(&ballot, sealed.replace("accept_proposer", "accept_opposer"));
    insta::assert_snapshot!("rounds_other_ballot", steady(stage, &open(stage, "bo", first).exits(1)));
    stage.write(&ballot, sealed);
    open(stage, "bo", first).ok();
    open(stage, "di", first).ok();
    insta::assert_snapshot!("rounds_overturned", steady(stage, &open(stage, "cy", first)));
    // Of the resolution and of each ballot it shows what was known of who gave it.
    let shown = by(stage, "ann", &["review", "show", first]).ok().stdout;
    assert_eq!(shown.matches("given without a terminal").count(), 4, "{shown}");
}

fn is_in_the_books(stage: &Stage, first: &str) {
    // Of ann's two votes one was overturned.
    let ann = status_of(stage, "ann");
    assert_eq!(
        (&ann["reputation"], &ann["votes"], &ann["overturned"]),
        (&json!("1/2"), &json!(2), &json!(1))
    );
    insta::assert_snapshot!(
        "rounds_precedents",
        steady(stage, &stage.andon(&["review", "precedents", "--tag", "migration"]))
    );
    insta::assert_snapshot!("rounds_show", steady(stage, &stage.andon(&["review", "show", first])));
}

fn says_the_same_elsewhere(stage: &Stage) -> String {
    // A clone elsewhere says the same.
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "--no-local", "repo", "elsewhere"]).ok();
    stage.git_in(&root.join("elsewhere"), &["fetch", "-q", "origin", "+refs/andon/*:refs/andon/*"]).ok();
    let here = stage.andon(&["review", "status", "--format", "json"]).ok().stdout;
    let there =
        stage.andon_in(&root.join("elsewhere"), &["review", "status", "--format", "json"]).ok().stdout;
    assert_eq!(here, there);
    stage.andon_in(&root.join("elsewhere"), &["ledger", "verify"]).ok();
    here
}

fn forging_it_moves_nothing(stage: &Stage, first: &str, here: &str) {
    // An agent decides it again with plain git and a key of its own: nothing moves, and the check reports it.
    let ledger = stage.andon(&["witness", "list", "--format", "json"]).ok().json();
    let forged = json!({
        "type": "resolution", "round": first, "trigger": "deferral", "decision": "accept_opposer", "rationale": "mine",
        "factual_checks": [], "time_spent_seconds": 1, "witness": "human:ann", "ledger": ledger["ledger"],
        "sycophancy_assessment": {"detected": false, "rationale": "none"},
    });
    forge(stage, &forged, Some("ed"));
    assert_eq!(stage.andon(&["review", "status", "--format", "json"]).ok().stdout, here);
    let id = ledger["ledger"].as_str().unwrap();
    let check = ["check", "HEAD~1..HEAD", "--policy-id", id];
    stage.iterate("2\n", &["ok a", "ok b"], "Go on").ok();
    let found = steady(stage, &stage.andon(&check).exits(1));
    let named: Vec<&str> = found.lines().filter(|line| line.contains("[witness]")).collect();
    insta::assert_snapshot!("rounds_forged", named.join("\n"));
}

#[test]
fn the_list_is_the_same_with_its_memory_and_without() {
    let stage = Stage::installed();
    four_witnesses(&stage);
    let listed = |what: &str| {
        let list = || stage.andon(&["review", "--format", "json"]).ok().stdout;
        let (first, again) = (list(), list());
        std::fs::remove_file(stage.path(".git/andon/cache/rounds")).unwrap();
        let remembered = list();
        std::fs::remove_dir_all(stage.path(".git/andon/cache")).unwrap();
        assert_eq!((&first, &again, &remembered), (&list(), &first, &first), "{what}");
        first
    };
    assert_eq!(listed("nothing"), "");
    let round = deferred(&stage, "Which way?");
    let alone = listed("a round that no witness may take alone");
    by(&stage, "di", &["review", "panel", &round, "--reason", "no witness has a record yet"]).ok();
    assert_ne!(listed("a panel"), alone);
    for who in ["ann", "bo", "cy"] {
        by(&stage, who, &["review", "accept", &round]).ok();
    }
    let full = stage.andon(&["review", "--format", "json"]).ok().stdout;
    // At the deadline the seats of who did not vote are free: time alone changes the list.
    stage.pass(259_200);
    assert_ne!(stage.andon(&["review", "--format", "json"]).ok().stdout, full);
    listed("a deadline that is over");
}
