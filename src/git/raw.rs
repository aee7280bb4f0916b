//! The exact bytes of a commit: what is hashed must not be a rendering of what was parsed.

use super::GitError;
use super::repo::Repo;
use crate::domain::ids::CommitId;

impl Repo {
    /// The payload of a commit object, without any `gpgsig` header (they lie outside what is signed, so that a
    /// signature can be added without changing what is there).
    pub fn commit_payload(&self, id: CommitId) -> Result<Vec<u8>, GitError> {
        let wanted = self.to_git2("commit", id.0)?;
        let object = self
            .inner
            .odb()
            .and_then(|odb| odb.read(wanted).map(|object| object.data().to_vec()))
            .map_err(|error| self.object_error("commit", id.0, &error))?;
        Ok(without_signatures(&object))
    }
}

/// Drops `gpgsig...` headers with their continuation lines.
fn without_signatures(object: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(object.len());
    let mut dropping = false;
    let mut in_header = true;
    for line in object.split_inclusive(|byte| *byte == b'\n') {
        if in_header {
            in_header = line != b"\n";
            dropping = line.starts_with(b"gpgsig") || (dropping && line.starts_with(b" "));
        } else {
            dropping = false;
        }
        if !dropping {
            kept.extend_from_slice(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_dropped_and_nothing_else() {
        let signed = b"tree a\ngpgsig -----BEGIN\n line\n -----END\ngpgsig-sha256 x\n y\nauthor b\n\ngpgsig is a word\n here\n";
        let plain = b"tree a\nauthor b\n\ngpgsig is a word\n here\n";
        assert_eq!(without_signatures(signed), plain);
        assert_eq!(without_signatures(plain), plain);
    }
}
