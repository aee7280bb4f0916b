//! The bytes of a commit that a signature covers, so that an id over them survives signing.

use crate::error::GitError;
use crate::open::repo::Repo;
use andon_core::domain::ids::CommitId;

/// Largest commit object that is read, in bytes.
const MAX_COMMIT: usize = 1 << 20;

impl Repo {
    /// The commit object (headers, blank line, message) without its signature: git leaves every header whose name
    /// begins with `gpgsig` out of what is signed. At most 1 MiB.
    pub fn commit_payload(&self, id: CommitId) -> Result<Vec<u8>, GitError> {
        Ok(unsigned(&self.commit_object(id)?))
    }

    /// The commit object as it is stored. At most 1 MiB.
    pub fn commit_object(&self, id: CommitId) -> Result<Vec<u8>, GitError> {
        let bad = |message: String| GitError::BadObject {
            kind: "commit",
            id: id.0,
            git_dir: self.git_dir().to_path_buf(),
            message,
        };
        let wanted = self.to_git2("commit", id.0)?;
        let error = |error| self.object_error("commit", id.0, &error);
        let odb = self.inner.odb().map_err(error)?;
        let (size, kind) = odb.read_header(wanted).map_err(error)?;
        if kind != git2::ObjectType::Commit {
            return Err(bad(format!("it is a {kind}")));
        }
        if size > MAX_COMMIT {
            return Err(bad(format!("it has {size} bytes, more than {MAX_COMMIT}")));
        }
        let object = odb.read(self.vetted("commit", id.0)?).map_err(error)?;
        Ok(object.data().to_vec())
    }
}

/// A commit object without the headers that begin with `gpgsig` and their continuation lines.
pub fn unsigned(raw: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(raw.len());
    let mut rest = raw;
    let mut dropping = false;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n').map(|end| end + 1) {
        let (line, after) = rest.split_at(end);
        if line == b"\n" {
            break;
        }
        dropping = if line.starts_with(b" ") { dropping } else { line.starts_with(b"gpgsig") };
        if !dropping {
            kept.extend_from_slice(line);
        }
        rest = after;
    }
    kept.extend_from_slice(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_left_out_and_nothing_else() {
        let plain = "tree 1\nauthor a\n folded\nencoding x\n\nsubject\n\ngpgsig in the message\n";
        assert_eq!(unsigned(plain.as_bytes()), plain.as_bytes());
        let signed = plain
            .replace("encoding", "gpgsig -----BEGIN\n line\n \n -----END\nencoding")
            .replace("\n\nsubject", "\ngpgsig-sha256 x\n y\n\nsubject");
        assert_eq!(unsigned(signed.as_bytes()), plain.as_bytes());
        for odd in ["", "\n", "no line end", "gpgsig x", "\n\n"] {
            assert_eq!(unsigned(odd.as_bytes()), odd.as_bytes());
        }
    }
}
