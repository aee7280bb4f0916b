//! The names of OpenTelemetry's semantic conventions that are used, and their version. Names of our own begin with
//! `andon.`.

/// The version of the conventions. `session.*` and `vcs.*` may still change there; a change of this number says so.
pub(super) const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.44.0";

/// Stable.
pub(super) const SERVICE_NAME: &str = "service.name";
/// Stable.
pub(super) const SERVICE_VERSION: &str = "service.version";
/// Stable: what kind of error ended an operation.
pub(super) const ERROR_TYPE: &str = "error.type";
/// In development: the session of a client.
pub(super) const SESSION_ID: &str = "session.id";
/// Release candidate: the commit.
pub(super) const VCS_REVISION: &str = "vcs.ref.head.revision";
/// Release candidate: the branch.
pub(super) const VCS_REF_NAME: &str = "vcs.ref.head.name";
/// Release candidate: `success` or `failure`.
pub(super) const CICD_RESULT: &str = "cicd.pipeline.result";
/// In development: `success`, `failure`, `timed_out` or `aborted`.
pub(super) const TEST_RUN_STATUS: &str = "test.suite.run.status";
