//! The test evidence, which records (`tests`) and journal lines (`test_run`) share.

use serde_json::{Map, Value, json};

use super::super::members::{Cut, FormatError, Members, bounded};
use crate::domain::tests::{Caveats, Counts, RunOrigin, TestEvidence, TestStatus};

const MAX_FAILING_ID: usize = 512;
const MAX_RUNNER: usize = 256;
const MAX_COMMAND: usize = 4096;

pub(super) fn encode(evidence: &TestEvidence, into: &mut Map<String, Value>) {
    let counts = evidence.counts;
    let failing: Vec<String> = evidence
        .failing
        .iter()
        .take(TestEvidence::MAX_FAILING)
        .map(|id| bounded(id, MAX_FAILING_ID))
        .collect();
    let truncated = evidence.truncated || evidence.failing.len() > TestEvidence::MAX_FAILING;
    into.insert("code".into(), json!(evidence.code.to_string()));
    into.insert("status".into(), json!(evidence.status.as_str()));
    into.insert("total".into(), json!(counts.total));
    into.insert("passed".into(), json!(counts.passed));
    into.insert("failed".into(), json!(counts.failed));
    into.insert("errored".into(), json!(counts.errored));
    into.insert("skipped".into(), json!(counts.skipped));
    into.insert("signature".into(), json!(evidence.signature.to_string()));
    if let Some(errors) = evidence.errors {
        into.insert("errors".into(), json!(errors.to_string()));
    }
    into.insert("failing".into(), json!(failing));
    if truncated {
        into.insert("truncated".into(), json!(true));
    }
    into.insert("runner".into(), json!(bounded(&evidence.runner, MAX_RUNNER)));
    into.insert("command".into(), json!(bounded(&evidence.command, MAX_COMMAND)));
    encode_caveats(&evidence.caveats, into);
}

/// Each key is left out when there is nothing to say, so that other lines stay as they are.
fn encode_caveats(caveats: &Caveats, into: &mut Map<String, Value>) {
    match caveats.origin {
        RunOrigin::Here => {}
        RunOrigin::HandedIn => {
            into.insert("handed_in".into(), json!(true));
        }
    }
    if let Some(full) = caveats.full_run {
        into.insert("full_run".into(), json!(full));
    }
    if !caveats.flaky.is_empty() {
        let flaky = caveats.flaky.iter().take(TestEvidence::MAX_FLAKY);
        let flaky: Vec<String> = flaky.map(|id| bounded(id, MAX_FAILING_ID)).collect();
        into.insert("flaky_tests".into(), json!(flaky));
    }
}

fn decode_caveats(members: &mut Members<'_>) -> Result<Caveats, FormatError> {
    let handed_in = members.flag("handed_in")?;
    let (flaky, _) =
        members.list("flaky_tests", TestEvidence::MAX_FLAKY, |item| item.as_str().map(str::to_owned))?;
    Ok(Caveats {
        origin: if handed_in { RunOrigin::HandedIn } else { RunOrigin::Here },
        full_run: members.count("full_run")?,
        flaky,
    })
}

pub(super) fn decode(members: &mut Members<'_>) -> Result<TestEvidence, FormatError> {
    let code = members.parsed("code", "a sha256")?;
    let status = members.named("status", "a test status", TestStatus::from_name)?;
    let signature = members.parsed("signature", "a sha256")?;
    let counts = Counts {
        total: members.count("total")?.unwrap_or(0),
        passed: members.count("passed")?.unwrap_or(0),
        failed: members.count("failed")?.unwrap_or(0),
        errored: members.count("errored")?.unwrap_or(0),
        skipped: members.count("skipped")?.unwrap_or(0),
    };
    let (failing, cut) =
        members.list("failing", TestEvidence::MAX_FAILING, |item| item.as_str().map(str::to_owned))?;
    Ok(TestEvidence {
        code: members.required("code", code)?,
        status: members.required("status", status)?,
        counts,
        signature: members.required("signature", signature)?,
        errors: members.parsed("errors", "a sha256")?,
        failing,
        truncated: members.flag("truncated")? || cut == Cut::Truncated,
        runner: members.text("runner")?.unwrap_or_default(),
        command: members.text("command")?.unwrap_or_default(),
        caveats: decode_caveats(members)?,
    })
}
