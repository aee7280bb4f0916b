//! The stable hash of a test result: equal when the failure is the same, different when it is not.
//!
//! Two levels: which tests fail, and with what errors. Both are a sha256 over netstrings
//! (`length ":" bytes ","`), so that no id or command can imitate the border between two fields.

use sha2::{Digest, Sha256};

use crate::domain::ids::Signature;
use crate::domain::tests::TestStatus;

/// The version of both hashes; part of what is hashed.
pub const FORMAT: &str = "andon/signature@1";

/// A normalized error text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorText {
    /// Normalized id of the failing test; `None` for an error of the run itself, such as the compiler's.
    pub test: Option<String>,
    /// The normalized first error.
    pub text: String,
}

struct Fields(Sha256);

impl Fields {
    fn new(level: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.add(FORMAT);
        fields.add(level);
        fields
    }

    fn add(&mut self, field: &str) {
        self.0.update(field.len().to_string());
        self.0.update(b":");
        self.0.update(field);
        self.0.update(b",");
    }

    fn finish(self) -> Signature {
        Signature(self.0.finalize().into())
    }
}

/// The failure signature of DESIGN section 5: format version, runner, command, status class and the failing
/// ids, which are sorted here and count once each. `failing` holds normalized ids
/// ([`normalize_id`](super::normalize_id)).
pub fn signature(runner: &str, command: &str, status: TestStatus, failing: &[String]) -> Signature {
    let mut ids: Vec<&str> = failing.iter().map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut fields = Fields::new("ids");
    for field in [runner, command, status.as_str()].into_iter().chain(ids) {
        fields.add(field);
    }
    fields.finish()
}

/// The error fingerprint: the normalized first error of each failure together with the failing test, in
/// order. `None` when no failure has an error text.
pub fn error_signature(errors: &[ErrorText]) -> Option<Signature> {
    if errors.is_empty() {
        return None;
    }
    let mut sorted: Vec<&ErrorText> = errors.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut fields = Fields::new("errors");
    for error in sorted {
        fields.add(error.test.as_deref().unwrap_or_default());
        fields.add(&error.text);
    }
    Some(fields.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_order_of_ids_does_not_matter_and_every_field_does() {
        let base = signature("cargo", "cargo test", TestStatus::Failed, &ids(&["a", "b"]));
        assert_eq!(base, signature("cargo", "cargo test", TestStatus::Failed, &ids(&["b", "a", "a"])));
        let others = [
            signature("tap", "cargo test", TestStatus::Failed, &ids(&["a", "b"])),
            signature("cargo", "cargo test -q", TestStatus::Failed, &ids(&["a", "b"])),
            signature("cargo", "cargo test", TestStatus::Crashed, &ids(&["a", "b"])),
            signature("cargo", "cargo test", TestStatus::Failed, &ids(&["a"])),
            signature("cargo", "cargo test", TestStatus::Failed, &ids(&["ab"])),
            signature("cargo", "cargo test", TestStatus::Failed, &ids(&["a,1:b"])),
        ];
        for other in others {
            assert_ne!(base, other);
        }
    }

    /// Records of other clones hold these values: a change here needs a new [`FORMAT`].
    #[test]
    fn the_format_is_pinned() {
        let pinned = signature("cargo", "cargo test", TestStatus::Failed, &ids(&["tests::a", "tests::b"]));
        assert_eq!(pinned.to_string(), "4bf91e3f020cfc2afce55465bfb97fe0b0e4468205be0a1b2fb508acd95beaff");
        let errors = [ErrorText { test: Some("tests::a".into()), text: "assertion failed".into() }];
        assert_eq!(
            error_signature(&errors).unwrap().to_string(),
            "6591af1e55984185806d7ac74a0dcb664118566a1f6d66e1ace61710a990cd59"
        );
    }

    #[test]
    fn errors_tell_tests_and_texts_apart() {
        let error = |test: Option<&str>, text: &str| ErrorText {
            test: test.map(str::to_owned),
            text: text.to_owned(),
        };
        let base = error_signature(&[error(Some("a"), "x"), error(Some("b"), "y")]);
        assert_eq!(base, error_signature(&[error(Some("b"), "y"), error(Some("a"), "x")]));
        assert_ne!(base, error_signature(&[error(Some("a"), "y"), error(Some("b"), "x")]));
        assert_ne!(base, error_signature(&[error(None, "x"), error(Some("b"), "y")]));
        assert_eq!(error_signature(&[]), None);
    }
}
