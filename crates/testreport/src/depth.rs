//! How deeply an output is nested below prefixes.

/// How many prefixes have been taken off: each level may hold several programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// As it came.
    Whole,
    /// Below one prefix: a time stamp may come before that of a package.
    Below,
    /// Below two. No third is looked for.
    Last,
}

impl Depth {
    /// The next one.
    pub(super) fn below(self) -> Option<Self> {
        match self {
            Self::Whole => Some(Self::Below),
            Self::Below => Some(Self::Last),
            Self::Last => None,
        }
    }

    /// Most sources that are read apart: a bound on memory.
    pub(super) fn max_sources(self) -> usize {
        match self {
            Self::Whole => 256,
            Self::Below => 32,
            Self::Last => 0,
        }
    }
}
