//! Reading `git status --porcelain=v2 -z`: text to values, nothing else.

use crate::error::cut;
use andon_core::domain::Oid;

/// Mode and id, `None` when nothing is there.
pub(crate) type Place = Option<(u32, Oid)>;

/// One line of the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusLine {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: StatusKind,
}

/// The status of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatusKind {
    /// Tracked and different somewhere.
    Tracked { head: Place, index: Place, worktree: Option<u32>, content: Content },
    /// With conflicts: HEAD's side is not reported reliably.
    Unmerged,
    /// Not tracked and not ignored.
    Untracked,
}

/// The content of the working tree, compared with the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    AsIndexed,
    Differs,
    /// A submodule with changes of its own.
    DirtySubmodule,
}

/// Parses the whole status; the error is the record that was not understood.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<StatusLine>, String> {
    let mut lines = Vec::new();
    for record in bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        if matches!(record[0], b'#' | b'!') {
            continue;
        }
        let parsed = line(record).ok_or_else(|| cut(&String::from_utf8_lossy(record), 200))?;
        lines.push(parsed);
    }
    Ok(lines)
}

fn line(record: &[u8]) -> Option<StatusLine> {
    let (tag, rest) = (record.first()?, record.get(2..)?);
    let found = match tag {
        b'?' => StatusLine { path: rest.to_vec(), kind: StatusKind::Untracked },
        b'u' => {
            let fields: Vec<&[u8]> = rest.splitn(10, |byte| *byte == b' ').collect();
            StatusLine { path: fields.get(9)?.to_vec(), kind: StatusKind::Unmerged }
        }
        b'1' => tracked(rest)?,
        _ => return None,
    };
    Some(found).filter(|line| !line.path.is_empty())
}

/// `XY sub mH mI mW hH hI path`
fn tracked(rest: &[u8]) -> Option<StatusLine> {
    let fields: Vec<&[u8]> = rest.splitn(8, |byte| *byte == b' ').collect();
    let [states, submodule, head, index, worktree, head_id, index_id, path] = fields[..] else { return None };
    let dirty = submodule.starts_with(b"S") && submodule.iter().any(|byte| matches!(byte, b'M' | b'U'));
    let content = match states.get(1)? {
        _ if dirty => Content::DirtySubmodule,
        b'.' => Content::AsIndexed,
        _ => Content::Differs,
    };
    let kind = StatusKind::Tracked {
        head: place(head, head_id)?,
        index: place(index, index_id)?,
        worktree: Some(mode(worktree)?).filter(|mode| *mode != 0),
        content,
    };
    Some(StatusLine { path: path.to_vec(), kind })
}

fn place(mode_text: &[u8], id: &[u8]) -> Option<Place> {
    let id: Oid = std::str::from_utf8(id).ok()?.parse().ok()?;
    let mode = mode(mode_text)?;
    Some((mode != 0).then_some((mode, id)))
}

/// Octal; zero means that nothing is there.
fn mode(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
}

/// A path as `git hash-object --stdin-paths` takes it: quoted when a line could not carry it.
pub(crate) fn quote_line(path: &[u8], out: &mut Vec<u8>) {
    let plain = |byte: &u8| *byte >= 0x20 && !matches!(byte, b'"' | b'\\' | 0x7f);
    if path.iter().all(plain) {
        out.extend_from_slice(path);
    } else {
        out.push(b'"');
        for byte in path {
            if plain(byte) {
                out.push(*byte);
            } else {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            }
        }
        out.push(b'"');
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn only(text: &str) -> StatusLine {
        let mut lines = parse(text.as_bytes()).unwrap();
        assert_eq!(lines.len(), 1, "{text}");
        lines.remove(0)
    }

    #[test]
    fn paths_may_hold_anything_but_nul() {
        let line = only(&format!("1 .M N... 100644 100644 100755 {ONE} {TWO} a b\n\"c\\\0"));
        assert_eq!(line.path, b"a b\n\"c\\");
        let StatusKind::Tracked { head, index, worktree, content } = line.kind else { panic!() };
        assert_eq!(head, Some((0o100_644, ONE.parse().unwrap())));
        assert_eq!(index, Some((0o100_644, TWO.parse().unwrap())));
        assert_eq!((worktree, content), (Some(0o100_755), Content::Differs));
    }

    #[test]
    fn kinds_are_told_apart() {
        assert_eq!(only("? new file\0").kind, StatusKind::Untracked);
        let unmerged = format!("u UU N... 100644 100644 100644 100644 {ONE} {TWO} {ONE} a b\0");
        assert_eq!(only(&unmerged), StatusLine { path: b"a b".to_vec(), kind: StatusKind::Unmerged });
        let dirty = only(&format!("1 .M S.M. 160000 160000 160000 {ONE} {ONE} sub\0"));
        assert!(matches!(dirty.kind, StatusKind::Tracked { content: Content::DirtySubmodule, .. }));
        assert_eq!(parse(b"# branch.oid x\0! ignored\0"), Ok(vec![]));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in ["9 x\0", "1 .M\0", "1 .M N... 10 10 10 zz zz p\0", "x\0", "1\0"] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _any_answer = parse(&bytes);
        }
    }
}
