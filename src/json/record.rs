//! Commits and what was recorded of them: `log`, `show`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use andon_core::domain::facts::CommitRecord;
use andon_core::domain::ids::{CommitId, Digest};
use andon_core::domain::tests::TestEvidence;
use andon_core::format::members_of;
use andon_engine::json::halt::{AckJson, HaltJson};
use andon_store::wire::v1::record_members;

/// An entry of `andon log`, one a line; `type` says which.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum LogJson<'a> {
    Commit(Box<CommitJson<'a>>),
    Halt(Box<HaltJson<'a>>),
    Ack(AckJson<'a>),
}

/// A commit.
#[derive(Debug, Serialize)]
pub struct CommitJson<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub commit: CommitId,
    pub subject: &'a str,
    pub state: &'static str,
    pub problem: Option<&'a str>,
    pub record: Option<RecordJson<'a>>,
}

/// `andon/show@1`: a commit, the digest of its record, and what a newer version wrote into that.
#[derive(Debug, Serialize)]
pub struct ShowJson<'a> {
    #[serde(flatten)]
    pub commit: CommitJson<'a>,
    pub schema: &'static str,
    pub digest: Option<Digest>,
    pub extra: &'a BTreeMap<String, Value>,
}

/// A commit record: the members of its line, and those that a line leaves out where there is nothing to say.
#[derive(Debug)]
pub struct RecordJson<'a>(&'a CommitRecord);

impl<'a> From<&'a CommitRecord> for RecordJson<'a> {
    fn from(record: &'a CommitRecord) -> Self {
        Self(record)
    }
}

impl Serialize for RecordJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(record) = self;
        let mut shown = record_members(record);
        let absent = json!({
            "backfilled": false, "caught_up": false, "findings": [], "outputs": [], "parent": null, "prev": null,
            "session": null, "skipped": [], "tests": null, "usage": null, "weakening": null,
        });
        complete(&mut shown, absent, &["begins", "change", "ledger", "schema", "uptime"]);
        shown.insert("iteration".to_owned(), record.number().into());
        for skip in shown["skipped"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            complete(skip, json!({ "agent": null }), &[]);
        }
        inside(&mut shown, "tests", complete_tests);
        inside(&mut shown, "usage", |usage| {
            let absent = json!({
                "context_tokens": null, "cost_usd": null, "input_tokens": null, "output_tokens": null,
            });
            complete(usage, absent, &[]);
        });
        inside(&mut shown, "weakening", |weakening| {
            let absent = json!({ "loosened": [], "removed": [], "skipped": [], "waiver": null });
            complete(weakening, absent, &["rows"]);
        });
        inside(&mut shown, "carries", |carried| {
            complete(carried, json!({ "parent": null, "tests": null }), &[]);
            inside(carried, "tests", complete_tests);
        });
        shown.serialize(serializer)
    }
}

/// The result of a test run: as `tests` in a record, and how it is known.
#[derive(Debug)]
pub struct TestsJson<'a>(&'a TestEvidence);

impl<'a> From<&'a TestEvidence> for TestsJson<'a> {
    fn from(evidence: &'a TestEvidence) -> Self {
        Self(evidence)
    }
}

impl Serialize for TestsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shown = members_of(&self.0.clone().bounded());
        complete_tests(&mut shown);
        shown.serialize(serializer)
    }
}

fn complete_tests(tests: &mut Map<String, Value>) {
    let flaky = tests.remove("flaky_tests").unwrap_or_else(|| json!([]));
    let known_by = if tests.get("runner").is_some_and(|runner| runner == TestEvidence::BY_EXIT_CODE) {
        "exit_code"
    } else {
        "report"
    };
    let absent = json!({
        "errors": null, "flaky": flaky, "full_run": null, "handed_in": false, "known_by": known_by,
        "truncated": false,
    });
    complete(tests, absent, &["names", "said", "scopes"]);
    inside(tests, "lost", |lost| {
        let absent = json!({ "back": [], "gone": [], "gone_total": 0, "skipped": [], "skipped_total": 0 });
        complete(lost, absent, &[]);
    });
}

/// Adds what is absent, and takes out what is not shown.
fn complete(members: &mut Map<String, Value>, absent: Value, hidden: &[&str]) {
    members.retain(|key, _| !hidden.contains(&key.as_str()));
    if let Value::Object(absent) = absent {
        for (key, value) in absent {
            members.entry(key).or_insert(value);
        }
    }
}

fn inside(members: &mut Map<String, Value>, key: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    if let Some(Value::Object(inner)) = members.get_mut(key) {
        change(inner);
    }
}
