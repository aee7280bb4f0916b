//! Commit records and results of tests, as documents show them.

use serde::{Serialize as _, Serializer};
use serde_json::{Map, Value, json};

use andon_core::domain::{CommitRecord, TestEvidence, TestRun};
use andon_core::format::members_of;
use andon_store::wire::v1::record_members;

/// The members of a record's line, and those that a line leaves out where there is nothing to say.
pub fn record(record: &CommitRecord) -> Map<String, Value> {
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
    shown
}

/// The result of a test run: as `tests` in a record, and how it is known.
pub fn tests(evidence: &TestEvidence) -> Map<String, Value> {
    let mut shown = members_of(&evidence.clone().bounded());
    complete_tests(&mut shown);
    shown
}

/// A run that was handed in or made here, with its worth: `andon/test_run@1`.
pub fn test_run(run: &TestRun) -> Value {
    json!({ "schema": "andon/test_run@1", "validity": run.validity, "tests": tests(&run.evidence) })
}

/// Writes a run as [`test_run`] shows it.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_run<S: Serializer>(run: &TestRun, serializer: S) -> Result<S::Ok, S::Error> {
    test_run(run).serialize(serializer)
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
