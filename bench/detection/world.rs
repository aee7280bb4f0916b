//! A project as text: files of a language, tests, documents, a version. Every edit is one of text, so that what a
//! commit changed is derived from it by the program under test and not said by the simulator.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::random::Random;

/// A language: what its files look like.
pub struct Language {
    /// Extension of its files.
    pub extension: &'static str,
    /// How a comment begins.
    pub comment: &'static str,
    /// The place of the version.
    pub manifest: &'static str,
    /// The line of the version, around the number.
    pub version: (&'static str, &'static str),
    /// Beginning and end of a function.
    pub function: (&'static str, &'static str),
    /// A line before a test, and how its function is named.
    pub test: (&'static str, &'static str),
    /// A line that skips a test.
    pub skip: &'static str,
    /// The command that runs the tests, and the runner's name.
    pub command: (&'static str, &'static str),
}

/// The languages of the projects.
pub static LANGUAGES: [Language; 4] = [
    Language {
        extension: "rs",
        comment: "//",
        manifest: "Cargo.toml",
        version: ("version = \"", "\""),
        function: ("fn {}(input: u64) -> u64 {", "}"),
        test: ("#[test]", "fn {}() {"),
        skip: "#[ignore]",
        command: ("cargo test", "cargo"),
    },
    Language {
        extension: "py",
        comment: "#",
        manifest: "pyproject.toml",
        version: ("version = \"", "\""),
        function: ("def {}(input):", "    return input"),
        test: ("", "def test_{}():"),
        skip: "@pytest.mark.skip",
        command: ("pytest -q", "pytest"),
    },
    Language {
        extension: "ts",
        comment: "//",
        manifest: "package.json",
        version: ("  \"version\": \"", "\","),
        function: ("export function {}(input: number): number {", "}"),
        test: ("", "test('{}', () => {"),
        skip: "// skipped",
        command: ("npx jest", "jest"),
    },
    Language {
        extension: "go",
        comment: "//",
        manifest: "version.go",
        version: ("const Version = \"", "\""),
        function: ("func {}(input int) int {", "}"),
        test: ("", "func Test_{}(t *testing.T) {"),
        skip: "\tt.Skip()",
        command: ("go test ./...", "go"),
    },
];

/// A file.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Its lines.
    pub lines: Vec<String>,
    /// Whether it can be run.
    pub executable: bool,
}

/// The files by path. Cheap to copy: what did not change is shared.
pub type Tree = BTreeMap<String, Arc<File>>;

/// A change of lines, as a tool call reports it.
pub struct Edit {
    /// The file.
    pub path: String,
    /// What was there.
    pub old: String,
    /// What is there now.
    pub new: String,
}

/// The project.
#[derive(Clone)]
pub struct World {
    /// Its language.
    pub language: &'static Language,
    /// Its files.
    pub files: Tree,
    /// Its version.
    pub version: [usize; 3],
}

impl World {
    /// A project of a random size.
    pub fn new(random: &mut Random) -> Self {
        let language = random.pick(&LANGUAGES);
        let mut world = Self { language, files: Tree::new(), version: [0, random.between(0, 9), 1] };
        for _ in 0..random.between(4, 14) {
            world.add_file(random);
        }
        let text = |random: &mut Random, lines: usize| -> Vec<String> {
            (0..lines).map(|_| random.sentence()).collect()
        };
        let lines = random.between(5, 30);
        world.put("README.md", text(random, lines));
        world.put("docs/guide.md", text(random, lines));
        world.put("CHANGELOG.md", vec!["# Changelog".into(), String::new()]);
        world.put(".gitignore", vec!["target/".into(), "node_modules/".into()]);
        let items = random.between(6, 20);
        world.put("PLAN.md", (0..items).map(|_| format!("- [ ] {}", random.sentence())).collect());
        let (before, after) = language.version;
        let number = world.number();
        let name = random.name();
        world.put(
            language.manifest,
            vec![format!("name = \"{name}\""), format!("{before}{number}{after}"), "edition = 3".into()],
        );
        world
    }

    /// The version as text.
    pub fn number(&self) -> String {
        self.version.map(|part| part.to_string()).join(".")
    }

    /// Writes a file.
    pub fn put(&mut self, path: &str, lines: Vec<String>) {
        let executable = self.files.get(path).is_some_and(|file| file.executable);
        self.files.insert(path.to_owned(), Arc::new(File { lines, executable }));
    }

    /// The lines of a file.
    pub fn lines(&self, path: &str) -> Vec<String> {
        self.files.get(path).map(|file| file.lines.clone()).unwrap_or_default()
    }

    /// Paths of source files.
    pub fn sources(&self) -> Vec<String> {
        let extension = format!(".{}", self.language.extension);
        let source = |path: &&String| path.starts_with("src/") && path.ends_with(&extension);
        self.files.keys().filter(source).cloned().collect()
    }

    /// A source file, some more often than others.
    pub fn source(&self, random: &mut Random) -> String {
        let sources = self.sources();
        sources[random.skewed(sources.len())].clone()
    }

    fn statement(&self, random: &mut Random) -> String {
        let number = random.between(0, 9999);
        match random.between(0, 4) {
            0 => format!("    let {} = {}({number});", random.name(), random.name()),
            1 => format!("    if {} > {number} {{ {}(); }}", random.name(), random.name()),
            2 => format!("    {}.{}({}, {number});", random.name(), random.name(), random.name()),
            3 => format!("    {} {}", self.language.comment, random.sentence()),
            _ => format!("    {} = {} + {number};", random.name(), random.name()),
        }
    }

    fn function(&self, random: &mut Random) -> Vec<String> {
        let (begin, end) = self.language.function;
        let mut lines = vec![begin.replace("{}", &random.name())];
        lines.extend((0..random.between(2, 9)).map(|_| self.statement(random)));
        lines.extend([end.to_owned(), String::new()]);
        lines
    }

    /// A new source file; its path.
    pub fn add_file(&mut self, random: &mut Random) -> String {
        let folder = if random.chance(0.3) { format!("{}/", random.name()) } else { String::new() };
        let path =
            format!("src/{folder}{}{}.{}", random.name(), random.between(1, 999), self.language.extension);
        let lines = (0..random.between(2, 6)).flat_map(|_| self.function(random)).collect();
        self.put(&path, lines);
        path
    }

    /// Changes some lines of `path`.
    pub fn edit(&mut self, random: &mut Random, path: &str) -> Edit {
        let mut lines = self.lines(path);
        let at = random.between(0, lines.len().saturating_sub(1));
        let count = random.between(1, 4).min(lines.len().saturating_sub(at));
        let mut fresh: Vec<String> = (0..random.between(1, 6)).map(|_| self.statement(random)).collect();
        let removed = match random.between(0, 9) {
            0..=5 => count,
            6..=7 => 0,
            8 => {
                fresh = self.function(random);
                0
            }
            _ => {
                fresh.truncate(1);
                count
            }
        };
        let old = lines[at..at + removed].join("\n");
        let new = fresh.join("\n");
        lines.splice(at..at + removed, fresh);
        self.put(path, lines);
        Edit { path: path.to_owned(), old, new }
    }

    /// Work: some files, some lines each; now and then a new file, a deleted one, a moved one.
    pub fn work(&mut self, random: &mut Random) -> Vec<Edit> {
        let mut edits = Vec::new();
        for _ in 0..random.between(1, 4) {
            let path = self.source(random);
            for _ in 0..random.between(1, 2) {
                edits.push(self.edit(random, &path));
            }
        }
        if random.chance(0.12) {
            let path = self.add_file(random);
            let new = self.lines(&path).join("\n");
            edits.push(Edit { path, old: String::new(), new });
        }
        let sources = self.sources();
        if random.chance(0.04) && sources.len() > 4 {
            self.files.remove(random.pick(&sources));
        }
        if random.chance(0.04) {
            let from = random.pick(&self.sources()).clone();
            self.rename(
                &from,
                &format!("src/{}{}.{}", random.name(), random.between(1, 99), self.language.extension),
            );
        }
        edits
    }

    /// Moves a file.
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(file) = self.files.remove(from) {
            self.files.insert(to.to_owned(), file);
        }
    }

    /// Writes a test of that name.
    pub fn add_test(&mut self, random: &mut Random, file: &str, name: &str) {
        let mut lines = self.lines(file);
        let (mark, function) = self.language.test;
        if !mark.is_empty() {
            lines.push(mark.to_owned());
        }
        lines.push(function.replace("{}", name));
        lines.extend((0..random.between(1, 4)).map(|_| self.statement(random)));
        lines.push(format!("    assert_eq!({}, {});", random.name(), random.between(0, 99)));
        lines.push(self.language.function.1.to_owned());
        lines.push(String::new());
        self.put(file, lines);
    }

    /// Takes the test of that name out of the file.
    pub fn remove_test(&mut self, file: &str, name: &str) {
        let mut lines = self.lines(file);
        let (mark, function) = self.language.test;
        let header = function.replace("{}", name);
        let Some(mut at) = lines.iter().position(|line| *line == header) else { return };
        if !mark.is_empty() && at > 0 {
            at -= 1;
        }
        let end = lines.iter().skip(at).position(String::is_empty).map_or(lines.len(), |end| at + end + 1);
        lines.drain(at..end);
        self.put(file, lines);
    }

    /// Marks the test of that name as one to skip.
    pub fn skip_test(&mut self, file: &str, name: &str) {
        let mut lines = self.lines(file);
        let header = self.language.test.1.replace("{}", name);
        if let Some(at) = lines.iter().position(|line| *line == header) {
            let after = self.language.skip.starts_with('\t');
            lines.insert(if after { at + 1 } else { at }, self.language.skip.to_owned());
        }
        self.put(file, lines);
    }

    /// Raises the version.
    pub fn bump(&mut self, part: usize) {
        self.version[part] += 1;
        self.version[part + 1..].fill(0);
        self.write_version();
    }

    /// Writes the version at its place.
    pub fn write_version(&mut self) {
        let (before, after) = self.language.version;
        let number = self.number();
        let mut lines = self.lines(self.language.manifest);
        lines[1] = format!("{before}{number}{after}");
        self.put(self.language.manifest, lines);
    }
}
