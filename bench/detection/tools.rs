//! Loops of tool calls within a turn. What counts is the number of calls until they are found.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::healthy::prefix;

/// Calls of the stuck phase.
const LENGTH: usize = 60;

fn begin(agent: &mut Agent) {
    agent.style.calls = true;
    prefix(agent);
    agent.begin_stuck();
    agent.turn_start();
}

/// A call with its answer.
type AnsweredCall = (String, Vec<(String, Value)>, String);

fn some_call(agent: &mut Agent) -> AnsweredCall {
    let text = |text: String| Value::from(text);
    let answer =
        (0..agent.random.between(1, 6)).map(|_| agent.random.sentence()).collect::<Vec<_>>().join("\n");
    let (tool, args) = match agent.random.between(0, 3) {
        0 => {
            let path = agent.world.source(&mut agent.random);
            ("Read", vec![("file_path".to_owned(), text(path)), ("limit".to_owned(), json!(200))])
        }
        1 => {
            let pattern = agent.random.name();
            ("Grep", vec![("pattern".to_owned(), text(pattern)), ("path".to_owned(), text("src".into()))])
        }
        2 => {
            let name = agent.random.name();
            let command = format!("{} {name}", agent.world.language.command.0);
            ("Bash", vec![("command".to_owned(), text(command)), ("timeout".to_owned(), json!(60_000))])
        }
        _ => {
            let url = format!("http://localhost:8080/{}", agent.random.name());
            (
                "WebFetch",
                vec![("url".to_owned(), text(url)), ("prompt".to_owned(), text(agent.random.sentence()))],
            )
        }
    };
    (tool.to_owned(), args, answer)
}

/// The very same call.
pub fn identical(agent: &mut Agent) {
    begin(agent);
    let (tool, args, answer) = some_call(agent);
    for _ in 0..LENGTH {
        if agent.random.chance(0.1) {
            agent.look();
        }
        agent.raw_call(&tool, &args, &answer);
    }
}

/// Two to four calls in turns, in no fixed order, now and then another one.
pub fn interleaved(agent: &mut Agent) {
    begin(agent);
    let calls: Vec<AnsweredCall> = (0..agent.random.between(2, 4)).map(|_| some_call(agent)).collect();
    let fixed = agent.random.chance(0.5);
    for at in 0..LENGTH {
        let (tool, args, answer) =
            if fixed { calls[at % calls.len()].clone() } else { agent.random.pick(&calls).clone() };
        agent.raw_call(&tool, &args, &answer);
        if !fixed && agent.random.chance(0.15) {
            agent.look();
        }
    }
}

/// One tool is asked one thing after the other and always gives the same answer.
pub fn same_answer(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let tool = *agent.random.pick(&["Grep", "WebSearch", "Bash", "Read"]);
    let answer = match agent.random.between(0, 2) {
        0 => "There is nothing to show for this request".to_owned(),
        1 => format!("error: {} is not there", agent.random.name()),
        _ => agent.random.sentence(),
    };
    for _ in 0..LENGTH {
        let asked = agent.random.sentence();
        let page = agent.random.between(1, 9);
        agent.call(tool, json!({"query": asked, "page": page}), &answer);
        if agent.random.chance(0.05) {
            agent.look();
        }
    }
}

/// The same call, with ids and times in its answer that are new each time.
pub fn volatile(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let (tool, args, answer) = some_call(agent);
    let form = agent.random.between(0, 3);
    for _ in 0..LENGTH {
        let (hour, minute, second) =
            (agent.random.between(0, 23), agent.random.between(0, 59), agent.random.between(0, 59));
        let noise = match form {
            0 => format!(
                "request {}-{}-4{}-a{}-{}",
                agent.random.hex(8),
                agent.random.hex(4),
                agent.random.hex(3),
                agent.random.hex(3),
                agent.random.hex(12)
            ),
            1 => format!("at 2026-03-01T{hour:02}:{minute:02}:{second:02}Z"),
            2 => format!("finished in {}.{:02}s", agent.random.between(0, 9), agent.random.between(0, 99)),
            _ => format!("object at 0x7f{}", agent.random.hex(10)),
        };
        if agent.random.chance(0.05) {
            agent.look();
        }
        agent.raw_call(&tool, &args, &format!("{answer}\n{noise}"));
    }
}

/// The same call with its arguments in another order each time.
pub fn reordered(agent: &mut Agent) {
    begin(agent);
    let (tool, mut args, answer) = some_call(agent);
    args.push(("options".to_owned(), json!({"a": 1, "b": [1, 2], "c": null})));
    args.push(("cwd".to_owned(), json!("/project")));
    for _ in 0..LENGTH {
        agent.random.shuffle(&mut args);
        agent.raw_call(&tool, &args, &answer);
        if agent.random.chance(0.05) {
            agent.look();
        }
    }
}

/// The very same edit, asked for again and again, with looks at the file in between.
pub fn same_edit(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let path = agent.world.source(&mut agent.random);
    let args = json!({"file_path": path, "old_string": agent.random.sentence(), "new_string": agent.random.sentence()});
    for at in 0..LENGTH {
        let answer = format!("error: old_string was not found (attempt {at})");
        agent.call("Edit", args.clone(), &answer);
        if agent.random.chance(0.7) {
            agent.look();
        }
    }
}

/// Whatever is asked for, the answer is the same once the arguments are left out of it.
pub fn same_refusal(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let why =
        *agent.random.pick(&["Permission denied", "Read-only file system", "No such file or directory"]);
    for at in 0..LENGTH {
        let path = format!("data/{}-{at}.txt", agent.random.name());
        agent.refused("Bash", json!({"command": format!("cat {path}")}), &format!("cat: {path}: {why}"));
    }
}

/// A program that is not there, with other arguments each time, among other calls.
pub fn missing_program(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let program = format!("{}-cli", agent.random.name());
    for _ in 0..LENGTH {
        let command = format!("{program} --{}", agent.random.name());
        agent.refused(
            "Bash",
            json!({"command": command}),
            &format!("bash: line 1: {program}: command not found"),
        );
        if agent.random.chance(0.6) {
            agent.look();
        }
    }
}

/// Six to twelve calls in a fixed order, round after round.
pub fn long_row(agent: &mut Agent) {
    begin(agent);
    let calls: Vec<AnsweredCall> = (0..agent.random.between(6, 12)).map(|_| some_call(agent)).collect();
    for at in 0..LENGTH {
        let (tool, args, answer) = &calls[at % calls.len()];
        agent.raw_call(tool, args, answer);
    }
}

/// Two answers in turns, with looks in between.
pub fn outputs(agent: &mut Agent) {
    agent.style.says = true;
    begin(agent);
    let said = [agent.random.sentence(), agent.random.sentence()];
    for at in 0..LENGTH {
        agent.look();
        agent.say(&said[at % 2]);
    }
}

/// Healthy: different commands that have nothing to say.
pub fn quiet(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    agent.turn_start();
    for _ in 0..LENGTH {
        let name = agent.random.name();
        let (tool, args) = match agent.random.between(0, 3) {
            0 => ("Bash", json!({"command": format!("mkdir -p build/{name}")})),
            1 => ("Bash", json!({"command": format!("git add src/{name}.rs")})),
            2 => ("Grep", json!({"pattern": name})),
            _ => ("mcp__files__move", json!({"from": name, "to": agent.random.name()})),
        };
        let quiet = ["(no output)", "", "{\"stdout\":\"\",\"stderr\":\"\"}", "No matches found", "ok"];
        let answer = *agent.random.pick(&quiet);
        agent.call(tool, args, answer);
    }
}

/// Healthy: waiting for something else to end.
pub fn waiting(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    agent.turn_start();
    let command = *agent.random.pick(&["sleep 30", "gh run watch 4711", "sleep 60 && gh run view 4711"]);
    for _ in 0..LENGTH {
        agent.call("Bash", json!({"command": command}), "in_progress");
    }
}

/// Healthy: something is polled whose answers move only in what masks hide.
pub fn masked_progress(agent: &mut Agent) {
    agent.style.calls = true;
    agent.style.answers = true;
    prefix(agent);
    agent.turn_start();
    let way = agent.random.between(0, 2);
    let mut value = agent.random.between(1, 90);
    for _ in 0..LENGTH {
        value += agent.random.between(1, 40);
        let (command, answer) = match way {
            0 => ("tail -1 build.log", format!("still running, elapsed {value}s")),
            1 => ("psql -c 'select count(*) from copied'", format!("rows: {}", 1_000_000 + value)),
            _ => ("make lint", format!("src/a.rs:{value}: checking")),
        };
        agent.call("Bash", json!({"command": command}), &answer);
    }
}

/// One command fails again and again, each time with another text, with looks in between and no edit.
pub fn other_errors(agent: &mut Agent) {
    begin(agent);
    agent.style.answers = true;
    let command = format!("{} {}", agent.world.language.command.0, agent.random.name());
    for _ in 0..LENGTH {
        let text = format!("error: {}", agent.random.sentence());
        agent.refused("Bash", json!({"command": command}), &text);
        if agent.random.chance(0.5) {
            agent.look();
        }
    }
}

/// The context is compacted again and again, and nothing is edited in between.
pub fn compactions(agent: &mut Agent) {
    begin(agent);
    for _ in 0..LENGTH {
        agent.look();
        if agent.random.chance(0.4) {
            agent.compaction();
        }
    }
}
