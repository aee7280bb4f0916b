//! package.json: the test script, and the package manager that runs it. Deno and Bun, with or without one.

use serde::Deserialize;
use serde_json::Value;

use super::{Guess, GuessedCommand, WORDS, beside, guessed, listing::Listing, sure, unsure};
use andon_core::{WordList, shell_reading::Reading};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Package {
    scripts: Value,
    #[serde(rename = "packageManager")]
    manager: Value,
    workspaces: Value,
}

andon_core::named_enum! {
    /// The package manager that runs the scripts, by its command for the script of every package that has one.
    enum Manager {
        Npm = "npm test --workspaces --if-present",
        Pnpm = "pnpm -r test",
        /// Version 1.
        YarnClassic = "yarn workspaces run test",
        /// Versions 2 and 3: `yarn workspaces foreach` is of a plugin that may be missing, and without `--all`.
        YarnBefore4 = "yarn workspaces foreach --all run test",
        Yarn = "yarn workspaces foreach --all run test",
        Bun = "bun run --filter '*' test",
    }
}

/// Words of a script that reaches all packages by itself.
const REACHING: WordList = WordList::section(WORDS, "reaching");

pub(super) fn guess(listing: &Listing) -> Option<Guess> {
    let Some(text) = listing.text("package.json") else { return deno(listing) };
    let Ok(package) = serde_json::from_str::<Package>(text) else {
        return Some(unsure("a package.json that cannot be read".to_owned(), Vec::new()));
    };
    let manager = match manager(listing, &package) {
        Ok(manager) => manager,
        Err(seen) => {
            let script = script(&package).map(|_| guessed("npm test", "package.json"));
            return Some(unsure(seen, script.into_iter().collect()));
        }
    };
    let workspaces = listing.has("pnpm-workspace.yaml")
        || package.workspaces.as_array().is_some_and(|list| !list.is_empty())
        || package.workspaces.get("packages").is_some();
    let found = match (script(&package), workspaces) {
        (Some(script), false) => Some(of_script(manager, script)),
        (Some(script), true) if reaches(script) => Some(of_script(manager, script)),
        (Some(_), true) => Some(unsure(
            "workspaces in package.json, whose test script may be that of its root alone".to_owned(),
            vec![guessed(run(manager), "package.json"), everywhere(manager)],
        )),
        (None, true) => Some(of_workspaces(listing, manager)),
        (None, false) => without_script(listing, manager),
    };
    match (found, deno(listing)) {
        (Some(found), Some(other)) => Some(beside(found, other)),
        (found, other) => found.or(other),
    }
}

/// `deno test`, or the task of that name.
fn deno(listing: &Listing) -> Option<Guess> {
    let name = listing.first(&["deno.json", "deno.jsonc"])?;
    let task = listing.text(name).is_some_and(|text| {
        let tasks = text.split_once("\"tasks\"").map_or("", |(_, rest)| rest);
        let tasks = tasks.split_once('}').map_or(tasks, |(tasks, _)| tasks);
        tasks.contains("\"test\"")
    });
    Some(sure(if task { "deno task test" } else { "deno test" }, name))
}

/// The test script, unless it is what `npm init` puts there.
fn script(package: &Package) -> Option<&str> {
    let script = package.scripts.get("test").and_then(Value::as_str)?.trim();
    (!script.is_empty() && !script.contains("no test specified")).then_some(script)
}

/// `packageManager`, or else the lock file: `Err` says what does not agree.
fn manager(listing: &Listing, package: &Package) -> Result<Manager, String> {
    if let Some((name, version)) =
        package.manager.as_str().map(|text| text.split_once('@').unwrap_or((text, "")))
    {
        return match name {
            "npm" => Ok(Manager::Npm),
            "pnpm" => Ok(Manager::Pnpm),
            "bun" => Ok(Manager::Bun),
            "yarn" => Ok(yarn(major(version))),
            other => Err(format!("packageManager {:?} in package.json", shown(other))),
        };
    }
    let locks: [(&[&str], Manager); 4] = [
        (&["pnpm-lock.yaml", "pnpm-workspace.yaml"], Manager::Pnpm),
        (&["yarn.lock"], yarn_of(listing)),
        (&["bun.lock", "bun.lockb"], Manager::Bun),
        (&["package-lock.json", "npm-shrinkwrap.json"], Manager::Npm),
    ];
    let there: Vec<_> = locks.iter().filter(|(files, _)| listing.first(files).is_some()).collect();
    match there.as_slice() {
        [] => Ok(Manager::Npm),
        [(_, manager)] => Ok(*manager),
        several => {
            let names: Vec<&str> = several.iter().map(|(files, _)| files[0]).collect();
            Err(format!("lock files of several package managers ({})", names.join(", ")))
        }
    }
}

fn major(version: &str) -> Option<u64> {
    version.split(['.', '-', '+']).next()?.parse().ok()
}

fn yarn(major: Option<u64>) -> Manager {
    match major {
        Some(0 | 1) => Manager::YarnClassic,
        Some(2 | 3) => Manager::YarnBefore4,
        Some(_) | None => Manager::Yarn,
    }
}

/// Without `packageManager`: the files of Yarn show whether it is the old one.
fn yarn_of(listing: &Listing) -> Manager {
    let metadata = listing.text("yarn.lock").is_some_and(|text| text.contains("__metadata:"));
    let path = listing.text(".yarnrc.yml").and_then(|text| {
        let name = text.lines().find_map(|line| line.strip_prefix("yarnPath:"))?.rsplit("yarn-").next()?;
        major(name)
    });
    match path {
        Some(major) => yarn(Some(major)),
        // The lock file does not show the version; a version with settings of its own is a new one.
        None if metadata || listing.has(".yarnrc.yml") => Manager::Yarn,
        None => Manager::YarnClassic,
    }
}

fn run(manager: Manager) -> &'static str {
    match manager {
        Manager::Npm => "npm test",
        Manager::Pnpm => "pnpm test",
        Manager::YarnClassic | Manager::YarnBefore4 | Manager::Yarn => "yarn test",
        Manager::Bun => "bun run test",
    }
}

/// The script of every package that has one.
fn everywhere(manager: Manager) -> GuessedCommand {
    guessed(manager.as_str(), "the workspaces of package.json")
}

fn of_workspaces(listing: &Listing, manager: Manager) -> Guess {
    let tool = [("turbo.json", "npx turbo run test"), ("nx.json", "npx nx run-many -t test")];
    let tool = tool.into_iter().find(|(name, _)| listing.has(name));
    let all = everywhere(manager);
    match (manager, tool) {
        (_, Some((name, command))) => unsure(
            format!("workspaces in package.json without a test script, and {name}"),
            vec![guessed(command, name), all],
        ),
        // Fails where one package has no such script.
        (Manager::YarnClassic, None) => {
            unsure("workspaces of Yarn 1 in package.json, without a test script".to_owned(), vec![all])
        }
        (Manager::YarnBefore4, None) => unsure(
            "workspaces of a Yarn before 4 in package.json, without a test script".to_owned(),
            vec![guessed("yarn workspaces foreach run test", "the plugin workspace-tools")],
        ),
        (Manager::Npm | Manager::Pnpm | Manager::Yarn | Manager::Bun, None) => Guess::Sure(all),
    }
}

/// True for a script that runs the tests of all packages.
fn reaches(script: &str) -> bool {
    let read = Reading::through(script);
    let mut words = read.commands().into_iter().flat_map(|command| command.values());
    words.any(|word| word.split(['/', '=', ' ']).any(|part| REACHING.contains(part)))
}

/// A runner that waits for changes never ends: vitest does so on a terminal, unless an option forbids it.
fn of_script(manager: Manager, script: &str) -> Guess {
    let read = Reading::through(script);
    let command = read.commands().pop().map_or_else(Vec::new, |last| last.values());
    let watches = command
        .iter()
        .any(|word| matches!(*word, "--watch" | "--watchAll" | "--watch=true" | "-w" | "watch" | "dev"));
    let vitest = command.contains(&"vitest")
        && !command.iter().any(|word| {
            matches!(*word, "run" | "--run" | "related" | "list" | "bench" | "--watch=false" | "--no-watch")
        });
    let reported = run(manager);
    if watches {
        let what = format!("a test script in package.json that waits for changes ({})", shown(script));
        return unsure(what, vec![guessed(reported, "package.json")]);
    }
    let candidate = if vitest {
        let dashes = if manager == Manager::Npm { " --" } else { "" };
        guessed(format!("{reported}{dashes} --run"), "package.json, whose vitest would wait for changes")
    } else if command.windows(2).any(|pair| pair == ["react-scripts", "test"]) {
        guessed(format!("CI=true {reported}"), "package.json, whose react-scripts would wait for changes")
    } else {
        guessed(reported, "package.json")
    };
    Guess::Sure(GuessedCommand { script: script.to_owned(), ..candidate })
}

/// There is no script: the configuration of a runner, or bun's own, decides the command.
fn without_script(listing: &Listing, manager: Manager) -> Option<Guess> {
    let configured = |name: &str| {
        ["js", "ts", "mjs", "cjs", "mts", "cts", "json"]
            .iter()
            .map(|end| format!("{name}.config.{end}"))
            .find(|path| listing.has(path))
    };
    if let Some(path) = configured("vitest") {
        return Some(sure("npx vitest run", path));
    }
    if let Some(path) = configured("jest") {
        return Some(sure("npx jest", path));
    }
    (manager == Manager::Bun).then(|| sure("bun test", "bun.lock"))
}

fn shown(text: &str) -> String {
    text.chars().filter(|each| !each.is_control()).take(60).collect()
}
