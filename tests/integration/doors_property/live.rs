//! A story in a repository with hooks: what becomes a fact there, and what is decided.

use std::io::Write as _;

use serde_json::{Value, json};

use super::ground::{ground, text};
use super::outcomes::{OpenHalt, Outcome, ReportedFact, decision, recorded, reported_by, standing, time};
use super::story::{Answers, Back, Making, Step, Story};
use crate::support::{Out, Stage, andon_path};
use andon_core::domain::{EventKind, StandingHalt};
use andon_git::{Repo, RepoEnv};
use andon_store::{Journal, JournalLine, Repair, wire::v1::encode_line};

/// A moment of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Which step it belongs to.
    pub step: usize,
    /// When, in seconds since the start.
    pub at: i64,
    /// What happened.
    pub reported: ReportedFact,
    /// What was said.
    pub outcome: Outcome,
}

/// How facts that are no commits come in.
#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// As they happen: `andon test`, `andon tick`, one event a process.
    Hooks,
    /// Handed in with what they were, one a process, each in a session of its own.
    Lines(&'a [Moment]),
    /// The same, all at once up to the next commit or answer.
    Batch(&'a [Moment]),
}

/// What a door says of one moment, or of several taken together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeSpan {
    /// The first moment.
    pub from: usize,
    /// The last one.
    pub to: usize,
    /// What is said.
    pub outcome: Outcome,
}

/// A repository in which a story is lived through.
struct LiveDoor<'a> {
    stage: Stage,
    way: Way<'a>,
    now: i64,
    step: usize,
    node: Option<String>,
    session: Option<String>,
    processes: u32,
    /// A context window belongs to a session: where one is reported, sessions are as in the story.
    windows: bool,
    /// Commits of the story behind HEAD.
    depth: u32,
    /// Lines that were not handed in yet, and the moment of the first.
    pending: (usize, Vec<Value>),
    outcomes: Vec<OutcomeSpan>,
    moments: Vec<Moment>,
}

/// Lives through a story; the moments, and what was said of them.
pub fn live(story: &Story, way: Way<'_>) -> (Vec<Moment>, Vec<OutcomeSpan>, Stage) {
    let mut live = LiveDoor {
        stage: ground(&story.rules),
        way,
        now: 0,
        step: 0,
        node: None,
        session: None,
        processes: 0,
        windows: story.steps.iter().any(|step| matches!(step, Step::Usage(_) | Step::Spend(_))),
        depth: 0,
        pending: (0, Vec::new()),
        outcomes: Vec::new(),
        moments: Vec::new(),
    };
    let written_on = [0, story.steps.len() / 2];
    for (number, step) in story.steps.iter().enumerate() {
        live.step = number;
        live.now += 60;
        if matches!(way, Way::Lines(_)) && written_on.contains(&number) {
            live.write_on();
        }
        live.take(step);
        if story.answers == Answers::AtOnce {
            live.answer();
        }
    }
    live.flush();
    (live.moments, live.outcomes, live.stage)
}

impl LiveDoor<'_> {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Edit(file, state) => self.stage.write(&format!("{file}.rs"), text(*state)),
            Step::Comment(file, state) => {
                let path = format!("{file}.rs");
                let before = self.stage.read(&path);
                self.stage.write(&path, format!("{before}// remark {state}\n"));
            }
            Step::Doc(state) => self.stage.write("notes.md", format!("notes {state}\n")),
            Step::Test(failing) => self.test(failing),
            Step::Commit(making) => self.commit(*making),
            Step::Call(tool, args, answer) => {
                let args = if tool == "Edit" {
                    json!({ "file_path": "src/a.rs", "new_string": format!("state {args}") })
                } else {
                    json!({ "command": format!("make part{args}") })
                };
                let answer = format!("the answer is of kind {answer}");
                self.line(json!({ "type": "tool_call", "tool": tool, "args": args, "result": answer }));
            }
            Step::Output(text) => {
                let text =
                    format!("I have looked at part {text} of the parser again and it seems right to me now.");
                self.line(json!({ "type": "output", "kind": "message.final", "text": text }));
            }
            Step::Vote(approve, reject) => {
                self.line(json!({ "type": "verdict", "approve": approve, "reject": reject }));
            }
            Step::Usage(tokens) => self.line(json!({ "type": "usage", "context_tokens": tokens })),
            Step::Spend(tokens) => {
                let cost = format!("0.{:02}", tokens % 100);
                self.line(json!({ "type": "usage", "input_tokens": tokens, "cost_usd": cost }));
            }
            Step::Compact => self.line(json!({ "type": "compaction" })),
            Step::End => self.line(json!({ "type": "turn_end" })),
            Step::Move(back) => self.move_back(*back),
            Step::Start => self.line(json!({ "type": "turn_start" })),
            Step::Tick => self.tick(),
            Step::Answer => self.answer(),
            Step::Pause(hours) => self.now += hours * 3600,
            Step::Session(number) => self.session = Some(format!("s{number}")),
            Step::Node(name) => {
                // Lines that name no node are those of the process that hands them in.
                self.flush();
                self.node = Some(name.clone());
            }
        }
    }

    fn run(&mut self, program: &std::path::Path, args: &[&str], stdin: Option<&str>) -> Out {
        self.processes += 1;
        let session = match self.way {
            _ if self.windows => self.session.clone(),
            Way::Hooks => self.session.clone(),
            Way::Lines(_) | Way::Batch(_) => Some(format!("own-{}", self.processes)),
        };
        for (name, value) in [("ANDON_NODE", &self.node), ("ANDON_SESSION", &session)] {
            match value {
                Some(value) => self.stage.set(name, value),
                None => self.stage.unset(name),
            }
        }
        self.stage.set_clock(self.now);
        self.stage.run_in(self.stage.dir(), program, args, stdin.map(str::as_bytes))
    }

    /// A journal so long that hooks go on from what its first part comes to. Halfway it holds what happened so far.
    fn write_on(&self) {
        let filler = JournalLine::Healed(Repair { what: "nothing".repeat(100), at: None });
        let text = encode_line(&filler).repeat(100);
        let path = Journal::open(self.repo().git_dir()).path();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut journal = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        journal.write_all(text.as_bytes()).unwrap();
    }

    fn andon(&mut self, args: &[&str], stdin: Option<&str>) -> Out {
        self.run(&andon_path(), args, stdin)
    }

    fn repo(&self) -> Repo {
        Repo::open(self.stage.dir(), &RepoEnv::default()).unwrap()
    }

    fn standing(&self) -> Option<StandingHalt> {
        standing(&self.repo())
    }

    /// Notes what was seen at the newest moment, with the unanswered halt.
    fn says(&mut self, reported: ReportedFact, outcome: Outcome) {
        self.flush();
        let outcome = Outcome { halt: Some(self.halt()), ..outcome };
        let at = self.moments.len();
        self.outcomes.push(OutcomeSpan { from: at, to: at, outcome: outcome.clone() });
        self.moments.push(Moment { step: self.step, at: self.now, reported, outcome });
    }

    fn halt(&self) -> OpenHalt {
        self.standing().map(|standing| (standing.halt.rule, standing.halt.iteration))
    }

    /// The line that was reported for the coming moment.
    fn known(&self, moments: &[Moment]) -> Value {
        match moments.get(self.moments.len()).map(|moment| &moment.reported) {
            Some(ReportedFact::Line(line)) => {
                let mut line = line.clone();
                if let (Some(members), false) = (line.as_object_mut(), self.windows) {
                    members.remove("session");
                }
                line
            }
            other => panic!("step {}: {other:?} where a line was told", self.step),
        }
    }

    /// Hands in a line of another repository's story.
    fn hand_in(&mut self, line: Value) {
        match self.way {
            Way::Hooks | Way::Lines(_) => {
                let out = self.andon(&["observe", "event", "--format", "json"], Some(&line.to_string()));
                let outcome = decision(&out);
                self.says(ReportedFact::Line(line), outcome);
            }
            Way::Batch(_) => {
                let at = self.moments.len();
                if self.pending.1.is_empty() {
                    self.pending.0 = at;
                }
                self.pending.1.push(line.clone());
                let (step, at) = (self.step, self.now);
                self.moments.push(Moment {
                    step,
                    at,
                    reported: ReportedFact::Line(line),
                    outcome: Outcome::default(),
                });
            }
        }
    }

    /// Hands in what waits, at the time of its last line.
    fn flush(&mut self) {
        let (from, lines) = std::mem::take(&mut self.pending);
        if lines.is_empty() {
            return;
        }
        let to = from + lines.len() - 1;
        let now = std::mem::replace(&mut self.now, self.moments[to].at);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let out = self.andon(&["observe", "event", "--format", "json"], Some(&text));
        self.now = now;
        let outcome = Outcome { halt: Some(self.halt()), ..decision(&out) };
        self.outcomes.push(OutcomeSpan { from, to, outcome });
    }

    fn line(&mut self, line: Value) {
        let line = match self.way {
            Way::Hooks => line,
            Way::Lines(moments) | Way::Batch(moments) => self.known(moments),
        };
        self.hand_in(line);
        if let (Way::Hooks, Some(newest)) = (self.way, self.moments.last_mut())
            && let ReportedFact::Line(line) = &mut newest.reported
        {
            reported_by(line, (self.now, self.node.as_deref(), self.session.as_deref()));
        }
    }

    fn test(&mut self, failing: &str) {
        if let Way::Lines(moments) | Way::Batch(moments) = self.way {
            return self.hand_in(self.known(moments));
        }
        self.stage.write("../failing.txt", failing);
        let before = self.standing();
        self.andon(&["test"], None);
        // `andon test` prints no decision, but a halt may follow from it.
        let halt = self.standing().filter(|_| before.is_none()).map(|standing| standing.halt);
        let outcome = halt.map_or_else(Outcome::default, |halt| Outcome {
            verdict: Some("halt".to_owned()),
            reason: Some(halt.reason.as_str().to_owned()),
            ..Outcome::default()
        });
        let (lines, _) = Journal::open(self.repo().git_dir()).read_tail();
        let line = lines.iter().rev().find(|line| matches!(line, JournalLine::TestRun(_))).unwrap();
        let line = serde_json::from_str(&encode_line(line)).unwrap();
        self.says(ReportedFact::Line(line), outcome);
    }

    fn tick(&mut self) {
        if let Way::Lines(moments) | Way::Batch(moments) = self.way {
            return self.hand_in(self.known(moments));
        }
        let out = self.andon(&["tick", "--format", "json"], None);
        let (lines, _) = Journal::open(self.repo().git_dir()).read_tail();
        let end = lines.iter().rev().find_map(|line| {
            let JournalLine::Event(event) = line else { return None };
            if let EventKind::TurnEnd(end) = &event.what { Some(*end) } else { None }
        });
        let end = end.unwrap_or_else(|| panic!("a tick left nothing: {out}"));
        let mut line = json!({ "type": "turn_end" });
        line["code"] = end.code.map(|code| code.to_string()).into();
        line["docs"] = end.docs.map(|docs| docs.to_string()).into();
        reported_by(&mut line, (self.now, self.node.as_deref(), self.session.as_deref()));
        self.says(ReportedFact::Line(line), decision(&out));
    }

    fn answer(&mut self) {
        let due = match self.way {
            Way::Hooks => self.standing().is_some(),
            Way::Lines(moments) | Way::Batch(moments) => {
                let next = moments.get(self.moments.len());
                next.is_some_and(|next| matches!(next.reported, ReportedFact::Answer(_)))
            }
        };
        if !due {
            return;
        }
        self.flush();
        self.andon(&["resume", "--reason", "looked"], None).ok();
        let line = json!({ "type": "ack", "by": "a person", "reason": "looked", "at": time(self.now) });
        self.says(ReportedFact::Answer(line), Outcome::default());
    }

    fn commit(&mut self, making: Making) {
        self.flush();
        let before = self.repo().head().unwrap().commit();
        let subject = format!("Work {}", self.step);
        let mut args = vec!["commit", "-q", "-a", "--allow-empty", "-m", &subject];
        match making {
            Making::Amend if self.depth > 0 => args.push("--amend"),
            Making::Bypass => args.push("--no-verify"),
            Making::Revert if self.depth > 0 && self.is_clean() => {
                args = vec!["revert", "--no-edit", "HEAD"];
            }
            Making::New | Making::Amend | Making::Revert => {}
        }
        let out = self.run("git".as_ref(), &args, None);
        let head = self.repo().head().unwrap().commit();
        if head == before {
            assert_ne!(out.code, 0, "{out}");
            if args[0] == "revert" {
                self.run("git".as_ref(), &["revert", "--quit"], None);
            }
            return self.says(
                ReportedFact::Refused,
                Outcome { verdict: Some("halt".to_owned()), ..Outcome::default() },
            );
        }
        self.depth += u32::from(!args.contains(&"--amend"));
        let (reported, outcome) = recorded(&self.repo(), head.unwrap(), &out);
        self.says(reported, outcome);
    }

    fn is_clean(&mut self) -> bool {
        self.run("git".as_ref(), &["diff", "--quiet", "HEAD"], None).code == 0
    }

    fn move_back(&mut self, back: Back) {
        self.flush();
        if self.depth == 0 {
            return;
        }
        let base = format!("HEAD~{}", self.depth);
        let branch = format!("attempt-{}", self.step);
        let args: Vec<&str> = match back {
            Back::Hard => vec!["reset", "-q", "--hard", "HEAD~1"],
            Back::Mixed => vec!["reset", "-q", "HEAD~1"],
            Back::Branch => vec!["checkout", "-q", "-f", "-b", &branch, &base],
        };
        self.run("git".as_ref(), &args, None).ok();
        self.depth = if back == Back::Branch { 0 } else { self.depth - 1 };
    }
}
