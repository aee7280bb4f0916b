//! Loops that are stuck, each in one way, seen through their commits and turns. They begin at a random iteration after
//! healthy work, and go on for as long as they are let.

use std::collections::BTreeSet;

use serde_json::json;

use crate::agent::Agent;
use crate::healthy::{prefix, settle};
use crate::script::ScriptCommit;
use crate::world::{Edit, Tree};

/// Iterations of the stuck phase: what is not found by then is not found.
pub const LENGTH: usize = 24;

/// The healthy beginning, and the border.
pub fn begin(agent: &mut Agent) {
    prefix(agent);
    agent.begin_stuck();
}

/// The same with all tests green at the border, or not reported at all.
pub fn begin_green(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    if agent.random.chance(0.5) {
        agent.style.tests = 0.0;
    }
    agent.style.uncommitted = 0.0;
    agent.begin_stuck();
}

/// Words that sound like progress.
pub fn boast(agent: &mut Agent) -> String {
    let subject = agent.subject();
    match agent.random.between(0, 4) {
        0 => "Apply fix".to_owned(),
        1 => format!("Fix: {}", agent.random.name()),
        _ => subject,
    }
}

/// Turns end and nothing has changed.
pub fn idle(agent: &mut Agent) {
    agent.style.turns = true;
    begin(agent);
    for _ in 0..LENGTH {
        agent.turn_start();
        agent.explore(0, 12);
        if agent.random.chance(0.3) && agent.style.tests > 0.0 {
            agent.test(&BTreeSet::new());
        }
        let text = agent.random.sentence();
        agent.say(&text);
        agent.turn_end();
    }
}

/// Commits without a change.
pub fn empty(agent: &mut Agent) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    for _ in 0..LENGTH {
        let subject = boast(agent);
        agent.iterate(Vec::new(), &subject);
    }
}

/// The whole code goes round through `period` states.
fn circle(agent: &mut Agent, period: usize) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    let start = agent.world.clone();
    let states: Vec<Tree> = (0..period)
        .map(|_| {
            agent.world = start.clone();
            agent.world.work(&mut agent.random);
            agent.world.files.clone()
        })
        .collect();
    for at in 0..LENGTH {
        agent.world.files = states[at % period].clone();
        let edit = Edit {
            path: agent.world.source(&mut agent.random),
            old: agent.random.name(),
            new: agent.random.name(),
        };
        let subject = boast(agent);
        agent.iterate(vec![edit], &subject);
    }
}

pub fn two(agent: &mut Agent) {
    circle(agent, 2);
}

pub fn three(agent: &mut Agent) {
    circle(agent, 3);
}

pub fn four(agent: &mut Agent) {
    circle(agent, 4);
}

pub fn five(agent: &mut Agent) {
    circle(agent, 5);
}

pub fn six(agent: &mut Agent) {
    circle(agent, 6);
}

/// The code comes back to one of the states two to six before it, at no fixed distance; sometimes it is a new one.
pub fn recurrence(agent: &mut Agent) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    let mut seen: Vec<Tree> = vec![agent.world.files.clone()];
    for _ in 0..LENGTH {
        let far = agent.random.between(2, 6).min(seen.len());
        if seen.len() >= 2 && agent.random.chance(0.7) {
            agent.world.files = seen[seen.len() - far].clone();
        } else {
            agent.world.work(&mut agent.random);
        }
        if seen.last() == Some(&agent.world.files) {
            agent.world.work(&mut agent.random);
        }
        seen.push(agent.world.files.clone());
        let subject = boast(agent);
        agent.iterate(Vec::new(), &subject);
    }
}

/// Edit after edit, and the same tests fail.
pub fn same_failures(agent: &mut Agent) {
    begin(agent);
    agent.style.tests = 1.0;
    agent.style.uncommitted = 0.0;
    let count = agent.random.between(1, 8);
    agent.suite.failing = agent.suite.some(&mut agent.random, count).into_iter().collect();
    for _ in 0..LENGTH {
        let edits = agent.world.work(&mut agent.random);
        let subject = boast(agent);
        agent.iterate(edits, &subject);
    }
}

/// Each edit repairs one test and breaks another: the count stays.
pub fn rotating(agent: &mut Agent) {
    begin(agent);
    agent.style.tests = 1.0;
    agent.style.uncommitted = 0.0;
    let count = agent.random.between(1, 6);
    agent.suite.failing = agent.suite.some(&mut agent.random, count).into_iter().collect();
    for _ in 0..LENGTH {
        let edits = agent.world.work(&mut agent.random);
        let subject = boast(agent);
        agent.iterate(edits, &subject);
        let moved = agent.random.between(1, count);
        let fresh = agent.suite.some(&mut agent.random, moved);
        let gone: Vec<String> = agent.suite.failing.iter().take(moved).cloned().collect();
        for name in gone {
            agent.suite.failing.remove(&name);
        }
        agent.suite.failing.extend(fresh);
    }
}

/// Failing tests are removed instead of repaired, task after task.
fn weakened(agent: &mut Agent, take: fn(&mut Agent, &str)) {
    begin(agent);
    agent.style.tests = 1.0;
    agent.style.uncommitted = 0.0;
    let count = agent.random.between(3, 8);
    agent.suite.failing = agent.suite.some(&mut agent.random, count).into_iter().collect();
    let edits = agent.world.work(&mut agent.random);
    agent.iterate(edits, "Begin with the next step");
    for _ in 0..LENGTH {
        if agent.suite.failing.is_empty() {
            let count = agent.random.between(1, 5);
            agent.suite.failing = agent.suite.some(&mut agent.random, count).into_iter().collect();
        } else {
            for _ in 0..agent.random.between(1, 2) {
                let first = agent.suite.failing.iter().next().cloned();
                if let Some(name) = first {
                    take(agent, &name);
                }
            }
        }
        let edits = if agent.random.chance(0.5) { agent.world.work(&mut agent.random) } else { Vec::new() };
        let subject = boast(agent);
        agent.iterate(edits, &subject);
    }
}

pub fn deleted(agent: &mut Agent) {
    weakened(agent, |agent, name| agent.suite.remove(&mut agent.world, name));
}

pub fn skipped(agent: &mut Agent) {
    weakened(agent, |agent, name| agent.suite.skip(&mut agent.world, name));
}

/// One commit is amended over and over: its message only, to and fro, or with attempts that fail in the same tests.
pub fn amend(agent: &mut Agent) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    let way = agent.random.between(0, 2);
    if way == 2 {
        agent.style.tests = 1.0;
        let count = agent.random.between(1, 5);
        agent.suite.failing = agent.suite.some(&mut agent.random, count).into_iter().collect();
    }
    let edits = agent.world.work(&mut agent.random);
    let subject = agent.subject();
    agent.iterate(edits, &subject);
    let one = agent.world.files.clone();
    agent.world.work(&mut agent.random);
    let other = agent.world.files.clone();
    for at in 0..LENGTH {
        agent.turn_start();
        agent.explore(0, 4);
        let edits = match way {
            0 => {
                agent.world.files = one.clone();
                Vec::new()
            }
            1 => {
                agent.world.files = if at.is_multiple_of(2) { other.clone() } else { one.clone() };
                Vec::new()
            }
            _ => agent.world.work(&mut agent.random),
        };
        agent.edited(edits);
        if agent.random.chance(agent.style.tests) {
            agent.test(&BTreeSet::new());
        }
        let subject = boast(agent);
        agent.commit(&subject, "amend");
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}

/// The newest commits are rebased over and over: reworded, or from one base to the other and back.
pub fn rebase(agent: &mut Agent) {
    begin(agent);
    let moving = agent.random.chance(0.5);
    let base = agent.head.tree;
    let count = agent.random.between(2, 5);
    let mut series: Vec<Tree> = Vec::new();
    for _ in 0..count {
        let edits = agent.world.work(&mut agent.random);
        agent.edited(edits);
        let subject = agent.subject();
        agent.commit(&subject, "normal");
        series.push(agent.world.files.clone());
    }
    for round in 0..LENGTH {
        agent.turn_start();
        agent.explore(0, 4);
        agent.head = ScriptCommit { tree: base, parent: base };
        for tree in &series {
            agent.world.files = tree.clone();
            if moving && round.is_multiple_of(2) {
                agent.world.put("src/upstream.txt", vec!["a newer base".into()]);
            }
            let subject = boast(agent);
            agent.commit(&subject, "rebase");
        }
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}

/// One place of one file goes to and fro between two or three forms, and there is other work in every commit.
pub fn hidden(agent: &mut Agent) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    let path = agent.world.add_file(&mut agent.random);
    let lines = agent.world.lines(&path);
    let at = agent.random.between(0, lines.len() - 1);
    let count = if agent.random.chance(0.8) { 2 } else { 3 };
    let forms: Vec<String> = (0..count).map(|_| format!("    {}", agent.random.sentence())).collect();
    for round in 0..LENGTH {
        let mut edits: Vec<Edit> = Vec::new();
        let before = agent.world.files.get(&path).cloned();
        for _ in 0..agent.random.between(1, 2) {
            edits.extend(agent.world.work(&mut agent.random));
        }
        // The other work is elsewhere.
        if let Some(before) = before {
            agent.world.files.insert(path.clone(), before);
        }
        let mut lines = lines.clone();
        lines[at].clone_from(&forms[round % count]);
        agent.world.put(&path, lines);
        agent.random.shuffle(&mut edits);
        let subject = boast(agent);
        agent.iterate(edits, &subject);
    }
}

/// One file comes back to one of four contents, in no order, squash merge by squash merge.
pub fn comebacks(agent: &mut Agent) {
    begin(agent);
    agent.style.uncommitted = 0.0;
    let path = agent.world.add_file(&mut agent.random);
    let mut lines = agent.world.lines(&path);
    let at = agent.random.between(0, lines.len() - 1);
    let forms: Vec<String> = (0..4).map(|_| format!("    {}", agent.random.sentence())).collect();
    let mut last = forms.len();
    for _ in 0..LENGTH {
        let mut form = agent.random.between(0, forms.len() - 1);
        if form == last {
            form = (form + 1) % forms.len();
        }
        last = form;
        lines[at].clone_from(&forms[form]);
        agent.world.put(&path, lines.clone());
        let subject = format!("{} (#{})", boast(agent), agent.random.between(10, 900));
        agent.iterate(Vec::new(), &subject);
    }
}

/// The agent looks around, and says the same at the end of every turn: nothing moves. Where turns are not reported, its
/// output is the only sign.
pub fn outputs(agent: &mut Agent) {
    agent.style.says = true;
    begin_green(agent);
    let text = format!("{} {}", agent.random.sentence(), agent.random.sentence());
    let structured = agent.random.chance(0.3);
    for _ in 0..LENGTH {
        agent.turn_start();
        agent.explore(0, 6);
        if agent.random.chance(0.3) && agent.style.tests > 0.0 {
            agent.test(&BTreeSet::new());
        }
        let (hour, minute) = (agent.random.between(0, 23), agent.random.between(0, 59));
        let said = format!("{text}\n(2026-03-01T{hour:02}:{minute:02}:11Z)");
        if structured {
            agent.structured(&json!({"status": "fixed", "summary": text, "at": format!("2026-03-01T{hour:02}:{minute:02}:11Z")}));
        } else {
            agent.say(&said);
        }
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}

/// Reviewers are split round after round, and the coder goes to and fro between what the one and the other wants,
/// rewords comments, or does nothing.
pub fn council(agent: &mut Agent) {
    begin_green(agent);
    let path = agent.world.source(&mut agent.random);
    let at = agent.random.between(0, agent.world.lines(&path).len() - 1);
    let designs: Vec<Vec<String>> = (0..agent.random.between(2, 3))
        .map(|_| {
            (0..agent.random.between(1, 4)).map(|_| format!("    {}", agent.random.sentence())).collect()
        })
        .collect();
    let lines = agent.world.lines(&path);
    let others = agent.random.chance(0.3);
    for round in 0..LENGTH {
        let mut edits = Vec::new();
        if !agent.random.chance(0.15) {
            let mut lines = lines.clone();
            lines.splice(at..=at, designs[round % designs.len()].clone());
            agent.world.put(&path, lines);
        } else if agent.random.chance(0.5) {
            let mut lines = agent.world.lines(&path);
            lines.insert(0, format!("{} {}", agent.world.language.comment, agent.random.sentence()));
            agent.world.put(&path, lines);
        }
        if others && agent.random.chance(0.5) {
            let before = agent.world.files.get(&path).cloned();
            edits = agent.world.work(&mut agent.random);
            before.map(|before| agent.world.files.insert(path.clone(), before));
        }
        let subject = boast(agent);
        agent.iterate(edits, &subject);
        agent.vote();
    }
}
