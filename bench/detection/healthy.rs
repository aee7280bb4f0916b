//! Healthy work, and the families of it that look stuck to a naive eye. What is drawn here is bounded by what the
//! documents call healthy: the same tests fail at most twice running, at most two turns running end without a change,
//! a turn takes less than ten minutes, a run less than a hundred iterations.

use std::collections::BTreeSet;

use serde_json::json;

use crate::agent::{Agent, Task};
use crate::world::Edit;

/// One iteration of steady test-driven work.
pub fn tdd(agent: &mut Agent, task: &mut Task) {
    if agent.suite.failing.is_empty() && small_things(agent, task) {
        return;
    }
    task.idle = 0;
    let mut edits = agent.world.work(&mut agent.random);
    if agent.suite.failing.is_empty() {
        let file = agent.suite.file(&mut agent.random);
        let fresh: Vec<String> = (0..agent.random.between(1, 5))
            .map(|_| agent.suite.add(&mut agent.random, &mut agent.world, &file))
            .collect();
        edits.push(Edit { path: file, old: String::new(), new: fresh.join("\n") });
        if agent.random.chance(0.55) {
            agent.suite.failing = fresh.into_iter().collect();
        }
        task.stayed = false;
    } else {
        let mut failing: Vec<String> = agent.suite.failing.iter().cloned().collect();
        agent.random.shuffle(&mut failing);
        if !task.stayed && agent.random.chance(0.15) {
            task.stayed = true;
        } else {
            let mended = agent.random.between(1, failing.len());
            for name in &failing[..mended] {
                agent.suite.failing.remove(name);
            }
            task.stayed = false;
        }
    }
    inner_attempts(agent);
    let subject = agent.subject();
    agent.iterate(edits, &subject);
}

/// Attempts within a turn that are not committed: the build breaks and is repaired.
fn inner_attempts(agent: &mut Agent) {
    if agent.random.chance(0.25) && agent.style.tests > 0.6 {
        agent.turn_start();
        let path = agent.world.source(&mut agent.random);
        let edit = agent.world.edit(&mut agent.random, &path);
        agent.edited(vec![edit]);
        agent.suite.broken_build = agent.random.chance(0.5);
        agent.test(&BTreeSet::new());
        agent.suite.broken_build = false;
        let edit = agent.world.edit(&mut agent.random, &path);
        agent.edited(vec![edit]);
    }
}

/// Documents, comments, versions, tests that are no longer wanted, turns in which nothing changes.
fn small_things(agent: &mut Agent, task: &mut Task) -> bool {
    match agent.random.between(0, 99) {
        0..=5 => document(agent),
        6..=8 => comment(agent),
        9 => {
            agent.world.bump(2);
            let subject = format!("Bump version to {}", agent.world.number());
            agent.iterate(Vec::new(), &subject);
        }
        10..=12 => {
            if let Some(name) = agent.suite.some(&mut agent.random, 1).pop() {
                agent.suite.remove(&mut agent.world, &name);
                agent.iterate(Vec::new(), "Remove a test that is covered elsewhere");
            }
        }
        13..=15 if agent.style.turns && task.idle < 2 => {
            task.idle += 1;
            agent.turn_start();
            agent.explore(2, 9);
            let text = agent.random.sentence();
            agent.say(&text);
            agent.turn_end();
            return true;
        }
        _ => return false,
    }
    task.idle = 0;
    true
}

fn document(agent: &mut Agent) {
    let path = *agent.random.pick(&["README.md", "docs/guide.md", "CHANGELOG.md"]);
    let mut lines = agent.world.lines(path);
    for _ in 0..agent.random.between(1, 4) {
        let at = agent.random.between(0, lines.len());
        lines.insert(at, agent.random.sentence());
    }
    agent.world.put(path, lines);
    let subject = format!("docs: {}", agent.random.sentence());
    agent.iterate(Vec::new(), &subject);
}

fn comment(agent: &mut Agent) {
    let path = agent.world.source(&mut agent.random);
    let mut lines = agent.world.lines(&path);
    let at = agent.random.between(0, lines.len());
    lines.insert(at, format!("{} {}", agent.world.language.comment, agent.random.sentence()));
    agent.world.put(&path, lines);
    agent.iterate(Vec::new(), "Say why");
}

/// `count` iterations of steady work.
pub fn steady(agent: &mut Agent, count: usize) {
    for _ in 0..count {
        let mut task = std::mem::take(&mut agent.task);
        tdd(agent, &mut task);
        agent.task = task;
    }
}

/// Brings all tests to pass.
pub fn settle(agent: &mut Agent) {
    if !agent.suite.failing.is_empty() {
        agent.suite.failing.clear();
        let edits = agent.world.work(&mut agent.random);
        agent.iterate(edits, "Make the rest of the tests pass");
    }
}

/// The healthy beginning of every stuck run.
pub fn prefix(agent: &mut Agent) {
    let count = agent.random.between(3, 15);
    steady(agent, count);
}

pub fn test_driven(agent: &mut Agent) {
    let count = agent.random.between(20, 60);
    steady(agent, count);
}

/// Failures rise while the code is taken apart, and fall while it is put together again.
pub fn refactoring(agent: &mut Agent) {
    prefix(agent);
    for _ in 0..agent.random.between(1, 2) {
        settle(agent);
        let highest = agent.suite.running().len().min(agent.random.between(6, 40));
        let up = agent.random.between(2, 5);
        for step in 1..=up {
            let wanted = (highest * step / up).max(1);
            let missing = wanted.saturating_sub(agent.suite.failing.len());
            let fresh = agent.suite.some(&mut agent.random, missing);
            agent.suite.failing.extend(fresh);
            // Some come back at once, others break instead.
            if agent.random.chance(0.4) {
                let swapped = agent.suite.some(&mut agent.random, 1);
                let first = agent.suite.failing.iter().next().cloned();
                agent.suite.failing.extend(swapped);
                first.map(|name| agent.suite.failing.remove(&name));
            }
            let edits = agent.world.work(&mut agent.random);
            agent.iterate(edits, "Refactor: move on with taking it apart");
        }
        while !agent.suite.failing.is_empty() {
            let most = (highest / 2).max(1);
            let count = agent.random.between(1, most);
            let mended: Vec<String> = agent.suite.failing.iter().take(count).cloned().collect();
            for name in mended {
                agent.suite.failing.remove(&name);
            }
            if agent.random.chance(0.15) && agent.suite.failing.len() > 2 && count > 1 {
                let again = agent.suite.some(&mut agent.random, 1);
                agent.suite.failing.extend(again);
            }
            let edits = agent.world.work(&mut agent.random);
            agent.iterate(edits, "Refactor: mend what moved");
        }
    }
    let count = agent.random.between(2, 8);
    steady(agent, count);
}

/// Turns that leave new files behind and commit none of them for a while.
pub fn untracked(agent: &mut Agent) {
    agent.style.turns = true;
    prefix(agent);
    settle(agent);
    for _ in 0..agent.random.between(4, 12) {
        for _ in 0..agent.random.between(1, 6) {
            agent.turn_start();
            agent.explore(1, 6);
            let path = agent.world.add_file(&mut agent.random);
            let new = agent.world.lines(&path).join("\n");
            agent.edited(vec![Edit { path, old: String::new(), new }]);
            let text = agent.random.sentence();
            agent.say(&text);
            agent.turn_end();
        }
        let subject = agent.subject();
        agent.iterate(Vec::new(), &subject);
    }
}

/// A node that is declared without edits plans and reviews between the turns of the coder.
pub fn planner(agent: &mut Agent) {
    agent.style.turns = true;
    agent.style.uncommitted = 0.0;
    for _ in 0..agent.random.between(3, 5) {
        agent.node = Some("planner".into());
        for _ in 0..agent.random.between(1, 4) {
            agent.turn_start();
            agent.explore(2, 9);
            let text = agent.random.sentence();
            agent.say(&text);
            agent.turn_end();
        }
        agent.node = Some("coder".into());
        let edits = agent.world.work(&mut agent.random);
        let subject = agent.subject();
        agent.iterate(edits, &subject);
    }
}

/// Turns that move a plan document and nothing else.
pub fn plan_document(agent: &mut Agent) {
    agent.style.turns = true;
    prefix(agent);
    for _ in 0..agent.random.between(3, 6) {
        for _ in 0..agent.random.between(2, 6) {
            agent.turn_start();
            agent.explore(1, 7);
            let mut lines = agent.world.lines("PLAN.md");
            match lines.iter_mut().find(|line| line.starts_with("- [ ]")) {
                Some(item) if agent.random.chance(0.5) => *item = item.replacen("[ ]", "[x]", 1),
                Some(_) | None => lines.push(format!("- [ ] {}", agent.random.sentence())),
            }
            agent.world.put("PLAN.md", lines);
            let text = agent.random.sentence();
            agent.say(&text);
            if agent.random.chance(0.3) {
                agent.commit("Move the plan on", "normal");
            }
            agent.turn_end();
        }
        steady(agent, 2);
    }
}

/// The same edit in file after file, commit by commit.
pub fn batch(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let (old, new) = (agent.random.name(), agent.random.name());
    for path in agent.world.sources() {
        let mut lines = agent.world.lines(&path);
        let at = agent.random.between(0, lines.len());
        lines.insert(at, format!("    {new}({old});"));
        agent.world.put(&path, lines);
        let edit = Edit { path: path.clone(), old: format!("{old}()"), new: format!("{new}({old})") };
        agent.iterate(vec![edit], &format!("Use {new} in {path}"));
    }
    steady(agent, 4);
}

/// A build or a deployment is polled until it is done; each answer says something else, or twice the same.
pub fn polling(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    for _ in 0..agent.random.between(1, 3) {
        // What is polled was pushed, with its tests passing.
        settle(agent);
        agent.turn_start();
        let total = agent.random.between(8, 30);
        let mut done = 0;
        while done < total {
            let answer = format!("{done} of {total} checks are done, {} wait", total - done);
            for _ in 0..if agent.random.chance(0.15) { 2 } else { 1 } {
                agent.call("Bash", json!({"command": "gh pr checks 12"}), &answer);
            }
            done += agent.random.between(1, 3);
        }
        if agent.in_turn_now() {
            agent.turn_end();
        }
        steady(agent, 3);
    }
}

/// One test fails now and then for no reason; most times it is run again, and it is committed as failing at most twice
/// running.
pub fn flaky(agent: &mut Agent) {
    agent.style.tests = 0.0;
    let flaky = agent.suite.some(&mut agent.random, 1);
    let mut running = 0;
    for _ in 0..agent.random.between(20, 50) {
        let edits = agent.world.work(&mut agent.random);
        agent.turn_start();
        agent.explore(0, 4);
        agent.edited(edits);
        let mut fails = false;
        for _ in 0..agent.random.between(2, 3).min(agent.random.between(2, 3)) {
            fails = agent.random.chance(0.25) && running < 2;
            agent.test(&flaky.iter().filter(|_| fails).cloned().collect());
            if !fails || agent.random.chance(0.2) {
                break;
            }
        }
        running = if fails { running + 1 } else { 0 };
        let subject = agent.subject();
        agent.commit(&subject, "normal");
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}

/// Branches are merged, work is rebased, commits are amended once or twice before they go out.
pub fn merges(agent: &mut Agent) {
    for _ in 0..agent.random.between(3, 7) {
        let count = agent.random.between(2, 6);
        steady(agent, count);
        match agent.random.between(0, 3) {
            0 => {
                let path = agent.world.add_file(&mut agent.random);
                agent.commit(&format!("Merge branch '{path}'"), "merge");
            }
            1 => {
                for _ in 0..agent.random.between(1, 3) {
                    if agent.random.chance(0.7) {
                        let path = agent.world.source(&mut agent.random);
                        let edit = agent.world.edit(&mut agent.random, &path);
                        agent.edited(vec![edit]);
                    }
                    let subject = agent.subject();
                    agent.commit(&subject, "amend");
                }
            }
            2 => {
                let path = agent.world.add_file(&mut agent.random);
                for _ in 0..agent.random.between(1, 6) {
                    let path = if agent.random.chance(0.5) {
                        path.clone()
                    } else {
                        agent.world.source(&mut agent.random)
                    };
                    agent.world.edit(&mut agent.random, &path);
                    let subject = agent.subject();
                    agent.commit(&subject, "rebase");
                }
            }
            _ => {
                let edits = agent.world.work(&mut agent.random);
                agent.edited(edits);
                let subject = agent.subject();
                agent.commit(&subject, "cherry-pick");
            }
        }
    }
}

/// The tests run after each edit, and mostly say the same.
pub fn rerun(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    settle(agent);
    for _ in 0..agent.random.between(8, 20) {
        agent.turn_start();
        for _ in 0..agent.random.between(2, 8) {
            let path = agent.world.source(&mut agent.random);
            let edit = agent.world.edit(&mut agent.random, &path);
            agent.edited(vec![edit]);
            agent.test(&BTreeSet::new());
        }
        let subject = agent.subject();
        agent.commit(&subject, "normal");
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}
