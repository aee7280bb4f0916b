//! The differences from the base tree in a run. Paths are bytes: in text one that is UTF-8 is a text, any other
//! `{"hex":"..."}`.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::codec::{by_name, flag};
use crate::domain::ids::Oid;

/// A path of the working tree that differs from the base tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "EntryForm", try_from = "EntryForm")]
pub struct OverlayEntry {
    /// Path from the repository root, as git stores it (bytes, slashes).
    pub path: Vec<u8>,
    /// File mode and blob id; `None` when the path was deleted.
    pub entry: Option<(u32, Oid)>,
    /// The tracking state of the path in git when the run began.
    pub tracking: Tracking,
}

/// The tracking state of a path in git. The serialized member is present, and true, only for a path that git did not track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tracking {
    /// In the index.
    Tracked,
    /// Not in the index and not ignored.
    Untracked,
}

flag!(Tracking, Untracked, Tracked);

/// The serialized form of [`OverlayEntry`]: without mode and id where the path was deleted.
#[derive(Serialize, Deserialize)]
struct EntryForm {
    #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
    path: Vec<u8>,
    mode: Option<Mode>,
    id: Option<Oid>,
    untracked: Tracking,
}

impl From<OverlayEntry> for EntryForm {
    fn from(OverlayEntry { path, entry, tracking }: OverlayEntry) -> Self {
        let (mode, id) = entry.map(|(mode, id)| (Mode(mode), id)).unzip();
        Self { path, mode, id, untracked: tracking }
    }
}

impl TryFrom<EntryForm> for OverlayEntry {
    type Error = &'static str;

    fn try_from(EntryForm { path, mode, id, untracked }: EntryForm) -> Result<Self, &'static str> {
        if mode.is_some() != id.is_some() {
            return Err("a mode without an id, or an id without a mode");
        }
        let entry = mode.zip(id).map(|(Mode(mode), id)| (mode, id));
        Ok(Self { path, entry, tracking: untracked })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a path")]
enum PathForm {
    Text(String),
    Bytes { hex: String },
}

fn write_path<S: Serializer>(path: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if !serializer.is_human_readable() {
        return path.serialize(serializer);
    }
    let text = std::str::from_utf8(path).map(|text| PathForm::Text(text.to_owned()));
    text.unwrap_or_else(|_| PathForm::Bytes { hex: hex::encode(path) }).serialize(serializer)
}

fn read_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    if !deserializer.is_human_readable() {
        return Vec::deserialize(deserializer);
    }
    match PathForm::deserialize(deserializer)? {
        PathForm::Text(text) => Ok(text.into_bytes()),
        PathForm::Bytes { hex } => {
            let wrong = || D::Error::invalid_value(Unexpected::Str(&hex), &"pairs of hexadecimal digits");
            hex::decode(&hex).map_err(|_| wrong())
        }
    }
}

/// A file mode, as git writes it.
struct Mode(u32);

impl Mode {
    fn from_octal(text: &str) -> Option<Self> {
        // A sign would be read as well.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        u32::from_str_radix(text, 8).ok().filter(|_| digits).map(Self)
    }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:o}", self.0))
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_name(deserializer, "an octal number", Self::from_octal)
    }
}
