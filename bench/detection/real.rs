//! The same scripts through the real doors: git with the hooks installed, `andon test`, `andon observe`, `andon tick`,
//! in a scratch repository. A halt is there when its file is.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agent::Agent;
use crate::derive::git;
use crate::families::{CheckRequest, Family, Unit};
use crate::script::Line;
use crate::world::Tree;

/// What became of a run.
pub struct Outcome {
    /// Iterations or calls of the stuck phase at the halt, and the rule; `None` without one.
    pub halted: Option<(usize, String)>,
}

struct Scratch {
    dir: PathBuf,
    repo: PathBuf,
    andon: PathBuf,
}

impl Scratch {
    /// The repository with its first commit and the hooks.
    fn begin(&self, family: &Family, first: &Tree) {
        std::fs::create_dir_all(&self.repo).unwrap();
        self.git(None, &["init", "--quiet", "."]);
        let tap = self.dir.join("results.tap").display().to_string();
        let rules = if family.config.is_empty() { "[rules]\n" } else { family.config };
        let rules = rules.replacen("[rules]\n", "[rules]\nuntested-edit = \"warn\"\n", 1);
        let config = format!("[test]\ncommand = \"cat {tap}; ! grep -Eq '^(not ok|error)' {tap}\"\n{rules}");
        std::fs::write(self.repo.join("andon.toml"), config).unwrap();
        self.write(&Tree::new(), first);
        self.git(None, &["add", "-A"]);
        self.git(None, &["commit", "--quiet", "-m", "Begin"]);
        assert!(self.andon(None, &["install"], None), "andon install");
    }

    fn run(&self, mut command: Command, input: Option<&str>) -> bool {
        self.prepare(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
        drop(stdin);
        child.wait().unwrap().success()
    }

    /// What git says to `args`, without hooks.
    fn said(&self, args: &[&str]) -> String {
        let mut command = git(&self.repo);
        command.args(args);
        self.prepare(&mut command);
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    }

    fn head(&self) -> String {
        self.said(&["rev-parse", "HEAD"])
    }

    /// Brings the working tree to HEAD: what is there was written to make objects of it.
    fn clean(&self) {
        self.git(None, &["reset", "--quiet", "--hard"]);
        self.git(None, &["clean", "--quiet", "-fd", "-e", ".andon"]);
    }

    fn prepare(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = self.andon.parent().unwrap_or(Path::new("/")).display().to_string();
        let markers = [
            "CLAUDECODE",
            "CODEX_THREAD_ID",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "COPILOT_CLI",
            "OPENCODE",
            "CURSOR_AGENT",
        ];
        markers.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.env("PATH", format!("{own}:{}", path.to_string_lossy()));
        command.env("HOME", &self.dir).env("XDG_CONFIG_HOME", &self.dir);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        command.env("GIT_EDITOR", "true").env("TMPDIR", &self.dir).current_dir(&self.repo);
    }

    fn git(&self, node: Option<&str>, args: &[&str]) -> bool {
        let mut command = git(&self.repo);
        command.args(args);
        self.by(node, command, None)
    }

    fn andon(&self, node: Option<&str>, args: &[&str], input: Option<&str>) -> bool {
        let mut command = Command::new(&self.andon);
        command.args(args);
        self.by(node, command, input)
    }

    fn by(&self, node: Option<&str>, mut command: Command, input: Option<&str>) -> bool {
        if let Some(node) = node {
            command.env("ANDON_NODE", node);
        }
        self.run(command, input)
    }

    fn halted(&self) -> Option<String> {
        let files = ["CHECKPOINT.md", "BLOCKER_REPORT.md"];
        let text = files
            .iter()
            .find_map(|name| std::fs::read_to_string(self.repo.join(".andon").join(name)).ok())?;
        let rules = andon_core::detect::REGISTRY.iter().map(|rule| rule.id);
        Some(rules.into_iter().find(|id| text.contains(&format!("`{id}`"))).unwrap_or("?").to_owned())
    }

    fn write(&self, before: &Tree, tree: &Tree) {
        for path in before.keys().filter(|path| !tree.contains_key(*path)) {
            let _ = std::fs::remove_file(self.repo.join(path));
        }
        for (path, file) in tree {
            if before.get(path) == Some(file) {
                continue;
            }
            let full = self.repo.join(path);
            std::fs::create_dir_all(full.parent().unwrap()).unwrap();
            std::fs::write(&full, format!("{}\n", file.lines.join("\n"))).unwrap();
            let mode =
                std::os::unix::fs::PermissionsExt::from_mode(if file.executable { 0o755 } else { 0o644 });
            std::fs::set_permissions(&full, mode).unwrap();
        }
    }

    /// The result that the next `andon test` will see, as TAP.
    fn results(&self, event: &Value) {
        let failing: Vec<&str> = event["failing"]
            .as_array()
            .map(|ids| ids.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let skipped = event["skipped"].as_u64().unwrap_or(0);
        let passing = event["total"].as_u64().unwrap_or(0).saturating_sub(skipped + failing.len() as u64);
        let mut lines: Vec<String> = (0..passing).map(|at| format!("ok - passes {at}")).collect();
        lines.extend(failing.iter().map(|id| format!("not ok - {id}")));
        lines.extend((0..skipped).map(|at| format!("ok - skipped {at} # SKIP")));
        let plan = format!("1..{}", lines.len());
        lines.push(plan);
        if event["status"] == "build_failed" {
            lines = event["errors"]
                .as_array()
                .iter()
                .flat_map(|all| all.iter())
                .map(|error| error.as_str().unwrap_or_default().to_owned())
                .collect();
        }
        let text = format!("{}\n", lines.join("\n"));
        std::fs::write(self.dir.join("results.tap"), text).unwrap();
    }
}

/// Runs one seed of a family with the program at `andon`.
pub fn run(family: &Family, seed: u64, andon: &Path, dir: &Path) -> Outcome {
    let mut agent = Agent::new(family.name, seed);
    (family.run)(&mut agent);
    let scratch = Scratch { dir: dir.to_path_buf(), repo: dir.join("repo"), andon: andon.to_path_buf() };
    let trees = &agent.script.trees;
    scratch.begin(family, &trees[0]);
    let mut doors = Doors { scratch: &scratch, trees, here: 0, made: vec![(0, scratch.head())] };
    let lines = &agent.script.lines;
    let mut at = 0;
    while at < lines.len() {
        let picks = picks(&lines[at..]);
        let count = picks.max(1);
        if picks > 0 {
            doors.rebase(&lines[at..at + count]);
        } else {
            doors.step(&lines[at]);
        }
        at += count;
        if let Some(rule) = scratch.halted() {
            let line = &lines[at - 1];
            let calls = matches!(family.asked, CheckRequest::Found(Unit::Calls, _)) && line.stuck > 0;
            return Outcome { halted: Some((if calls { line.calls.max(1) } else { line.stuck }, rule)) };
        }
    }
    Outcome { halted: None }
}

/// How many lines, from the first on, are picks of one rebase: each on top of the one before.
fn picks(lines: &[Line]) -> usize {
    let rebased = lines.iter().take_while(|line| line.event["kind"] == "rebase").count();
    let goes_on = |pair: &[Line]| match (pair[0].made, pair[1].made) {
        (Some(before), Some(next)) => next.parent == before.tree,
        (_, _) => false,
    };
    rebased.min(1 + lines[..rebased].windows(2).take_while(|pair| goes_on(pair)).count())
}

/// The doors of one run.
struct Doors<'a> {
    scratch: &'a Scratch,
    trees: &'a [Tree],
    /// The state that is in the working tree.
    here: usize,
    /// The commits that were made, with their states.
    made: Vec<(usize, String)>,
}

impl Doors<'_> {
    fn step(&mut self, line: &Line) {
        let scratch = self.scratch;
        if let Some(tree) = line.code.filter(|_| line.event["type"] != "commit") {
            self.show(tree);
        }
        let node = line.event["node"].as_str();
        match line.event["type"].as_str().unwrap_or_default() {
            "test_run" => {
                scratch.results(&line.event);
                scratch.andon(node, &["test"], None);
            }
            "commit" => self.commit(line),
            "turn_end" => {
                scratch.andon(node, &["tick"], None);
            }
            kind => {
                let mut event = line.event.clone();
                if let Some(members) = event.as_object_mut() {
                    // The clock of the hooks is the real one.
                    members.remove("at");
                }
                let text = match &line.raw_args {
                    Some(args) => event.to_string().replacen("\"args\":null", &format!("\"args\":{args}"), 1),
                    None => event.to_string(),
                };
                scratch.andon(node, &["observe", kind], Some(&format!("{text}\n")));
            }
        }
    }

    fn show(&mut self, tree: usize) {
        self.scratch.write(&self.trees[self.here], &self.trees[tree]);
        self.here = tree;
    }

    /// Makes the commit of `line` in the way that gives it its kind.
    fn commit(&mut self, line: &Line) {
        let (scratch, Some(made)) = (self.scratch, line.made) else { return };
        let subject = line.event["subject"].as_str().unwrap_or_default();
        let node = line.event["node"].as_str();
        let git = |args: &[&str]| scratch.git(node, args);
        match line.event["kind"].as_str().unwrap_or_default() {
            kind @ ("normal" | "amend") => {
                self.show(made.tree);
                git(&["add", "-A"]);
                let amend: &[&str] = if kind == "amend" { &["--amend"] } else { &[] };
                git(&[&["commit", "--quiet", "--allow-empty", "-m", subject], amend].concat());
            }
            kind => {
                let head = scratch.head();
                let there = self.object(made.tree, &head, subject);
                scratch.clean();
                match kind {
                    "merge" => git(&["merge", "--quiet", "--no-ff", "-m", subject, &there]),
                    "cherry-pick" => git(&["cherry-pick", "--allow-empty", &there]),
                    "revert" => {
                        // What is reverted leads from the state that is wanted to the one that is there.
                        let undone = self.object(made.parent, &there, "Undone");
                        git(&["revert", "--no-edit", &undone])
                    }
                    other => panic!("commits of kind {other}"),
                };
            }
        }
        self.here = made.tree;
        self.made.push((made.tree, scratch.head()));
    }

    /// Rebases the commits of `lines`: their states are made as a branch, which is then replayed.
    fn rebase(&mut self, lines: &[Line]) {
        let (scratch, Some(first)) = (self.scratch, lines[0].made) else { return };
        let base = self.made.iter().rev().find(|(tree, _)| *tree == first.parent);
        let base = base.map_or_else(|| scratch.head(), |(_, id)| id.clone());
        let mut tip = base.clone();
        for line in lines {
            let subject = line.event["subject"].as_str().unwrap_or_default();
            tip = self.object(line.made.map_or(0, |made| made.tree), &tip, subject);
        }
        scratch.clean();
        let node = lines[0].event["node"].as_str();
        // The branch is where the old series ended; it goes to the new one, whose picks make the commits again.
        scratch.git(None, &["-c", "core.hooksPath=/dev/null", "reset", "--quiet", "--hard", &tip]);
        scratch.git(node, &["rebase", "--quiet", "--no-ff", "--empty=keep", &base]);
        self.here = lines.last().and_then(|line| line.made).map_or(self.here, |made| made.tree);
        self.made.push((self.here, scratch.head()));
    }

    /// A commit object of state `tree` on `parent`, made without hooks; the working tree is left in that state.
    fn object(&mut self, tree: usize, parent: &str, subject: &str) -> String {
        self.show(tree);
        self.scratch.git(None, &["add", "-A"]);
        let tree = self.scratch.said(&["write-tree"]);
        self.scratch.said(&["commit-tree", &tree, "-p", parent, "-m", subject])
    }
}
