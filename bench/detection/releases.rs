//! Healthy work that takes things back: reverts, relands, releases, deployments.

use crate::agent::Agent;
use crate::healthy::{prefix, settle, steady};

/// Something turns out wrong and is reverted.
pub fn one_revert(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let before = agent.world.clone();
    let edits = agent.world.work(&mut agent.random);
    let subject = agent.subject();
    agent.iterate(edits, &subject);
    agent.world = before;
    agent.turn_start();
    agent.commit(
        &format!("Revert \"{subject}\""),
        if !agent.world.version[1].is_multiple_of(5) { "revert" } else { "normal" },
    );
    let count = agent.random.between(5, 20);
    steady(agent, count);
}

/// It is reverted and lands again, sometimes twice.
pub fn reland(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let before = agent.world.clone();
    let edits = agent.world.work(&mut agent.random);
    let subject = agent.subject();
    agent.iterate(edits, &subject);
    let after = agent.world.clone();
    for round in 0..agent.random.between(1, 2) {
        agent.world = before.clone();
        agent.commit(&format!("Revert \"{subject}\""), "revert");
        agent.world = after.clone();
        if round > 0 {
            agent.world.work(&mut agent.random);
        }
        agent.commit(&format!("Reland \"{subject}\""), "normal");
    }
    let count = agent.random.between(5, 20);
    steady(agent, count);
}

/// Releases: version and change log, taken back now and then because a check failed.
pub fn release(agent: &mut Agent) {
    for _ in 0..agent.random.between(2, 5) {
        let count = agent.random.between(2, 9);
        steady(agent, count);
        settle(agent);
        let before = agent.world.clone();
        let part = agent.random.between(0, 2);
        agent.world.bump(part);
        let mut lines = agent.world.lines("CHANGELOG.md");
        lines.insert(2, format!("## {}: {}", agent.world.number(), agent.random.sentence()));
        agent.world.put("CHANGELOG.md", lines);
        let release = agent.world.clone();
        let subject = format!("Release {}", agent.world.number());
        agent.iterate(Vec::new(), &subject);
        if agent.random.chance(0.4) {
            agent.world = before;
            agent.commit(&format!("Revert \"{subject}\""), "revert");
            steady(agent, 1);
            settle(agent);
            agent.world.version = release.version;
            agent.world.write_version();
            agent.world.put("CHANGELOG.md", release.lines("CHANGELOG.md"));
            agent.iterate(Vec::new(), &subject);
        }
    }
}

/// A branch that only takes builds; now and then an older one goes back up.
pub fn deploy(agent: &mut Agent) {
    let mut builds: Vec<Vec<String>> = Vec::new();
    for _ in 0..agent.random.between(10, 30) {
        let back = builds.len() > 2 && agent.random.chance(0.15);
        let build = if back {
            let at = builds.len() - agent.random.between(2, 3);
            builds[at].clone()
        } else {
            (0..agent.random.between(2, 20)).map(|_| agent.random.sentence()).collect()
        };
        if builds.last() == Some(&build) {
            continue;
        }
        agent.world.put("dist/app.js", build.clone());
        builds.push(build);
        agent.wait(600, 9000);
        let subject = format!("Deploy {}", agent.random.hex(8));
        agent.commit(&subject, "normal");
    }
}
