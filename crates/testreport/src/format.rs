//! The names of the formats that are read, for callers that name the format instead of having it recognised.

/// Every format by the name that evidence has for it, in the order in which help lists them.
const NAMES: [&str; 30] = [
    "junit",
    "trx",
    "nunit",
    "xunit",
    "ctest-xml",
    "go-json",
    "libtest-json",
    "pytest-reportlog",
    "dart-json",
    "jest-json",
    "mocha-json",
    "node-json",
    "rspec-json",
    "tap",
    "cargo",
    "nextest",
    "go",
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "node",
    "rspec",
    "minitest",
    "phpunit",
    "ctest",
    "gtest",
    "bats",
    EXIT,
];

/// The format of a run that is read by its exit code alone.
const EXIT: &str = "exit";

/// A format by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format(&'static str);

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|known| **known == name).map(|known| Self(known))
    }

    /// The names of all formats.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// Its name: what evidence calls the runner.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// True when reports and output are not looked at.
    pub(super) fn is_exit_only(self) -> bool {
        self.0 == EXIT
    }
}
