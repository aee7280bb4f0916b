//! The cost of work, as agents report it.

use serde::{Deserialize, Serialize};

use crate::format::fields::{Packed, Text, count_if_any};

/// Bytes of a cost as JSON.
const MAX_COST: usize = 64;

/// Tokens and cost of the work behind a commit, as an agent reported them: the member `usage` of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    #[serde(default, deserialize_with = "count_if_any")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, deserialize_with = "count_if_any")]
    pub output_tokens: Option<u64>,
    /// US dollars as a decimal text, so that no digit is lost.
    #[serde(default, with = "Text::<MAX_COST>")]
    pub cost_usd: Option<String>,
    /// Tokens in the context window.
    #[serde(default, deserialize_with = "count_if_any")]
    pub context_tokens: Option<u64>,
    /// Tokens that were read from a cache; whether `input_tokens` holds them is `usage.cached`. Not part of records.
    #[serde(default, with = "Packed")]
    pub cached_tokens: Option<u64>,
    /// Size of the context window in tokens, where the client or its transcript says so. Not part of records.
    #[serde(default, with = "Packed")]
    pub window_tokens: Option<u64>,
    /// Lines of output, for an estimate where nothing better is known. Not part of records.
    #[serde(default, with = "Packed")]
    pub output_lines: Option<u64>,
}

impl Usage {
    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }

    /// Adds what was spent after this; the context window is that of `later`, where it has one.
    pub fn add(&mut self, later: &Self) {
        let sum = |before: Option<u64>, more: Option<u64>| match (before, more) {
            (Some(before), Some(more)) => Some(before.saturating_add(more)),
            (before, more) => before.or(more),
        };
        self.input_tokens = sum(self.input_tokens, later.input_tokens);
        self.output_tokens = sum(self.output_tokens, later.output_tokens);
        self.cached_tokens = sum(self.cached_tokens, later.cached_tokens);
        self.output_lines = sum(self.output_lines, later.output_lines);
        self.context_tokens = later.context_tokens.or(self.context_tokens);
        self.window_tokens = later.window_tokens.or(self.window_tokens);
        if self.cost_usd.is_some() && later.cost_usd.is_some() {
            let micros = self.cost_micros().saturating_add(later.cost_micros());
            self.cost_usd = Some(dollars(micros));
        } else if later.cost_usd.is_some() {
            self.cost_usd.clone_from(&later.cost_usd);
        }
    }

    /// Returns the usage after `earlier`, which is a part of this one; a member is `None` where nothing was spent. The context
    /// window is the present one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let rest = |all: Option<u64>, before: Option<u64>| match before {
            Some(before) => all.map(|all| all.saturating_sub(before)).filter(|rest| *rest > 0),
            None => all,
        };
        let micros = self.cost_micros().saturating_sub(earlier.cost_micros());
        let cost_usd = match &earlier.cost_usd {
            Some(_) => (micros > 0).then(|| dollars(micros)),
            None => self.cost_usd.clone(),
        };
        Self {
            input_tokens: rest(self.input_tokens, earlier.input_tokens),
            output_tokens: rest(self.output_tokens, earlier.output_tokens),
            cached_tokens: rest(self.cached_tokens, earlier.cached_tokens),
            output_lines: rest(self.output_lines, earlier.output_lines),
            cost_usd,
            ..self.clone()
        }
    }

    /// The cost in millionths of a dollar, rounded down; 0 where it is unknown or no decimal number.
    pub fn cost_micros(&self) -> u64 {
        self.cost_usd.as_deref().and_then(micros).unwrap_or(0)
    }
}

fn dollars(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// A decimal number of dollars such as `0.03` in millionths, saturating.
pub fn micros(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || !digits(whole) || !digits(part) {
        return None;
    }
    let whole = whole
        .bytes()
        .fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    let part = part.bytes().chain(std::iter::repeat(b'0')).take(6);
    let part = part.fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some(whole.saturating_mul(1_000_000).saturating_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_since_is_the_rest() {
        let spent = |input: u64, cost: &str| Usage {
            input_tokens: Some(input),
            cost_usd: Some(cost.to_owned()),
            context_tokens: Some(9),
            ..Usage::default()
        };
        let (first, second) = (spent(10, "0.1"), spent(15, "0.25"));
        let mut all = first.clone();
        all.add(&second);
        let rest = all.since(&first);
        assert_eq!((rest.input_tokens, rest.cost_usd.as_deref()), (Some(15), Some("0.250000")));
        assert_eq!(first.since(&Usage::default()), first, "no digit changes");
        assert_eq!(all.since(&all), Usage { context_tokens: Some(9), ..Usage::default() });
    }

    #[test]
    fn amounts_are_read_without_losing_digits() {
        for (text, expected) in [
            ("0.03", Some(30_000)),
            ("12", Some(12_000_000)),
            (".5", Some(500_000)),
            ("1.", Some(1_000_000)),
            ("0.0000019", Some(1)),
            ("99999999999999999999", Some(u64::MAX)),
            ("", None),
            (".", None),
            ("-1", None),
            ("1e3", None),
            ("1.2.3", None),
        ] {
            assert_eq!(micros(text), expected, "{text:?}");
        }
    }

    #[test]
    fn spending_adds_up_and_the_window_is_the_newest() {
        let one = |tokens, cost: Option<&str>, context| Usage {
            input_tokens: tokens,
            output_tokens: None,
            cost_usd: cost.map(str::to_owned),
            context_tokens: context,
            ..Usage::default()
        };
        let mut sum = one(Some(1), None, Some(9));
        sum.add(&one(Some(2), Some("0.1"), None));
        assert_eq!(sum, one(Some(3), Some("0.1"), Some(9)));
        sum.add(&one(None, Some("0.25"), Some(4)));
        assert_eq!(sum, one(Some(3), Some("0.350000"), Some(4)));
        assert_eq!((sum.tokens(), sum.cost_micros()), (3, 350_000));
    }
}
