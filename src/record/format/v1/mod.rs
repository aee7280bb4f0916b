//! Format version 1, frozen by the golden files of `tests/format/v1/`: the commit record of DESIGN section 6 and the
//! lines of the journal. Keys are sorted, the form is compact, one line, ended by LF; absent means unknown.
//!
//! Beyond DESIGN section 6 a record may have `"caught_up":true` (written later than the commit) and
//! `"tests":{"truncated":true}` (the failing list was cut), and `"change"` (what the diff is made of, see `change`) and
//! `"skipped":[{"rule","reason"}]` (what was passed over for this commit; `agent` names the marker of an agent's shell). Bounds on writing, so that a line stays under
//! [`MAX_LINE`]: 256 hunks, 512 failing ids of 512 bytes, 64 outputs, 64 findings of 2 KiB, a command of 4 KiB.

mod attempt;
mod change;
mod choose;
mod commit;
mod event;
mod evidence;
mod halt;
mod heads;
mod line;
mod put;

pub(crate) use change::decode as decode_change;
pub use choose::{Choice, Derived, choose_record, disagreement};
pub use commit::{DecodedRecord, SCHEMA, UnknownKeys, decode_commit, encode_commit, line_digest};
pub(crate) use commit::{as_written, decode_weakening};
pub(crate) use event::{decode_ballot, decode_blind, decode_end, decode_trace, decode_uptime, decode_usage};
pub use line::{JournalLine, MarkedTurn, decode_line, encode_line};

/// Bound of one line, in bytes without its LF: 1 MiB.
pub const MAX_LINE: usize = 1 << 20;

#[cfg(test)]
pub(crate) use tests::any_record;

#[cfg(test)]
mod tests;
