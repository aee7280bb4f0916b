//! Repositories that programs write to: a scraper, a status page, data that are fetched, deployments by commit. What they commit is
//! no work, and docs/configuration.md says what to set there ("Repositories that programs write to").

use crate::agent::Agent;
use crate::healthy::{prefix, settle, steady};

/// What is written by a program is neither code nor documentation.
pub const IGNORED: &str = "[paths]\nignore = [\"**/*.log\", \"data/**\", \"status/**\"]\n";

/// One commit of a program that says the same each time.
fn run(agent: &mut Agent, path: &str, lines: Vec<String>, subject: &str) {
    agent.world.put(path, lines);
    agent.wait(300, 300);
    agent.commit(subject, "normal");
}

/// A source that gives two answers in turn.
pub fn scraper(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let answers = [agent.random.sentence(), agent.random.sentence()];
    for round in 0..agent.random.between(8, 20) {
        run(
            agent,
            "data/prices.json",
            vec![format!("{{\"price\": \"{}\"}}", answers[round % 2])],
            "Update data",
        );
    }
    steady(agent, 3);
}

/// Services are up and down.
pub fn status_page(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let mut before = "";
    for _ in 0..agent.random.between(10, 24) {
        let state = *agent.random.pick(&["up", "down", "degraded"]);
        if std::mem::replace(&mut before, state) == state {
            continue;
        }
        run(agent, "status/summary.yml", vec![format!("api: {state}")], "Update status");
        if agent.random.chance(0.2) {
            steady(agent, 1);
        }
    }
    steady(agent, 3);
}

/// Data that are fetched by the day: rows come, and old ones are rewritten.
pub fn fetched(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    for day in 0..agent.random.between(10, 24) {
        let rows = (0..=day).map(|row| format!("{row},{}", if row + 2 > day { day } else { row })).collect();
        run(agent, "data/series.csv", rows, &format!("Data of day {day}"));
    }
    steady(agent, 3);
}

/// A commit is the command to deploy: one of two versions stays for hours, and now and then is taken back at once.
pub fn gitops(agent: &mut Agent) {
    prefix(agent);
    settle(agent);
    let versions = [agent.random.name(), agent.random.name()];
    let rounds = agent.random.between(3, 4);
    for round in 0..rounds {
        agent.world.put("deploy/app.yml", vec![format!("image: app:{}", versions[round % 2])]);
        agent.clock += if round + 1 == rounds { 60 } else { 7_200 };
        agent.commit(&format!("app: {}", versions[round % 2]), "normal");
    }
    steady(agent, 5);
}
