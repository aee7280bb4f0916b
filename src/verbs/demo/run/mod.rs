//! `andon demo`: a real loop in a scratch repository - real git, real hooks, a real test suite, a scripted
//! agent - up to its halt. It is the shortest proof that the main job works on this machine.

pub mod capture;
mod script;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::capture::{CapturedOutput, EnvChange};
use self::script::{Expect, SCRIPT, ScriptStep};
use andon_engine::context::Context;
use andon_engine::error::OpsError;

/// Shows one line or block of the demo as it happens.
pub type Show<'a> = &'a mut dyn FnMut(DemoLine<'_>);

/// What the demo shows.
#[derive(Debug, Clone, Copy)]
pub enum DemoLine<'a> {
    /// What happens next, in words.
    Say(&'a str),
    /// A command as a person would type it.
    Command(&'a str),
    /// What came back: output of a command or text of a file, escaped by the caller.
    Output(&'a str),
    /// The exit code of a command that did not exit with 0.
    Exit(i32),
}

/// Where the demo left its repository.
#[derive(Debug)]
pub struct DemoEnd {
    /// The scratch repository; it stays for a look.
    pub dir: PathBuf,
}

/// Runs the demo in `keep`, or in a new temporary directory. Fails when a step came out other than it should.
pub fn run(ctx: &Context, keep: Option<&Path>, show: Show<'_>) -> Result<DemoEnd, OpsError> {
    let dir = scratch(keep)?;
    let andon = ctx.program.clone().ok_or_else(|| failed("the path of the running program is not known"))?;
    let stage = Stage { env: environment(&andon, &dir), dir, andon, path: ctx.path.clone() };
    for step in SCRIPT {
        stage.play(step, show)?;
    }
    Ok(DemoEnd { dir: stage.dir })
}

fn failed(what: impl Into<String>) -> OpsError {
    OpsError::Demo(what.into())
}

/// The directory to play in: `keep` must be new or empty, so that nothing of the user's is touched.
fn scratch(keep: Option<&Path>) -> Result<PathBuf, OpsError> {
    let io = |err: std::io::Error| failed(format!("cannot make the scratch repository: {err}"));
    let Some(dir) = keep else {
        return Ok(tempfile::Builder::new().prefix("andon-demo-").tempdir().map_err(io)?.keep());
    };
    std::fs::create_dir_all(dir).map_err(io)?;
    if std::fs::read_dir(dir).map_err(io)?.next().is_some() {
        return Err(OpsError::Usage {
            what: format!("{} is not empty", dir.display()),
            help: "name a directory that does not exist yet: andon demo --keep DIR".to_owned(),
        });
    }
    dir.canonicalize().map_err(io)
}

/// The demo's own git: no configuration of the user or the system, fixed names.
fn environment(andon: &Path, dir: &Path) -> Vec<EnvChange> {
    let set = |name: &str, value: &str| EnvChange::Set(name.into(), value.into());
    let mut changes = vec![
        set("GIT_CONFIG_GLOBAL", "/dev/null"),
        set("GIT_CONFIG_NOSYSTEM", "1"),
        set("GIT_AUTHOR_NAME", "Demo Agent"),
        set("GIT_AUTHOR_EMAIL", "agent@example.org"),
        set("GIT_COMMITTER_NAME", "Demo Agent"),
        set("GIT_COMMITTER_EMAIL", "agent@example.org"),
        set("NO_COLOR", "1"),
        set("LC_ALL", "C"),
    ];
    changes.push(EnvChange::Set("XDG_CONFIG_HOME".into(), dir.join(".git").into_os_string()));
    for name in [
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_WORK_TREE",
        "GIT_AUTHOR_DATE",
        "GIT_COMMITTER_DATE",
        "ANDON",
        "ANDON_NODE",
        "ANDON_SESSION",
        "PRE_COMMIT",
    ] {
        changes.push(EnvChange::Remove(name.into()));
    }
    // `andon resume` below is the person's part: it must not look like an agent's shell.
    changes.extend(andon_core::domain::agent::markers().map(|marker| EnvChange::Remove(marker.name.into())));
    if let Some(bin) = andon.parent() {
        changes.push(EnvChange::PrependPath(bin.as_os_str().to_owned()));
    }
    changes
}

/// Who answers: not the one who made the commits.
const PERSON: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Dana"),
    ("GIT_AUTHOR_EMAIL", "dana@example.org"),
    ("GIT_COMMITTER_NAME", "Dana"),
    ("GIT_COMMITTER_EMAIL", "dana@example.org"),
];

struct Stage {
    dir: PathBuf,
    andon: PathBuf,
    env: Vec<EnvChange>,
    path: Option<OsString>,
}

impl Stage {
    fn play(&self, step: &ScriptStep, show: Show<'_>) -> Result<(), OpsError> {
        match step {
            ScriptStep::Say(text) => show(DemoLine::Say(text)),
            ScriptStep::Write(path, text) => {
                std::fs::write(self.dir.join(path), text)
                    .map_err(|err| failed(format!("cannot write {path}: {err}")))?;
            }
            ScriptStep::Show(path) => {
                show(DemoLine::Command(&format!("cat {path}")));
                let text = std::fs::read_to_string(self.dir.join(path))
                    .map_err(|err| failed(format!("{path} was to be there: {err}")))?;
                show(DemoLine::Output(&text));
            }
            ScriptStep::Quiet(argv) => {
                self.command(argv).and_then(|end| Self::expect(argv, &end, Expect::Success))?;
            }
            ScriptStep::Run(argv, expect) => {
                show(DemoLine::Command(&typed(argv)));
                let end = self.command(argv)?;
                show(DemoLine::Output(&end.output));
                if end.code != 0 {
                    show(DemoLine::Exit(end.code));
                }
                Self::expect(argv, &end, *expect)?;
            }
        }
        Ok(())
    }

    fn command(&self, argv: &[&str]) -> Result<CapturedOutput, OpsError> {
        let words: Vec<OsString> =
            argv.iter()
                .enumerate()
                .map(|(at, word)| {
                    if at == 0 && *word == "andon" {
                        self.andon.clone().into_os_string()
                    } else {
                        word.into()
                    }
                })
                .collect();
        let mut env = self.env.clone();
        if argv.contains(&"resume") {
            env.extend(PERSON.map(|(name, value)| EnvChange::Set(name.into(), value.into())));
        }
        capture::capture(&words, &self.dir, &env, self.path.as_deref())
            .map_err(|err| failed(format!("{}: {err}", typed(argv))))
    }

    fn expect(argv: &[&str], end: &CapturedOutput, expect: Expect) -> Result<(), OpsError> {
        let right = match expect {
            Expect::Success => end.code == 0,
            Expect::Refused(words) => end.code != 0 && end.output.contains(words),
            Expect::SuccessSaying(words) => end.code == 0 && end.output.contains(words),
        };
        if right { Ok(()) } else { Err(failed(format!("`{}` came out wrong:\n{}", typed(argv), end.output))) }
    }
}

/// A command as a person would type it: words with a space in quotes.
fn typed(argv: &[&str]) -> String {
    let quoted = |word: &&str| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() };
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
