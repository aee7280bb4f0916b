//! Guesses how a project runs its tests, for the first `andon.toml`.
//!
//! Pure: the caller looks for [`NAMES`] in the root and reads those of [`READ`], bounded. A guess is shown to
//! a person and written into a file that they own, so that a plain answer beats a clever one.

/// Every file of the root that speaks for a command.
pub const NAMES: [&str; 9] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
    "go.mod",
    "GNUmakefile",
    "makefile",
    "Makefile",
    "CMakeLists.txt",
];

/// Those of them whose content matters; the caller reads at most [`READ_BYTES`] of each.
pub const READ: [&str; 4] = ["package.json", "GNUmakefile", "makefile", "Makefile"];

/// How much of a file is read.
pub const READ_BYTES: u64 = 256 * 1024;

/// A file in the root of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its content, where it is one of [`READ`].
    pub content: &'a [u8],
}

/// A test command, and the file that it follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// For `sh -c`.
    pub command: &'static str,
    /// The file that speaks for it.
    pub because: String,
}

/// Every command that the files of the root speak for, the likeliest first.
pub fn guess(files: &[RootFile<'_>]) -> Vec<Guess> {
    let find = |name: &str| files.iter().find(|file| file.name == name);
    let named = |name: &str, command| find(name).map(|file| Guess { command, because: file.name.to_owned() });
    let node = find("package.json")
        .filter(|file| has_test_script(file.content))
        .map(|file| Guess { command: "npm test", because: file.name.to_owned() });
    let make = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find_map(find)
        .filter(|file| has_test_target(file.content))
        .map(|file| Guess { command: "make test", because: file.name.to_owned() });
    [
        named("Cargo.toml", "cargo test"),
        node,
        named("pyproject.toml", "pytest").or_else(|| named("pytest.ini", "pytest")),
        named("go.mod", "go test ./..."),
        make,
        named("CMakeLists.txt", "ctest --test-dir build"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// True when `scripts.test` is set and is not what `npm init` puts there.
fn has_test_script(package_json: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Package {
        #[serde(default)]
        scripts: std::collections::BTreeMap<String, serde_json::Value>,
    }
    let text = package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json);
    let Ok(package) = serde_json::from_slice::<Package>(text) else { return false };
    let script = package.scripts.get("test").and_then(serde_json::Value::as_str).unwrap_or_default();
    !script.trim().is_empty() && !script.contains("no test specified")
}

/// True when a rule for the target `test` stands in the makefile itself.
fn has_test_target(makefile: &[u8]) -> bool {
    String::from_utf8_lossy(makefile).lines().any(|line| {
        if line.starts_with(['\t', ' ', '#']) {
            return false;
        }
        let Some((targets, rest)) = line.split_once(':') else { return false };
        let assignment = rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with("::=");
        !assignment && !targets.contains('=') && targets.split_whitespace().any(|target| target == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

    fn commands(files: &[(&str, &str)]) -> Vec<&'static str> {
        let files: Vec<RootFile<'_>> =
            files.iter().map(|(name, content)| RootFile { name, content: content.as_bytes() }).collect();
        guess(&files).into_iter().map(|guess| guess.command).collect()
    }

    #[test]
    fn each_kind_of_project() {
        let npm = r#"{"scripts":{"test":"vitest run"}}"#;
        let placeholder = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        let cases: [Case<'_>; 24] = [
            (&[], &[]),
            (&[("README.md", "")], &[]),
            (&[("Cargo.toml", "")], &["cargo test"]),
            (&[("cargo.toml", "")], &[]),
            (&[("package.json", npm)], &["npm test"]),
            (&[("package.json", "\u{feff}{\"scripts\":{\"test\":\"x\"}}")], &["npm test"]),
            (&[("package.json", placeholder)], &[]),
            (&[("package.json", "{}")], &[]),
            (&[("package.json", r#"{"scripts":{"test":" "}}"#)], &[]),
            (&[("package.json", r#"{"scripts":{"test":1,"x":{}}}"#)], &[]),
            (&[("package.json", "not json")], &[]),
            (&[("pyproject.toml", "")], &["pytest"]),
            (&[("pytest.ini", "")], &["pytest"]),
            (&[("pytest.ini", ""), ("pyproject.toml", "")], &["pytest"]),
            (&[("go.mod", "")], &["go test ./..."]),
            (&[("Makefile", "all:\n\ttrue\ntest: all\n\ttrue\n")], &["make test"]),
            (&[("Makefile", ".PHONY: test\nall: test\n\ttest: x\n")], &[]),
            (&[("Makefile", "test := x\ntest = a:b\ntest::=x\n# test: x\n")], &[]),
            (&[("makefile", "check test:: a\n")], &["make test"]),
            (&[("GNUmakefile", "all:\n"), ("Makefile", "test:\n")], &[]),
            (&[("GNUmakefile", "test:\n")], &["make test"]),
            (&[("CMakeLists.txt", "")], &["ctest --test-dir build"]),
            (
                &[("Makefile", "test:\n"), ("go.mod", ""), ("Cargo.toml", "")],
                &["cargo test", "go test ./...", "make test"],
            ),
            (&[("CMakeLists.txt", ""), ("package.json", npm)], &["npm test", "ctest --test-dir build"]),
        ];
        for (files, wanted) in cases {
            assert_eq!(commands(files), wanted, "{files:?}");
        }
    }

    #[test]
    fn hostile_files_are_no_projects() {
        let deep = format!("{{\"scripts\":{}", "{\"a\":".repeat(10_000));
        assert!(commands(&[("package.json", &deep)]).is_empty());
        let raw = [0xff_u8, b'\n', b't', b'e', b's', b't', b':'];
        assert_eq!(guess(&[RootFile { name: "Makefile", content: &raw }]).len(), 1);
    }
}
