//! The members of payloads, as types and as `with` modules of their fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;

use andon_core::format::fields::MAX_WHOLE;

/// The longest text that is signed, in bytes: such texts are never cut.
pub const MAX_TEXT: usize = 4096;

/// A text that is signed: at most [`MAX_TEXT`] bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct SignedText(pub String);

impl TryFrom<String> for SignedText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let fits = text.len() <= MAX_TEXT;
        fits.then_some(Self(text)).ok_or("must be at most 4 KiB: signed texts are never cut")
    }
}

impl SignedText {
    /// True for a text of white space alone.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

/// A whole number from 0 to [`MAX_WHOLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, serde::Deserialize)]
#[serde(try_from = "u64")]
pub struct Whole(u64);

impl TryFrom<u64> for Whole {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, &'static str> {
        (number <= MAX_WHOLE).then_some(Self(number)).ok_or("must be a whole number of at least 0")
    }
}

impl Whole {
    /// The nearest whole number to `number`.
    pub fn new(number: i64) -> Self {
        Self(MAX_WHOLE.min(number.max(0).unsigned_abs()))
    }

    pub fn get(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

/// A number that is written as a [`Whole`].
pub mod whole {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Whole};

    pub fn serialize<T: Copy + TryInto<u64>, S: Serializer>(
        number: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Whole((*number).try_into().unwrap_or_default()).serialize(serializer)
    }

    /// Reads it; where `T` is too small, as much as it can hold of 32 bits.
    pub fn deserialize<'de, T: TryFrom<u64> + Default, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let Whole(number) = Whole::deserialize(deserializer)?;
        let number = T::try_from(number).or_else(|_| T::try_from(u64::from(u32::MAX)));
        Ok(number.unwrap_or_default())
    }
}

/// A time in seconds since 1970, or as RFC 3339 has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Time(pub i64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(TimeVisitor);
        }
        Ok(Self(i64::deserialize(deserializer)?))
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time: seconds since 1970, or RFC 3339")
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Time, E> {
        let fits = seconds.unsigned_abs() <= MAX_WHOLE;
        fits.then_some(Time(seconds)).ok_or_else(|| E::invalid_value(Unexpected::Signed(seconds), &self))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Time, E> {
        self.visit_i64(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
        let time: Option<jiff::Timestamp> = text.parse().ok();
        let time = time.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))?;
        self.visit_i64(time.as_second())
    }
}

/// Texts by name, lists of them.
pub fn lists<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    BTreeMap::deserialize(deserializer).map_err(|_| D::Error::custom("must hold lists of texts"))
}

/// Whole numbers by name, which may be negative.
pub fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, i64>, D::Error> {
    let numbers: Option<BTreeMap<String, i64>> = BTreeMap::deserialize(deserializer).ok();
    let fits = |number: &i64| number.unsigned_abs() <= MAX_WHOLE;
    let numbers = numbers.filter(|numbers| numbers.values().all(fits));
    numbers.ok_or_else(|| D::Error::custom("must hold whole numbers"))
}

/// Reads a member by which nothing is decided: in another form it says nothing.
pub fn lenient<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).unwrap_or_default())
}

/// Shows a value of a closed set by the name that serde writes.
macro_rules! shown_by_name {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }
    };
}
pub(crate) use shown_by_name;

/// The names of all of them, for people.
pub fn names<T: ToString>(all: &BTreeSet<T>) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
