use proptest::prelude::*;

use super::*;

fn nodes(text: &[u8], size: usize) -> Result<String, ReportProblem> {
    let (mut walk, mut out) = (Walk::new(), String::new());
    for chunk in text.chunks(size) {
        walk.push(chunk, &mut |path, node| {
            out += &match node {
                Node::Open => format!("{path}("),
                Node::Close => format!("){path} "),
                Node::Text(text) => format!("{path}={text:?} "),
                Node::Word(word) => format!("{path}={word} "),
            };
        })?;
    }
    if walk.is_done() { Ok(out) } else { Err(ReportProblem::Truncated(out)) }
}

#[test]
fn nodes_come_with_their_paths() {
    let text = r#"{"a":[1,{"b":"x\n\u00e9\ud83d\ude00"},[]],"c.d":true,"e":-1.5e3,"f":{}} "#;
    let expected = "(.a(.a[]=1 .a[](.a[].b=\"x\\né😀\" ).a[] .a[]().a[] ).a .?=true .e=-1.5e3 .f().f ) ";
    for size in [1, 2, 3, 7, 1000] {
        assert_eq!(nodes(text.as_bytes(), size).as_deref(), Ok(expected), "{size}");
    }
}

#[test]
fn what_is_no_json_is_an_error() {
    let wrong: &[&[u8]] = &[
        b"{\"a\":NaN}",
        b"{\"a\":-Infinity}",
        b"{\"a\":01}",
        b"{\"a\":nul}",
        b"{\"a\":\"\\ud800\"}",
        b"{\"a\":\"\\ud800x\"}",
        b"{\"a\":\"\\ud800\\n\"}",
        b"{\"a\":\"\\udc00\"}",
        b"{\"a\":\"\\ud800\\ud800\"}",
        b"{\"a\":\"\\x\"}",
        b"{\"a\":\"\n\"}",
        b"{\"a\":\"\0\"}",
        b"{\"a\" 1}",
        b"{\"a\":1,}",
        b"{a:1}",
        b"[1,]",
        b"[1 2]",
        b"[1}",
        b"[] x",
        b"\0",
        b"{\"a\":'x'}",
    ];
    for text in wrong {
        for size in [1, 1000] {
            let read = nodes(text, size);
            assert!(matches!(read, Err(ReportProblem::Malformed { .. })), "{} {read:?}", text.escape_ascii());
        }
    }
    let deep = "[".repeat(100_000);
    assert_eq!(nodes(deep.as_bytes(), 1000), Err(ReportProblem::TooDeep(MAX_DEPTH)));
    assert!(nodes(format!("[{}", "1".repeat(10_000)).as_bytes(), 1000).is_err());
}

#[test]
fn strings_of_any_length_are_kept_in_part() {
    let text = format!("[\"{}\"]", "é".repeat(1_000_000));
    let (mut walk, mut longest) = (Walk::new(), 0);
    for chunk in text.as_bytes().chunks(7001) {
        walk.push(chunk, &mut |_, node| {
            if let Node::Text(text) = node {
                longest = text.len();
                assert!(!text.contains('\u{fffd}'));
            }
        })
        .unwrap();
    }
    assert!(walk.is_done() && longest == MAX_STRING);
}

proptest! {
    #[test]
    fn it_takes_what_serde_takes(
        parts in proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 0..12),
        size in 1_usize..5,
    ) {
        let text = format!("[{}", parts.concat());
        let known = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert_eq!(nodes(text.as_bytes(), size).is_ok(), known, "{}", text);
    }
}

const PARTS: [&str; 18] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"a\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\udc00\"",
    "1",
    "-",
    "0.5",
    "e3",
    "true",
    "null",
    " ",
    "\\",
];
