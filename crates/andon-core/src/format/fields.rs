//! Bounds in the fields of a type that serde writes and reads, such as `#[serde(default, with = "Text::<256>")]`. In text
//! formats absent and `null` are the default; packed forms hold every field.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};

use super::{Count, List, bounded};

/// A text of at most `MAX` bytes as JSON: what is written is cut.
pub struct Text<const MAX: usize>;

impl<const MAX: usize> Text<MAX> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: TextField, S: Serializer>(text: &T, serializer: S) -> Result<S::Ok, S::Error> {
        text.within(|text| bounded(text, MAX)).serialize(serializer)
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is no text.
    pub fn deserialize<'de, T: TextField, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        or_default(deserializer)
    }
}

/// A text of at most `MAX` bytes: what is written is cut.
pub struct Cut<const MAX: usize>;

impl<const MAX: usize> Cut<MAX> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: TextField, S: Serializer>(text: &T, serializer: S) -> Result<S::Ok, S::Error> {
        text.within(|text| cut(text, MAX)).serialize(serializer)
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is no text.
    pub fn deserialize<'de, T: TextField, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        or_default(deserializer)
    }
}

/// The first `max` bytes of a text, cut at a character.
pub fn cut(text: &str, max: usize) -> String {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

/// A text that is there, or may be.
pub trait TextField: Serialize + for<'de> Deserialize<'de> + Default {
    /// The text as `bound` leaves it.
    #[must_use]
    fn within(&self, bound: impl Fn(&str) -> String) -> Self;
}

impl TextField for String {
    fn within(&self, bound: impl Fn(&str) -> String) -> Self {
        bound(self)
    }
}

impl TextField for Option<String> {
    fn within(&self, bound: impl Fn(&str) -> String) -> Self {
        self.as_deref().map(bound)
    }
}

/// A list of at most `MAX` texts of at most `EACH` bytes as JSON; `null` where it is empty.
pub struct Texts<const MAX: usize, const EACH: usize>;

impl<const MAX: usize, const EACH: usize> Texts<MAX, EACH> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: List<String, MAX> = texts.iter().map(|text| bounded(text, EACH)).collect();
        Items::<MAX>::serialize(&texts.items, serializer)
    }

    /// Reads it: what is beyond its bound is dropped.
    ///
    /// # Errors
    /// It is no list of texts.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        Items::<MAX>::deserialize(deserializer)
    }
}

/// A list of at most `MAX` items; `null` where it is empty.
pub struct Items<const MAX: usize>;

impl<const MAX: usize> Items<MAX> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(items: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        if items.is_empty() && serializer.is_human_readable() {
            return serializer.serialize_none();
        }
        items.get(..MAX).unwrap_or(items).serialize(serializer)
    }

    /// Reads it: what is beyond its bound is dropped.
    ///
    /// # Errors
    /// It is no list of such items.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        Ok(or_default::<List<T, MAX>, D>(deserializer)?.items)
    }
}

/// Reads a member that may be absent, or `null`.
///
/// # Errors
/// It is something else.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    if deserializer.is_human_readable() {
        return Ok(Option::deserialize(deserializer)?.unwrap_or_default());
    }
    T::deserialize(deserializer)
}

/// True when a value is the default; its member is then left out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes the text of a value.
///
/// # Errors
/// Those of the serializer.
pub fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Writes a value; `null` where it is the default.
///
/// # Errors
/// Those of the serializer.
pub fn unless_default<T: Serialize + Default + PartialEq, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() && *value == T::default() {
        return serializer.serialize_none();
    }
    value.serialize(serializer)
}

/// Reads a list of [`Count`]s that may be absent, or `null`.
///
/// # Errors
/// It is something else.
pub fn counts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let counts: Vec<Count> = or_default(deserializer)?;
    Ok(counts.into_iter().map(|Count(count)| count).collect())
}

/// Largest whole number that every reader of JSON understands alike (RFC 8785).
pub const MAX_WHOLE: u64 = (1 << 53) - 1;

/// Writes a number of at most [`MAX_WHOLE`].
///
/// # Errors
/// Those of the serializer.
pub fn whole<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(MAX_WHOLE.min(*number))
}

/// Reads a [`Count`] that may be absent, or `null`.
///
/// # Errors
/// It is something else.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    or_default(deserializer).map(|Count(count)| count)
}

/// Reads a [`Count`] that there may be.
///
/// # Errors
/// It is something else.
pub fn count_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.map(|Count(count)| count))
}

/// A member of packed forms alone. To text formats it is one that they do not know.
pub struct Packed;

impl Packed {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.serialize_none();
        }
        value.serialize(serializer)
    }

    /// Reads it.
    ///
    /// # Errors
    /// The packed form is no such value.
    pub fn deserialize<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        if deserializer.is_human_readable() {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(T::default());
        }
        T::deserialize(deserializer)
    }
}
