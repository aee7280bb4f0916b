//! An agent at work: turns, tool calls, edits, test runs, commits, in an order and an amount that differ from run to
//! run. What it does is written down as lines of an event stream; states of the code are in them by number until the
//! trees exist in git and their fingerprints are known.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::random::Random;
use crate::script::{Line, Script, ScriptCommit, Style};
use crate::suite::Suite;
use crate::world::{Edit, World};

/// The agent.
pub struct Agent {
    /// Its dice.
    pub random: Random,
    /// The project.
    pub world: World,
    /// Its tests.
    pub suite: Suite,
    /// Its habits.
    pub style: Style,
    /// The node it speaks for.
    pub node: Option<String>,
    /// What it wrote down.
    pub script: Script,
    /// Tree of the newest commit, and of its parent.
    pub head: ScriptCommit,
    /// Whether the stuck phase has begun.
    pub stuck: bool,
    /// What its healthy work is in the middle of.
    pub task: Task,
    pub clock: i64,
    begun: i64,
    iterations: usize,
    calls: usize,
    in_turn: bool,
}

/// What healthy work is in the middle of.
#[derive(Default)]
pub struct Task {
    /// The failing tests stayed as they were in one iteration.
    pub stayed: bool,
    /// Turns running that ended without a change.
    pub idle: usize,
}

impl Agent {
    /// An agent with a project of its own.
    pub fn new(family: &str, seed: u64) -> Self {
        let mut random = Random::new(family, seed);
        let mut world = World::new(&mut random);
        let suite = Suite::new(&mut random, &mut world);
        let calls = random.chance(0.7);
        let turns = random.chance(0.6);
        let style = Style {
            turns,
            calls,
            answers: calls && random.chance(0.8),
            says: random.chance(0.6),
            usage: random.chance(0.4),
            tests: *random.pick(&[1.0, 1.0, 0.8, 0.5]),
            uncommitted: if turns { *random.pick(&[0.0, 0.0, 0.1, 0.3]) } else { 0.0 },
        };
        let node = random.chance(0.3).then(|| "coder".to_owned());
        let clock = 1_760_000_000 + i64::try_from(random.between(0, 8_000_000)).unwrap_or(0);
        let head = ScriptCommit { tree: 0, parent: 0 };
        let script = Script { trees: vec![world.files.clone()], lines: Vec::new() };
        let (iterations, calls_made) = (0, 0);
        Self {
            random,
            world,
            suite,
            style,
            node,
            script,
            head,
            stuck: false,
            task: Task::default(),
            begun: clock,
            clock,
            iterations,
            calls: calls_made,
            in_turn: false,
        }
    }

    /// From here on the loop is stuck.
    pub fn begin_stuck(&mut self) {
        if self.in_turn {
            self.turn_end();
        }
        self.stuck = true;
        (self.iterations, self.calls) = (0, 0);
    }

    fn push(&mut self, mut event: Value, code: Option<usize>) -> &mut Line {
        event["at"] = json!(rfc3339(self.clock));
        if let Some(node) = &self.node {
            event["node"] = json!(node);
        }
        let stuck = if self.stuck { self.iterations + 1 } else { 0 };
        let calls = self.calls;
        self.script.lines.push(Line { event, code, made: None, raw_args: None, stuck, calls, ends: false });
        self.script.lines.last_mut().unwrap()
    }

    /// Lets some seconds pass.
    pub fn wait(&mut self, low: usize, high: usize) {
        let seconds = i64::try_from(self.random.between(low, high)).unwrap_or(0);
        // The limit of ten minutes a turn is a budget, and not what is measured here.
        if !self.in_turn || self.clock + seconds - self.begun < 570 {
            self.clock += seconds;
        }
    }

    /// The number of the project's present state.
    pub fn tree(&mut self) -> usize {
        if self.script.trees.last() != Some(&self.world.files) {
            self.script.trees.push(self.world.files.clone());
        }
        self.script.trees.len() - 1
    }

    /// A new session begins, with an empty memory.
    pub fn session_start(&mut self) {
        self.wait(5, 60);
        self.push(json!({"type": "session_start"}), None);
    }

    /// The context window is compacted.
    pub fn compaction(&mut self) {
        self.wait(5, 60);
        self.push(json!({"type": "compaction"}), None);
    }

    /// Begins a turn where turns are announced.
    pub fn turn_start(&mut self) {
        if self.style.turns && !self.in_turn {
            self.wait(2, 40);
            self.push(json!({"type": "turn_start"}), None);
            self.in_turn = true;
            self.begun = self.clock;
        }
    }

    /// Ends the turn.
    pub fn turn_end(&mut self) {
        if !self.style.turns && !self.in_turn {
            return;
        }
        if self.style.usage {
            let (input, output) = (self.random.between(900, 40_000), self.random.between(80, 4000));
            let context = self.random.between(20_000, 140_000);
            self.push(
                json!({"type": "usage", "input_tokens": input, "output_tokens": output, "context_tokens": context}),
                None,
            );
        }
        let committed = self.committed_in_turn();
        let tree = self.tree();
        let docs = self.docs();
        let line = self.push(json!({"type": "turn_end", "docs": docs}), Some(tree));
        line.ends = !committed;
        self.in_turn = false;
        if !committed {
            self.iterations += 1;
        }
    }

    fn committed_in_turn(&self) -> bool {
        let of_turn = |line: &&Line| line.event["type"] != "turn_end" && line.event["type"] != "turn_start";
        self.script.lines.iter().rev().take_while(of_turn).any(|line| line.made.is_some())
    }

    /// A hash of the documents, as `andon tick` would hand in.
    fn docs(&self) -> String {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        let docs = self.world.files.iter().filter(|(path, _)| path.ends_with(".md"));
        for byte in
            docs.flat_map(|(path, file)| path.bytes().chain(file.lines.iter().flat_map(|line| line.bytes())))
        {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        format!("docs {hash:016x}")
    }

    /// A tool call, where those are reported.
    pub fn call(&mut self, tool: &str, args: Value, answer: &str) {
        self.ended(tool, args, answer, false);
    }

    /// A call that fails.
    pub fn refused(&mut self, tool: &str, args: Value, answer: &str) {
        self.ended(tool, args, answer, true);
    }

    fn ended(&mut self, tool: &str, args: Value, answer: &str, failed: bool) {
        self.wait(1, 8);
        if self.stuck {
            self.calls += 1;
        }
        if !self.style.calls {
            return;
        }
        let mut event = json!({"type": "tool_call", "tool": tool, "args": args, "error": failed});
        if self.style.answers {
            event["result"] = json!(answer);
        }
        self.push(event, None);
    }

    /// The same with the keys of its arguments in the order of `args`.
    pub fn raw_call(&mut self, tool: &str, args: &[(String, Value)], answer: &str) {
        self.call(tool, Value::Null, answer);
        let members: Vec<String> =
            args.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
        if let Some(line) = self.script.lines.last_mut() {
            line.raw_args = Some(format!("{{{}}}", members.join(",")));
        }
    }

    /// Looks around: reads, searches, lists.
    pub fn explore(&mut self, low: usize, high: usize) {
        for _ in 0..self.random.between(low, high) {
            self.look();
        }
    }

    /// One look.
    pub fn look(&mut self) {
        match self.random.between(0, 23) {
            0..=11 => {
                let paths: Vec<String> = self.world.files.keys().cloned().collect();
                let path = self.random.pick(&paths).clone();
                let lines = self.world.lines(&path);
                let offset = self.random.between(0, lines.len() / 20) * 20;
                let limit = *self.random.pick(&[40, 80, 200, 2000]);
                let answer: Vec<String> = lines.iter().skip(offset).take(limit).cloned().collect();
                self.call(
                    "Read",
                    json!({"file_path": path, "offset": offset, "limit": limit}),
                    &answer.join("\n"),
                );
            }
            12..=17 => {
                let pattern = self.random.name();
                let hits: Vec<String> = (0..self.random.between(0, 5)).map(|_| self.random.name()).collect();
                let answer = if hits.is_empty() { "No matches found".to_owned() } else { hits.join("\n") };
                self.call("Grep", json!({"pattern": pattern, "path": "src"}), &answer);
            }
            18..=21 => {
                let command = match self.random.between(0, 3) {
                    0 => format!("git log --oneline -{}", self.random.between(3, 30)),
                    1 => format!("git diff {}", self.world.source(&mut self.random)),
                    2 => format!(
                        "cat {} | head -{}",
                        self.world.source(&mut self.random),
                        self.random.between(10, 90)
                    ),
                    _ => format!("grep -rn {} src", self.random.name()),
                };
                let answer = self.random.sentence();
                self.call("Bash", json!({"command": command}), &answer);
            }
            22 => {
                let answer = self.world.sources().join("\n");
                let folder = *self.random.pick(&["src", "tests", "docs", ".", "-la"]);
                self.call("Bash", json!({"command": format!("ls {folder}")}), &answer);
            }
            _ => {
                let answer = format!("{} files", self.script.trees.len() % 7);
                let command =
                    *self.random.pick(&["git status --short", "git status", "git diff --stat", "git branch"]);
                self.call("Bash", json!({"command": command}), &answer);
            }
        }
    }

    /// Reports edits.
    pub fn edited(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            self.wait(4, 50);
            let args = json!({"file_path": edit.path, "old_string": edit.old, "new_string": edit.new});
            self.call("Edit", args, "ok");
        }
    }

    /// Runs the tests on the project as it is.
    pub fn test(&mut self, flaky: &BTreeSet<String>) {
        self.wait(3, 60);
        let event = self.suite.run(&mut self.random, &self.world, flaky);
        let failing: Vec<String> = self.suite.failing.union(flaky).cloned().collect();
        let total = self.suite.tests.len();
        let answer = if failing.is_empty() {
            format!(
                "test result: ok. {total} passed; finished in {}.{}s",
                self.random.between(0, 9),
                self.random.between(10, 99)
            )
        } else {
            format!("FAILED {}\n{} failed of {total}", failing.join("\nFAILED "), failing.len())
        };
        self.call("Bash", json!({"command": self.world.language.command.0}), &answer);
        let tree = self.tree();
        self.push(event, Some(tree));
    }

    /// Commits the project as it is.
    pub fn commit(&mut self, subject: &str, kind: &str) {
        self.wait(2, 30);
        let tree = self.tree();
        let parent = if kind == "amend" { self.head.parent } else { self.head.tree };
        let made = ScriptCommit { tree, parent };
        self.head = made;
        let line = self.push(json!({"type": "commit", "subject": subject, "kind": kind}), Some(tree));
        line.made = Some(made);
        line.ends = true;
        self.iterations += 1;
    }

    /// Whether a turn is going on.
    pub fn in_turn_now(&self) -> bool {
        self.in_turn
    }

    /// A final message.
    pub fn say(&mut self, text: &str) {
        if self.style.says {
            self.push(json!({"type": "output", "kind": "message.final", "text": text}), None);
        }
    }

    /// A structured result.
    pub fn structured(&mut self, value: &Value) {
        self.push(json!({"type": "output", "kind": "structured_output", "text": value}), None);
    }

    /// A round of reviewers that is split: as counts, or vote by vote.
    pub fn vote(&mut self) {
        let (approve, reject) = *self.random.pick(&[(1, 2), (1, 1), (1, 3), (2, 2), (2, 3)]);
        if self.random.chance(0.5) {
            self.push(json!({"type": "verdict", "approve": approve, "reject": reject}), None);
            return;
        }
        let mut votes: Vec<(usize, bool)> = (0..approve + reject).map(|at| (at, at < approve)).collect();
        self.random.shuffle(&mut votes);
        for (reviewer, yes) in votes {
            let name = format!("reviewer-{reviewer}");
            self.push(json!({"type": "verdict", "reviewer": name, "approve": u8::from(yes), "reject": u8::from(!yes)}), None);
        }
    }

    /// A subject as agents write them.
    pub fn subject(&mut self) -> String {
        let verb = *self
            .random
            .pick(&["Add", "Fix", "Refactor", "Update", "feat:", "fix:", "Handle", "Improve", "Simplify"]);
        format!("{verb} {}", self.random.sentence())
    }

    /// One iteration: a turn with some looking around, the edits that were made, tests, a commit, a message.
    pub fn iterate(&mut self, edits: Vec<Edit>, subject: &str) {
        self.turn_start();
        self.explore(0, 5);
        self.edited(edits);
        if self.random.chance(self.style.tests) {
            self.test(&BTreeSet::new());
        }
        if self.random.chance(self.style.uncommitted) && self.in_turn {
            self.turn_end();
            return;
        }
        self.commit(subject, "normal");
        let text = self.random.sentence();
        self.say(&text);
        self.wait(5, 60);
        if self.in_turn {
            self.turn_end();
        }
    }
}

/// Seconds since the epoch as RFC 3339.
fn rfc3339(seconds: i64) -> String {
    andon_core::domain::Timestamp(seconds).to_string()
}
