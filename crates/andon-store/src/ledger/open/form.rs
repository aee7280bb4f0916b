//! The one form of an entry's commit. git leaves every header that begins with `gpgsig` out of what it signs, so that one
//! signature would fit several objects; here only one set of headers is an entry.

use andon_core::domain::{CommitId, TreeId};

/// Headers in their order; `parent` comes any number of times.
const HEADERS: [&str; 5] = ["tree", "parent", "author", "committer", "gpgsig"];

/// A commit, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ledger) struct Form {
    pub(in crate::ledger) tree: TreeId,
    pub(in crate::ledger) parents: Vec<CommitId>,
    /// The armour of its signature.
    pub(super) signature: Option<Vec<u8>>,
}

/// Takes a commit apart.
///
/// # Errors
/// The name of the header that should not be there, or not here.
pub(in crate::ledger) fn parse(raw: &[u8]) -> Result<Form, String> {
    let mut tree = None;
    let mut parents = Vec::new();
    let mut signature: Option<Vec<u8>> = None;
    let mut stage = 0;
    let mut open = false;
    for line in header_lines(raw)? {
        if let Some(folded) = line.strip_prefix(b" ") {
            let armour = signature.as_mut().filter(|_| open).ok_or_else(|| name_of(line))?;
            armour.extend_from_slice(folded);
            armour.push(b'\n');
            continue;
        }
        open = false;
        let name = name_of(line);
        let value = line.get(name.len() + 1..).unwrap_or_default();
        let at = HEADERS.iter().position(|known| *known == name).ok_or_else(|| name.clone())?;
        let again = at == stage && name == "parent";
        if at < stage || (at == stage && stage > 0 && !again) || (at == 0 && tree.is_some()) {
            return Err(name);
        }
        stage = at;
        let text = std::str::from_utf8(value).unwrap_or_default();
        match at {
            0 => tree = Some(text.parse().map_err(|_| name.clone())?),
            1 => parents.push(text.parse().map_err(|_| name.clone())?),
            4 => {
                signature = Some([value, b"\n"].concat());
                open = true;
            }
            _ => {}
        }
    }
    let is_whole = stage >= 3;
    tree.filter(|_| is_whole)
        .map(|tree| Form { tree, parents, signature })
        .ok_or_else(|| HEADERS[if tree.is_some() { (stage + 1).min(3) } else { 0 }].to_owned())
}

fn header_lines(raw: &[u8]) -> Result<impl Iterator<Item = &[u8]>, String> {
    let end = raw.windows(2).position(|pair| pair == b"\n\n").ok_or("message")?;
    Ok(raw[..end].split(|byte| *byte == b'\n'))
}

fn name_of(line: &[u8]) -> String {
    let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    String::from_utf8_lossy(name).chars().take(40).collect()
}

/// `payload` with the signature `armour` in its place.
pub(super) fn signed(payload: &[u8], armour: &str) -> Vec<u8> {
    let end = payload.windows(2).position(|pair| pair == b"\n\n").map_or(payload.len(), |at| at + 1);
    let folded = armour.trim_end_matches('\n').replace('\n', "\n ");
    [&payload[..end], b"gpgsig ", folded.as_bytes(), b"\n", &payload[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nflag\n";

    #[test]
    fn a_commit_is_taken_apart_and_put_together() {
        let plain = parse(PLAIN.as_bytes()).unwrap();
        assert_eq!((plain.parents.len(), &plain.signature), (1, &None));
        let whole = signed(PLAIN.as_bytes(), "-----BEGIN\nab\n-----END\n");
        let found = parse(&whole).unwrap();
        assert_eq!(found.signature.as_deref(), Some(b"-----BEGIN\nab\n-----END\n".as_slice()));
        assert_eq!(found.tree, plain.tree);
    }

    #[test]
    fn any_other_form_is_named_by_its_header() {
        let cases = [
            (PLAIN.replace("\n\nflag", "\nencoding x\n\nflag"), "encoding"),
            (PLAIN.replace("\n\nflag", "\ngpgsig-sha256 x\n\nflag"), "gpgsig-sha256"),
            (PLAIN.replace("\n\nflag", "\ngpgsig x\ngpgsig y\n\nflag"), "gpgsig"),
            (PLAIN.replace("\nauthor", "\nmergetag x\nauthor"), "mergetag"),
            (PLAIN.replace("\nauthor", "\ngpgsig x\nauthor"), "author"),
            (PLAIN.replace("tree", "parent"), "tree"),
            (PLAIN.replace("\nauthor a", "\n author a"), ""),
            (PLAIN.replace("\n\n", "\n"), "message"),
            (PLAIN.replace("committer a <a> 1 +0000\n", ""), "committer"),
            (PLAIN.replace("\ncommitter", "\nauthor a\ncommitter"), "author"),
        ];
        for (raw, header) in cases {
            assert_eq!(parse(raw.as_bytes()).unwrap_err(), header, "{raw}");
        }
        for cut in 0..PLAIN.len() {
            let _ = parse(&PLAIN.as_bytes()[..cut]);
        }
    }
}
