//! A value whose object has members of something else too. They are taken out on the way: nothing is kept back until the
//! object ends, as `flatten` of serde would do, and errors name the member.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer,
};

/// A type that takes members out of an object before the value sees them.
pub trait Beside<'de>: Default {
    /// Their keys, at most 32.
    const KEYS: &'static [&'static str];

    /// Takes the value of `key`, which is one of them.
    ///
    /// # Errors
    /// It is of another type.
    fn take<A: MapAccess<'de>>(&mut self, key: &str, members: &mut A) -> Result<(), A::Error>;
}

/// A value, and what was beside it in its object.
#[derive(Debug)]
pub struct With<T, B> {
    pub value: T,
    /// The members that were beside the value.
    pub beside: B,
}

impl<'de, T: Deserialize<'de>, B: Beside<'de>> Deserialize<'de> for With<T, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Whole(PhantomData))
    }
}

struct Whole<T, B>(PhantomData<(T, B)>);

impl<'de, T: Deserialize<'de>, B: Beside<'de>> Visitor<'de> for Whole<T, B> {
    type Value = With<T, B>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<With<T, B>, A::Error> {
        let mut beside = B::default();
        let members = Members { all: members, beside: &mut beside, seen: 0 };
        let value = T::deserialize(MapAccessDeserializer::new(members))?;
        Ok(With { value, beside })
    }
}

/// The members of the value.
struct Members<'a, A, B> {
    all: A,
    beside: &'a mut B,
    /// A bit for each of [`Beside::KEYS`].
    seen: u32,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, A: MapAccess<'de>, B: Beside<'de>> MapAccess<'de> for Members<'_, A, B> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(Key(key)) = self.all.next_key()? {
            let Some(at) = B::KEYS.iter().position(|known| *known == key) else {
                return seed.deserialize(key.into_deserializer()).map(Some);
            };
            if self.seen & (1 << at) != 0 {
                return Err(A::Error::duplicate_field(B::KEYS[at]));
            }
            self.seen |= 1 << at;
            self.beside.take(&key, &mut self.all)?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.all.next_value_seed(seed)
    }
}
