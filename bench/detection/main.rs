//! Does it find stuck loops, and leave healthy work alone? Seeded runs of many families go through the engine of
//! `andon replay --events`: bench/README.md.
//!
//! ```text
//! cargo run --release --example detection -- [--runs 200] [--half tune|report] [--only TEXT] [--json FILE] [--dump SEED] [--real ANDON] [--weakening N] [--calibration N]
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, clippy::unwrap_used)] // a tool for people at a terminal
#![allow(clippy::pedantic)] // a simulator: casts of small counts, switches, values handed over

mod agent;
mod derive;
mod fake;
mod families;
mod healthy;
mod measure;
mod programs;
mod promise;
mod random;
mod real;
mod releases;
mod script;
mod stuck;
mod suite;
mod table;
mod toggles;
mod tools;
mod weakening;
mod world;

use std::io::Write as _;
use std::sync::Mutex;

use families::{CheckRequest, FAMILIES, Family};
use table::Row;

struct Options {
    runs: u64,
    odd: u64,
    only: String,
    json: Option<String>,
    dump: Option<u64>,
    threads: usize,
    real: Option<std::path::PathBuf>,
    weakening: Option<u64>,
    calibration: Option<u64>,
}

fn options() -> Options {
    let mut options = Options {
        runs: 200,
        odd: 1,
        only: String::new(),
        json: None,
        dump: None,
        threads: 2,
        real: None,
        weakening: None,
        calibration: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
        match arg.as_str() {
            "--runs" => options.runs = value().parse().unwrap(),
            "--only" => options.only = value(),
            "--json" => options.json = Some(value()),
            "--dump" => options.dump = Some(value().parse().unwrap()),
            "--real" => options.real = Some(std::fs::canonicalize(value()).unwrap()),
            "--calibration" => options.calibration = Some(value().parse().unwrap()),
            "--weakening" => options.weakening = Some(value().parse().unwrap()),
            "--threads" => options.threads = value().parse().unwrap(),
            "--half" => {
                options.odd = match value().as_str() {
                    "tune" => 0,
                    "report" => 1,
                    other => panic!("--half {other}: tune or report"),
                }
            }
            other => panic!(
                "{other}: unknown; known are --runs, --half, --only, --json, --dump, --threads, --real, --weakening, --calibration"
            ),
        }
    }
    options
}

fn main() {
    let options = options();
    if let Some(count) = options.weakening {
        std::process::exit(i32::from(!weakening::run(count)));
    }
    if let Some(count) = options.calibration {
        std::process::exit(i32::from(!promise::run(count, &options.only)));
    }
    let chosen: Vec<&Family> = FAMILIES.iter().filter(|family| family.name.contains(&options.only)).collect();
    if let Some(seed) = options.dump {
        return chosen.iter().for_each(|family| dump(family, seed));
    }
    // Even seeds are for choosing settings, odd ones for what is reported.
    let seeds: Vec<u64> = (0..options.runs).map(|at| at * 2 + options.odd).collect();
    if let Some(andon) = &options.real {
        return real_hooks(&options, &chosen, &seeds, andon);
    }
    let queue = Mutex::new(chosen.iter().enumerate().collect::<Vec<_>>());
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| {
                while let Some((at, family)) = queue.lock().map(|mut queue| queue.pop()).unwrap() {
                    let dir = tempfile::tempdir().unwrap();
                    let row = Row::new(family, &measure::family(family, &seeds, dir.path()));
                    eprintln!("{}", row.markdown());
                    rows.lock().unwrap().push((at, family.asked, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(at, _, _)| *at);
    print(&rows);
    if let Some(file) = options.json {
        let all: Vec<_> = rows.iter().map(|(_, _, row)| row.json()).collect();
        std::fs::write(file, serde_json::to_string_pretty(&all).unwrap()).unwrap();
    }
    if rows.iter().any(|(_, _, row)| !row.reached()) {
        std::process::exit(1);
    }
}

/// A sample through the real hooks with real git, beside the same runs as event streams.
fn real_hooks(options: &Options, chosen: &[&Family], seeds: &[u64], andon: &std::path::Path) {
    println!(
        "| family | runs | halted: stream | hooks | same iteration | stream at | hooks at | rules of the hooks |"
    );
    println!("|---|--:|--:|--:|--:|---|---|---|");
    let queue = Mutex::new(chosen.iter().collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| {
                while let Some(family) = queue.lock().map(|mut queue| queue.pop()).unwrap() {
                    println!("{}", compared(family, seeds, andon));
                }
            });
        }
    });
}

/// The row of one family.
fn compared(family: &Family, seeds: &[u64], andon: &std::path::Path) -> String {
    let dir = tempfile::tempdir().unwrap();
    let streamed = measure::family(family, seeds, dir.path());
    let (mut stream, mut hooks, mut rules, mut same) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (seed, run) in seeds.iter().zip(&streamed) {
        let scratch = tempfile::tempdir().unwrap();
        let outcome = real::run(family, *seed, andon, scratch.path());
        let at = |halted: &Option<(String, usize)>| halted.as_ref().map(|(_, at)| *at);
        let real = outcome.halted.map(|(at, rule)| (rule, at));
        same += usize::from(at(&run.halted) == at(&real));
        if at(&run.halted) != at(&real) {
            eprintln!("{} {seed}: stream {:?}, hooks {real:?}", family.name, run.halted);
        }
        stream.push(at(&run.halted).map_or("-".to_owned(), |at| at.to_string()));
        hooks.push(at(&real).map_or("-".to_owned(), |at| at.to_string()));
        rules.extend(real.map(|(rule, _)| rule));
    }
    rules.sort();
    rules.dedup();
    let halted = |all: &[String]| all.iter().filter(|at| *at != "-").count();
    format!(
        "| {} | {} | {} | {} | {same} | {} | {} | {} |",
        family.name,
        seeds.len(),
        halted(&stream),
        halted(&hooks),
        stream.join(" "),
        hooks.join(" "),
        rules.join(", ")
    )
}

fn print(rows: &[(usize, CheckRequest, Row)]) {
    for (head, healthy) in [(table::STUCK, false), (table::HEALTHY, true)] {
        let lines: Vec<String> = rows
            .iter()
            .filter(|(_, asked, _)| (*asked == CheckRequest::LeftAlone) == healthy)
            .map(|(_, _, row)| row.markdown())
            .collect();
        if !lines.is_empty() {
            println!("{head}{}\n", lines.join("\n"));
        }
    }
    let missed: Vec<&str> =
        rows.iter().filter(|(_, _, row)| !row.reached()).map(|(_, _, row)| row.name).collect();
    if !missed.is_empty() {
        println!("Missed: {}.", missed.join("; "));
    }
}

/// Prints the event stream of one run, for `andon replay --events`.
fn dump(family: &Family, seed: u64) {
    let dir = tempfile::tempdir().unwrap();
    let scripts = measure::scripts(family, &[seed]);
    let (repo, trees) = derive::import(dir.path(), &scripts);
    let config = measure::config(family);
    let stream = derive::stream(&repo, &config.paths.rules, &scripts[0], &trees[0]);
    std::io::stdout().write_all(&stream).unwrap();
}
