//! The member `scopes` of test evidence: in text an object that has a row for each scope, by name. A row is the evidence of
//! the scope without remarks, with what the project says about the scope in its middle; counts of nothing and empty lists are
//! left out, for a record has a row for each scope of the project. Packed, it is the list.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{MAX_RUNNER, ScopeTests, TestEvidence};
use crate::domain::ids::CommitId;
use crate::format::beside::{Beside, With};
use crate::format::{List, members_of};

/// The members that the project states about the scope, and the members of evidence that a row does not have, whatever another
/// program wrote there.
const BESIDE: [&str; 10] = [
    "flaky_tests",
    "from",
    "handed_in",
    "lost",
    "names",
    "needs",
    "not_started",
    "said",
    "scopes",
    "untracked",
];
/// Members that a row leaves out where they are nothing.
const NOTHING: [&str; 6] = ["errored", "failed", "failing", "passed", "skipped", "total"];

type Needs = List<String, { TestEvidence::MAX_SCOPES }>;

/// The members of a row beside the result.
#[derive(Default)]
struct Scope {
    needs: Option<Needs>,
    from: Option<CommitId>,
}

impl<'de> Beside<'de> for Scope {
    const KEYS: &'static [&'static str] = &BESIDE;

    fn take<A: MapAccess<'de>>(&mut self, key: &str, members: &mut A) -> Result<(), A::Error> {
        match key {
            "needs" => self.needs = members.next_value()?,
            "from" => self.from = members.next_value()?,
            _ => drop(members.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

pub(super) fn serialize<S: Serializer>(scopes: &[ScopeTests], serializer: S) -> Result<S::Ok, S::Error> {
    if !serializer.is_human_readable() {
        return scopes.serialize(serializer);
    }
    if scopes.is_empty() {
        return serializer.serialize_none();
    }
    let rows = scopes.iter().take(TestEvidence::MAX_SCOPES);
    serializer.collect_map(rows.map(|scope| (&scope.name, row(scope))))
}

fn row(scope: &ScopeTests) -> Map<String, Value> {
    let mut row = members_of(&scope.tests.clone().bounded());
    let is_nothing = |value: &Value| *value == 0 || value.as_array().is_some_and(Vec::is_empty);
    row.retain(|key, value| {
        let key = key.as_str();
        let is_left_out = NOTHING.contains(&key) && is_nothing(value);
        !BESIDE.contains(&key) && !is_left_out
    });
    let needs: Needs = scope.needs.iter().cloned().collect();
    row.extend(needs.unless_empty().map(|needs| ("needs".to_owned(), needs.items.into())));
    row.extend(scope.from.map(|from| ("from".to_owned(), from.to_string().into())));
    row
}

/// Rows of too long names and beyond the bound are left out.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ScopeTests>, D::Error> {
    if !deserializer.is_human_readable() {
        return Deserialize::deserialize(deserializer);
    }
    let rows: Option<BTreeMap<String, With<TestEvidence, Scope>>> = Deserialize::deserialize(deserializer)?;
    let rows = rows.unwrap_or_default().into_iter().filter(|(name, _)| name.len() <= MAX_RUNNER);
    let read = |(name, With { value, beside }): (String, With<TestEvidence, Scope>)| {
        let Scope { needs, from } = beside;
        ScopeTests { name, needs: needs.unwrap_or_default().items, tests: value.bounded(), from }
    };
    Ok(rows.take(TestEvidence::MAX_SCOPES).map(read).collect())
}
