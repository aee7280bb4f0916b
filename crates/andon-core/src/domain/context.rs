//! The context window of an agent: how full it is, who says so, and what follows (docs/spec-map.md, loop rules: context
//! compaction gate).

crate::named_enum! {
    /// The relation of the cached tokens to the input tokens that a client reports: separate or included (`usage.cached`).
    #[derive(Default)]
    pub enum CachedTokens, "separate or included" {
        /// They do not: `Context Usage = cached + current input`.
        #[default]
        Separate = "separate",
        /// They do: the input alone is the context usage.
        Included = "included",
    }
}

impl CachedTokens {
    /// The tokens of a request. Where more is cached than came in, the report contradicts itself: the larger counts.
    pub fn sum(self, input: u64, cached: u64) -> u64 {
        match self {
            Self::Separate => input.saturating_add(cached),
            Self::Included => input.max(cached),
        }
    }
}

crate::named_enum! {
    /// The sources of the used tokens, the best first.
    pub enum FillSource {
        /// The client reported what is in its context window.
        Reported = "reported",
        /// From the input tokens, and the cached ones, of the newest request.
        Computed = "computed",
        /// From the lines of output: a rough guess.
        Estimate = "estimate",
    }
}

crate::named_enum! {
    /// The consequence of a fill of the window, in rising order.
    pub enum Pressure {
        /// Less than the threshold of the warning.
        Free = "none",
        /// A warning: compact soon.
        Warning = "warning",
        /// Compaction is mandatory: the briefing is written, no new turn begins.
        Mandatory = "mandatory",
        /// No tool call until the window is cleared.
        HardBlock = "hard_block",
    }
}

/// Percentages of the window, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on the node is warned.
    pub warn: u64,
    /// Mandatory compaction.
    pub compact: u64,
    /// Hard block.
    pub block: u64,
}

/// The fill of a context window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextWindowUse {
    /// Whose window. Untrusted text.
    pub node: String,
    /// Tokens in it.
    pub used: u64,
    /// The source of the token count.
    pub source: FillSource,
    /// Lines of output since it was cleared.
    pub lines: u64,
    /// Its size in tokens.
    pub window: u64,
    /// The thresholds that decide the consequence of a fill.
    pub thresholds: Thresholds,
    /// The consequence of this fill.
    pub pressure: Pressure,
}

impl ContextWindowUse {
    /// The used share in whole percent, rounded down.
    pub fn percent(&self) -> u64 {
        percent(self.used, self.window)
    }
}

/// `used` in percent of `window`, rounded down and saturating; a window of nothing is full.
pub fn percent(used: u64, window: u64) -> u64 {
    let share = u128::from(used).saturating_mul(100).checked_div(u128::from(window));
    share.map_or(100, |share| u64::try_from(share).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_rounded_down_and_saturate() {
        for (used, window, expected) in [
            (0, 200_000, 0),
            (149_999, 200_000, 74),
            (150_000, 200_000, 75),
            (170_000, 200_000, 85),
            (u64::MAX, 1, u64::MAX),
            (u64::MAX, u64::MAX, 100),
            (5, 0, 100),
        ] {
            assert_eq!(percent(used, window), expected, "{used} of {window}");
        }
    }

    #[test]
    fn cached_tokens_are_added_or_held_already() {
        assert_eq!(CachedTokens::Separate.sum(1_000, 150_000), 151_000);
        assert_eq!(CachedTokens::Separate.sum(u64::MAX, 1), u64::MAX);
        assert_eq!(CachedTokens::Included.sum(151_000, 150_000), 151_000);
        assert_eq!(CachedTokens::Included.sum(10, 150_000), 150_000, "a contradiction");
    }
}
