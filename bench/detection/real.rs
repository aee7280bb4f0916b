//! The same scripts through the real doors: git with the hooks installed, `andon test`, `andon observe`, `andon tick`,
//! in a scratch repository. A halt is there when its file is.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agent::{Agent, Line};
use crate::derive::git;
use crate::families::Family;
use crate::world::Tree;

/// What became of a run.
pub struct Outcome {
    /// Iterations or calls of the stuck phase at the halt; `None` without one.
    pub halted: Option<(usize, String)>,
    /// Why the run could not be made this way.
    pub skipped: Option<String>,
}

struct Scratch {
    dir: PathBuf,
    repo: PathBuf,
    andon: PathBuf,
}

impl Scratch {
    fn run(&self, mut command: Command, input: Option<&str>) -> bool {
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
        command.current_dir(&self.repo).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        if let Some(input) = input {
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        }
        child.wait().unwrap().success()
    }

    fn git(&self, args: &[&str]) -> bool {
        let mut command = git(&self.repo);
        command.args(args);
        self.run(command, None)
    }

    fn andon(&self, args: &[&str], input: Option<&str>) -> bool {
        let mut command = Command::new(&self.andon);
        command.args(args);
        self.run(command, input)
    }

    fn halted(&self) -> Option<String> {
        let files = ["CHECKPOINT.md", "BLOCKER_REPORT.md"];
        let text = files
            .iter()
            .find_map(|name| std::fs::read_to_string(self.repo.join(".andon").join(name)).ok())?;
        let rules = andon::detect::REGISTRY.iter().map(|rule| rule.id);
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
        if event["status"] == "build_failed" {
            lines.clear();
        }
        let text = format!("{}\n1..{}\n", lines.join("\n"), lines.len());
        std::fs::write(self.dir.join("results.tap"), text).unwrap();
    }
}

/// Runs one seed of a family with the program at `andon`.
pub fn run(family: &Family, seed: u64, andon: &Path, dir: &Path) -> Outcome {
    let mut agent = Agent::new(family.name, seed);
    (family.run)(&mut agent);
    let scratch = Scratch { dir: dir.to_path_buf(), repo: dir.join("repo"), andon: andon.to_path_buf() };
    std::fs::create_dir_all(&scratch.repo).unwrap();
    scratch.git(&["init", "--quiet", "."]);
    let tap = dir.join("results.tap").display().to_string();
    let rules = if family.config.is_empty() { "[rules]\n" } else { family.config };
    let rules = rules.replacen("[rules]\n", "[rules]\nuntested-edit = \"warn\"\n", 1);
    let config = format!("[test]\ncommand = \"cat {tap}; ! grep -q '^not ok' {tap}\"\n{rules}");
    std::fs::write(scratch.repo.join("andon.toml"), config).unwrap();
    let trees = &agent.script.trees;
    scratch.write(&Tree::new(), &trees[0]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "--quiet", "-m", "Begin"]);
    assert!(scratch.andon(&["install"], None), "andon install");
    let mut here = 0;
    for line in &agent.script.lines {
        if let Some(tree) = line.code {
            scratch.write(&trees[here], &trees[tree]);
            here = tree;
        }
        if let Err(why) = step(&scratch, line) {
            return Outcome { halted: None, skipped: Some(why) };
        }
        if let Some(rule) = scratch.halted() {
            let at = if line.stuck == 0 { 0 } else { line.stuck };
            return Outcome { halted: Some((at, rule)), skipped: None };
        }
    }
    Outcome { halted: None, skipped: None }
}

fn step(scratch: &Scratch, line: &Line) -> Result<(), String> {
    let subject = line.event["subject"].as_str().unwrap_or_default();
    match line.event["type"].as_str().unwrap_or_default() {
        "test_run" => {
            scratch.results(&line.event);
            scratch.andon(&["test"], None);
        }
        "commit" => {
            scratch.git(&["add", "-A"]);
            match line.event["kind"].as_str().unwrap_or_default() {
                "normal" => scratch.git(&["commit", "--quiet", "--allow-empty", "-m", subject]),
                "amend" => scratch.git(&["commit", "--quiet", "--allow-empty", "--amend", "-m", subject]),
                other => return Err(format!("commits of kind {other} are not made here")),
            };
        }
        "turn_end" => {
            scratch.andon(&["tick"], None);
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
            scratch.andon(&["observe", kind], Some(&format!("{text}\n")));
        }
    }
    Ok(())
}
