//! Entries of any type, with their signatures: what witnesses, admins and agents wrote (docs/formats.md).
//!
//! The rest of this module knows halts and answers and skips what else is there. Here every entry is read whole: its
//! commit must have the one form that git signs, its JSON the canonical one, and a signature is verified.

mod append;
pub(super) mod form;
mod read;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use andon_core::domain::{CommitId, EntryId, Timestamp};
use andon_signing::{BadSignature, Touch};

pub use append::EvidenceText;

/// The result of verifying an entry's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignatureState {
    /// There is none.
    Unsigned,
    /// It holds.
    Good { key: String, touch: Touch },
    /// It does not hold.
    #[serde(skip)]
    Bad(BadSignature),
}

/// An entry of any type. A memory of it holds no copies and no signature that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WholeEntry {
    /// sha256 of its commit without signature.
    pub id: EntryId,
    /// The commit that carries the entry.
    pub commit: CommitId,
    /// Who wrote it: a clone.
    pub writer: String,
    /// Its Lamport number, as it says.
    pub lamport: u64,
    /// The time it claims.
    pub at: Option<Timestamp>,
    /// Its type; untrusted.
    pub kind: String,
    /// The ledger that it says it belongs to.
    pub ledger: Option<String>,
    /// Everything else it says; untrusted.
    #[serde(with = "as_json")]
    pub body: Arc<Map<String, Value>>,
    /// Its parents; in the place of one that is no entry, what came before that.
    pub parents: Vec<CommitId>,
    /// The result of verifying the signature of that commit.
    pub signature: SignatureState,
    /// Those of its copies, which may be by other keys.
    #[serde(skip)]
    pub copies: Vec<SignatureState>,
}

/// A body in a packed form, which holds no values of any type: as its JSON.
mod as_json {
    use std::sync::Arc;

    use serde::{
        Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _, ser::Error as _,
    };
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        body: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serde_json::to_string(body).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        packed: D,
    ) -> Result<Arc<Map<String, Value>>, D::Error> {
        let text = String::deserialize(packed)?;
        serde_json::from_str(&text).map(Arc::new).map_err(D::Error::custom)
    }
}

/// The fault of a commit of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryFault {
    /// It is referred to and not there.
    Missing,
    /// It has another form than the one: the header or file that is wrong.
    Form(String),
    /// It holds no entry; why.
    Unreadable(String),
    /// Two commits hold this entry.
    Twice,
}

/// A fault, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyEntry {
    /// The commit that could not be read.
    pub commit: CommitId,
    /// The entry's id, where it has one.
    pub id: Option<EntryId>,
    pub fault: EntryFault,
}

#[derive(Debug, Clone, Default)]
pub struct WholeLedger {
    /// Every entry that could be read, parents before children, in the order of the ledger.
    pub entries: Vec<WholeEntry>,
    /// Commits that could not be read, or have another form.
    pub faults: Vec<FaultyEntry>,
}

/// An entry to be appended.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// The type of the entry, such as `loop.halted`.
    pub kind: &'a str,
    /// The ledger that it belongs to; none for the first policy.
    pub ledger: Option<EntryId>,
    /// Its members.
    pub body: &'a Map<String, Value>,
    /// Texts that are kept with it.
    pub evidence: &'a [EvidenceText],
    /// When.
    pub at: Timestamp,
}

pub use read::bridge;

#[cfg(test)]
mod tests;
