use proptest::prelude::*;

use super::*;
use andon_core::domain::CallEnd;

#[test]
fn wrong_types_are_unknown_and_others_members_ignored() {
    let payload = read(
        Client::Claude,
        "PreToolUse",
        br#"{"session_id":7,"cwd":["x"],"tool_name":"Bash","tool_input":"x","stop_hook_active":"yes","new":{"a":1}}"#,
    )
    .unwrap();
    assert_eq!((payload.session, payload.cwd, payload.continued), (None, None, None));
    assert_eq!(payload.calls[0].used.commands, ["x"]);
    for (client, _) in Client::ALL {
        assert_eq!(read(client, "PreToolUse", b"{}").unwrap().calls, []);
        assert!(read(client, "PreToolUse", b"[]").is_err());
        assert!(read(client, "PreToolUse", b"{\"a\":").is_err());
        assert!(read(client, "PreToolUse", &b"[".repeat(100_000)).is_err());
        let odd = br#" {"unknown":[1e999,{"a":"\u0000"}],"tool_name":{},"cwd":"/w"}"#;
        assert!(read(client, "PreToolUse", odd).is_ok(), "{client:?}");
        assert_eq!(moment(client, "No such event"), None);
    }
}

#[test]
fn a_payload_as_large_as_the_bound_is_read_and_one_byte_more_is_not() {
    let mut payload = br#"{"session_id":"s""#.to_vec();
    payload.resize(MAX_PAYLOAD - 1, b' ');
    payload.push(b'}');
    assert!(read(Client::Claude, "Stop", &payload).unwrap().session.is_some());
    payload.push(b' ');
    let error = read(Client::Claude, "Stop", &payload).unwrap_err().to_string();
    assert!(error.contains("67108865") && error.contains("67108864"), "{error}");
}

#[test]
fn calls_of_a_batch_are_read_from_the_event_of_a_batch_alone() {
    let bytes = br#"{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make"},"tool_response":{"stdout":"built"},
        "tool_calls":[{"tool_name":"Edit","tool_use_id":"t2","tool_response":"<tool_use_error>no</tool_use_error>"}]}"#;
    for (event, name, end) in
        [("PostToolUse", "Bash", CallEnd::Done), ("PostToolBatch", "Edit", CallEnd::Failed)]
    {
        let calls = read(Client::Claude, event, bytes).unwrap().calls;
        assert_eq!(calls.len(), 1, "{event}");
        assert_eq!((calls[0].used.name.as_str(), calls[0].used.end), (name, end), "{event}");
    }
}

/// Programs that start the hooks which are written for Claude Code, by their documentation.
#[test]
fn foreign_callers_are_understood() {
    for (payload, session, command) in [
        (
            r#"{"hookEventName":"PreToolUse","sessionId":"v1","cwd":"/w","tool_name":"run_in_terminal","tool_use_id":"t",
               "tool_input":{"command":"npm test","isBackground":false}}"#,
            "v1",
            "npm test",
        ),
        (
            r#"{"conversation_id":"c1","workspace_roots":["/w"],"tool_name":"Shell","tool_input":{"command":"make"}}"#,
            "c1",
            "make",
        ),
        (
            r#"{"sessionId":"g1","cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"make\"}"}"#,
            "g1",
            "make",
        ),
        (
            r#"{"session_id":"d1","cwd":"/w","toolName":"exec","toolInput":{"command":"make"},"toolUseId":"u"}"#,
            "d1",
            "make",
        ),
    ] {
        let read = read(Client::Claude, "PreToolUse", payload.as_bytes()).unwrap();
        assert_eq!((read.session.as_deref(), read.cwd.as_deref()), (Some(session), Some("/w")), "{payload}");
        assert_eq!(read.calls[0].used.commands, [command], "{payload}");
    }
    let after = r#"{"sessionId":"v1","tool_name":"run_in_terminal","tool_input":{"command":"npm test"},"tool_response":"1 failed"}"#;
    let call = read(Client::Claude, "PostToolUse", after.as_bytes()).unwrap().calls.remove(0);
    assert_eq!(call.result, Some(Value::from("1 failed")));
}

#[test]
fn what_arguments_name_is_found() {
    let called =
        |name: &str, args: &str| tools::called(name, None, Some(serde_json::from_str(args).unwrap())).used;
    for (name, args, commands, paths) in [
        ("shell", r#"{"command":["bash","-lc","make x"]}"#, &["make x"][..], &[][..]),
        ("shell", r#"{"command":["git","-c","a b"]}"#, &["git -c 'a b'"], &[]),
        ("shell", r#"{"command":["sh","-c","it's","x"]}"#, &["sh -c 'it'\\''s' x"], &[]),
        ("mcp__py__run", r#"{"code":"import os"}"#, &["import os"], &[]),
        ("mcp__term__write_line", r#"{"command":"git commit -n"}"#, &["git commit -n"], &[]),
        ("mcp__fs__move", r#"{"source":"a","destination":"b"}"#, &[], &["b", "a"]),
        ("mcp__fs__read", r#"{"paths":["a",{"path":"b"},3]}"#, &[], &["a", "b"]),
        ("mcp__x__write", r#"{"uri":"file:///w/a"}"#, &[], &["/w/a"]),
        ("MultiEdit", r#"{"edits":[{"file_path":"a"},{"path":"b"},7]}"#, &[], &["a", "b"]),
        ("apply_patch", r#"{"input":"*** Update File: a\n+*** x\n*** Move to: b"}"#, &[], &["a", "b"]),
    ] {
        let used = called(name, args);
        assert_eq!((used.commands, used.paths), (text(commands), text(paths)), "{args}");
    }
}

#[test]
fn a_halted_session_ends_where_the_client_has_a_way() {
    let payload = br#"{"sessionId":"g1","toolName":"bash","toolInput":{"command":"make"}}"#;
    let edit = br#"{"sessionId":"g1","toolName":"edit","toolInput":{"path":"a"}}"#;
    let (refuse, stop) = (Instruction::Refuse("why".to_owned()), Instruction::Stop("why".to_owned()));
    for (client, event, payload, say, expected) in [
        (Client::Copilot, "userPromptSubmitted", payload, &refuse, (0, r#""decision":"block""#)),
        (Client::Copilot, "preToolUse", payload, &refuse, (2, r#""permissionDecision":"deny""#)),
        (Client::Copilot, "preToolUse", payload, &stop, (0, r#""command":"false""#)),
        (Client::Copilot, "permissionRequest", payload, &refuse, (0, r#""interrupt":false"#)),
        (Client::Copilot, "permissionRequest", payload, &stop, (0, r#""interrupt":true"#)),
        (Client::Kimi, "UserPromptSubmit", payload, &refuse, (2, "")),
        (Client::Codex, "UserPromptSubmit", payload, &refuse, (0, r#""decision":"block""#)),
    ] {
        let moment = moment(client, event).unwrap();
        let calls = read(client, event, payload).unwrap().calls;
        let said = reply(client, event, moment, &calls, say);
        assert_eq!(said.exit, expected.0, "{event}: {said:?}");
        assert!(said.stdout.contains(expected.1), "{event}: {said:?}");
    }
    let calls = read(Client::Copilot, "preToolUse", edit).unwrap().calls;
    let said = reply(Client::Copilot, "preToolUse", HookMoment::BeforeTool, &calls, &stop);
    assert_eq!(said.exit, 2, "{said:?}");
}

fn text(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

proptest! {
    #[test]
    fn no_payload_breaks_a_reader(members in prop::collection::btree_map(
        prop::sample::select(vec![
            "session_id", "tool_name", "tool_input", "tool_response", "toolName", "toolArgs", "toolResult", "tool_result",
            "input", "output", "properties", "type", "tool_call", "llm_response", "tool_calls", "workspaceRoots", "error",
        ]),
        prop::sample::select(vec![
            "null", "1", "\"a\"", "\"{\\\"command\\\":1}\"", "[]", "[1,{}]", "{}", "{\"command\":[\"sh\",\"-c\",\"x\"]}",
            "{\"commands\":[{}]}", "{\"tool\":\"bash\",\"sessionID\":3}", "{\"exit_code\":-1,\"content\":[{}]}",
        ]),
        0..6,
    )) {
        let body: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let json = format!("{{{}}}", body.join(","));
        for (client, _) in Client::ALL {
            for event in ["PreToolUse", "PostToolUse", "postToolUse", "AfterTool", "AfterModel", "PostToolBatch",
                "tool.execute.after", "event", "stop", "afterShellExecution"] {
                prop_assert!(read(client, event, json.as_bytes()).is_ok(), "{json}");
            }
        }
    }
}

#[test]
fn each_client_is_read_and_its_refusal_known() {
    for (client, name) in Client::ALL {
        let (event, text) = canary(client, "s1");
        assert_eq!(moment(client, event), Some(HookMoment::BeforeTool), "{name}");
        let payload = read(client, event, text.as_bytes()).unwrap();
        assert_eq!(payload.session.as_deref(), Some("s1"), "{name}");
        assert_eq!(payload.calls[0].used.commands, [DISARMS], "{name}");
        let asked = HookMoment::BeforeTool;
        let refusal = reply(client, event, asked, &payload.calls, &Instruction::Refuse("no".into()));
        assert!(has_refused(client, Some(refusal.exit.into()), &refusal.stdout), "{name}");
        let nothing = reply(client, event, asked, &payload.calls, &Instruction::Nothing);
        assert!(!has_refused(client, Some(nothing.exit.into()), &nothing.stdout), "{name}");
    }
}
