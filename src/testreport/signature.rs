//! The stable hash of a test result: equal when the failure is the same, different when it is not.
//!
//! Two levels: which tests fail, and with what errors; and the errors once more without any digits, to tell
//! that only numbers differ. Each is a sha256 over netstrings (`length ":" bytes ","`), so that no id or command
//! can imitate the border between two fields.

use sha2::{Digest, Sha256};

use crate::domain::ids::Signature;
use crate::domain::tests::{TestEvidence, TestStatus};

use super::normalize::mask_digits;

/// The version of the hashes and of the normalization under them; part of what is hashed, so that signatures of
/// different versions are never equal. Version 1 had fewer rules for error texts.
pub const FORMAT: &str = "andon/signature@2";

/// The format before: signatures of ids were the same but for their version.
const EARLIER: &str = "andon/signature@1";

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
        Self::of_format(FORMAT, level)
    }

    fn of_format(format: &str, level: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.add(format);
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
    sign(Fields::new("ids"), [runner, command, status.as_str()], failing)
}

/// Whether the signature of `tests` is that of what else it says, in this format or an earlier one. The failing ids must
/// be whole.
pub fn is_signed(tests: &TestEvidence) -> bool {
    let TestEvidence { runner, command, status, failing, .. } = tests;
    let formats = [FORMAT, EARLIER].into_iter();
    let said = [runner, command, status.as_str()];
    formats
        .map(|format| Fields::of_format(format, "ids"))
        .any(|fields| sign(fields, said, failing) == tests.signature)
}

fn sign(mut fields: Fields, said: [&str; 3], failing: &[String]) -> Signature {
    let mut ids: Vec<&str> = failing.iter().map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    for field in said.into_iter().chain(ids) {
        fields.add(field);
    }
    fields.finish()
}

/// The error fingerprint: the normalized first error of each failure together with the failing test, in
/// order. `None` when no failure has an error text.
pub fn error_signature(errors: &[ErrorText]) -> Option<Signature> {
    hash_errors("errors", errors)
}

/// The error fingerprint of the coarse level: all digits of the error texts count as one. Ids stay as they are.
pub fn coarse_signature(errors: &[ErrorText]) -> Option<Signature> {
    let coarse = |error: &ErrorText| ErrorText {
        test: error.test.clone(),
        text: mask_digits(&error.text).into_owned(),
    };
    let errors: Vec<ErrorText> = errors.iter().map(coarse).collect();
    hash_errors("errors-coarse", &errors)
}

fn hash_errors(level: &str, errors: &[ErrorText]) -> Option<Signature> {
    if errors.is_empty() {
        return None;
    }
    let mut sorted: Vec<&ErrorText> = errors.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut fields = Fields::new(level);
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
        assert_eq!(pinned.to_string(), "db2bf10d5cc356b374f3da282e46179b86c49b2f552a0442032cfdb299ae2f30");
        let errors = [ErrorText { test: Some("tests::a".into()), text: "assertion failed".into() }];
        assert_eq!(
            error_signature(&errors).unwrap().to_string(),
            "ad347674bbbd76cef7962f1160f8f2ffb9dd73e3fb21d1837b2505a25696f2a0"
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

    #[test]
    fn the_coarse_level_looks_past_digits_in_texts_only() {
        let one = |test: &str, text: &str| vec![ErrorText { test: Some(test.into()), text: text.into() }];
        assert_eq!(coarse_signature(&one("a1", "got 3")), coarse_signature(&one("a1", "got 47")));
        assert_ne!(coarse_signature(&one("a1", "got 3")), coarse_signature(&one("a2", "got 3")));
        assert_ne!(coarse_signature(&one("a1", "got 3")), error_signature(&one("a1", "got #")));
        assert_eq!(coarse_signature(&[]), None);
    }
}
