//! A JSON value that borrows from the line it was read from. Hooks decode a window of records at every commit, and
//! `serde_json::Value` would allocate each key and text of it; this one allocates only lists, objects and what is
//! escaped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// One value. Numbers are as in [`Value`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    Array(Vec<Self>),
    Object(Object<'a>),
}

/// The members of an object, sorted by key, each key once: of duplicates the last counts, as in [`Map`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Option<Json<'a>>)>);

impl<'a> Object<'a> {
    /// The value of `key`, if it has not been taken.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.0[self.position(key)?].1.as_ref()
    }

    /// Takes the value of `key` out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json<'a>> {
        let at = self.position(key)?;
        self.0[at].1.take()
    }

    /// The keys that have not been taken, sorted.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| key.as_ref())
    }

    /// Puts a value back that was taken.
    pub(crate) fn put_back(&mut self, key: &str, value: Json<'a>) {
        if let Some(at) = self.position(key) {
            self.0[at].1 = Some(value);
        }
    }

    /// True when everything was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, value)| value.is_none())
    }

    /// What was not taken, no longer borrowed.
    pub(crate) fn into_map(self) -> Map<String, Value> {
        self.0.into_iter().filter_map(|(key, value)| Some((key.into_owned(), value?.into_value()))).collect()
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.0.binary_search_by(|(known, _)| known.as_ref().cmp(key)).ok()
    }
}

impl<'a> Json<'a> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The member `key` of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The same, no longer borrowed.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::String(text.into_owned()),
            Self::Array(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Self::Object(object) => Value::Object(object.into_map()),
        }
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object: Vec<(Cow<'de, str>, Option<Json<'de>>)> = Vec::new();
        let mut sorted = true;
        while let Some(Key(key)) = members.next_key()? {
            sorted = sorted && object.last().is_none_or(|(last, _)| *last < key);
            object.push((key, Some(members.next_value()?)));
        }
        if !sorted {
            // A stable sort keeps duplicates in order; the first of each run in reverse is the last of the text.
            object.reverse();
            object.sort_by(|(one, _), (other, _)| one.cmp(other));
            object.dedup_by(|(later, _), (kept, _)| later == kept);
        }
        Ok(Json::Object(Object(object)))
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyText)
    }
}

struct KeyText;

impl<'de> Visitor<'de> for KeyText {
    type Value = Key<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = String> {
        // Few letters, so that keys collide; quotes and escapes among them.
        proptest::string::string_regex("[ab\"\\\\\n\u{e9}]{0,3}").unwrap()
    }

    /// JSON texts with duplicate and unsorted keys.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|flag| flag.to_string()),
            any::<i64>().prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            (-1e6..1e6_f64).prop_map(|number| Value::from(number).to_string()),
            text().prop_map(|text| Value::String(text).to_string()),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            let member =
                (text(), inner.clone()).prop_map(|(key, value)| format!("{}:{value}", Value::String(key)));
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_serde_json_reads(text in json()) {
            let wanted: Value = serde_json::from_str(&text).unwrap();
            let read: Json<'_> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.into_value(), wanted);
        }
    }

    #[test]
    fn takes_each_member_once() {
        let Json::Object(mut object) = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap() else {
            panic!("an object");
        };
        assert_eq!(object.take("b"), Some(Json::Number(3.into())));
        assert_eq!(object.take("b"), None);
        assert_eq!(object.get("a"), Some(&Json::Number(2.into())));
        assert!(!object.is_empty());
        assert_eq!(Value::Object(object.into_map()).to_string(), r#"{"a":2}"#);
    }
}
