//! Format version 1, frozen by the golden files of `tests/format/v1/`: the commit record of docs/formats.md, the lines of
//! the journal and the entries of the ledger. Keys are sorted, the form is compact, one line, ended by LF; absent and
//! `null` mean unknown.
//!
//! Beyond docs/formats.md a record may have `"caught_up":true` (written later than the commit) and
//! `"tests":{"truncated":true}` (the failing list was cut), and `"change"` (what the diff is made of: `{"docs":{"hash":"<16 hex>","now":[2,5],
//! "was":[1,5]},"nature":"docs","paths":[["<16 hex>","<16 hex>","<16 hex>"]],"truncated":false}`; per path hashes of its name, of
//! what it was and of what it is; per document state the ticked and all items of its checklists) and
//! `"skipped":[{"rule","reason"}]` (what was passed over for this commit; `agent` names the marker of an agent's shell). Bounds
//! on writing, so that a line stays under [`MAX_LINE`]: 256 hunks, 512 failing ids of 512 bytes, 64 outputs, 64 findings of
//! 2 KiB, a command of 4 KiB.

mod choose;
mod commit;
pub mod event;
mod journal;
pub mod ledger;
pub mod open;

pub use choose::{Choice, DerivedFacts, choose_record, disagreement};
pub use commit::{
    DecodedRecord, SCHEMA, UnknownKeys, as_written, decode_commit, encode_commit, line_digest, record_members,
};
pub use journal::{JournalLine, Marker, Peek, Repair, decode_line, encode_line, is_plainly_event, peek};

/// Bound of one line, in bytes without its LF: 1 MiB.
pub const MAX_LINE: usize = 1 << 20;

#[cfg(test)]
pub(crate) use tests::any_record;

#[cfg(test)]
mod tests;
