//! Commits and events in the order in which they happened.

use andon_core::domain::decision::Halt;
use andon_core::domain::facts::{Ack, CommitRecord};
use andon_core::domain::ids::CommitId;

/// What is recorded about a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordState {
    /// There is a record.
    Recorded(Box<CommitRecord>),
    /// There is no record of the commit.
    Missing,
    /// There is one and it cannot be read; why.
    Unreadable(String),
}

impl RecordState {
    /// The record, when there is a readable one.
    pub fn record(&self) -> Option<&CommitRecord> {
        match self {
            Self::Recorded(record) => Some(record),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Recorded(_) => "recorded",
            Self::Missing => "missing",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Why the record cannot be read.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Recorded(_) | Self::Missing => None,
            Self::Unreadable(why) => Some(why),
        }
    }
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// A commit of the line that is shown.
    Commit {
        /// Its full id; texts show the beginning.
        commit: CommitId,
        /// First line of its message.
        subject: String,
        /// What is recorded about it.
        state: RecordState,
    },
    /// A halt, at the place in time at which it came.
    Halt(Box<Halt>),
    /// An answer of a person.
    Ack(Box<Ack>),
}
