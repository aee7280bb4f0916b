//! What a test result does to the failing count.

/// What became of the failing count, seen from the last time that all tests passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The count is unknown: no tests, a failed build, a run that was stopped.
    Unknown,
    /// All tests pass and none is gone.
    Green,
    /// The first known count since then.
    First,
    /// Higher than ever since the lowest: what is taken apart breaks more before it is put together again.
    Rise {
        /// Tests that ran earlier in the window and did not run now.
        gone: u64,
    },
    /// On the way down from there, above the lowest yet.
    Recovery,
    /// A new low.
    Fall {
        /// Tests that ran earlier in the window and did not run now.
        gone: u64,
    },
    /// Not lower than the lowest.
    NotLower {
        /// Tests that ran earlier in the window and did not run now.
        gone: u64,
    },
}
