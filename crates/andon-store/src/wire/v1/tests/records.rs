//! Commit records.

use super::*;

#[test]
fn golden_records_are_written_and_read_byte_for_byte() {
    for (golden, record) in [(FULL, full()), (MINIMAL, minimal())] {
        assert_eq!(encode_commit(&record, &UnknownKeys::default()), golden);
        let decoded = decode_commit(golden.as_bytes()).unwrap();
        assert_eq!(decoded.record, record);
        assert!(decoded.extra.is_empty());
    }
}

#[test]
fn a_moved_attempt_is_written_and_read_byte_for_byte() {
    let first = CommitId(Oid::from_bytes(&[7; 20]).unwrap());
    let tests = Some(evidence());
    let (parent, kind, code) = (Some(first), CommitKind::Amend, CodeId([3; 32]));
    let record = CommitRecord {
        carries: Some(Box::new(CarriedAttempt { commit: first, parent, kind, code, tests })),
        ..minimal()
    };
    assert_eq!(encode_commit(&record, &UnknownKeys::default()), MOVED);
    assert_eq!(decode_commit(MOVED.as_bytes()).unwrap().record, record);
}

#[test]
fn a_patch_that_was_recorded_later_is_written_and_read_byte_for_byte() {
    let record = CommitRecord { recording: Recording::Patched, ..minimal() };
    assert_eq!(encode_commit(&record, &UnknownKeys::default()), PATCH);
    assert_eq!(decode_commit(PATCH.as_bytes()).unwrap().record, record);
    // An earlier version, which does not know the key, reads a record that was caught up.
    assert!(PATCH.starts_with(r#"{"caught_up":true,"#));
}

#[test]
fn what_a_newer_minor_version_wrote_survives_a_rewrite() {
    let decoded = decode_commit(NEWER.as_bytes()).unwrap();
    assert_eq!(decoded.record, full());
    assert_eq!(encode_commit(&decoded.record, &decoded.extra), NEWER);
    // An unknown member for which this version has no place is left out rather than made up.
    let without = encode_commit(&minimal(), &decoded.extra);
    assert_eq!(decode_commit(without.as_bytes()).unwrap().record, minimal());
    assert!(!without.contains("\"tests\"") && without.contains("future"), "{without}");
}

#[test]
fn keys_are_sorted() {
    let keys: Vec<&str> =
        FULL.split("\",\"").filter_map(|part| part.split_once("\":")).map(|(key, _)| key).collect();
    assert!(keys.len() > 10);
    let decoded: serde_json::Value = serde_json::from_str(FULL).unwrap();
    let top: Vec<&String> = decoded.as_object().unwrap().keys().collect();
    assert!(top.is_sorted());
    assert_eq!(decoded.to_string() + "\n", FULL);
}

#[test]
fn another_major_version_is_named() {
    for schema in ["andon/commit@2", "andon/commit@10", "andon/commit@1x", "other/thing@1", ""] {
        let line = FULL.replace("andon/commit@1", schema);
        let error = decode_commit(line.as_bytes()).unwrap_err();
        assert_eq!(error, FormatError::Schema { found: schema.into(), expected: SCHEMA });
    }
}

#[test]
fn a_member_that_every_record_has_may_not_be_missing() {
    for key in ["schema", "recorded_at", "tree", "kind", "gate", "iteration", "code", "diff"] {
        let mut value: serde_json::Value = serde_json::from_str(FULL).unwrap();
        value.as_object_mut().unwrap().remove(key);
        let error = decode_commit(value.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("missing field `{key}`")), "{error}");
    }
}

#[test]
fn a_truncated_record_is_an_error_at_every_length() {
    for end in 0..FULL.len() - 2 {
        assert!(decode_commit(&FULL.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn lists_and_texts_are_bounded_both_ways() {
    let mut record = full();
    record.diff.hunks = vec![Hunk { removed: HunkHash([5; 8]), added: HunkHash([6; 8]) }; 300];
    record.session = Some("\u{1}".repeat(1 << 20));
    record.findings =
        vec![RecordedFinding { rule: "x".into(), level: Level::Warn, message: "\u{1}".repeat(9_000) }; 99];
    let tests = record.tests.as_mut().unwrap();
    tests.failing = vec!["\u{1}".repeat(9_000); 600];
    tests.command = "\u{1}".repeat(9_000);
    let line = encode_commit(&record, &UnknownKeys::default());
    assert!(line.len() < MAX_LINE / 2, "{}", line.len());
    let read = decode_commit(line.as_bytes()).unwrap().record;
    assert_eq!((read.diff.hunks.len(), read.diff.truncated), (256, true));
    let tests = read.tests.unwrap();
    assert_eq!((tests.failing.len(), tests.truncated), (512, true));
    let long = FULL.replace("[\"suite::name\"", &format!("[{}\"suite::name\"", "\"a\",".repeat(600)));
    let tests = decode_commit(long.as_bytes()).unwrap().record.tests.unwrap();
    assert_eq!((tests.failing.len(), tests.truncated), (512, true));
}

#[test]
fn size_is_bounded_before_parsing() {
    let padded = |bytes: usize| FULL.trim_end().to_owned() + &" ".repeat(bytes - FULL.trim_end().len());
    assert!(decode_commit(padded(MAX_LINE).as_bytes()).is_ok());
    assert!(matches!(decode_commit(padded(MAX_LINE + 1).as_bytes()), Err(FormatError::TooLarge { .. })));
    let huge = format!("{{\"x\":\"{}\"}}", "a".repeat(MAX_LINE));
    assert!(matches!(decode_commit(huge.as_bytes()), Err(FormatError::TooLarge { .. })));
    assert!(matches!(decode_line(huge.as_bytes()), Err(FormatError::TooLarge { .. })));
    let unknown = FULL.replacen('{', &format!("{{\"x\":\"{}\",", "a".repeat(600 << 10)), 1);
    assert!(matches!(decode_commit(unknown.as_bytes()), Err(FormatError::TooLarge { .. })));
}

#[test]
fn the_digest_leaves_the_line_end_out() {
    assert_eq!(line_digest(FULL.as_bytes()), line_digest(FULL.trim_end().as_bytes()));
    assert_ne!(line_digest(FULL.as_bytes()), line_digest(MINIMAL.as_bytes()));
}

#[test]
fn what_a_diff_is_made_of_is_optional_and_a_word_of_a_later_version_is_work() {
    let change = r#","change":{"nature":"poetry","paths":[],"truncated":false,"verses":4},"#;
    let line = FULL.trim_end().replacen(r#","code":"#, &format!("{change}\"code\":"), 1);
    let decoded = decode_commit(line.as_bytes()).unwrap();
    let found = decoded.record.change.clone().unwrap();
    assert_eq!((found.nature, found.paths.len(), found.docs), (Nature::Work, 0, None));
    assert!(encode_commit(&decoded.record, &decoded.extra).contains(r#""verses":4"#));
    assert_eq!(decode_commit(FULL.as_bytes()).unwrap().record.change, None);
    assert!(decode_commit(line.replace("\"paths\":[]", "\"paths\":[[1]]").as_bytes()).is_err());
}

#[test]
fn a_skip_without_its_rule_is_no_record() {
    let with = |skips: &str| {
        FULL.trim_end().replacen(r#","tests":"#, &format!(",\"skipped\":{skips},\"tests\":"), 1)
    };
    let decoded = decode_commit(with(r#"[{"rule":"untested-edit"}]"#).as_bytes()).unwrap();
    assert_eq!(
        decoded.record.skipped,
        [Skip { rule: "untested-edit".into(), reason: String::new(), agent: None }]
    );
    assert!(decode_commit(with(r#"[{"reason":"x"}]"#).as_bytes()).is_err());
}

proptest! {
    #[test]
    fn records_survive_a_round_trip(record in any_record()) {
        let line = encode_commit(&record, &UnknownKeys::default());
        prop_assert_eq!(line.matches('\n').count(), 1);
        let decoded = decode_commit(line.as_bytes()).unwrap();
        prop_assert_eq!(&decoded.record, &record);
        prop_assert_eq!(encode_commit(&decoded.record, &decoded.extra), line);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode_commit(&bytes);
        let _ = decode_line(&bytes);
    }

    #[test]
    fn a_damaged_record_never_panics_and_never_grows(at in 0..FULL.len(), byte in any::<u8>()) {
        let mut bytes = FULL.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(decoded) = decode_commit(&bytes) {
            let line = encode_commit(&decoded.record, &decoded.extra);
            prop_assert_eq!(decode_commit(line.as_bytes()).unwrap(), decoded);
        }
        let mut journal = JOURNAL.as_bytes().to_vec();
        journal[at % JOURNAL.len()] = byte;
        for line in journal.split(|byte| *byte == b'\n') {
            let _ = decode_line(line);
        }
    }
}

#[test]
fn golden_tests_of_scopes() {
    let scope = |name: &str, byte: u8, status: TestStatus, failing: &[&str]| ScopeTests {
        name: name.to_owned(),
        needs: if name == "cli" { vec!["core".to_owned()] } else { Vec::new() },
        tests: TestEvidence {
            total: 3,
            passed: 3 - failing.len() as u64,
            failed: failing.len() as u64,
            failing: failing.iter().map(|&id| id.to_owned()).collect(),
            runner: "cargo".to_owned(),
            command: format!("cargo test -p {name}"),
            ..TestEvidence::new(CodeId([byte; 32]), status, Signature([byte; 32]))
        },
        from: (name == "core").then_some(CommitId(oid(4))),
    };
    let rows = vec![
        scope("cli", 1, TestStatus::Failed, &["suite::name"]),
        scope("core", 2, TestStatus::Passed, &[]),
    ];
    let tests = TestEvidence::together(CodeId([3; 32]), rows);
    let record = CommitRecord { tests: Some(tests), ..minimal() };
    assert_eq!(encode_commit(&record, &UnknownKeys::default()), SCOPES);
    assert_eq!(decode_commit(SCOPES.as_bytes()).unwrap().record, record);
}

#[test]
fn what_a_commit_took_from_the_tests_says_no_more_than_it_must() {
    let text = |line: &str| {
        let at = line.find("\"weakening\":").unwrap();
        line[at..].trim_end().trim_end_matches('}').to_owned()
    };
    let few = Weakening { removed: vec!["a".into()], total: 1, ..Weakening::default() };
    let many = Weakening {
        removed: vec!["\u{1}".repeat(99); 40],
        skipped: vec!["b".into()],
        total: 50,
        extent: Extent::About,
        rows: 2,
        failing: 3,
        ran: 9,
        waiver: Some("moved".into()),
        ..Weakening::default()
    };
    let written = |weakening| {
        encode_commit(&CommitRecord { weakening: Some(weakening), ..minimal() }, &UnknownKeys::default())
    };
    assert_eq!(text(&written(few.clone())), r#""weakening":{"failing":0,"ran":0,"removed":["a"],"total":1"#);
    assert_eq!(decode_commit(written(few.clone()).as_bytes()).unwrap().record.weakening, Some(few));
    let line = written(many.clone());
    let kept = decode_commit(line.as_bytes()).unwrap().record.weakening.unwrap();
    let removed = vec!["\u{1}".repeat(42); Weakening::MAX_NAMES];
    assert_eq!(kept, Weakening { removed, ..many });
    let later = line.replace(r#""extent":"about""#, r#""extent":"roughly","loosened":null"#);
    assert_eq!(decode_commit(later.as_bytes()).unwrap().record.weakening, Some(kept));
}

#[test]
fn a_row_of_scopes_holds_no_remarks_and_its_errors_name_the_member() {
    let with = |row: &str| SCOPES.replacen("\"core\":{", &format!("\"core\":{{{row},"), 1);
    let golden = decode_commit(SCOPES.as_bytes()).unwrap();
    for row in [
        r#""handed_in":true,"said":[{"test":"a"}],"lost":{"gone":["a"]}"#,
        r#""scopes":{"a":{}},"names":7,"untracked":null"#,
        r#""failing":null,"needs":[],"errored":0.0,"truncated":false"#,
    ] {
        let decoded = decode_commit(with(row).as_bytes()).unwrap();
        assert_eq!(decoded, golden, "{row}");
    }
    let many = format!(r#""failing":[{}"a"],"needs":["cli","web"]"#, "\"a\",".repeat(600));
    let decoded = decode_commit(with(&many).as_bytes()).unwrap();
    let row = decoded.record.tests.as_ref().unwrap().of_scope("core").unwrap().clone();
    assert_eq!((row.tests.failing.len(), row.tests.truncated, row.needs.len()), (512, true, 2));
    let line = encode_commit(&decoded.record, &decoded.extra);
    assert_eq!(decode_commit(line.as_bytes()).unwrap(), decoded);
    for (row, said) in [
        (r#""errored":-1"#, r#"the member "tests.scopes.core.errored": invalid type"#),
        (r#""needs":"cli""#, r#"the member "tests.scopes.core.needs": invalid type"#),
        (r#""needs":[],"needs":[]"#, r#"the member "tests.scopes.core": duplicate field `needs`"#),
        (r#""total":1"#, r#"the member "tests.scopes.core": duplicate field `total`"#),
    ] {
        let error = decode_commit(with(row).as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(said), "{row}: {error}");
    }
}

#[test]
fn the_members_of_tests_are_lenient_where_they_always_were() {
    let with = |members: &str| FULL.replacen("\"runner\":\"cargo\"", members, 1);
    let tests = |members: &str| decode_commit(with(members).as_bytes()).unwrap().record.tests.unwrap();
    let none = TestEvidence { runner: String::new(), ..evidence() };
    for members in [
        r#""runner":null,"handed_in":null,"names":null,"lost":null,"said":null,"scopes":null,"full_run":null"#,
        r#""handed_in":false,"names":{},"lost":{},"said":[],"scopes":{},"flaky_tests":[],"x":1"#,
    ] {
        assert_eq!(tests(members), none, "{members}");
    }
    let all = |count: usize| format!(r#""names":{{"all":["a"{}]}}"#, r#","a""#.repeat(count - 1));
    let whole = SetNames::All(vec!["a".to_owned(); SetNames::MAX_ALL]);
    assert_eq!(tests(&all(SetNames::MAX_ALL)).names, Some(whole));
    assert_eq!(tests(&all(SetNames::MAX_ALL + 1)).names, None, "a cut list says nothing");
    let long = format!(r#""said":[{{"test":"a","error":"{}"}}]"#, "x".repeat(999));
    assert_eq!(tests(&long).said[0].error.as_ref().unwrap().len(), 200);
    let names = format!(r#""scopes":{{"{}":{{}}}}"#, "x".repeat(257));
    assert!(decode_commit(with(&names).as_bytes()).is_err(), "a row without a code is none");
}

#[test]
fn a_note_cannot_claim_that_a_record_was_derived() {
    let derived = CommitRecord { recording: Recording::Derived, ..minimal() };
    assert_eq!(encode_commit(&derived, &UnknownKeys::default()), MINIMAL);
    let line = MINIMAL.replacen('{', r#"{"recording":"Derived","#, 1);
    let decoded = decode_commit(line.as_bytes()).unwrap();
    assert_eq!(decoded.record, minimal());
    assert!(
        encode_commit(&decoded.record, &decoded.extra).contains(r#""recording":"Derived""#),
        "kept as unknown"
    );
    assert_eq!(crate::wire::envelope::decoded(&crate::wire::envelope::bytes_of(&derived)), Some(derived));
}

#[test]
fn what_a_line_says_of_its_chain_is_read_whatever_else_is_there() {
    let prev = Digest([6; 32]);
    for (members, record) in [
        (r#""begins":true"#.to_owned(), CommitRecord { prev: PrevRecord::Absent, ..minimal() }),
        (r#""begins":false,"prev":null"#.to_owned(), minimal()),
        (
            format!(r#""begins":true,"prev":"{prev}""#),
            CommitRecord { prev: PrevRecord::Line(prev), ..minimal() },
        ),
        (r#""patch":true"#.to_owned(), minimal()),
        (
            r#""caught_up":true,"backfilled":true"#.to_owned(),
            CommitRecord { recording: Recording::Backfilled, ..minimal() },
        ),
        (
            r#""caught_up":true,"patch":false"#.to_owned(),
            CommitRecord { recording: Recording::CaughtUp, ..minimal() },
        ),
    ] {
        let line = MINIMAL.replacen('{', &format!("{{{members},"), 1);
        let decoded = decode_commit(line.as_bytes()).unwrap();
        assert_eq!((&decoded.record, decoded.extra.is_empty()), (&record, true), "{members}");
    }
    for (members, said) in [
        (r#""prev":7"#, r#"the member "prev": invalid type"#),
        (r#""begins":"yes""#, r#"the member "begins": invalid type"#),
        (r#""prev":null,"prev":null"#, "duplicate field `prev`"),
        (r#""schema":"andon/commit@1""#, "duplicate field `schema`"),
        (r#""iteration":null"#, "the member \"iteration\": invalid type"),
    ] {
        let line = MINIMAL.replacen(r#""iteration":1,"#, "", usize::from(members.starts_with("\"iter")));
        let error = decode_commit(line.replacen('{', &format!("{{{members},"), 1).as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(said), "{members}: {error}");
    }
}

#[test]
fn lenient_members_of_a_record_stay_lenient() {
    let heads = |heads: &str| {
        MINIMAL.replacen('{', &format!("{{\"ledger\":{heads},\"usage\":{{\"cached_tokens\":4}},"), 1)
    };
    let entry = EntryId([7; 32]);
    let decoded = decode_commit(heads(&format!(r#"{{"a":"{entry}","b":7,"c":"x"}}"#)).as_bytes()).unwrap();
    assert_eq!(decoded.record.ledger.into_iter().collect::<Vec<_>>(), [("a".to_owned(), entry)]);
    assert_eq!(decoded.record.usage, Some(Usage::default()));
    let decoded = decode_commit(heads("null").as_bytes()).unwrap();
    let line = encode_commit(&decoded.record, &decoded.extra);
    assert!(line.contains(r#""usage":{"cached_tokens":4}"#), "kept as unknown: {line}");
    for node in [r#""node":null,"#, ""] {
        let line = MINIMAL.replacen(r#""node":"agent","#, node, 1);
        assert_eq!(decode_commit(line.as_bytes()).unwrap().record.node, "agent");
    }
    let many: Vec<String> = (10..40).map(|writer| format!(r#""{writer}":"{entry}""#)).collect();
    let decoded = decode_commit(heads(&format!("{{{}}}", many.join(","))).as_bytes()).unwrap();
    assert_eq!(decoded.record.ledger.len(), CommitRecord::MAX_LEDGERS);
}
