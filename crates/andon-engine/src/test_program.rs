//! Whether the program of `test.command` is there: the same look-up as for a test run, without running anything.

mod needs;

use std::path::Path;

use crate::context::Context;
use andon_config::TestCommand;
use andon_git::platform::files;

use self::needs::{Need, NeedKind};

/// What the look-up found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestProgram {
    /// It is there, or only the shell knows: a builtin, a variable.
    There,
    /// Nothing of that name is there.
    Missing {
        /// The program that the command starts.
        program: String,
        /// What to run instead, where the project has such a program.
        instead: Option<String>,
    },
    /// The script or the directory that the command asks for is not there.
    MissingPath {
        /// Its name in the command.
        path: String,
    },
    /// The file is there and may not be executed.
    NotExecutable {
        /// Its name in the command.
        program: String,
    },
}

/// Where projects keep programs that are on no search path, and what starts them.
const PLACES: [(&str, &str); 9] = [
    (".venv/bin/", ".venv/bin/"),
    (".venv/Scripts/", ".venv/Scripts/"),
    ("venv/bin/", "venv/bin/"),
    ("env/bin/", "env/bin/"),
    ("node_modules/.bin/", "npx "),
    ("vendor/bin/", "vendor/bin/"),
    ("bin/", "bin/"),
    ("scripts/", "scripts/"),
    ("", "./"),
];

/// Files that belong to a program which has an environment of its own, and what precedes a command there.
const ENVIRONMENTS: [(&str, &str); 5] = [
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile", "pipenv run "),
    ("Gemfile.lock", "bundle exec "),
];

/// Looks for what `command` needs as it would be started in `top`.
pub fn look(ctx: &Context, top: &Path, command: &TestCommand) -> TestProgram {
    let missed = needs::list(command).into_iter().find_map(|need| missed(ctx, top, need));
    missed.unwrap_or(TestProgram::There)
}

fn missed(ctx: &Context, top: &Path, need: Need) -> Option<TestProgram> {
    let Need { what, name, from } = need;
    let from = top.join(from);
    let path = from.join(&name);
    let found = match what {
        NeedKind::Directory if !path.is_dir() => return Some(TestProgram::MissingPath { path: name }),
        NeedKind::File if !path.exists() => return Some(TestProgram::MissingPath { path: name }),
        NeedKind::Directory | NeedKind::File => true,
        NeedKind::Program if name.contains('/') || cfg!(windows) && name.contains('\\') => {
            return match path.metadata() {
                Ok(facts) if facts.is_file() && files::is_executable(&facts) => None,
                Ok(facts) if facts.is_file() => Some(TestProgram::NotExecutable { program: name }),
                Ok(_) | Err(_) => Some(TestProgram::Missing { program: name, instead: None }),
            };
        }
        NeedKind::Program => ctx.on_path(&name).is_some() || cfg!(windows),
    };
    let instead = || instead(&name, &|path| from.join(path).is_file());
    (!found).then(|| TestProgram::Missing { instead: instead(), program: name.clone() })
}

fn instead(program: &str, there: &dyn Fn(&str) -> bool) -> Option<String> {
    if program.contains('/') {
        return None;
    }
    let environment = ENVIRONMENTS.iter().find(|(lock, _)| there(lock));
    let place = || PLACES.iter().find(|(place, _)| there(&format!("{place}{program}")));
    environment.or_else(place).map(|(_, before)| format!("{before}{program}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_may_have_it_elsewhere() {
        let with = |files: &'static [&str]| move |path: &str| files.contains(&path);
        assert_eq!(instead("pytest", &with(&[".venv/bin/pytest"])).as_deref(), Some(".venv/bin/pytest"));
        assert_eq!(
            instead("pytest", &with(&["uv.lock", ".venv/bin/pytest"])).as_deref(),
            Some("uv run pytest")
        );
        assert_eq!(instead("jest", &with(&["node_modules/.bin/jest"])).as_deref(), Some("npx jest"));
        assert_eq!(instead("t.sh", &with(&["t.sh"])).as_deref(), Some("./t.sh"));
        assert_eq!(instead("pytest", &with(&[])), None);
    }
}
