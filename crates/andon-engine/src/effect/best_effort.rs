//! The effects in addition to a halt: handoff, notices, marker, PAUSE, an advisor's advice, a program that continues.
//!
//! Nothing here can change the verdict: a failure is reported, and the rest continues. Programs come from the user's
//! own configuration, get a list of arguments and never a shell line, and are bounded in time and in what is kept of
//! their output.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{AndonDir, ConsultOutput, EffectError, Site, andon_dir::newest_of, consult, write_andon_file};
use crate::json::{self, user_programs};
use crate::text::{Material, briefing as report, halt, handoff, shown_change};
use andon_core::change::secrets;
use andon_core::domain::{
    BRIEFING, Bell, Briefing, Digest, Halt, Handoff, Notice, OnStall, Program, Question, Start, Story,
};
use andon_store::Journal;

/// Lines of the transcript that an advisor gets (docs/spec-map.md, loop rules: out-of-band advisor).
const TRANSCRIPT_LINES: usize = 500;
/// Bytes of it, the newest.
const TRANSCRIPT_BYTES: u64 = 256 << 10;
/// Longest path of a transcript, in bytes.
const MAX_PATH: usize = 4096;
/// Bytes of an answer that are kept.
const ANSWER_BYTES: usize = 256 << 10;
/// A longer list of notices begins anew.
const NOTICES_BYTES: u64 = 256 << 10;

/// The file with the notices, under `.andon/`.
pub const NOTICES: &str = "notifications.jsonl";
/// The question for an advisor.
pub const QUESTION: &str = "ADVISOR_PROMPT.md";
/// The answer of the advisor's program.
pub const ANSWER: &str = "ADVISOR_ANSWER.md";
/// The beginning of a PAUSE that Andon wrote: an answer to its halt removes it.
pub const OWN_PAUSE: &str = "andon: paused by ";

/// Writes the marker of an escalation.
pub(super) fn mark(halt: &Halt, site: &Site<'_>) -> Result<(), EffectError> {
    write(site, "signals/UNCERTAINTY_ESCALATION", &json::line(halt))
}

/// Writes PAUSE, but never over that of a person.
pub(super) fn pause(halt: &Halt, site: &Site<'_>) -> Result<(), EffectError> {
    let there = site.andon_dir.as_ref().and_then(|dir| dir.newest("PAUSE", TRANSCRIPT_BYTES));
    if there.is_some_and(|text| !text.starts_with(OWN_PAUSE)) {
        return Ok(());
    }
    let text = format!("{OWN_PAUSE}{}: {}\nat: {}\n", halt.rule, halt.message, halt.at);
    write(site, "PAUSE", &text)
}

/// Writes the briefing, with the notes that an agent has left in the one before.
pub fn write_briefing(briefing: &Briefing, site: &Site<'_>) -> Result<(), EffectError> {
    let before = site.andon_dir.as_ref().and_then(|dir| dir.newest(BRIEFING, TRANSCRIPT_BYTES));
    let text = report::render(briefing, report::notes(&before.unwrap_or_default()));
    write_andon_file(site, BRIEFING, &text).map(drop)
}

fn write(site: &Site<'_>, name: &str, text: &str) -> Result<(), EffectError> {
    write_andon_file(site, name, text).map(drop)
}

pub(super) fn write_handoff(found: &Handoff, site: &Site<'_>) -> Result<(), EffectError> {
    let name = format!("handoffs/{}", found.halt.at.to_string().replace(['-', ':'], ""));
    write(site, &format!("{name}.json"), &json::line(&user_programs::handoff(found)))?;
    write(site, &format!("{name}.md"), &handoff::text(found, site.ack, site.style))
}

/// Notifies once for each episode: the file first, then the bell, then the program.
pub(super) fn notify(notice: &Notice, site: &Site<'_>) -> Result<(), EffectError> {
    let Some(dir) = &site.andon_dir else { return Ok(()) };
    let reported = dir.newest(NOTICES, NOTICES_BYTES).unwrap_or_default();
    let mark = format!("\"episode\":{}", serde_json::Value::from(notice.episode.as_str()));
    if reported.lines().any(|line| line.contains(&mark)) {
        return Ok(());
    }
    let line = notice_line(notice, site);
    let full = dir.size(NOTICES).is_some_and(|size| size > NOTICES_BYTES);
    let before = if full { "" } else { reported.as_str() };
    write(site, NOTICES, &format!("{before}{line}"))?;
    if site.response.bell == Bell::Rings {
        ring();
    }
    call(notice, site).unwrap_or(Ok(()))
}

fn notice_line(notice: &Notice, site: &Site<'_>) -> String {
    let story = notice.halt.as_ref().map(|halt| halt::called(halt, site.style)).unwrap_or_default();
    json::line(&user_programs::notice(notice, &format!("{}{story}", notice.message)))
}

/// Gives a notice to the program of `[notify]`; `None` where there is none.
pub fn call(notice: &Notice, site: &Site<'_>) -> Option<Result<(), EffectError>> {
    let program = site.response.notify.as_ref()?;
    Some(run("notify", program, site, notice_line(notice, site).as_bytes()).map(drop))
}

/// The bell of the terminal this runs in, when there is one.
fn ring() {
    let tty = std::fs::OpenOptions::new().write(true).open("/dev/tty");
    let _nobody_listens = tty.and_then(|mut tty| tty.write_all(b"\x07"));
}

pub(super) fn ask(question: &Question, site: &Site<'_>) -> Result<(), EffectError> {
    let prompt = handoff::question(question, &material(question, site));
    write(site, QUESTION, &prompt)?;
    let Some(program) = &site.response.advisor else { return Ok(()) };
    let answer = run("advisor", program, site, prompt.as_bytes())?;
    if answer.trim().is_empty() {
        return Err(EffectError::Response("the program of [advisor] answered nothing".to_owned()));
    }
    keep_advice(&answer, &question.halt, site)
}

/// The material that the advisor reads beside the halt.
fn material(question: &Question, site: &Site<'_>) -> Material {
    let git_dir = site.repo.git_dir();
    let reported = || {
        newest_bytes(&git_dir.join(TRANSCRIPT), TRANSCRIPT_BYTES).map(|path| PathBuf::from(path.trim_end()))
    };
    let named = site.transcript.clone().or_else(reported);
    let named = named.and_then(|path| newest_bytes(&path, TRANSCRIPT_BYTES));
    let journal = || newest_bytes(&Journal::open(git_dir).path(), TRANSCRIPT_BYTES).map(|text| told(&text));
    let transcript = named.or_else(journal).unwrap_or_default();
    let lines: Vec<&str> = transcript.lines().collect();
    let newest = lines.get(lines.len().saturating_sub(TRANSCRIPT_LINES)..).unwrap_or_default();
    let masked = |text: &str| secrets::masked(text).into_owned();
    Material {
        transcript: masked(&newest.join("\n")),
        states: states(site, &question.story).map(|text| masked(&text)),
        error: newest_bytes(&git_dir.join(FIRST_ERROR), TRANSCRIPT_BYTES),
    }
}

/// The lines of the journal without what tells a reader nothing: hashes, and what only readers of the journal need. Commits
/// are shortened.
fn told(journal: &str) -> String {
    let one = |line: &str| {
        let Ok(Value::Object(mut members)) = serde_json::from_str(line) else { return line.to_owned() };
        members.retain(|name, value| {
            let hash = value
                .as_str()
                .is_some_and(|text| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if let Some(commit) =
                value.as_str().filter(|_| hash && ["commit", "head"].contains(&name.as_str()))
            {
                *value = Value::from(commit.get(..12).unwrap_or_default());
                return true;
            }
            !hash && !["overlay", "uptime"].contains(&name.as_str())
        });
        Value::Object(members).to_string()
    };
    journal.lines().map(one).collect::<Vec<_>>().join("\n")
}

/// The change between the two newest states of the code that were committed.
fn states(site: &Site<'_>, story: &Story) -> Option<String> {
    let mut tried = story.tried.iter().rev().filter(|tried| tried.commit.is_some());
    let newest = tried.next()?;
    let before = tried.find(|tried| tried.code != newest.code)?;
    let change = shown_change::between(site.repo, before.commit?, newest.commit?).ok()?;
    Some(format!("{}\n\n{}", change.command, change.text(usize::MAX).join("\n")))
}

/// In the git directory: the transcript that the client named last.
const TRANSCRIPT: &str = "andon/transcript";
/// In the git directory: the error of the first test that failed in the newest run.
const FIRST_ERROR: &str = "andon/first-error";

/// Keeps which transcript the client writes, for an advisor.
pub fn remember_transcript(git_dir: &Path, transcript: &str) {
    if transcript.len() <= MAX_PATH && Path::new(transcript).is_absolute() {
        keep_text(git_dir, TRANSCRIPT, transcript);
    }
}

/// Keeps the error of the newest run of the tests, for an advisor; none where nothing failed.
pub fn remember_error(git_dir: &Path, error: &str) {
    keep_text(git_dir, FIRST_ERROR, error);
}

/// A failure only leaves the text out of a prompt; nothing else depends on it.
fn keep_text(git_dir: &Path, name: &str, text: &str) {
    let path = git_dir.join(name);
    if std::fs::read_to_string(&path).unwrap_or_default().trim_end() != text.trim_end() {
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let _kept = made.and_then(|()| std::fs::write(&path, text));
    }
}

/// Keeps an answer about `halt` as advice: a person, or `andon advise --record`, may go on with it.
fn keep_advice(answer: &str, halt: &Halt, site: &Site<'_>) -> Result<(), EffectError> {
    write(site, ANSWER, answer)?;
    let kept = site.repo.git_dir().join(ADVICE);
    let made = kept.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&kept, seal(answer, halt)))
        .map_err(|err| EffectError::Response(format!("the answer could not be kept: {err}")))
}

/// In the git directory: which answer belongs to which halt.
const ADVICE: &str = "andon/advice";

/// The line that ties an answer to its halt.
fn seal(answer: &str, halt: &Halt) -> String {
    let text: [u8; 32] = Sha256::digest(answer).into();
    format!("{} {} {} {}\n", Digest(text), halt.at, halt.iteration, halt.rule)
}

/// The advisor's answer to `halt`, as its program gave it.
pub fn answer_to(site: &Site<'_>, halt: Option<&Halt>) -> Option<String> {
    let dir = site.andon_dir.as_ref()?;
    let answer = dir.newest(ANSWER, TRANSCRIPT_BYTES)?;
    let kept = newest_bytes(&site.repo.git_dir().join(ADVICE), TRANSCRIPT_BYTES)?;
    (kept == seal(&answer, halt?)).then_some(answer)
}

pub(super) fn start_program(start: &Start, site: &Site<'_>) -> Result<(), EffectError> {
    let Some(program) = &site.response.on_stall_program else {
        let policy = start.policy.as_str();
        return Err(EffectError::Response(format!(
            "on_stall.policy is {policy}, and your configuration names no on_stall.command"
        )));
    };
    let said = run("on_stall", program, site, json::line(&user_programs::stall(start)).as_bytes())?;
    match start.policy {
        OnStall::SpawnReviewer if said.trim().is_empty() => {
            Err(EffectError::Response("the reviewer of [on_stall] answered nothing".to_owned()))
        }
        // The advisor may have answered already: both are advice.
        OnStall::SpawnReviewer => {
            let before = answer_to(site, Some(&start.halt)).map(|text| format!("{}\n\n", text.trim_end()));
            keep_advice(&format!("{}{said}", before.unwrap_or_default()), &start.halt, site)
        }
        OnStall::Interactive | OnStall::Pause | OnStall::RetryWithNewProvider => Ok(()),
    }
}

/// Runs a program of the user's configuration; its standard output.
fn run(section: &str, program: &Program, site: &Site<'_>, input: &[u8]) -> Result<String, EffectError> {
    let dir = site.andon_dir.as_ref().map_or(Path::new("."), AndonDir::top);
    let ended = consult::run(program, dir, input, ANSWER_BYTES);
    match ended {
        Ok(ConsultOutput { code: Some(0), output, .. }) => Ok(output),
        Ok(ConsultOutput { code: Some(code), .. }) => {
            Err(EffectError::Response(format!("the program of [{section}] ended with {code}")))
        }
        Ok(ConsultOutput { code: None, .. }) => Err(EffectError::Response(format!(
            "the program of [{section}] was stopped after {}",
            program.timeout
        ))),
        Err(err) => {
            let name = program.argv.first().map_or("", String::as_str);
            Err(EffectError::Response(format!("the program of [{section}] could not be run: {name}: {err}")))
        }
    }
}

/// The newest bytes of a regular file, from the beginning of a line on; `None` when it cannot be read.
fn newest_bytes(path: &Path, most: u64) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    newest_of(&mut file, size, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advisor_reads_no_hashes() {
        let line = format!(
            "{{\"code\":\"{0}\",\"commit\":\"{1}\",\"failing\":[\"a\"],\"overlay\":[{{\"id\":\"{1}\"}}],\"uptime\":\"x+1\"}}",
            "ab".repeat(32),
            "01".repeat(20)
        );
        let expected = "{\"commit\":\"010101010101\",\"failing\":[\"a\"]}\nno JSON";
        assert_eq!(told(&format!("{line}\nno JSON\n")), expected);
    }
}
