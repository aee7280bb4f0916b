//! The evidence that agents name: a commit, a run of the tests, a file and its lines. It is read when a statement comes, so
//! that what is in the ledger was there to be looked at.

use serde_json::{Map, Value, json};

use andon_engine::workspace::Workspace;
use andon_review::payload::member::{Malformed, Members, malformed};

/// The member, of what agents hand in and of a round's entry alike.
pub(super) const EVIDENCE: &str = "evidence";
/// Most things that one statement names.
const MAX_NAMED: usize = 8;
/// Longest name of a file or a run, in bytes.
const MAX_NAME: usize = 512;

/// What a statement says it looked at; commits by their whole ids.
pub(super) fn read(ws: &Workspace, said: &Map<String, Value>) -> Result<Vec<Value>, Malformed> {
    let list = Members::new(said).list(EVIDENCE)?.unwrap_or_default();
    if list.len() > MAX_NAMED {
        return Err(malformed(EVIDENCE, "must name at most 8 things"));
    }
    list.iter().map(|item| one(ws, item)).collect()
}

fn one(ws: &Workspace, item: &Value) -> Result<Value, Malformed> {
    let said = item.as_object().ok_or_else(|| malformed(EVIDENCE, "must hold objects"))?;
    if said.keys().any(|name| !["commit", "run", "file", "lines"].contains(&name.as_str())) {
        return Err(malformed(EVIDENCE, "may name commit, run, file and lines"));
    }
    let members = Members::new(said);
    let within = |err: Malformed| malformed(&format!("{EVIDENCE}.{}", err.member), err.wanted);
    let named = |name: &str| {
        let text = members.maybe_text(name).map_err(within)?;
        match text {
            Some(text) if text.trim().is_empty() || text.len() > MAX_NAME => {
                Err(malformed(&format!("{EVIDENCE}.{name}"), "must have 1 to 512 bytes"))
            }
            text => Ok(text),
        }
    };
    let mut found = Map::new();
    if let Some(commit) = named("commit")? {
        let missing = || malformed("evidence.commit", "must name a commit that is here");
        let commit = ws.repo.resolve(&commit).map_err(|_| missing())?;
        found.insert("commit".to_owned(), json!(commit.to_string()));
    }
    let (run, file, lines) = (named("run")?, named("file")?, named("lines")?);
    if let Some(lines) = &lines
        && (file.is_none() || !is_lines(lines))
    {
        return Err(malformed("evidence.lines", "must be of a file: one number, or two as in 12-40"));
    }
    let texts = [("run", run), ("file", file), ("lines", lines)];
    found.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?)))));
    if found.is_empty() {
        return Err(malformed(EVIDENCE, "must name a commit, a run or a file"));
    }
    Ok(Value::Object(found))
}

/// `12`, or `12-40`.
fn is_lines(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    match text.split_once('-') {
        None => number(text).is_some(),
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_one_number_or_two() {
        let table = [
            ("12", true),
            ("12-40", true),
            ("7-7", true),
            ("0", false),
            ("40-12", false),
            ("12-", false),
            ("-3", false),
            ("12-40-50", false),
            ("a", false),
            ("", false),
        ];
        for (text, want) in table {
            assert_eq!(is_lines(text), want, "{text}");
        }
    }
}
