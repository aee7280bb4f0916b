//! The signatures of test results as records hold them: the hashes of `testreport` under names of our own.

use sha2::{Digest as _, Sha256};
use testreport::{Digest, ErrorText, ParsedRun, Scheme};

use super::ids::{self, CodeId, Signature};
use super::tests::{Caveats, Identity, TestEvidence, TestStatus};

/// The version of the hashes and of the normalization under them; part of what is hashed, so that signatures of
/// different versions are never equal. Version 1 had fewer rules for error texts.
const SCHEME: Scheme = Scheme::named("andon/signature@2");

/// The scheme before: signatures of ids were the same but for their version.
const EARLIER: Scheme = Scheme::named("andon/signature@1");

impl From<Digest> for Signature {
    fn from(digest: Digest) -> Self {
        Self(digest.0)
    }
}

impl TestEvidence {
    /// Binds a run to the code it ran on and the command that was run, and signs it.
    pub fn from_run(run: ParsedRun, code: CodeId, command: &str) -> Self {
        let set = run.tests.as_deref().map(set_of);
        Self {
            code,
            status: run.status,
            counts: run.counts,
            signature: signature(&run.runner, command, run.status, &run.failing),
            errors: error_signature(&run.errors),
            failing: run.failing,
            truncated: run.truncated,
            runner: run.runner,
            command: command.to_owned(),
            caveats: Caveats { set, not_started: run.not_started, ..Caveats::default() },
        }
    }
}

/// The hash of a set of tests, which are sorted (docs/formats.md).
pub fn set_of(tests: &[Identity]) -> ids::Digest {
    let mut hash = Sha256::new_with_prefix("andon/tests@1\n");
    for test in tests {
        hash.update(if test.skipped { "-" } else { "+" });
        hash.update(&test.id);
        hash.update("\n");
    }
    ids::Digest(hash.finalize().into())
}

/// The failure signature of docs/formats.md, of normalized failing ids.
pub fn signature(runner: &str, command: &str, status: TestStatus, failing: &[String]) -> Signature {
    SCHEME.result(runner, command, status, failing).into()
}

/// Whether the signature of `tests` is that of what else it says, in this scheme or the earlier one. The failing ids
/// must be whole.
pub fn is_signed(tests: &TestEvidence) -> bool {
    let TestEvidence { runner, command, status, failing, .. } = tests;
    let of = |scheme: Scheme| Signature::from(scheme.result(runner, command, *status, failing));
    [SCHEME, EARLIER].into_iter().any(|scheme| of(scheme) == tests.signature)
}

/// The error fingerprint; `None` when no failure has an error text.
pub fn error_signature(errors: &[ErrorText]) -> Option<Signature> {
    SCHEME.errors(errors).map(Signature::from)
}

/// The error fingerprint of the coarse level: all digits of the error texts count as one.
pub fn coarse_signature(errors: &[ErrorText]) -> Option<Signature> {
    SCHEME.errors_without_digits(errors).map(Signature::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of other clones hold these values: a change here needs a new [`SCHEME`].
    #[test]
    fn the_format_is_pinned() {
        let ids = ["tests::a".to_owned(), "tests::b".to_owned()];
        let pinned = signature("cargo", "cargo test", TestStatus::Failed, &ids);
        assert_eq!(pinned.to_string(), "db2bf10d5cc356b374f3da282e46179b86c49b2f552a0442032cfdb299ae2f30");
        let errors = [ErrorText { test: Some("tests::a".into()), text: "assertion failed".into() }];
        assert_eq!(
            error_signature(&errors).unwrap().to_string(),
            "ad347674bbbd76cef7962f1160f8f2ffb9dd73e3fb21d1837b2505a25696f2a0"
        );
    }

    #[test]
    fn runs_that_ended_with_different_codes_are_one_result() {
        let of = |exit| {
            let run = testreport::read(&[], testreport::ExitKind::Code(exit), &testreport::Root::none());
            TestEvidence::from_run(run, CodeId([7; 32]), "make test")
        };
        assert_eq!(of(2), of(3));
        assert!(is_signed(&of(2)));
    }
}
