use proptest::prelude::*;

use super::*;
use crate::TestStatus;
use crate::run::{ExitKind, ParsedRun};

const GO: &str = "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T\"}\n\
                  {\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n";

fn read(chunks: &[&[u8]]) -> Option<ParsedRun> {
    let mut reader = JsonReader::new(&Root::none(), "out");
    for chunk in chunks {
        reader.push(chunk);
    }
    Some(ParsedRun::conclude(reader.finish(None)?, ExitKind::Code(0)))
}

#[test]
fn what_is_between_does_not_matter() {
    let around = [
        "",
        "hello\n",
        "{\n",
        "{\n}\n",
        "{foo}\n",
        "{\"level\":\"info\"}\n",
        "{\"Action\":7}\n",
        "}\n",
        "{ \"a\": [\n  1\n] }\n",
        "FAIL\n",
    ];
    for noise in around {
        for text in
            [format!("{noise}{GO}"), format!("{GO}{noise}"), GO.replace('\n', &format!("\r\n{noise}"))]
        {
            let run = read(&[text.as_bytes()]).expect("go");
            assert_eq!((run.status, run.counts.total), (TestStatus::Passed, 1), "{text} {:?}", run.warnings);
        }
        assert!(read(&[noise.as_bytes()]).is_none(), "{noise}");
    }
}

#[test]
fn a_line_of_the_format_that_cannot_be_read_is_missing() {
    for torn in ["{\"Action\":\"fai\n", "{\"Action\":\"fail\",,}\n"] {
        let run = read(&[torn.as_bytes(), GO.as_bytes()]).expect("go");
        assert_eq!(run.status, TestStatus::Incomplete, "{torn}");
        assert_eq!(run.warnings, ["out: cut short: lines that are cut or malformed: 1"]);
    }
}

#[test]
fn hostile_documents_end_bounded() {
    let deep = format!("{{\"numTotalTests\":1,\"testResults\":{}", "[".repeat(100_000));
    assert_eq!(read(&[deep.as_bytes()]).expect("jest").status, TestStatus::Incomplete);
    let ids = r#"{"numTotalTests":2,"success":false,"testResults":[{"name":"a","assertionResults":[{"title":"x\n\u001b[31my","status":"failed"},{"title":"x\n\u001b[31my","status":"failed"}]}]}"#;
    let run = read(&[ids.as_bytes()]).expect("jest");
    assert_eq!((run.failing, run.counts.failed), (vec!["a::x y".to_owned()], 2));
}

fn lines() -> impl Strategy<Value = String> {
    let words = [
        "{\"Action\":\"start\",\"Package\":\"p\"}",
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T/a\"}",
        "{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T\"}",
        "{\"Action\":\"pass\",\"Package\":\"p\"}",
        "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}",
        "{\"type\":\"test\",\"event\":\"ok\",\"name\":\"a\"}",
        "{\"type\":\"suite\",\"event\":\"ok\",\"passed\":18446744073709551615,\"failed\":1}",
        "{\"$report_type\":\"SessionStart\"}",
        "{\"$report_type\":\"TestReport\",\"nodeid\":\"a\",\"outcome\":\"passed\",\"when\":\"call\"}",
        "{\"$report_type\":\"TestReport\",\"nodeid\":\"a\",\"outcome\":\"failed\",\"when\":\"teardown\"}",
        "{\"$report_type\":\"SessionFinish\",\"exitstatus\":0}",
        "{\"protocolVersion\":\"1\",\"type\":\"start\",\"time\":0}",
        "{\"testID\":1,\"result\":\"success\",\"type\":\"testDone\",\"time\":2}",
        "{\"numTotalTests\":1,\"testResults\":[{\"assertionResults\":[]}]}",
        "{",
        "\"numTotalTests\":1,\"testResults\":[",
        "}",
        "FAIL\tp [build failed]",
        "[\"start\",{\"total\":1}]",
        "[\"fail\",{\"fullTitle\":\"a\",\"err\":1}]",
        "{\"stats\":{\"passes\":9},\"tests\":[],\"passes\":[],\"failures\":[]}",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..30)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_lines_are_taken_and_counts_add_up(text in lines(), cut in 0_usize..2000) {
        let (head, tail) = text.as_bytes().split_at(cut.min(text.len()));
        let whole = read(&[text.as_bytes()]);
        prop_assert_eq!(&whole, &read(&[head, tail]), "where chunks end does not matter");
        read(&[head]);
        if let Some(run) = whole {
            let counts = run.counts;
            prop_assert_eq!(counts.total, counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped));
            prop_assert!(run.status != TestStatus::Passed || run.failing.is_empty());
        }
    }
}
