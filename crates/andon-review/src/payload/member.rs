//! Reads a typed payload from the members of a JSON object. An error names the member by its path and says what it must be. A
//! member that is `null` counts as absent, and members that a type does not know are passed over.

use std::{borrow::Cow, fmt::Display};

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

/// A member that is missing or not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {wanted}")]
pub struct Malformed {
    /// The path of the member, without positions in lists; empty for the whole.
    pub member: String,
    /// The sentence that follows the path, such as `must be a text`.
    pub wanted: Cow<'static, str>,
}

/// The fault of a member that no one reads.
pub const UNKNOWN: &str = "is no field of an answer";

/// The words of serde for what it expects, and those of a person.
const EXPECTED: [(&str, &str); 7] = [
    ("a string", "a text"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("u64", "a whole number of at least 0"),
    ("i64", "a whole number"),
    ("f64", "a number"),
];

impl Malformed {
    /// The same fault, found below `member`.
    #[must_use]
    pub fn below(mut self, member: &str) -> Self {
        self.member = joined(member, &self.member);
        self
    }

    fn must_be(expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let words = EXPECTED.iter().find(|(theirs, _)| *theirs == expected).map(|(_, ours)| *ours);
        Self::custom(format!("must be {}", words.unwrap_or(&expected)))
    }
}

fn joined(above: &str, below: &str) -> String {
    [above, below].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

/// Makes the error of a member.
pub fn malformed(member: &str, wanted: impl Into<Cow<'static, str>>) -> Malformed {
    Malformed { member: member.to_owned(), wanted: wanted.into() }
}

impl Error for Malformed {
    fn custom<T: Display>(wanted: T) -> Self {
        malformed("", wanted.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::must_be(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::must_be(expected)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        let (last, others) = expected.split_last().unwrap_or((&"", &[]));
        Self::custom(format!("must be {} or {last}", others.join(", ")))
    }

    fn missing_field(member: &'static str) -> Self {
        malformed(member, "is missing")
    }
}

/// Reads a value of type `T` from an object.
///
/// # Errors
/// The first member that is missing or wrong.
pub fn read<'a, T: Deserialize<'a>>(object: &'a Map<String, Value>) -> Result<T, Malformed> {
    // To know the path of a member costs more than reading it: that is for objects that are wrong.
    T::deserialize(members(object))
        .or_else(|_| serde_path_to_error::deserialize(members(object)).map_err(located))
}

fn located(error: serde_path_to_error::Error<Malformed>) -> Malformed {
    let mut path = String::new();
    for segment in error.path() {
        if let Segment::Map { key } = segment {
            path = joined(&path, key);
        }
    }
    let is_item = matches!(error.path().iter().next_back(), Some(Segment::Seq { .. }));
    let mut wrong = error.into_inner().below(&path);
    if is_item && wrong.wanted.starts_with("must be") {
        wrong.wanted = format!("each {}", wrong.wanted).into();
    }
    wrong
}

/// The same for an object that a person wrote: each member is one of the type, or of `others`.
///
/// # Errors
/// Those of [`read`], or the member that is unknown.
pub fn read_known<'a, T: Deserialize<'a>>(
    object: &'a Map<String, Value>,
    others: &[&str],
) -> Result<T, Malformed> {
    let mut odd = None;
    let known = serde_ignored::deserialize(members(object), |path| {
        let path = path.to_string();
        let names = path.split('.').filter(|part| *part != "?" && part.parse::<usize>().is_err());
        let path = names.collect::<Vec<_>>().join(".");
        if !others.contains(&path.as_str()) {
            odd.get_or_insert(path);
        }
    });
    match odd {
        Some(odd) => Err(malformed(&odd, UNKNOWN)),
        None => known.or_else(|_: Malformed| read(object)),
    }
}

/// The value of that name.
///
/// # Errors
/// The names that there are.
pub fn named<'a, T: Deserialize<'a>>(member: &str, name: &'a str) -> Result<T, Malformed> {
    T::deserialize(BorrowedStrDeserializer::new(name)).map_err(|wrong: Malformed| wrong.below(member))
}

/// The members of an object that are not `null`.
fn members(
    object: &Map<String, Value>,
) -> MapDeserializer<'_, impl Iterator<Item = (&str, Member<'_>)>, Malformed> {
    let there = object.iter().filter(|(_, value)| !value.is_null());
    MapDeserializer::new(there.map(|(name, value)| (name.as_str(), Member(value))))
}

/// A value below an object. Other than in `serde_json`, a list is no struct: a stranger's entry has one form.
#[derive(Clone, Copy)]
struct Member<'a>(&'a Value);

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = Malformed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        match self.0 {
            Value::Object(object) => visitor.visit_map(members(object)),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Member))),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Null => visitor.visit_unit(),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        let object = self.0.as_object().ok_or_else(|| Malformed::must_be(&"an object"))?;
        visitor.visit_map(members(object))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        let text = self.0.as_str().ok_or_else(|| Malformed::must_be(&"a text"))?;
        visitor.visit_enum(BorrowedStrDeserializer::new(text))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple tuple_struct map
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Malformed> for Member<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
