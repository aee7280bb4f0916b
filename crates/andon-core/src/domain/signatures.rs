//! The signatures of test results as records hold them: the hashes of `testreport` under names of our own.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::{
    CodeId, Counts, FailingTest, HaltSummary, NamedTest, ScopeTests, Signature, TestEvidence, TestStatus, ids,
};
use crate::change::secrets;
use testreport::{Digest, ErrorText, ParsedRun, Scheme};

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

/// An error in one line, secrets masked.
fn said(error: &ErrorText) -> FailingTest {
    let masked = secrets::masked(error.shown.as_ref().unwrap_or(&error.text));
    let lines = masked.lines().map(str::trim).filter(|line| !line.is_empty());
    // The place of a panic says less than its message.
    let first = lines.clone().next().filter(|line| line.starts_with("thread '"));
    let rest = lines.clone().skip(usize::from(first.is_some())).flat_map(str::split_whitespace);
    let words: Vec<&str> = rest.collect();
    let line = if words.is_empty() { first.unwrap_or_default().to_owned() } else { words.join(" ") };
    // The member of TAP's diagnostics that says it.
    let line = line.strip_prefix("message: ").map_or(&*line, |text| text.trim_matches(['"', '\'']));
    let line: String = line.chars().take(HaltSummary::MAX_ERROR).collect();
    FailingTest { test: error.test.clone(), error: (!line.is_empty()).then_some(line) }
}

impl TestEvidence {
    /// Binds a run to the code it ran on and the command that was run, and signs it.
    pub fn from_run(run: ParsedRun, code: CodeId, command: &str) -> Self {
        let set = run.tests.as_deref().map(set_of);
        let said = run.errors.iter().take(Self::MAX_SAID).map(said).collect();
        let signature = signature(&run.runner, command, run.status, &run.failing);
        let result = Self {
            errors: error_signature(&run.errors),
            failing: run.failing,
            truncated: run.truncated,
            runner: run.runner,
            build_errors: run.build_errors,
            command: command.to_owned(),
            set,
            not_started: run.not_started,
            said,
            ..Self::new(code, run.status, signature)
        };
        result.with_counts(run.counts)
    }

    /// The result of all scopes together, on the whole code: what fails in any of them fails.
    pub fn together(code: CodeId, mut scopes: Vec<ScopeTests>) -> Self {
        scopes.sort_by(|a, b| a.name.cmp(&b.name));
        let tests = || scopes.iter().map(|scope| &scope.tests);
        // Scopes without tests say nothing about those that have some.
        let gravest = |tests: &&Self| match tests.status {
            TestStatus::NoTests => 0,
            TestStatus::Passed => 1,
            TestStatus::Incomplete => 2,
            TestStatus::TimedOut => 3,
            TestStatus::Crashed => 4,
            TestStatus::RunnerError => 5,
            TestStatus::Failed => 6,
            TestStatus::BuildFailed => 7,
        };
        let status = tests().max_by_key(gravest).map_or(TestStatus::NoTests, |tests| tests.status);
        let mut counts = Counts::default();
        tests().for_each(|tests| counts.absorb(tests.counts()));
        let failing: BTreeSet<&String> = tests().flat_map(|tests| &tests.failing).collect();
        let cut = failing.len() > Self::MAX_FAILING;
        let failing: Vec<String> = failing.into_iter().take(Self::MAX_FAILING).cloned().collect();
        let untracked: BTreeSet<&String> = tests().flat_map(|tests| &tests.untracked).collect();
        let untracked = untracked.into_iter().take(Self::MAX_UNTRACKED).cloned().collect();
        let said = tests().flat_map(|tests| &tests.said).take(Self::MAX_SAID).cloned().collect();
        let flaky: BTreeSet<&String> = tests().flat_map(|tests| &tests.flaky).collect();
        let flaky = flaky.into_iter().take(Self::MAX_FLAKY).cloned().collect();
        let is_part = tests().any(|tests| tests.full_run.is_some());
        let full = || tests().map(|tests| tests.full_run.unwrap_or(tests.counts().ran())).sum();
        let full_run = is_part.then(full);
        let mut runners: Vec<&str> = tests().map(|tests| tests.runner.as_str()).collect();
        runners.dedup();
        let runner = if let [runner] = runners[..] { runner.to_owned() } else { "scopes".to_owned() };
        let signature = signature(&runner, Self::OF_SCOPES, status, &failing);
        let result = Self {
            errors: errors_together(tests().filter_map(|tests| tests.errors)),
            truncated: cut || tests().any(|tests| tests.truncated),
            failing,
            runner,
            command: Self::OF_SCOPES.to_owned(),
            full_run,
            build_errors: tests().map(|tests| tests.build_errors).sum(),
            flaky,
            untracked,
            said,
            scopes,
            ..Self::new(code, status, signature)
        };
        result.with_counts(counts)
    }
}

/// The fingerprint of the errors of several scopes: that of the only one that has any, else a hash of all.
fn errors_together(errors: impl Iterator<Item = Signature>) -> Option<Signature> {
    let errors: Vec<Signature> = errors.collect();
    match errors[..] {
        [] => None,
        [only] => Some(only),
        [..] => {
            let mut hash = Sha256::new_with_prefix("andon/errors of scopes@1\n");
            for one in errors {
                hash.update(one.0);
            }
            Some(Signature(hash.finalize().into()))
        }
    }
}

/// The hash of a set of tests, which are sorted (docs/formats.md).
pub fn set_of(tests: &[NamedTest]) -> ids::Digest {
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

/// Returns whether the signature of `tests` is that of what else it says, in this scheme or the earlier one. The failing ids
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
        let errors =
            [ErrorText { test: Some("tests::a".into()), text: "assertion failed".into(), shown: None }];
        assert_eq!(
            error_signature(&errors).unwrap().to_string(),
            "ad347674bbbd76cef7962f1160f8f2ffb9dd73e3fb21d1837b2505a25696f2a0"
        );
    }

    #[test]
    fn a_scope_that_fails_is_seen_whatever_the_others_say() {
        let ran = |text: &str, exit| {
            let mut reader = testreport::RunReader::new(testreport::Root::none());
            reader.push(testreport::Stream::Stdout, text.as_bytes());
            let run = reader.finish(testreport::ExitKind::Code(exit));
            TestEvidence::from_run(run, CodeId([7; 32]), "make test")
        };
        let scope = |name: &str, tests: &TestEvidence| ScopeTests {
            name: name.to_owned(),
            needs: Vec::new(),
            tests: tests.clone(),
            from: None,
        };
        let (green, red) = (ran("1..1\nok 1 - a\n", 0), ran("1..2\nnot ok 1 - b\nok 2 - c\n", 1));
        let (other, none) = (ran("1..1\nnot ok 1 - d\n", 1), ran("1..0\n", 0));
        let code = CodeId([9; 32]);
        let of = |scopes: &[(&str, &TestEvidence)]| {
            TestEvidence::together(code, scopes.iter().map(|(name, tests)| scope(name, tests)).collect())
        };
        let both = of(&[("web", &red), ("core", &green)]);
        assert_eq!((both.status, both.total, both.failed), (TestStatus::Failed, 3, 1));
        assert_eq!((both.code, both.failing.as_slice()), (code, ["b".to_owned()].as_slice()));
        assert!(is_signed(&both));
        assert_eq!(both, of(&[("core", &green), ("web", &red)]));
        assert_ne!(both.signature, of(&[("web", &red), ("core", &other)]).signature);
        assert_eq!(of(&[("core", &green), ("docs", &none)]).status, TestStatus::Passed);
        assert_eq!(of(&[("docs", &none)]).status, TestStatus::NoTests);
        assert_eq!(of(&[]).status, TestStatus::NoTests);
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
