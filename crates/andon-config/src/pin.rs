//! Writing a pin into `andon.toml` by the smallest edit: the rest of the file stays byte for byte as it is.
//!
//! The places are those that the parser gives. The result of the edit is read back before anyone writes it: a file of
//! a shape that was not foreseen (an inline table, dotted keys) is refused rather than changed otherwise than asked.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::value::{SCHEME, toml_text};
use super::{ConfigSource, Layer, load};
use andon_core::domain::{Files, IdentityRules, identity::checksum};

/// `text` with the pin of `files` in place of any older one.
///
/// # Errors
/// The line to be written by hand, where the file cannot be edited.
pub fn with_pin(text: &str, files: &Files) -> Result<String, String> {
    let sum = toml_text(&format!("{SCHEME}{}", checksum(files)));
    let entries = files.iter().map(|(path, state)| {
        let name = toml_text(&String::from_utf8_lossy(path));
        // A literal string cannot be a key with an apostrophe inside; the text form has chosen already.
        format!("{name} = \"{state}\"")
    });
    let entries: Vec<String> = entries.collect();
    let by_hand = || format!("[identity]\nchecksum = {sum}\n\n[identity.pinned]\n{}", entries.join("\n"));
    let edited = edited(text, &sum, &entries).filter(|edited| holds(text, edited, files));
    edited.ok_or_else(by_hand)
}

/// A range of the text, and the text that takes its place.
type Edit = (Range<usize>, String);

fn edited(text: &str, sum: &str, entries: &[String]) -> Option<String> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let root = DeTable::parse(text).ok()?.into_inner();
    let identity = root.iter().find(|(name, _)| name.get_ref() == "identity");
    let body: String = entries.iter().map(|entry| format!("{entry}{line_end}")).collect();
    let mut edits: Vec<Edit> = Vec::new();
    let mut tail = String::new();
    let table = identity.and_then(|(_, item)| item.get_ref().as_table());
    match (identity, table.and_then(|table| find(table, "checksum"))) {
        (_, Some((_, value))) => edits.push((value, sum.to_owned())),
        (Some((name, _)), None) => {
            let at = after_line(text, name.span().start);
            // The header is the last line, and has no end.
            let lead = if text[..at].ends_with('\n') { "" } else { line_end };
            edits.push((at..at, format!("{lead}checksum = {sum}{line_end}")));
        }
        (None, None) => tail.push_str(&format!("{line_end}[identity]{line_end}checksum = {sum}{line_end}")),
    }
    let pinned = table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == "pinned"));
    match pinned.and_then(|(name, item)| Some((name, item.get_ref().as_table()?))) {
        Some((name, pinned)) => {
            for (name, item) in pinned {
                let start = text[..name.span().start].rfind('\n').map_or(0, |at| at + 1);
                edits.push((start..after_line(text, item.span().end), String::new()));
            }
            let at = after_line(text, name.span().start);
            edits.push((at..at, body));
        }
        None => tail.push_str(&format!("{line_end}[identity.pinned]{line_end}{body}")),
    }
    let mut out = apply(text, edits)?;
    if !tail.is_empty() && !out.is_empty() && !out.ends_with('\n') {
        out.push_str(line_end);
    }
    Some(out + &tail)
}

/// The places of a key and its value.
fn find(table: &DeTable<'_>, key: &str) -> Option<(Range<usize>, Range<usize>)> {
    let (name, item) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    matches!(item.get_ref(), DeValue::String(_)).then(|| (name.span(), item.span()))
}

/// The beginning of the line after the one that `at` is in.
fn after_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The edits, without overlaps; `None` where two overlap.
fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(text.get(at..range.start)?);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// True if `edited` says the same as `text`, but for the pin, which is that of `files`.
fn holds(text: &str, edited: &str, files: &Files) -> bool {
    let read = |text: &str| {
        let source =
            ConfigSource { layer: Layer::Repository, name: String::new(), text: text.as_bytes().to_vec() };
        load(&[source]).ok()
    };
    let (Some(before), Some(after)) = (read(text), read(edited)) else { return false };
    let others = |config: &super::Config| {
        let entries = config.entries().into_iter();
        let pin = |key: &str| key == "identity.checksum" || key == "identity.pinned";
        entries.filter(|entry| !pin(&entry.key)).map(|entry| (entry.key, entry.value)).collect::<Vec<_>>()
    };
    let pinned =
        files.iter().map(|(path, state)| (String::from_utf8_lossy(path).into_owned(), *state)).collect();
    let wanted = IdentityRules { checksum: Some(checksum(files)), pinned, ..before.identity.clone() };
    after.identity == wanted && others(&before) == others(&after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use andon_core::domain::{FileState, Oid};

    fn files(paths: &[&str]) -> Files {
        let state = |byte: u8| FileState { mode: 0o100_644, id: Oid::from_bytes(&[byte; 20]).unwrap() };
        paths.iter().zip(1..).map(|(path, byte)| (path.as_bytes().to_vec(), state(byte))).collect()
    }

    #[test]
    fn only_the_pin_is_touched() {
        let one = files(&["CLAUDE.md"]);
        let sum = checksum(&one);
        let id = "01".repeat(20);
        let pinned = format!("\n[identity.pinned]\n\"CLAUDE.md\" = \"100644 {id}\"\n");
        let line = format!("checksum = \"sha256:{sum}\"\n");
        let table = [
            (String::new(), format!("\n[identity]\n{line}{pinned}")),
            (
                "# mine\n[test]\ncommand = \"x\" # why".to_owned(),
                format!("# mine\n[test]\ncommand = \"x\" # why\n\n[identity]\n{line}{pinned}"),
            ),
            (
                "[identity] # ours\n  files = [\n \"CLAUDE.md\", # [x]\n]\n\n[rules]\n".to_owned(),
                format!(
                    "[identity] # ours\n{line}  files = [\n \"CLAUDE.md\", # [x]\n]\n\n[rules]\n{pinned}"
                ),
            ),
            (
                format!(
                    "[identity]\nchecksum = \"sha256:{}\" # old\n[identity.pinned]\n# kept\n'gone' = \"100644 {id}\"\n\n[test]\n",
                    "0".repeat(64)
                ),
                format!(
                    "[identity]\nchecksum = \"sha256:{sum}\" # old\n[identity.pinned]\n\"CLAUDE.md\" = \"100644 {id}\"\n# kept\n\n[test]\n"
                ),
            ),
            ("[identity]".to_owned(), format!("[identity]\n{line}{pinned}")),
        ];
        for (before, after) in table {
            assert_eq!(with_pin(&before, &one).unwrap(), after, "{before}");
            assert_eq!(with_pin(&after, &one).unwrap(), after, "pinning again changes nothing");
        }
    }

    #[test]
    fn line_ends_are_kept() {
        let out = with_pin("[identity]\r\n", &files(&["A.md"])).unwrap();
        assert_eq!(out.matches("\r\n").count(), out.matches('\n').count());
    }

    #[test]
    fn what_cannot_be_edited_is_given_to_be_written_by_hand() {
        let one = files(&["A.md"]);
        for text in [
            "identity = { files = [\"A.md\"] }",
            "identity.files = [\"A.md\"]\n",
            "[identity]\npinned = { \"A.md\" = \"100644 0101010101010101010101010101010101010101\" }\n",
            "[identity.pinned]\n",
            "broken [",
        ] {
            match with_pin(text, &one) {
                Err(by_hand) => assert!(by_hand.contains("[identity.pinned]\n\"A.md\" = "), "{by_hand}"),
                Ok(edited) => assert!(holds(text, &edited, &one), "{text} became {edited}"),
            }
        }
    }

    proptest! {
        #[test]
        fn any_path_is_pinned_and_read_back(paths in prop::collection::btree_set("\\PC{1,12}|[a-z/'\"\\\\\\n\\t]{1,9}", 0..5)) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let files = files(&paths);
            let text = "[test]\ncommand = \"x\"\n";
            let edited = with_pin(text, &files).unwrap();
            prop_assert!(edited.starts_with(text));
            prop_assert!(holds(text, &edited, &files));
        }

        #[test]
        fn any_text_is_edited_faithfully_or_not_at_all(lines in prop::collection::vec(prop::sample::select(vec![
            "[identity]", "[identity.pinned]", "checksum = \"x\"", "\"a\" = \"b\"", "files = [", "\"A.md\"]", "[test]",
            "# [identity]", "command = \"\"\"", "\"\"\"", "",
        ]), 0..8)) {
            let text = lines.join("\n");
            let files = files(&["A.md"]);
            if let Ok(edited) = with_pin(&text, &files) {
                prop_assert!(holds(&text, &edited, &files));
            }
        }
    }
}
