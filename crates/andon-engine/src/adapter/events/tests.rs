//! Lines in, facts out; hostile lines are named errors.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use andon_core::domain::{Arguments, CallEnd, RunValidity, TestStatus};
use andon_store::{JournalLine, Repair, wire::v1::encode_line};

const NOW: Timestamp = Timestamp(1_795_188_600);

fn frame() -> Frame<'static> {
    static PATTERNS: LazyLock<Normalizer> =
        LazyLock::new(|| Normalizer::new(&[("customer".to_owned(), "cust-[a-z]+".to_owned())]).unwrap());
    Frame { now: NOW, kind: None, purpose: Purpose::Replay, patterns: &PATTERNS }
}

fn fact(line: &str) -> Fact {
    parse(line.as_bytes(), frame()).unwrap_or_else(|error| panic!("{line}: {error}")).fact
}

fn event_in(line: &str) -> Event {
    let Fact::Event(event) = fact(line) else { panic!("{line}") };
    *event
}

#[test]
fn every_line_of_the_design_is_a_fact() {
    for line in [
        r#"{"type":"turn_start","node":"coder","at":"2026-11-20T15:30:00Z"}"#,
        r#"{"type":"tool_call","tool":"Edit","args":{"file_path":"src/a.rs"},"result":"ok","error":false}"#,
        r#"{"type":"output","kind":"message.final","text":"..."}"#,
        r#"{"type":"test_run","code":"abc","status":"failed","total":10,"failing":["a::b"],"errors":["..."]}"#,
        r#"{"type":"usage","context_tokens":150000,"input_tokens":1200,"output_tokens":300,"cost_usd":"0.03"}"#,
        r#"{"type":"verdict","approve":2,"reject":1}"#,
        r#"{"type":"commit","code":"A","diff":"d","subject":"...","kind":"normal"}"#,
        r#"{"type":"turn_end","node":"coder","code":"A"}"#,
        r#"{"type":"ack","by":"...","reason":"..."}"#,
    ] {
        fact(line);
    }
}

#[test]
fn a_commit_may_tell_what_it_changed_as_a_record_does() {
    let line = r#"{"type":"commit","code":"A","change":{"nature":"comments","paths":[["0000000000000001","0000000000000002","0000000000000003"]]},"weakening":{"removed":["a"],"total":1,"failing":2,"ran":9}}"#;
    let Fact::Commit(commit) = fact(line) else { panic!() };
    let change = commit.record.change.unwrap();
    assert_eq!((change.nature, change.paths.len()), (andon_core::domain::Nature::Comments, 1));
    assert_eq!(commit.record.weakening.map(|found| (found.total, found.ran)), Some((1, 9)));
    let wrong = r#"{"type":"commit","code":"A","change":{"paths":[["x"]]}}"#;
    assert!(parse(wrong.as_bytes(), frame()).is_err());
}

#[test]
fn a_test_run_without_a_signature_gets_one() {
    let Fact::TestRun(run) = fact(
        r#"{"type":"test_run","code":"A","status":"failed","total":10,"failing":["b","a","b"],"errors":["x at 0x7ffd5e8c1234"]}"#,
    ) else {
        panic!()
    };
    assert_eq!((run.validity, run.evidence.status), (RunValidity::Valid, TestStatus::Failed));
    assert_eq!(run.evidence.failing, ["a", "b"]);
    assert_eq!((run.evidence.failed, run.evidence.passed), (2, 8));
    let Fact::TestRun(again) = fact(
        r#"{"type":"test_run","code":"B","status":"failed","total":10,"failing":["a","b"],"errors":["x at 0x7ffd5e8c9999"]}"#,
    ) else {
        panic!()
    };
    assert_eq!(run.evidence.signature, again.evidence.signature);
    assert_eq!(run.evidence.errors, again.evidence.errors);
    assert_ne!(run.evidence.code, again.evidence.code);
}

#[test]
fn what_means_nothing_is_a_named_error() {
    for (line, expected) in [
        ("", "not readable as JSON"),
        ("[]", "not a JSON object"),
        (r#"{"tool":"x"}"#, "missing field `type`"),
        (r#"{"type":"dance"}"#, "unknown type \"dance\""),
        (r#"{"type":7}"#, "the member \"type\": invalid type: integer `7`, expected a string"),
        (r#"{"type":"tool_call"}"#, "missing field `tool`"),
        (
            r#"{"type":"tool_call","tool":"x","error":"no"}"#,
            "the member \"error\": invalid type: string \"no\", expected a boolean",
        ),
        (r#"{"type":"output","kind":"message.final"}"#, "missing field `text`"),
        (
            r#"{"type":"output","kind":"poem","text":"x"}"#,
            "the member \"kind\": invalid value: string \"poem\", expected message.final or structured_output",
        ),
        (r#"{"type":"test_run","status":"failed"}"#, "missing field `code`"),
        (r#"{"type":"test_run","code":"A"}"#, "missing field `status`"),
        (r#"{"type":"commit"}"#, "missing field `code`"),
        (
            r#"{"type":"commit","code":"A","kind":"odd"}"#,
            "the member \"kind\": invalid value: string \"odd\", expected a kind of commit",
        ),
        (r#"{"type":"usage","cost_usd":"-1"}"#, "the member \"cost_usd\": \"-1\" is not a decimal number"),
        (
            r#"{"type":"usage","context_tokens":-1}"#,
            "the member \"context_tokens\": invalid type: integer `-1`, expected a whole number",
        ),
        (
            r#"{"type":"usage","cached_tokens":1,"cache_read_input_tokens":2}"#,
            "the member \"cached_tokens\": 1 is not the sum of",
        ),
        (
            r#"{"type":"compaction","session":7}"#,
            "the member \"session\": invalid type: integer `7`, expected a string",
        ),
        (
            r#"{"type":"turn_end","at":"yesterday"}"#,
            "the member \"at\": invalid value: string \"yesterday\", expected an RFC 3339 time",
        ),
    ] {
        let error = parse(line.as_bytes(), frame()).map(|parsed| parsed.fact).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let deep =
        format!(r#"{{"type":"tool_call","tool":"x","args":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    assert!(parse(deep.as_bytes(), frame()).unwrap_err().to_string().contains("not readable as JSON"));
}

#[test]
fn where_a_member_is_missing_an_example_shows_it_and_can_be_read() {
    let table = [
        (r#"{"type":"test_run"}"#, "test_run needs code and status", "andon observe test_run"),
        (r#"{"type":"test_run","code":"A"}"#, "test_run needs code and status", "andon observe test_run"),
        (r#"{"type":"tool_call"}"#, "tool_call needs tool", "andon observe tool_call"),
        (r#"{"type":"output","text":"x"}"#, "output needs kind", "andon observe output"),
        (r#"{"type":"output","kind":"message.final"}"#, "output needs kind", "andon observe output"),
        (r#"{"type":"commit_refused"}"#, "commit_refused needs code", "andon observe event"),
        (r#"{"type":"commit"}"#, "commit needs code", "{"),
    ];
    for (line, needed, command) in table {
        let help = parse(line.as_bytes(), frame()).map(|parsed| parsed.fact).unwrap_err().help();
        assert!(help[0].contains(needed) && help[0].contains(command), "{help:?}");
        let from = help[0].find('{').unwrap();
        let example = &help[0][from..=help[0].rfind('}').unwrap()];
        let kind = serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
        let frame = Frame { kind: Some(&kind), ..frame() };
        assert!(parse(example.as_bytes(), frame).is_ok(), "{example}");
    }
    assert!(parse(b"[]", frame()).unwrap_err().help().is_empty());
}

#[test]
fn members_that_nobody_knows_and_facts_that_tell_nothing_are_named() {
    for (line, expected) in [
        (
            r#"{"type":"usage","context_token":9}"#,
            "unknown member \"context_token\" of usage: did you mean \"context_tokens\"?; known are context_tokens, ",
        ),
        (r#"{"type":"verdict","approved":1}"#, "\"approved\" of verdict: did you mean \"approve\"?"),
        (r#"{"type":"tool_call","tool_name":"Bash"}"#, "\"tool_name\" of tool_call: did you mean \"tool\"?"),
        (
            r#"{"type":"turn_start","zzzzzzzz":1}"#,
            "unknown member \"zzzzzzzz\" of turn_start; known are type, at",
        ),
        (r#"{"type":"toolcall"}"#, "unknown type \"toolcall\": did you mean \"tool_call\"?"),
        (r#"{"type":"usage"}"#, "usage says nothing: at least one of context_tokens, "),
        (r#"{"type":"usage","input_tokens":null}"#, "usage says nothing"),
        (r#"{"type":"verdict","reviewer":"ann"}"#, "verdict says nothing: at least one of approve, reject"),
        (
            r#"{"type":"test_run","code":"A","status":"passed","failing":["a"]}"#,
            "\"failing\" names tests, and the member \"status\" says that all passed",
        ),
        (
            r#"{"type":"tool_call","tool":"x","args":1,"tool_input":2}"#,
            "the member \"tool_input\": 2 contradicts the arguments that the line has",
        ),
    ] {
        let error = parse(line.as_bytes(), frame()).map(|parsed| parsed.fact).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn only_a_whole_number_is_a_count() {
    let places = [
        r#"{"type":"usage","input_tokens":N}"#,
        r#"{"type":"usage","output_lines":N}"#,
        r#"{"type":"verdict","approve":N}"#,
        r#"{"type":"test_run","code":"A","status":"failed","total":N}"#,
        r#"{"type":"commit","code":"A","files":N}"#,
        r#"{"type":"output","kind":"message.final","sha256":"0909090909090909090909090909090909090909090909090909090909090909","lines":N}"#,
    ];
    for place in places {
        for number in ["true", "1.5", "-1", "-0.5", "\"3\"", "18446744073709551616", "1e300", "[1]"] {
            let line = place.replace('N', number);
            let error = parse(line.as_bytes(), frame()).map(|parsed| parsed.fact).unwrap_err().to_string();
            assert!(
                error.contains("the member \"") && error.contains("expected a whole number"),
                "{line}: {error}"
            );
        }
        for count in ["18446744073709551615", "1000.0", "0"] {
            assert!(parse(place.replace('N', count).as_bytes(), frame()).is_ok(), "{place}");
        }
    }
}

#[test]
fn arguments_are_the_same_under_every_name_and_may_be_unknown() {
    let call = |line: &str| {
        let EventKind::ToolCall(call) = event_in(line).what else { panic!("{line}") };
        call
    };
    let known = call(r#"{"type":"tool_call","tool":"Bash","args":{"command":"ls","n":1}}"#);
    assert_eq!(known.args, Arguments::Known);
    for same in [
        r#"{"type":"tool_call","tool":"Bash","tool_input":{"n":1,"command":"ls"}}"#,
        r#"{"type":"tool_call","tool":"Bash","arguments":{"n":1,"command":"ls"}}"#,
        r#"{"type":"tool_call","tool":"Bash","arguments":"{\"n\": 1, \"command\": \"ls\"}"}"#,
        r#"{"type":"tool_call","tool":"Bash","args":{"n":1,"command":"ls"},"arguments":"{\"n\":1,\"command\":\"ls\"}"}"#,
    ] {
        assert_eq!(call(same), known, "{same}");
    }
    assert_eq!(call(r#"{"type":"tool_call","tool":"Bash","args":{}}"#).args, Arguments::Known, "none at all");
    for unknown in
        [r#"{"type":"tool_call","tool":"Bash"}"#, r#"{"type":"tool_call","tool":"Bash","args":null}"#]
    {
        assert_eq!(call(unknown).args, Arguments::Unknown, "{unknown}");
    }
}

#[test]
fn the_short_form_of_a_call_goes_through_the_journal_and_no_secret_does() {
    let told = event_in(
        r#"{"type":"tool_call","tool":"Bash","args":{"command":"push cust-abc ghp_0123456789abcdefghijABCDEFGHIJ456789"},"result":"bash: push: command not found"}"#,
    );
    let EventKind::ToolCall(call) = &told.what else { panic!() };
    assert_eq!(call.shown.as_deref(), Some("Bash: push <customer> <secret>"));
    assert_eq!(call.program.as_deref(), Some("push"));
    let line = encode_line(&JournalLine::Event(Box::new(told.clone())));
    assert_eq!(event_in(line.trim_end()), told);
    // An event in the form of the journal is masked all the same.
    let forged = line.replace("<secret>", "ghp_0123456789abcdefghijABCDEFGHIJ456789");
    assert_eq!(event_in(forged.trim_end()), told);
    let EventKind::ToolCall(unknown) = event_in(r#"{"type":"tool_call","tool":"Bash"}"#).what else {
        panic!()
    };
    assert_eq!(unknown.shown, None);
}

#[test]
fn a_commit_may_be_named_and_nothing_else_follows() {
    let named = |commit: &str| {
        let Fact::Commit(commit) = fact(&format!(r#"{{"type":"commit","code":"A","commit":"{commit}"}}"#))
        else {
            panic!()
        };
        (commit.id, commit.named.map(|commit| commit.short()))
    };
    assert_eq!(named("0404040404040404040404040404040404040404"), (None, Some("040404040404".to_owned())));
    assert_eq!(named("main"), (None, None));
}

#[test]
fn what_hooks_and_people_tell_is_not_observed() {
    let observed = Frame { purpose: Purpose::Observe, ..frame() };
    for (line, expected) in [
        (r#"{"type":"ack","by":"me","reason":"x"}"#, "only a person answers a halt, with andon resume"),
        (r#"{"type":"ack","whatever":1}"#, "only a person answers a halt, with andon resume"),
        (r#"{"type":"commit","code":"A"}"#, "the hooks record it when it is made"),
    ] {
        let error = parse(line.as_bytes(), observed).map(|parsed| parsed.fact).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let healed = encode_line(&JournalLine::Healed(Repair { what: "a lock".into(), at: None }));
    assert!(is_note(healed.as_bytes()) && !is_note(br#"{"type":"dance"}"#));
}

#[test]
fn the_kind_asked_for_stands_in_for_the_type_and_must_agree_with_it() {
    let asked = Frame { kind: Some("verdict"), ..frame() };
    assert!(parse(br#"{"approve":1}"#, asked).is_ok());
    let error = parse(br#"{"type":"usage"}"#, asked).unwrap_err();
    assert_eq!(error.to_string(), "type \"usage\" where \"verdict\" was expected");
}

#[test]
fn a_time_that_is_yet_to_come_does_not_count() {
    let line = br#"{"type":"turn_start","at":"2031-01-01T00:00:00Z"}"#;
    let parsed = parse(line, frame()).unwrap();
    assert!(parsed.odd.is_some_and(|odd| odd.contains("yet to come")));
    let Fact::Event(event) = parsed.fact else { panic!() };
    assert_eq!(event.at, None);
    let skewed = parse(br#"{"type":"turn_start","at":"2026-11-20T15:33:00Z"}"#, frame()).unwrap();
    assert_eq!(skewed.odd, None);
}

#[test]
fn ten_megabytes_of_arguments_are_one_call_and_more_is_too_long() {
    let line = |bytes: usize| {
        format!(r#"{{"type":"tool_call","tool":"Write","args":{{"content":"{}"}}}}"#, "x".repeat(bytes))
    };
    let EventKind::ToolCall(call) = event_in(&line(10 << 20)).what else { panic!() };
    assert_eq!((call.tool.as_str(), call.end), ("Write", CallEnd::Unknown));
    let around = line(0).len();
    let whole = line((11 << 20) - around);
    assert!(matches!(Lines::new(whole.as_bytes()).next_line().unwrap(), Some(Line::Text(_))));
    let stream = format!("{}\n{}\n{{}}\n", line((11 << 20) - around + 1), line(1));
    let mut lines = Lines::new(std::io::BufReader::new(stream.as_bytes()));
    assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
    assert!(matches!(lines.next_line().unwrap(), Some(Line::Text(text)) if text.starts_with(b"{\"type\"")));
    assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"{}")));
    assert_eq!(lines.next_line().unwrap(), None);
}

#[test]
fn outputs_are_compared_without_times_ids_and_white_space() {
    let hash = |text: &str| {
        let line = serde_json::json!({"type":"output","kind":"message.final","text":text}).to_string();
        let EventKind::Output(output) = event_in(&line).what else { panic!() };
        output.hash
    };
    let long = "The parser was done at";
    assert_eq!(
        hash(&format!("{long} 2026-11-20T15:30:00Z.\n")),
        hash(&format!("{long}  2026-11-21T16:31:00Z."))
    );
    assert_ne!(hash(&format!("{long} noon")), hash(&format!("{long} night")));
    for short in
        ["", "Done.", "ok", "All tests pass.", "Done at 2026-11-20T15:30:00Z.", "----------------------"]
    {
        assert_eq!(hash(short), None, "{short}");
        assert_eq!(final_message(short).hash, None, "{short}");
    }
    assert!(final_message(long).hash.is_some());
    let handed_in =
        r#"{"type":"output","kind":"structured_output","sha256":"SHA"}"#.replace("SHA", &"ab".repeat(32));
    let EventKind::Output(output) = event_in(&handed_in).what else { panic!() };
    assert_eq!(output.hash, Some(Digest([0xab; 32])));
    let text = |line: &str| {
        let EventKind::Output(output) = event_in(line).what else { panic!() };
        output.hash
    };
    assert_eq!(
        text(r#"{"type":"output","kind":"structured_output","text":{"first":"parser","second":"lexer"}}"#),
        text(r#"{"type":"output","kind":"structured_output","text":{"second":"lexer","first":"parser"}}"#),
    );
}

#[test]
fn the_journal_is_read_back_as_it_was_kept() {
    for line in [
        r#"{"type":"turn_start","node":"coder","at":"2026-11-20T15:30:00Z","id":"7"}"#,
        r#"{"type":"turn_start","session":"auto-1","model":"m-4","prompt_hash":"sha256:def"}"#,
        r#"{"type":"tool_call","tool":"Edit","args":{"file_path":"src/a.rs"},"result":"ok","error":false}"#,
        r#"{"type":"output","kind":"message.final","text":"..."}"#,
        r#"{"type":"output","kind":"message.final","text":"I have implemented the next item of the plan."}"#,
        r#"{"type":"usage","context_tokens":150000,"cost_usd":0.03}"#,
        r#"{"type":"usage","cache_read_input_tokens":7,"cache_creation_input_tokens":1,"output_lines":3,"session":"s"}"#,
        r#"{"type":"output","kind":"message.final","sha256":"0909090909090909090909090909090909090909090909090909090909090909","lines":4}"#,
        r#"{"type":"compaction","session":"s"}"#,
        r#"{"type":"tool_call","tool":"Bash"}"#,
        r#"{"type":"session_start"}"#,
        r#"{"type":"prompt","session":"s"}"#,
        r#"{"type":"verdict","reviewer":"ann","approve":2,"reject":1}"#,
        r#"{"type":"turn_end","node":"coder","code":"A","docs":"B"}"#,
    ] {
        let Fact::Event(event) = fact(line) else { panic!() };
        let kept = encode_line(&JournalLine::Event(event.clone()));
        assert_eq!(decode_line(kept.as_bytes()), Ok(JournalLine::Event(event.clone())), "{kept}");
        let Fact::Event(replayed) = fact(kept.trim_end()) else { panic!() };
        // An id is hashed once more: what is the same stays the same.
        assert_eq!(Event { id: None, ..*replayed }, Event { id: None, ..*event }, "{kept}");
    }
}

proptest! {
    #[test]
    fn no_line_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes, frame());
    }

    #[test]
    fn no_members_panic(
        kind in prop::sample::select(vec!["turn_start", "tool_call", "output", "test_run", "usage", "verdict", "commit", "turn_end", "ack", "compaction", "session_start"]),
        keys in prop::collection::vec(prop::sample::select(vec![
            "tool", "args", "result", "error", "kind", "text", "sha256", "code", "status", "total", "failing", "errors",
            "approve", "cost_usd", "context_tokens", "cached_tokens", "lines", "session", "at", "node", "id", "call", "answer", "hunks", "validity", "input_tokens",
        ]), 0..6),
        values in prop::collection::vec(prop::sample::select(vec![
            "null", "true", "-1", "1e400", "\"\"", "\"failed\"", "[]", "[[]]", "{}", "[\"a\",[\"b\",\"c\"]]", "18446744073709551616", "\"0.1\"",
        ]), 6),
    ) {
        let members: Vec<String> = keys.iter().zip(&values).map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let line = format!("{{\"type\":\"{kind}\"{}{}}}", if members.is_empty() { "" } else { "," }, members.join(","));
        let _ = parse(line.as_bytes(), frame());
    }

    #[test]
    fn lines_are_those_of_the_text(text in "[a-c\n\r ]{0,80}") {
        let mut lines = Lines::new(std::io::BufReader::with_capacity(3, text.as_bytes()));
        let mut found = Vec::new();
        while let Some(Line::Text(line)) = lines.next_line().unwrap() {
            found.push(String::from_utf8(line.to_vec()).unwrap());
        }
        let expected: Vec<String> = text.split_inclusive('\n').map(|line| line.trim().to_owned()).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_line_without_a_time_has_the_latest_that_was_told_before_it() {
    let mut dates = Dates::default();
    let mut at = |line: &str| match dates.date(parse(line.as_bytes(), frame()).unwrap()).fact {
        Fact::Event(event) => event.at,
        Fact::TestRun(run) => run.at,
        Fact::Commit(commit) => Some(commit.record.recorded_at),
        Fact::Ack(ack) => Some(ack.at),
    };
    let first: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
    let second: Timestamp = "2026-11-20T11:00:00Z".parse().unwrap();
    assert_eq!(at(r#"{"type":"turn_start"}"#), None, "nothing was told yet");
    assert_eq!(at(r#"{"type":"commit","code":"a"}"#), Some(Timestamp(0)));
    assert_eq!(at(r#"{"type":"turn_start","at":"2026-11-20T11:00:00Z"}"#), Some(second));
    assert_eq!(at(r#"{"type":"turn_end"}"#), Some(second));
    assert_eq!(at(r#"{"type":"turn_start","at":"2026-11-20T10:00:00Z"}"#), Some(first));
    assert_eq!(at(r#"{"type":"turn_end"}"#), Some(second), "a clock that was set back dates nothing else");
    assert_eq!(at(r#"{"type":"turn_end","at":"2999-01-01T00:00:00Z"}"#), Some(second), "what cannot be true");
    assert_eq!(at(r#"{"type":"test_run","code":"a","status":"passed"}"#), Some(second));
    assert_eq!(at(r#"{"type":"commit","code":"b"}"#), Some(second));
    assert_eq!(at(r#"{"type":"ack"}"#), Some(second));
}
