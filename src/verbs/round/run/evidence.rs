//! The evidence that agents name: a commit, a run of the tests, a file and its lines. It is read when a statement comes, so
//! that what is in the ledger was there to be looked at.

use serde_json::{Map, Value};

use andon_engine::workspace::Workspace;
use andon_review::payload::member::{Malformed, UNKNOWN, malformed, read_known};
use andon_review::payload::questions::NamedEvidence;

/// Most things that one statement names.
const MAX_NAMED: usize = 8;
/// Longest name of a file or a run, in bytes.
const MAX_NAME: usize = 512;

/// What a statement says it looked at; commits by their whole ids.
pub(super) fn read(ws: &Workspace, list: &[Map<String, Value>]) -> Result<Vec<NamedEvidence>, Malformed> {
    if list.len() > MAX_NAMED {
        return Err(malformed("", "must name at most 8 things"));
    }
    list.iter().map(|item| one(ws, item)).collect()
}

fn one(ws: &Workspace, item: &Map<String, Value>) -> Result<NamedEvidence, Malformed> {
    let mut found: NamedEvidence = read_known(item, &[]).map_err(|wrong| match &*wrong.wanted {
        UNKNOWN => malformed("", "may name commit, run, file and lines"),
        _ => wrong,
    })?;
    let NamedEvidence { commit, run, file, lines } = &found;
    let is_odd = |text: &Option<String>| {
        text.as_ref().is_some_and(|text| text.trim().is_empty() || text.len() > MAX_NAME)
    };
    let named = [("commit", commit), ("run", run), ("file", file), ("lines", lines)];
    if let Some((member, _)) = named.iter().find(|(_, text)| is_odd(text)) {
        return Err(malformed(member, "must have 1 to 512 bytes"));
    }
    if let Some(lines) = lines
        && (file.is_none() || !is_lines(lines))
    {
        return Err(malformed("lines", "must be of a file: one number, or two as in 12-40"));
    }
    if [commit, run, file].into_iter().all(Option::is_none) {
        return Err(malformed("", "must name a commit, a run or a file"));
    }
    if let Some(commit) = &mut found.commit {
        let missing = |_| malformed("commit", "must name a commit that is here");
        *commit = ws.repo.resolve(commit).map_err(missing)?.to_string();
    }
    Ok(found)
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
