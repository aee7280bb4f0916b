//! What is forged, copied, changed, cut or rewound: `check` and `ledger verify` name it, in a clone that fetched the refs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::people::{by, key, public, signed, sit_down, steady};
use crate::support::{Out, Stage};

pub(crate) fn own_ref(stage: &Stage) -> String {
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger/"]).ok().stdout;
    refs.trim().to_owned()
}

/// Appends an entry with plain git, signed by `who`, as a person would who knows the format but not Andon.
pub(crate) fn forge(stage: &Stage, said: &Value, who: Option<&str>) -> String {
    let name = own_ref(stage);
    let last = stage.git(&["show", &format!("{name}:entry.json")]).ok().json();
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for copied in ["schema", "writer", "at"] {
        all.insert(copied.to_owned(), last[copied].clone());
    }
    let toml = stage.read("andon.toml");
    let ledger = toml.lines().find_map(|line| line.strip_prefix("ledger = ")).unwrap_or_default();
    all.insert("ledger".to_owned(), json!(ledger.trim_matches('"')));
    all.insert("lamport".to_owned(), json!(last["lamport"].as_u64().unwrap() + 1));
    all.extend(said.as_object().unwrap().clone());
    let text = serde_json::to_string(&all).unwrap();
    let blob =
        stage.run_in(stage.dir(), "git", &["hash-object", "-w", "--stdin"], Some(text.as_bytes())).ok();
    let tree = format!("100644 blob {}\tentry.json\n", blob.stdout.trim());
    let tree = stage.run_in(stage.dir(), "git", &["mktree"], Some(tree.as_bytes())).ok().stdout;
    let mut args = vec!["commit-tree", tree.trim(), "-p", &name, "-m", said["type"].as_str().unwrap()];
    if let Some(who) = who {
        sit_down(stage, who);
        args.push("-S");
    }
    let commit = stage.git(&args).ok().stdout.trim().to_owned();
    stage.git(&["update-ref", &name, &commit]).ok();
    commit
}

/// Puts a commit of these bytes in the place of the newest entry.
fn replace_newest(stage: &Stage, raw: &str) {
    let args = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
    let made = stage.run_in(stage.dir(), "git", &args, Some(raw.as_bytes())).ok().stdout;
    stage.git(&["update-ref", &own_ref(stage), made.trim()]).ok();
}

fn raw(stage: &Stage, commit: &str) -> String {
    stage.git(&["cat-file", "commit", commit]).ok().stdout
}

/// A round that its judge deferred, accepted by ann.
pub(crate) fn accepted(stage: &Stage) -> String {
    let ask = |action: &str, said: &Value| {
        let out = stage.feed(&["round", action], said.to_string().as_bytes());
        let answer = out.json();
        answer["round"].as_str().unwrap().to_owned()
    };
    let open = ask("open", &json!({"question": "Which way?", "issuer": "agent:planner"}));
    let verdict = json!({"round": open, "agent": "agent:judge", "text": "{\"deferred\": true}"});
    let round = ask("verdict", &verdict);
    by(stage, "ann", &["review", "accept", &round]).ok();
    round
}

pub(crate) fn resolution(round: &str, who: &str) -> Value {
    json!({
        "type": "resolution", "round": round, "trigger": "deferral", "decision": "reject_round", "rationale": "mine",
        "factual_checks": [], "time_spent_seconds": 1, "witness": format!("human:{who}"),
    })
}

/// A clone that fetched everything and trusts nothing.
pub(crate) fn fresh(stage: &Stage) -> std::path::PathBuf {
    let root = stage.root().canonicalize().unwrap();
    let _gone = std::fs::remove_dir_all(root.join("fresh"));
    stage.git_in(&root, &["clone", "-q", "--no-local", "repo", "fresh"]).ok();
    let fresh = root.join("fresh");
    stage.git_in(&fresh, &["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    stage.git_in(&fresh, &["fetch", "-q", "origin", "+refs/andon/*:refs/andon/*"]).ok();
    fresh
}

/// The lines about witnesses, with the exit code.
pub(crate) fn told(stage: &Stage, out: &Out) -> String {
    let text = steady(stage, out);
    let lines = text.lines().filter(|line| line.contains("[witness]") || line.starts_with("exit "));
    let mut lines: Vec<&str> = lines.collect();
    // Commits that are no entry are in the order of commits, which differ in every run.
    lines.sort_unstable();
    let mut text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
    let own = stage.read(".git/andon/writer");
    for name in stage
        .git(&["for-each-ref", "--format=%(refname:lstrip=-1)", "refs/andon/ledger/"])
        .ok()
        .stdout
        .lines()
    {
        text = text.replace(name, if name == own.trim() { "<own>" } else { "<other>" });
    }
    text
}

#[test]
fn each_forgery_is_named() {
    let stage = Stage::installed();
    signed(&stage);
    let base = stage.head();
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    for (name, who, role) in [("human:bo", "bo", "witness"), ("agent:coder", "cy", "agent")] {
        by(&stage, "ann", &["witness", "add", name, "--key", &public(&stage, who), "--role", role]).ok();
    }
    let round = accepted(&stage);
    let valid = raw(&stage, &own_ref(&stage));
    // An agent's key, a stranger's, none at all, one that grants itself, one that was revoked.
    forge(&stage, &resolution(&round, "ann"), Some("cy"));
    forge(&stage, &resolution(&round, "ann"), Some("di"));
    forge(&stage, &resolution(&round, "ann"), None);
    let di = stage.read("../di.key.pub");
    let di: Vec<&str> = di.split(' ').take(2).collect();
    let grant = json!({"type": "key-add", "who": "human:di", "roles": ["witness"], "key": di.join(" ")});
    forge(&stage, &grant, Some("di"));
    by(&stage, "ann", &["witness", "revoke", "human:bo"]).ok();
    forge(&stage, &resolution(&round, "bo"), Some("bo"));
    // Under another's name, and for another ledger.
    forge(&stage, &resolution(&round, "cy"), Some("ann"));
    let mut foreign = resolution(&round, "ann");
    foreign["ledger"] = json!("0".repeat(64));
    forge(&stage, &foreign, Some("ann"));
    // A clock that was set back, and one that runs ahead.
    let mut early = resolution(&round, "ann");
    early["at"] = json!("2026-01-01T00:00:00Z");
    forge(&stage, &early, Some("ann"));
    let mut ahead = resolution(&round, "ann");
    ahead["at"] = json!("2036-01-01T00:00:00Z");
    forge(&stage, &ahead, Some("cy"));
    // Changed after it was signed, and a header that git leaves out of what is signed.
    let flag = forge(&stage, &json!({"type": "flag", "round": round, "reason": "one"}), Some("ann"));
    replace_newest(&stage, &raw(&stage, &flag).replace("\n\nflag", "\n\nflog"));
    let flag = forge(&stage, &json!({"type": "flag", "round": round, "reason": "two"}), Some("ann"));
    replace_newest(&stage, &raw(&stage, &flag).replace("\n\nflag", "\ngpgsig-sha256 x\n\nflag"));
    // What ann signed under an agent's signature.
    let (head, rest) = valid.split_once("gpgsig ").unwrap();
    let payload = format!("{head}{}", &rest[rest.find("\n\n").unwrap() + 1..]);
    stage.write("../payload", &payload);
    let at = stage.root().canonicalize().unwrap().join("payload");
    let agents = key(&stage, "cy");
    let args = ["-Y", "sign", "-q", "-n", "git", "-f", agents.to_str().unwrap(), at.to_str().unwrap()];
    stage.run_in(stage.root(), "ssh-keygen", &args, None).ok();
    let armour = stage.read("../payload.sig").trim_end().replace('\n', "\n ");
    let (head, message) = payload.split_once("\n\n").unwrap();
    let copy = format!("{head}\ngpgsig {armour}\n\n{message}");
    let args = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
    let copy = stage.run_in(stage.dir(), "git", &args, Some(copy.as_bytes())).ok().stdout;
    let beside = format!("refs/andon/ledger/{}", "0".repeat(32));
    stage.git(&["update-ref", &beside, copy.trim()]).ok();
    let fresh = fresh(&stage);
    let check = told(&stage, &stage.andon_in(&fresh, &["check", &format!("{base}..HEAD")]));
    insta::assert_snapshot!("forged", check);
    assert_eq!(told(&stage, &stage.andon_in(&fresh, &["ledger", "verify"])), check);
    // Whatever is there, the right answer still counts; where this clone's own newest entry is from the future, that of
    // another clone.
    let resolve = ["review", "resolve", &round, "--decision", "reject_round", "--rationale", "ask again"];
    insta::assert_snapshot!("forged_ahead", steady(&stage, &by(&stage, "ann", &resolve)));
    stage.andon_in(&fresh, &["install"]).ok();
    insta::assert_snapshot!("forged_and_answered", steady(&stage, &stage.andon_in(&fresh, &resolve)));
    stage.pass(3_700 * 86_400);
    let years_later = stage.andon_in(&fresh, &["review", "precedents"]).ok();
    insta::assert_snapshot!("forged_and_answered_later", steady(&stage, &years_later));
}

#[test]
fn what_two_clones_did_at_once_is_nobodys_wrong() {
    let (stage, _) = crate::sync::hub();
    signed(&stage);
    let round = accepted(&stage);
    stage.steps("git push -q --no-verify; andon sync");
    let two = crate::sync::clone(&stage, "two");
    stage.andon_in(&two, &["sync"]).ok();
    let resolve =
        |why: &'static str| ["review", "resolve", &round, "--decision", "reject_round", "--rationale", why];
    by(&stage, "ann", &resolve("here")).ok();
    stage.andon_in(&two, &resolve("there")).ok();
    stage.andon(&["sync"]).ok();
    stage.andon_in(&two, &["sync"]).ok();
    stage.andon(&["sync"]).ok();
    let here = stage.andon(&["ledger", "verify"]).ok();
    insta::assert_snapshot!("answered_at_once", steady(&stage, &here));
    let shown = stage.andon(&["review", "show", &round]).ok().stdout;
    assert_eq!(shown, stage.andon_in(&two, &["review", "show", &round]).ok().stdout);
    // Neither answer is lost.
    let lost: Vec<&str> = ["here", "there"].into_iter().filter(|why| !shown.contains(why)).collect();
    assert_eq!(lost, Vec::<&str>::new(), "{shown}");
    assert_eq!(shown.matches("Came too late to count").count(), 1, "{shown}");
}

#[test]
fn a_ledger_that_was_cut_or_rewound_is_named() {
    let stage = Stage::installed();
    signed(&stage);
    let base = stage.head();
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    let round = accepted(&stage);
    // Another clone answers: its entry names what it saw.
    let two = fresh(&stage);
    stage.andon_in(&two, &["install"]).ok();
    let resolve = ["review", "resolve", &round, "--decision", "reject_round", "--rationale", "ask again"];
    stage.andon_in(&two, &resolve).ok();
    stage.git(&["fetch", "-q", "../fresh", "refs/andon/ledger/*:refs/andon/ledger/*"]).ok();
    let own = format!("refs/andon/ledger/{}", stage.read(".git/andon/writer").trim());
    let verify = |dir: &std::path::Path| told(&stage, &stage.andon_in(dir, &["ledger", "verify"]));
    assert_eq!(verify(stage.dir()), "exit 0\n");
    let tip = stage.git(&["rev-parse", &own]).ok().stdout;
    stage.git(&["update-ref", &own, &format!("{}~1", tip.trim())]).ok();
    stage.forget();
    insta::assert_snapshot!("rewound", verify(stage.dir()));
    let range = format!("{base}..HEAD");
    assert_eq!(told(&stage, &stage.andon(&["check", &range])), verify(stage.dir()));
    stage.git(&["update-ref", &own, tip.trim()]).ok();
    // An object is gone: the entries before it cannot be read.
    let gone = stage.git(&["rev-parse", &format!("{own}~1")]).ok().stdout;
    let (dir, file) = gone.trim().split_at(2);
    std::fs::remove_file(stage.path(&format!(".git/objects/{dir}/{file}"))).unwrap();
    insta::assert_snapshot!("cut", verify(stage.dir()));
    let list = stage.andon(&["review"]).ok();
    insta::assert_snapshot!("cut_list", list.stderr);
}

#[test]
fn a_clock_that_was_set_back_is_named() {
    let stage = Stage::installed();
    signed(&stage);
    let round = accepted(&stage);
    let refs = stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout;
    stage.write(
        "../answer.toml",
        "decision = \"reject_round\"\nrationale = \"ask again\"\ntime_spent_seconds = 1\n",
    );
    stage.pass(-500);
    let resolve = ["review", "resolve", &round, "--from", "../answer.toml"];
    insta::assert_snapshot!("clock_before_parent", steady(&stage, &stage.andon(&resolve)));
    stage.pass(-400 * 86_400);
    insta::assert_snapshot!("clock_before_policy", steady(&stage, &stage.andon(&resolve)));
    assert_eq!(stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout, refs);
}

#[test]
fn answers_that_cannot_be_are_named_by_field_and_line() {
    let stage = Stage::installed();
    signed(&stage);
    let round = accepted(&stage);
    let refs = stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout;
    let mut said = String::new();
    let mut try_it = |args: &[&str]| {
        let out = by(&stage, "ann", &[&["review", "resolve"], args].concat());
        said.push_str(&format!(
            "exit {}: {}",
            out.code,
            steady(&stage, &out).split("--- stderr\n").nth(1).unwrap()
        ));
        said.push('\n');
    };
    let fine = ["--decision", "reject_round", "--rationale", "x"];
    for odd in ["", "dead", "deadbeef", "../x", "halt"] {
        try_it(&[&[odd], fine.as_slice()].concat());
    }
    let flags: [&[&str]; 5] = [
        &["--decision", "maybe", "--rationale", "x"],
        &["--decision", "amend", "--rationale", "x"],
        &["--decision", "reject_round", "--rationale", " \n"],
        &["--decision", "accept_opposer", "--rationale", "x"],
        &["--decision", "reject_round", "--rationale", "x", "--attributed-to", "agent:nobody"],
    ];
    for flags in flags {
        try_it(&[&[round.as_str()], flags].concat());
    }
    let long = format!(
        "decision = \"reject_round\"\nrationale = \"{}\"\ntime_spent_seconds = 1\n",
        "x".repeat(10 << 20)
    );
    let files: [&[u8]; 5] = [
        long.as_bytes(),
        b"decision = \"reject_round\"\nrationale = \"x\"\ntime_spent_seconds = -1\n",
        b"decision = \"reject_round\"\nrationale = \"x\"\ntime_spent = 1\n",
        b"decision = \"reject_round\nrationale = \"x\"\n",
        b"\xff\xfe",
    ];
    for text in files {
        stage.write("../answer.toml", text);
        try_it(&[&round, "--from", "../answer.toml"]);
    }
    try_it(&[&round, "--from", "../nowhere.toml"]);
    insta::assert_snapshot!("impossible_answers", said);
    assert_eq!(stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout, refs);
}

#[test]
fn keys_that_cannot_sign_lose_no_answer() {
    let stage = Stage::installed();
    signed(&stage);
    let round = accepted(&stage);
    let refs = stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout;
    stage.write(
        "../answer.toml",
        "decision = \"reject_round\"\nrationale = \"ask again\"\ntime_spent_seconds = 1\n",
    );
    let answer = stage.read("../answer.toml");
    let resolve = ["review", "resolve", &round, "--from", "-"];
    // No agent that holds the key.
    let literal = format!("key::{}", stage.read("../ann.key.pub").trim());
    stage.set("GIT_CONFIG_VALUE_1", &literal);
    let andon = crate::support::andon_path();
    let out = stage.run_in(stage.dir(), andon, &resolve, Some(answer.as_bytes())).exits(2);
    assert!(out.stderr.starts_with("error: nothing was signed: ssh-keygen says: "), "{out}");
    assert_eq!(stage.read(".git/andon/RESOLUTION_EDITMSG"), answer);
    assert_eq!(stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout, refs);
    // With the key it is taken up again.
    by(&stage, "ann", &["review", "resolve", &round, "--from", ".git/andon/RESOLUTION_EDITMSG"]).ok();
    assert!(!stage.exists(".git/andon/RESOLUTION_EDITMSG"));
}

/// `env -u` takes a marker out of the environment of the command, and not out of that of the shell above.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_above_is_seen() {
    let stage = Stage::installed();
    signed(&stage);
    sit_down(&stage, "ann");
    stage.unset("ANDON_TEST_ABOVE");
    stage.set("CLAUDECODE", "1");
    let andon = crate::support::andon_path();
    let andon = andon.to_str().unwrap();
    let mut said = String::new();
    for command in
        ["resume --reason x", "witness revoke human:ann", "review accept 1234", "uninstall --purge"]
    {
        let script = format!("env -u CLAUDECODE {andon} {command}; exit $?");
        let out = stage.run_in(stage.dir(), "sh", &["-c", &script], None).exits(1);
        let text: String = out
            .stderr
            .split(' ')
            .map(|word| if word.parse::<u32>().is_ok() { "<pid> " } else { word }.to_owned() + " ")
            .collect();
        said.push_str(&text.replace("  ", " "));
    }
    insta::assert_snapshot!("agent_above", said);
}
