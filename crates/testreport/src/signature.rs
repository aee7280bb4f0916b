//! The stable hash of a test result: equal when the failure is the same, different when it is not.
//!
//! Two levels: which tests fail, and with what errors; and the errors once more without any digits, to tell
//! that only numbers differ. Each is a sha256 over netstrings (`length ":" bytes ","`), so that no id or command
//! can imitate the border between two fields.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::{TestStatus, normalize::mask_digits, stable_id};

/// A sha256. Shown as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A normalized error text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorText {
    /// Normalized id of the failing test; `None` for an error of the run itself, such as the compiler's.
    pub test: Option<String>,
    /// The normalized first error.
    pub text: String,
    /// The same with the lines and columns that it had, for people; `None` where none were masked. Part of no signature.
    pub shown: Option<String>,
}

/// The name and version under which signatures are kept. It is part of what is hashed, so that signatures of two
/// schemes are never equal. A program that stores signatures picks a name, and a new one when a newer version of this
/// library normalizes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme(&'static str);

impl Scheme {
    /// The scheme of that name, such as `my-tool/signature@1`.
    pub const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// The signature of a result: scheme, runner, command, status class and the failing ids, which are sorted here
    /// and count once each. `failing` holds normalized ids ([`normalize_id`](super::normalize_id)), which count by their
    /// [`stable_id`].
    pub fn result(self, runner: &str, command: &str, status: TestStatus, failing: &[String]) -> Digest {
        let mut ids: Vec<_> = failing.iter().map(|id| stable_id(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut fields = Fields::new(self, "ids");
        for field in [runner, command, status.as_str()].into_iter().chain(ids.iter().map(AsRef::as_ref)) {
            fields.add(field);
        }
        fields.finish()
    }

    /// The signature of the errors: the normalized first error of each failure together with the failing test, in
    /// order. `None` when no failure has an error text.
    pub fn errors(self, errors: &[ErrorText]) -> Option<Digest> {
        self.hash_errors("errors", errors)
    }

    /// The same at the coarse level: all digits of the error texts count as one. Ids stay as they are.
    pub fn errors_without_digits(self, errors: &[ErrorText]) -> Option<Digest> {
        let coarse = |error: &ErrorText| ErrorText {
            test: error.test.clone(),
            text: mask_digits(&error.text).into_owned(),
            shown: None,
        };
        let errors: Vec<ErrorText> = errors.iter().map(coarse).collect();
        self.hash_errors("errors-coarse", &errors)
    }

    fn hash_errors(self, level: &str, errors: &[ErrorText]) -> Option<Digest> {
        if errors.is_empty() {
            return None;
        }
        let mut sorted: Vec<_> =
            errors.iter().map(|error| (error.test.as_deref().map(stable_id), &error.text)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut fields = Fields::new(self, level);
        for (test, text) in sorted {
            fields.add(&test.unwrap_or_default());
            fields.add(text);
        }
        Some(fields.finish())
    }
}

struct Fields(Sha256);

impl Fields {
    fn new(scheme: Scheme, level: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.add(scheme.0);
        fields.add(level);
        fields
    }

    fn add(&mut self, field: &str) {
        self.0.update(field.len().to_string());
        self.0.update(b":");
        self.0.update(field);
        self.0.update(b",");
    }

    fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEME: Scheme = Scheme::named("demo/signature@1");

    fn ids(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_order_of_ids_does_not_matter_and_every_field_does() {
        let base = SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["a", "b"]));
        assert_eq!(base, SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["b", "a", "a"])));
        let others = [
            SCHEME.result("tap", "cargo test", TestStatus::Failed, &ids(&["a", "b"])),
            SCHEME.result("cargo", "cargo test -q", TestStatus::Failed, &ids(&["a", "b"])),
            SCHEME.result("cargo", "cargo test", TestStatus::Crashed, &ids(&["a", "b"])),
            SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["a"])),
            SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["ab"])),
            SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["a,1:b"])),
        ];
        for other in others {
            assert_ne!(base, other);
        }
    }

    /// Those who store signatures hold these values: a change here is a breaking change.
    #[test]
    fn the_hashes_are_pinned() {
        let pinned =
            SCHEME.result("cargo", "cargo test", TestStatus::Failed, &ids(&["tests::a", "tests::b"]));
        assert_eq!(pinned.to_string(), "67ed16af02ce4147db716dd7a632a67a4b1c519cf58f3c9356b5d5f6cbee784b");
        let errors =
            [ErrorText { test: Some("tests::a".into()), text: "assertion failed".into(), shown: None }];
        assert_eq!(
            SCHEME.errors(&errors).unwrap().to_string(),
            "a6e31c75cdc9f35bd6609aedf77b07bc5291a12e682b5f49dd98e38320271d81"
        );
    }

    #[test]
    fn what_is_made_up_in_every_run_makes_no_other_result() {
        let of = |id: &str| SCHEME.result("pytest", "pytest", TestStatus::Failed, &ids(&[id]));
        for (one, other) in [
            ("t[2026-11-26T08:17:41Z]", "t[2026-11-29T10:00:00Z]"),
            ("t[123e4567-e89b-12d3-a456-426614174000]", "t[00000000-e89b-12d3-a456-426614174999]"),
            ("t[<object at 0x7f3a2b4c5d6e>]", "t[<object at 0x7f3a2b4c0000>]"),
            ("t[/tmp/pytest-of-a/x8Yz3kQ1/in]", "t[/tmp/pytest-of-a/b7Kp2mR9/in]"),
            ("t[/tmp/tmpk3_9xw0a/out.txt]", "t[/tmp/tmpq8_2yz7b/out.txt]"),
            ("t[tmpk3_9xw0a]", "t[tmpq8_2yz7b]"),
            ("t[/tmp/data_k3_9xw0a/out-1]", "t[/tmp/data_q8_2yz7b/out-1]"),
            ("t_123e4567_e89b_12d3_a456_426614174000_x", "t_00000000_e89b_12d3_a456_426614174999_x"),
            ("t_123e4567-e89b-12d3-a456-426614174000", "t_00000000-e89b-12d3-a456-426614174999"),
            ("t_123e4567e89b42d3a456426614174000", "t_00000000e89b42d3a456426614174999"),
        ] {
            assert_eq!(of(one), of(other), "{one}");
        }
        for (one, other) in [
            ("t[10:00:00]", "t[11:00:00]"),
            ("t[2026]", "t[2027]"),
            ("t[a-b-c-d-e]", "t[a-b-c-d-f]"),
            ("t[tmp_result1]", "t[tmp_result2]"),
            ("t[/tmp/a/b]", "t[/tmp/a/c]"),
            ("t_5d41402abc4b2a76b9719d911017c592", "t_7d793037a0760186574b0282f2f435e7"),
        ] {
            assert_ne!(of(one), of(other), "{one}");
        }
    }

    #[test]
    fn two_schemes_are_never_equal() {
        let of = |scheme: Scheme| scheme.result("tap", "make", TestStatus::Failed, &ids(&["a"]));
        assert_ne!(of(SCHEME), of(Scheme::named("demo/signature@2")));
    }

    #[test]
    fn errors_tell_tests_and_texts_apart() {
        let error = |test: Option<&str>, text: &str| ErrorText {
            test: test.map(str::to_owned),
            text: text.to_owned(),
            shown: None,
        };
        let base = SCHEME.errors(&[error(Some("a"), "x"), error(Some("b"), "y")]);
        assert_eq!(base, SCHEME.errors(&[error(Some("b"), "y"), error(Some("a"), "x")]));
        assert_ne!(base, SCHEME.errors(&[error(Some("a"), "y"), error(Some("b"), "x")]));
        assert_ne!(base, SCHEME.errors(&[error(None, "x"), error(Some("b"), "y")]));
        assert_eq!(SCHEME.errors(&[]), None);
    }

    #[test]
    fn the_coarse_level_looks_past_digits_in_texts_only() {
        let one = |test: &str, text: &str| {
            vec![ErrorText { test: Some(test.into()), text: text.into(), shown: None }]
        };
        assert_eq!(
            SCHEME.errors_without_digits(&one("a1", "got 3")),
            SCHEME.errors_without_digits(&one("a1", "got 47"))
        );
        assert_ne!(
            SCHEME.errors_without_digits(&one("a1", "got 3")),
            SCHEME.errors_without_digits(&one("a2", "got 3"))
        );
        assert_ne!(SCHEME.errors_without_digits(&one("a1", "got 3")), SCHEME.errors(&one("a1", "got #")));
        assert_eq!(SCHEME.errors_without_digits(&[]), None);
    }
}
