//! Why an entry does not count.

/// The reasons, in the order in which they are looked for: the first that applies is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    ClockSetBack,
    FromTheFuture,
    BadPayload,
    UnknownRound,
    PolicyRollback,
    PolicyConflict,
    PolicyThreshold,
    Unsigned,
    RevokedKey,
    SelfGranted,
    UnknownKey,
    WrongRole,
    Withdrawn,
    AlreadyResolved,
    RateLimited,
    Suspended,
    Conflict,
    PanelOnly,
    Rotation,
    PanelFull,
    RefereeGate,
    PanelNeeded,
    NotAccepted,
    NotOnPanel,
    Cap,
    ConcernCooldown,
    DuplicateBallot,
    NoCommitment,
    EarlyReveal,
    CommitmentMismatch,
}

impl Code {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClockSetBack => "clock_set_back",
            Self::FromTheFuture => "from_the_future",
            Self::BadPayload => "bad_payload",
            Self::UnknownRound => "unknown_round",
            Self::PolicyRollback => "policy_rollback",
            Self::PolicyConflict => "policy_conflict",
            Self::PolicyThreshold => "policy_threshold",
            Self::Unsigned => "unsigned",
            Self::RevokedKey => "revoked_key",
            Self::SelfGranted => "self_granted",
            Self::UnknownKey => "unknown_key",
            Self::WrongRole => "wrong_role",
            Self::Withdrawn => "withdrawn",
            Self::AlreadyResolved => "already_resolved",
            Self::RateLimited => "rate_limited",
            Self::Suspended => "suspended",
            Self::Conflict => "conflict",
            Self::PanelOnly => "panel_only",
            Self::Rotation => "rotation",
            Self::PanelFull => "panel_full",
            Self::RefereeGate => "referee_gate",
            Self::PanelNeeded => "panel_needed",
            Self::NotAccepted => "not_accepted",
            Self::NotOnPanel => "not_on_panel",
            Self::Cap => "cap",
            Self::ConcernCooldown => "concern_cooldown",
            Self::DuplicateBallot => "duplicate_ballot",
            Self::NoCommitment => "no_commitment",
            Self::EarlyReveal => "early_reveal",
            Self::CommitmentMismatch => "commitment_mismatch",
        }
    }
}
