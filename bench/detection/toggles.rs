//! Healthy work in which something goes to and fro, or repeats, and nothing is wrong with it: a status that is toggled
//! beside real work, the same line at several places, releases without a change, an acceptance test that was written
//! first, sessions that read the same files.

use std::collections::BTreeSet;

use serde_json::json;

use crate::agent::Agent;
use crate::healthy::{prefix, settle, steady};
use crate::world::Edit;

/// A file of two values is toggled beside real work in every commit.
pub fn status(agent: &mut Agent) {
    prefix(agent);
    let path = *agent.random.pick(&["status.toml", "config/state.json", "STATUS.md", "src/flags.rs"]);
    let values = [agent.random.sentence(), agent.random.sentence(), agent.random.sentence()];
    let forms = if agent.random.chance(0.6) { 2 } else { 3 };
    for round in 0..agent.random.between(12, 30) {
        let at = if agent.random.chance(0.8) { round } else { agent.random.between(0, 9) };
        agent.world.put(path, vec![format!("last = \"{}\"", values[at % forms])]);
        steady(agent, 1);
    }
}

/// A list of features of which one after the other passes: the same change at another place, alone in its commit or
/// beside the work.
pub fn features(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let count = agent.random.between(6, 11);
    let mut lines = vec!["[".to_owned()];
    for _ in 0..count {
        lines.push(format!("  {{ \"name\": \"{}\",", agent.random.name()));
        lines.push("    \"passes\": false },".to_owned());
    }
    agent.world.put("features.json", lines);
    agent.iterate(Vec::new(), "List the features");
    let alone = agent.random.chance(0.5);
    for _ in 0..count {
        if !alone {
            agent.world.work(&mut agent.random);
        }
        let mut lines = agent.world.lines("features.json");
        if let Some(line) = lines.iter_mut().find(|line| line.ends_with("false },")) {
            *line = line.replacen("false", "true", 1);
        }
        agent.world.put("features.json", lines);
        let subject = agent.subject();
        agent.iterate(Vec::new(), &subject);
    }
    steady(agent, 3);
}

/// The same line at several places of one file, commit by commit.
pub fn same_line(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let path = agent.world.source(&mut agent.random);
    let line = format!("    {}();", agent.random.sentence().replace(' ', "_"));
    for place in 0..agent.random.between(3, 8) {
        let mut lines = agent.world.lines(&path);
        let at = (place * 2).min(lines.len());
        lines.insert(at, line.clone());
        agent.world.put(&path, lines);
        let edit = Edit { path: path.clone(), old: format!("{place}"), new: line.clone() };
        let subject = agent.subject();
        agent.iterate(vec![edit], &subject);
    }
    steady(agent, 3);
}

/// Releases of one package after the other, merges of a forge, commits that start a build: all of them empty.
pub fn releases(agent: &mut Agent) {
    for _ in 0..agent.random.between(2, 3) {
        prefix(agent);
        settle(agent);
        // What changes nothing is seen by its commit.
        agent.style.uncommitted = 0.0;
        let way = agent.random.between(0, 2);
        for number in 0..agent.random.between(2, 7) {
            let name = agent.random.name();
            let (major, minor) = (agent.random.between(0, 9), agent.random.between(0, 40));
            let subject = match way {
                0 => format!(
                    "{} {name} {major}.{minor}.{number}",
                    agent.random.pick(&["Release", "Publish", "Tag"])
                ),
                1 => format!("{} (#{})", agent.subject(), agent.random.between(10, 9000)),
                _ => "Bump CI".to_owned(),
            };
            agent.iterate(Vec::new(), &subject);
        }
    }
}

/// An acceptance test is written first and stays red, while the tests of its parts newly pass.
pub fn acceptance(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    agent.style.tests = 1.0;
    agent.style.uncommitted = 0.0;
    let file = agent.suite.file(&mut agent.random);
    let name = agent.suite.add(&mut agent.random, &mut agent.world, &file);
    agent.suite.failing.insert(name.clone());
    agent.iterate(Vec::new(), "Say what is wanted");
    for _ in 0..agent.random.between(3, 6) {
        for _ in 0..agent.random.between(1, 4) {
            agent.suite.add(&mut agent.random, &mut agent.world, &file);
        }
        let edits = agent.world.work(&mut agent.random);
        let subject = agent.subject();
        agent.iterate(edits, &subject);
    }
    agent.suite.failing.remove(&name);
    let edits = agent.world.work(&mut agent.random);
    agent.iterate(edits, "Make it pass");
    steady(agent, 4);
}

/// A person switches something on and off, beside other work, or alone and hours apart.
pub fn flag(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let alone = agent.random.chance(0.4);
    for round in 0..agent.random.between(4, 5) {
        let on = round % 2 == 0;
        agent.world.put("src/flags.rs", vec![format!("pub const CACHE: bool = {on};")]);
        if alone {
            agent.wait(3700, 9000);
            agent.commit(if on { "Switch the cache on" } else { "Switch the cache off" }, "normal");
        } else {
            steady(agent, 2);
        }
    }
    steady(agent, 4);
}

/// Pull requests in a line of squash merges: one is reverted and lands again, twice.
pub fn relanded(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let title = agent.subject();
    let (before, mut number) = (agent.world.clone(), agent.random.between(100, 900));
    agent.world.work(&mut agent.random);
    let after = agent.world.clone();
    agent.commit(&format!("{title} (#{number})"), "normal");
    for _ in 0..2 {
        number += agent.random.between(1, 9);
        agent.world = before.clone();
        agent.commit(&format!("Revert \"{title} (#{})\" (#{number})", number - 1), "normal");
        agent.wait(30, 900);
        number += agent.random.between(1, 9);
        agent.world = after.clone();
        agent.commit(&format!("{title}, again (#{number})"), "normal");
    }
    steady(agent, 6);
}

/// Each release is two commits, prepared and cleaned up, in words of the project's own.
pub fn own_words(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let (begin, end) = (agent.random.name(), agent.random.name());
    let minor = agent.random.between(1, 9);
    for release in 0..agent.random.between(3, 6) {
        for (words, state) in [(&begin, "release"), (&end, "snapshot")] {
            agent.world.put("build.properties", vec![format!("kind = {state}")]);
            agent.commit(&format!("{words} the {minor}.{release}.0 release"), "normal");
        }
    }
    steady(agent, 4);
}

/// One step of a plan after the other, each ending with the same words, or with "Done.".
pub fn same_words(agent: &mut Agent) {
    agent.style.says = true;
    prefix(agent);
    settle(agent);
    let text = if agent.random.chance(0.3) {
        "Done.".to_owned()
    } else {
        format!("{} {}", agent.random.sentence(), agent.random.sentence())
    };
    for _ in 0..agent.random.between(6, 14) {
        agent.turn_start();
        agent.explore(0, 5);
        let edits = agent.world.work(&mut agent.random);
        agent.edited(edits);
        if agent.random.chance(agent.style.tests) {
            agent.test(&BTreeSet::new());
        }
        let subject = agent.subject();
        agent.commit(&subject, "normal");
        agent.say(&text);
        if agent.in_turn_now() {
            agent.turn_end();
        }
    }
}

/// Session after session begins by reading the same files.
pub fn sessions(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    settle(agent);
    let paths = [agent.world.source(&mut agent.random), "README.md".to_owned()];
    for _ in 0..agent.random.between(3, 5) {
        agent.session_start();
        for _ in 0..2 {
            for path in &paths {
                let answer = agent.world.lines(path).join("\n");
                agent.call("Read", json!({"file_path": path}), &answer);
            }
        }
        let text = agent.random.sentence();
        agent.say(&text);
    }
    steady(agent, 3);
}
