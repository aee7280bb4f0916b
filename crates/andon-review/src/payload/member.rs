//! Reads a typed payload from the members of a JSON object, so that an error names the member by its path and says what it must
//! be. A member that is `null` is absent; members that a type does not know are passed over.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::iter::Enumerate;
use std::slice::Iter;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, Unexpected,
    Visitor,
};
use serde_json::{Map, Value};

/// A member that is missing or not what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The path of the member, without positions in lists; empty for the whole.
    pub member: String,
    /// What it must be.
    pub wanted: Cow<'static, str>,
}

/// What is wrong with a member that no one reads.
pub const UNKNOWN: &str = "is no field of an answer";
/// What is wrong with a member that is not there, until it is known what it must be.
const MISSING: &str = "is missing";

impl Malformed {
    /// The same, where it was found below `member`.
    #[must_use]
    pub fn below(mut self, member: &str) -> Self {
        if !self.member.is_empty() {
            self.member.insert(0, '.');
        }
        self.member.insert_str(0, member);
        self
    }
}

impl Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.member, self.wanted)
    }
}

impl std::error::Error for Malformed {}

/// A malformed member.
pub fn malformed(member: &str, wanted: impl Into<Cow<'static, str>>) -> Malformed {
    Malformed { member: member.to_owned(), wanted: wanted.into() }
}

/// Boxed, as every result of a reader would be as large.
impl de::Error for Box<Malformed> {
    fn custom<T: Display>(wanted: T) -> Self {
        Box::new(malformed("", wanted.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Box::new(malformed("", format!("must be {expected}")))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Box::new(malformed("", format!("must be {expected}")))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        let (last, others) = expected.split_last().unwrap_or((&"", &[]));
        Box::new(malformed("", format!("must be {} or {last}", others.join(", "))))
    }

    fn missing_field(member: &'static str) -> Self {
        Box::new(malformed(member, MISSING))
    }
}

/// Reads a value of type `T` from an object.
///
/// # Errors
/// The first member that is missing or wrong, in the order of the type.
pub fn read<'a, T: Deserialize<'a>>(object: &'a Map<String, Value>) -> Result<T, Malformed> {
    read_as(object, Reading::default())
}

/// The same for an object that a person wrote: each member is one of the type, or of `others`.
///
/// # Errors
/// Those of [`read`], or the member that is unknown.
pub fn read_known<'a, T: Deserialize<'a>>(
    object: &'a Map<String, Value>,
    others: &[&str],
) -> Result<T, Malformed> {
    read_as(object, Reading { others: Some(others), missing: None })
}

fn read_as<'a, T: Deserialize<'a>>(
    object: &'a Map<String, Value>,
    reading: Reading<'_>,
) -> Result<T, Malformed> {
    let whole = Member { object: Some(object), value: &Value::Null, reading, is_item: false };
    let read = match T::deserialize(whole) {
        // Which kind of member is missing is known by its type alone, which says so where it finds nothing.
        Err(wrong) if wrong.wanted == MISSING => {
            let missing = wrong.member.rsplit('.').next();
            T::deserialize(Member { reading: Reading { missing, ..reading }, ..whole })
        }
        read => read,
    };
    read.map_err(|wrong| *wrong)
}

/// The value of that name.
///
/// # Errors
/// The names that there are.
pub fn named<'a, T: Deserialize<'a>>(member: &str, name: &'a str) -> Result<T, Malformed> {
    T::deserialize(BorrowedStrDeserializer::new(name)).map_err(|wrong: Box<Malformed>| wrong.below(member))
}

/// How members are read.
#[derive(Clone, Copy, Default)]
struct Reading<'r> {
    /// Members of this name are presented also where they are absent.
    missing: Option<&'r str>,
    /// Where every member must be known: further names that the whole may have.
    others: Option<&'r [&'r str]>,
}

/// A value in an object, as serde reads it.
#[derive(Clone, Copy)]
struct Member<'a, 'r> {
    object: Option<&'a Map<String, Value>>,
    /// What it is where it is no object.
    value: &'a Value,
    reading: Reading<'r>,
    /// Whether it is in a list.
    is_item: bool,
}

impl<'a, 'r> Member<'a, 'r> {
    fn inner(self, value: &'a Value, is_item: bool) -> Self {
        let others = self.reading.others.and(Some(&[][..]));
        Self { object: value.as_object(), value, reading: Reading { others, ..self.reading }, is_item }
    }

    fn is_null(self) -> bool {
        self.object.is_none() && self.value.is_null()
    }

    /// What was `found` of this kind.
    fn of<T>(self, found: Option<T>, kind: &str) -> Result<T, Box<Malformed>> {
        found.ok_or_else(|| self.wrong(kind))
    }

    #[inline(never)]
    #[allow(clippy::unnecessary_box_returns, reason = "errors of serde are boxed here")]
    fn wrong(self, kind: &str) -> Box<Malformed> {
        let wanted = match (self.is_item, self.is_null(), kind) {
            (true, _, "a text") => "must be a list of texts".to_owned(),
            (true, _, "an object") => "must hold objects".to_owned(),
            (false, true, _) => format!("{kind} is missing"),
            (_, _, _) => format!("must be {kind}"),
        };
        Box::new(malformed("", wanted))
    }

    /// Its members, where it is an object.
    #[inline(never)]
    fn fields(self, fields: &'static [&'static str]) -> Result<Fields<'a, 'r>, Box<Malformed>> {
        let object = self.of(self.object, "an object")?;
        if let Some(others) = self.reading.others {
            let known = |name: &&str| fields.contains(name) || others.contains(name);
            if let Some(odd) = object.keys().map(String::as_str).find(|name| !known(name)) {
                return Err(Box::new(malformed(odd, UNKNOWN)));
            }
        }
        Ok(Fields { object, whole: self, names: fields.iter().enumerate(), next: None })
    }
}

impl<'de> Deserializer<'de> for Member<'de, '_> {
    type Error = Box<Malformed>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        match self.value {
            _ if self.object.is_some() => self.deserialize_map(visitor),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Null | Value::Object(_) => visitor.visit_unit(),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_bool(self.of(self.value.as_bool(), "true or false")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_u64(self.of(self.value.as_u64(), "a whole number of at least 0")?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_i64(self.of(self.value.as_i64(), "a whole number")?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_f64(self.of(self.value.as_f64(), "a number")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_borrowed_str(self.of(self.value.as_str(), "a text")?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        let items = self.of(self.value.as_array(), "a list")?.iter();
        visitor.visit_seq(SeqDeserializer::new(items.map(|item| self.inner(item, true))))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        let members = self.of(self.object, "an object")?.iter();
        let members = members.map(|(name, value)| (name.as_str(), self.inner(value, false)));
        visitor.visit_map(MapDeserializer::new(members))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_map(self.fields(fields)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.of(self.value.as_str(), "a text")?))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Malformed>> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Box<Malformed>> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 u8 u16 u32 f32 char str bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Box<Malformed>> for Member<'de, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The members of an object that a type knows, in its order.
struct Fields<'de, 'r> {
    object: &'de Map<String, Value>,
    whole: Member<'de, 'r>,
    names: Enumerate<Iter<'static, &'static str>>,
    next: Option<(&'static str, &'de Value)>,
}

impl<'de, 'r> Fields<'de, 'r> {
    /// Goes on to the next that is there; its position in the type.
    #[inline(never)]
    fn advance(&mut self) -> Option<usize> {
        let (object, missing) = (self.object, self.whole.reading.missing);
        let there = |(position, name): (usize, &&'static str)| match object.get(*name) {
            Some(value) if !value.is_null() => Some((position, (*name, value))),
            Some(_) | None => (missing == Some(*name)).then_some((position, (*name, &Value::Null))),
        };
        let (position, next) = self.names.find_map(there)?;
        self.next = Some(next);
        Some(position)
    }

    #[inline(never)]
    fn current(&self) -> Member<'de, 'r> {
        self.whole.inner(self.next.map_or(&Value::Null, |(_, value)| value), false)
    }

    #[inline(never)]
    #[allow(clippy::unnecessary_box_returns, reason = "errors of serde are boxed here")]
    fn wrong(&self, wrong: Malformed) -> Box<Malformed> {
        Box::new(wrong.below(self.next.map_or("", |(name, _)| name)))
    }
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Box<Malformed>;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Box<Malformed>> {
        // By its position: a type would compare the names once more.
        self.advance().map(|position| seed.deserialize((position as u64).into_deserializer())).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Box<Malformed>> {
        seed.deserialize(self.current()).map_err(|wrong| self.wrong(*wrong))
    }
}
