//! Loops whose commits look like progress and change nothing that runs.

use crate::agent::Agent;
use crate::stuck::{LENGTH, begin_green, boast};

/// A loop of changes that change nothing: `change` makes one and gives its subject.
fn fake(agent: &mut Agent, change: &mut dyn FnMut(&mut Agent, usize) -> String) {
    for at in 0..LENGTH {
        let subject = change(agent, at);
        agent.iterate(Vec::new(), &subject);
    }
}

/// A log of what was done grows.
pub fn log(agent: &mut Agent) {
    begin_green(agent);
    let path = *agent.random.pick(&[
        "WORKLOG.md",
        "logs/agent.txt",
        "progress.log",
        "activity.log",
        "docs/worklog.md",
    ]);
    fake(agent, &mut |agent, _| {
        let mut lines = agent.world.lines(path);
        for _ in 0..agent.random.between(1, 3) {
            lines.push(format!("{}: {}", agent.random.between(1, 99), agent.random.sentence()));
        }
        agent.world.put(path, lines);
        boast(agent)
    });
}

/// A time in a file is brought up to date.
pub fn timestamp(agent: &mut Agent) {
    begin_green(agent);
    let path = agent.world.source(&mut agent.random);
    let comment = agent.world.language.comment;
    let form = agent.random.between(0, 2);
    fake(agent, &mut |agent, _| {
        let (day, hour, minute) =
            (agent.random.between(1, 28), agent.random.between(0, 23), agent.random.between(0, 59));
        let line = match form {
            0 => format!("{comment} Generated at 2026-03-{day:02}T{hour:02}:{minute:02}:07Z"),
            1 => format!("{comment} Last updated: 2026-03-{day:02} {hour:02}:{minute:02}:41"),
            _ => format!("const BUILT = \"2026-03-{day:02}T{hour:02}:{minute:02}:00+00:00\";"),
        };
        let mut lines = agent.world.lines(&path);
        if lines.first().is_some_and(|first| first.contains("2026-03-")) {
            lines[0] = line;
        } else {
            lines.insert(0, line);
        }
        agent.world.put(&path, lines);
        boast(agent)
    });
}

/// White space goes in and out: at line ends, as blank lines, inside lines.
pub fn space(agent: &mut Agent) {
    begin_green(agent);
    let path = agent.world.source(&mut agent.random);
    fake(agent, &mut |agent, _| {
        let mut lines = agent.world.lines(&path);
        for _ in 0..agent.random.between(1, 4) {
            let at = agent.random.between(0, lines.len() - 1);
            match agent.random.between(0, 2) {
                0 => lines[at].push_str("  "),
                1 => lines.insert(at, String::new()),
                _ => lines[at] = lines[at].replacen(" = ", "  = ", 1).replacen("(", "( ", 1),
            }
        }
        agent.world.put(&path, lines);
        boast(agent)
    });
}

/// Comments are written, reworded, and reworded again.
pub fn comments(agent: &mut Agent) {
    begin_green(agent);
    let path = agent.world.source(&mut agent.random);
    let comment = agent.world.language.comment;
    let mut own = agent.random.between(0, agent.world.lines(&path).len() - 1);
    let mut lines = agent.world.lines(&path);
    lines.insert(own, format!("{comment} {}", agent.random.sentence()));
    agent.world.put(&path, lines);
    fake(agent, &mut |agent, _| {
        let mut lines = agent.world.lines(&path);
        match agent.random.between(0, 9) {
            0..=4 => lines[own] = format!("{comment} {}", agent.random.sentence()),
            5..=7 => {
                let at = agent.random.between(0, lines.len());
                for _ in 0..agent.random.between(1, 2) {
                    lines.insert(at, format!("{comment} {}", agent.random.sentence()));
                    own += usize::from(at <= own);
                }
            }
            _ => {
                let mark = format!("    {comment} ");
                let others: Vec<usize> =
                    (0..lines.len()).filter(|at| *at == own || lines[*at].starts_with(&mark)).collect();
                let at = *agent.random.pick(&others);
                lines[at] = format!("{mark}{}", agent.random.sentence());
                if at == own {
                    lines[at] = lines[at].trim_start().to_owned();
                }
            }
        }
        agent.world.put(&path, lines);
        boast(agent)
    });
}

/// The version goes up, and nothing else happens.
pub fn version(agent: &mut Agent) {
    begin_green(agent);
    let style = agent.random.between(0, 3);
    fake(agent, &mut |agent, _| {
        let part = if agent.random.chance(0.85) { 2 } else { 1 };
        agent.world.bump(part);
        let number = agent.world.number();
        match style {
            0 => format!("Bump version to {number}"),
            1 => format!("chore: release {number}"),
            2 => format!("Update version to {number}"),
            _ => boast(agent),
        }
    });
}

/// A file is made executable, and not, and again.
pub fn chmod(agent: &mut Agent) {
    begin_green(agent);
    let paths: Vec<String> =
        (0..agent.random.between(1, 3)).map(|_| agent.world.source(&mut agent.random)).collect();
    fake(agent, &mut |agent, at| {
        let path = &paths[(at / 2) % paths.len()];
        if let Some(file) = agent.world.files.get(path) {
            let mut file = file.as_ref().clone();
            file.executable = !file.executable;
            agent.world.files.insert(path.clone(), file.into());
        }
        boast(agent)
    });
}

/// A file is moved to and fro.
pub fn rename(agent: &mut Agent) {
    begin_green(agent);
    let from = agent.world.source(&mut agent.random);
    let to = format!("src/{}99.{}", agent.random.name(), agent.world.language.extension);
    fake(agent, &mut |agent, at| {
        if at.is_multiple_of(2) {
            agent.world.rename(&from, &to)
        } else {
            agent.world.rename(&to, &from)
        }
        boast(agent)
    });
}
