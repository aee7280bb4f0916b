//! Lines of `<common git dir>/andon/attempts.jsonl`: commits that were made in any worktree of the repository.

use serde_json::{Map, Value, json};

use super::super::members::{Cut, FormatError, Members, bounded};
use super::put::{put, put_some};
use crate::domain::attempt::Attempt;

const MAX_NAME: usize = 1024;

pub(super) fn encode(made: &Attempt, map: &mut Map<String, Value>) {
    put(map, "type", "attempt");
    put(map, "commit", &made.commit);
    put_some(map, "parent", made.parent.as_ref());
    put(map, "worktree", &bounded(&made.worktree, MAX_NAME));
    if made.beside.len() > Attempt::MAX_BESIDE {
        map.insert("beside".into(), json!([Attempt::MANY]));
    } else if !made.beside.is_empty() {
        let beside: Vec<String> = made.beside.iter().map(|name| bounded(name, MAX_NAME)).collect();
        map.insert("beside".into(), json!(beside));
    }
}

pub(super) fn decode(members: &mut Members<'_>) -> Result<Attempt, FormatError> {
    let commit = members.parsed("commit", "an object id")?;
    let worktree = members.text("worktree")?;
    let (mut beside, cut) =
        members.list("beside", Attempt::MAX_BESIDE, |item| item.as_str().map(str::to_owned))?;
    if cut == Cut::Truncated {
        beside.push(Attempt::MANY.to_owned());
    }
    Ok(Attempt {
        commit: members.required("commit", commit)?,
        parent: members.parsed("parent", "an object id")?,
        worktree: members.required("worktree", worktree)?,
        beside,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{JournalLine, decode_line, encode_line};
    use super::*;
    use crate::domain::ids::{CommitId, Oid};

    const GOLDEN: &str = include_str!("../../../../tests/format/v1/attempts.jsonl");

    fn made(parent: Option<u8>, worktree: &str, beside: Vec<String>) -> JournalLine {
        let id = |byte: u8| CommitId(Oid::from_bytes(&[byte; 20]).unwrap());
        let worktree = worktree.to_owned();
        JournalLine::Attempt(Box::new(Attempt { commit: id(1), parent: parent.map(id), worktree, beside }))
    }

    #[test]
    fn golden_attempts_are_written_and_read_byte_for_byte() {
        let lines =
            [made(Some(2), "try@5f.1", vec!["other@5f.2".to_owned()]), made(None, "main", Vec::new())];
        assert_eq!(lines.iter().map(encode_line).collect::<String>(), GOLDEN);
        let read: Vec<JournalLine> =
            GOLDEN.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
        assert_eq!(read, lines);
    }

    #[test]
    fn more_worktrees_than_a_line_holds_are_many() {
        let beside: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        let line = encode_line(&made(None, "main", beside));
        assert_eq!(decode_line(line.as_bytes()).unwrap(), made(None, "main", vec![Attempt::MANY.to_owned()]));
        assert!(decode_line(br#"{"type":"attempt","worktree":"main"}"#).is_err());
    }
}
