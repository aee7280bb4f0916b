//! The directories in which the tests ran: those of a clone, of another worktree or of another project say nothing of the
//! code of this one.

use std::fs;
use std::path::{Path, PathBuf};

use andon_engine::{effect::report_files, guess::listing::MANIFESTS};
use testreport::{RUNNERS, ReportedPlace, WordList};

/// The directories of one run, as far as they are known.
#[derive(Default)]
pub(super) struct Whereabouts {
    top: PathBuf,
    elsewhere: Option<PathBuf>,
    /// The directory outside of the working tree in which a runner says that it runs.
    stated: Option<PathBuf>,
    /// The directories of files that options name: pytest calls that of its configuration its root, wherever the tests are.
    configured: Vec<PathBuf>,
    /// Tests outside of the working tree that the command names.
    named: Option<PathBuf>,
    /// It names some in the working tree as well, or a runner says that it runs there.
    is_here_too: bool,
}

/// Words in names of files and directories of tests.
const NAMES: WordList = WordList::section(RUNNERS, "names of tests");

/// Files and directories at the top of a project, beside its manifest.
const SIGNS: WordList = WordList::section(RUNNERS, "signs of a project");

/// Most modules of Go that are looked at.
const MAX_MODULES: u64 = 50_000;

/// Largest file of a build or a module that is looked into, in bytes.
const MAX_FILE: usize = 4 << 20;

impl Whereabouts {
    /// For a run in the working tree at `top`.
    pub(super) fn of(top: &Path) -> Self {
        Self { top: top.canonicalize().unwrap_or_else(|_| top.to_owned()), ..Self::default() }
    }

    /// Takes note of a directory in which tests run. It has to be there while they do: a container has directories of its own,
    /// and one that holds the working tree may hold the configuration of its tests.
    pub(super) fn ran_in(&mut self, directory: &Path) {
        let place = directory.canonicalize().ok().filter(|place| !self.is_here(place));
        self.elsewhere = self.elsewhere.take().or(place);
    }

    /// Takes note of the directories of all programs that are started, none of which is a known runner: those of other projects
    /// say nothing of this one, where nothing is started here. Directories of no project, such as those of a compiler, say nothing.
    pub(super) fn worked_in(&mut self, directories: &[PathBuf]) {
        let places: Vec<PathBuf> = directories.iter().filter_map(|place| place.canonicalize().ok()).collect();
        if places.len() == directories.len() && !places.iter().any(|place| self.is_here(place)) {
            let other = places.into_iter().find(|place| self.is_in_other_project(place));
            self.elsewhere = self.elsewhere.take().or(other);
        }
    }

    /// True for a directory outside, at or below the top of a project.
    fn is_in_other_project(&self, place: &Path) -> bool {
        let outside = place.ancestors().take_while(|above| !self.top.starts_with(above));
        let is_top = |above: &Path| is_project(above) || SIGNS.iter().any(|sign| above.join(sign).exists());
        outside.into_iter().any(is_top)
    }

    /// Takes note of a directory in which a runner says that it runs.
    pub(super) fn stated(&mut self, directory: &Path) {
        let Ok(place) = directory.canonicalize() else { return };
        self.is_here_too |= place.starts_with(&self.top);
        let place = Some(place).filter(|place| !self.is_here(place));
        self.stated = self.stated.take().or(place);
    }

    /// Takes note of a path that the command gives to a runner, where tests are there. Behind an option it may be anything else.
    pub(super) fn asked_for(&mut self, named: &NamedPath) {
        let (NamedPath::Given(path) | NamedPath::BehindOption(path)) = named;
        let Ok(place) = path.canonicalize() else { return };
        let is_given = matches!(named, NamedPath::Given(_));
        self.configured.extend(place.parent().filter(|_| !is_given && place.is_file()).map(Path::to_owned));
        if !(is_of_tests(&place) || has_tests(&place) || is_given && is_project(&place)) {
            return;
        }
        let directory = if place.is_dir() { Some(place.as_path()) } else { place.parent() };
        if directory.is_none_or(|directory| self.is_here(directory)) {
            self.is_here_too = true;
        } else {
            self.named.get_or_insert(place);
        }
    }

    /// Takes note of the places that reports tell. One of them in the working tree is enough: those of what is tested with it
    /// may be anywhere.
    pub(super) fn reported(&mut self, places: &[ReportedPlace]) {
        let (mut files, mut packages) = (Vec::new(), Vec::new());
        for place in places {
            match place {
                ReportedPlace::File(file) => files.extend(Path::new(file).canonicalize()),
                ReportedPlace::GoPackage(package) => packages.push(package.as_str()),
            }
        }
        let is_ours = |file: &PathBuf| self.is_here(file.parent().unwrap_or(file));
        let file = if files.iter().any(is_ours) { None } else { files.pop() };
        let package = || packages.first().filter(|_| !self.has_go_package(&packages)).map(PathBuf::from);
        let place = file.or_else(package);
        self.elsewhere = self.elsewhere.take().or(place);
    }

    fn is_here(&self, place: &Path) -> bool {
        self.top.starts_with(place)
            || place.starts_with(&self.top) && !self.is_cloned(place)
            || self.is_built_at(place)
    }

    /// True for a directory in which this working tree is built: what was written there for `make` names it.
    fn is_built_at(&self, place: &Path) -> bool {
        ["CMakeCache.txt", "config.status", "build.ninja"].iter().any(|name| {
            let written = report_files::read(&place.join(name), MAX_FILE).unwrap_or_default();
            String::from_utf8_lossy(&written).contains(&*self.top.to_string_lossy())
        })
    }

    /// True where one of the packages is of a module in the working tree, or where none is known to be there.
    fn has_go_package(&self, packages: &[&str]) -> bool {
        let module = |path: &Path| {
            let text = report_files::read(path, MAX_FILE).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let name =
                text.lines().find_map(|line| line.trim().strip_prefix("module ")?.split_whitespace().next());
            name.map(|name| name.trim_matches('"').to_owned())
        };
        let is_of = |package: &str, module: &str| {
            package.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let has =
            |module: String| packages.iter().any(|package| is_of(package, &module) || !package.contains('.'));
        let below = || report_files::matching(&self.top, &["**/go.mod".to_owned()], MAX_MODULES).found;
        module(&self.top.join("go.mod"))
            .is_none_or(|name| has(name) || below().iter().filter_map(|(path, _)| module(path)).any(has))
    }

    /// True for a directory of a clone or a linked worktree inside the working tree. A submodule is code of it.
    fn is_cloned(&self, place: &Path) -> bool {
        let inside = place.ancestors().take_while(|above| *above != self.top);
        inside.map(|above| above.join(".git")).any(|git| {
            git.is_dir() || fs::read_to_string(&git).is_ok_and(|text| text.contains("/worktrees/"))
        })
    }

    /// The first directory outside of the working tree.
    pub(super) fn elsewhere(&self) -> Option<&Path> {
        let stated = self.stated.as_ref().filter(|place| !self.configured.contains(place));
        let named = self.named.as_ref().filter(|_| !self.is_here_too);
        self.elsewhere.as_ref().or(stated).or(named).map(PathBuf::as_path)
    }
}

/// A path among the words of a command.
#[derive(Debug)]
pub(super) enum NamedPath {
    Given(PathBuf),
    /// It may be the value of the option before it.
    BehindOption(PathBuf),
}

/// True for a file or a directory of tests by its name.
fn is_of_tests(place: &Path) -> bool {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let is_word = |word: &str| NAMES.contains(word) || word.ends_with("Test") || word.ends_with("Tests");
    name.split(|one: char| !one.is_ascii_alphanumeric()).any(is_word)
}

/// True for a directory that holds a source of tests by its name.
fn has_tests(place: &Path) -> bool {
    let files = fs::read_dir(place).into_iter().flatten().flatten().take(MAX_FILES).map(|entry| entry.path());
    let is_source =
        |file: &PathBuf| file.extension().is_some_and(|end| SOURCES.iter().any(|known| end == *known));
    files.filter(is_source).any(|file| is_of_tests(&file))
}

/// Most files of a directory that are looked at, and ends of those of languages in which a directory of tests is given as such.
const MAX_FILES: usize = 4096;
const SOURCES: [&str; 8] = ["py", "js", "ts", "jsx", "tsx", "mjs", "rb", "php"];

/// True for a project and for its manifest.
fn is_project(place: &Path) -> bool {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    MANIFESTS.contains(&name)
        || name.ends_with("proj")
        || MANIFESTS.iter().any(|manifest| place.join(manifest).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_tell_where_their_tests_are() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        for name in ["top/tool", "other", "build"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        for (name, text) in [
            ("top/a.js", String::new()),
            ("other/a.js", String::new()),
            (
                "build/CMakeCache.txt",
                format!("CMAKE_HOME_DIRECTORY:INTERNAL={}\n", top.canonicalize().unwrap().display()),
            ),
            ("build/a.js", String::new()),
            ("top/go.mod", "module example.com/mine\n".to_owned()),
            ("top/tool/go.mod", "module example.com/tool // here\n".to_owned()),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let file = |name: &str| ReportedPlace::File(dir.path().join(name).to_string_lossy().into_owned());
        let package = |name: &str| ReportedPlace::GoPackage(name.to_owned());
        for (places, elsewhere) in [
            (vec![], false),
            (vec![file("top/a.js")], false),
            (vec![file("other/a.js")], true),
            (vec![file("other/a.js"), file("top/a.js")], false),
            (vec![file("build/a.js")], false),
            (vec![file("no/such.js")], false),
            (vec![package("example.com/mine")], false),
            (vec![package("example.com/mine/a")], false),
            (vec![package("example.com/tool/a")], false),
            (vec![package("example.com/mines")], true),
            (vec![package("golang.org/x/text"), package("example.com/mine/a")], false),
            (vec![package("command-line-arguments")], false),
        ] {
            let mut seen = Whereabouts::of(&top);
            seen.reported(&places);
            assert_eq!(seen.elsewhere().is_some(), elsewhere, "{places:?}");
        }
    }

    #[test]
    fn paths_of_tests_that_a_command_names_tell_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "top/tests/test_a.py",
            "other/tests/test_a.py",
            "lib/setup.py",
            "app/package.json",
            "a/b.csproj",
            "flat/test_a.py",
            "data/test_a.json",
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let top = dir.path().join("top");
        for (named, stated, elsewhere) in [
            (&["other/tests"][..], None, true),
            (&["other/tests/test_a.py"], None, true),
            (&["app"], None, true),
            (&["a/b.csproj"], None, true),
            (&["other/tests", "top/tests"], None, false),
            (&["top/tests/test_a.py"], None, false),
            (&["other/tests"], Some("top"), false),
            (&["other/tests"], Some("."), true),
            (&["lib", "lib/setup.py", "no/tests"], None, false),
            (&["flat"], None, true),
            (&["-", "flat"], None, true),
            (&["data"], None, false),
            (&["-", "app"], None, false),
            (&["-", "other/tests"], None, true),
            (&["-", "app/package.json"], Some("app"), false),
            (&["-", "app/package.json", "other/tests"], Some("app"), true),
            (&["-", "app"], Some("app"), true),
        ] {
            let mut seen = Whereabouts::of(&top);
            if let Some(root) = stated {
                seen.stated(&dir.path().join(root));
            }
            for (at, path) in named.iter().enumerate().filter(|(_, path)| **path != "-") {
                let path = dir.path().join(path);
                let is_behind = at > 0 && named[at - 1] == "-";
                seen.asked_for(&if is_behind {
                    NamedPath::BehindOption(path)
                } else {
                    NamedPath::Given(path)
                });
            }
            assert_eq!(seen.elsewhere().is_some(), elsewhere, "{named:?} {stated:?}");
        }
    }

    #[test]
    fn programs_that_work_in_another_project_say_nothing_of_this_one() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["top/src/a", "other/Cargo.toml", "other/src/a", "scratch/a", "built/Makefile"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        for (places, elsewhere) in [
            (&["other"][..], true),
            (&["other", "other"], true),
            (&["top"], false),
            (&["other", "top"], false),
            (&["scratch"], false),
            (&["."], false),
            (&["other", "no"], false),
            (&["other", "scratch"], true),
            (&["other/src"], true),
            (&["built"], true),
            (&["other", "top/src"], false),
            (&[], false),
        ] {
            let mut seen = Whereabouts::of(&dir.path().join("top"));
            let places: Vec<PathBuf> = places.iter().map(|place| dir.path().join(place)).collect();
            seen.worked_in(&places);
            assert_eq!(seen.elsewhere().is_some(), elsewhere, "{places:?}");
        }
    }

    #[test]
    fn tests_of_other_directories_ran_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        for name in ["top/.git", "top/pkg", "top/clone/.git", "top/clone/pkg", "top/tree", "top/sub", "other"]
        {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(top.join("tree/.git"), "gitdir: /p/.git/worktrees/tree\n").unwrap();
        fs::write(top.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        for (place, elsewhere) in [
            ("top", false),
            ("top/pkg", false),
            ("top/sub", false),
            (".", false),
            ("no/such/app", false),
            ("top/clone", true),
            ("top/clone/pkg", true),
            ("top/tree", true),
            ("other", true),
        ] {
            let mut seen = Whereabouts::of(&top);
            seen.ran_in(&dir.path().join(place));
            assert_eq!(seen.elsewhere().is_some(), elsewhere, "{place}");
        }
    }
}
