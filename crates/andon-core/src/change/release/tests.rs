use super::*;

type FileChange<'a> = (&'a str, &'a str, &'a str);

fn released(files: &[FileChange<'_>]) -> bool {
    let files: Vec<Rewritten<'_>> = files
        .iter()
        .map(|(path, old, new)| Rewritten { path: path.as_bytes(), old: old.as_bytes(), new: new.as_bytes() })
        .collect();
    is_release(&files)
}

const LOCK: &str = r#"{"name":"p","version":"OWN","lockfileVersion":3,"packages":{"":{"name":"p","version":"OWN",
"dependencies":{"x":"^1.0.0"}},"node_modules/x":{"version":"DEP","resolved":"u"}}}"#;
const CARGO_LOCK: &str = "version = 4\n\n[[package]]\nname = \"dep\"\nversion = \"DEP\"\nsource = \"registry+u\"\n\n\
    [[package]]\nname = \"p\"\nversion = \"OWN\"\ndependencies = [\n \"dep\",\n]\n";
const CARGO: &str = "[package]\nname = \"p\"\nversion = \"OWN\"\nedition = \"2024\"\n\n[dependencies]\ndep = \"DEP\"\n\n\
    [dependencies.far]\nversion = \"FAR\"\n";

/// `text` with the own version and those of two dependencies.
fn with(text: &str, own: &str, dep: &str, far: &str) -> String {
    text.replace("OWN", own).replace("DEP", dep).replace("FAR", far)
}

fn step<'a>(path: &'a str, text: &str, old: [&str; 3], new: [&str; 3]) -> (&'a str, String, String) {
    (path, with(text, old[0], old[1], old[2]), with(text, new[0], new[1], new[2]))
}

const RELEASES: &[&[FileChange<'static>]] = &[
    &[(
        "package.json",
        "{\"name\":\"p\",\"version\":\"1.0.0\"}",
        "{\n  \"name\": \"p\",\n  \"version\": \"1.0.1\"\n}\n",
    )],
    &[("VERSION", "1.0.0\n", "1.1.0\n"), ("CHANGELOG", "", "1.1.0: all\n")],
    &[
        (
            "pyproject.toml",
            "[project]\nname = \"p\"\nversion = \"1.0\"\n\n[tool.bumpversion]\ncurrent_version = \"1.0\"\n",
            "[project]\nname = \"p\"\nversion = \"1.1\"\n\n[tool.bumpversion]\ncurrent_version = \"1.1\"\n",
        ),
        ("p/__init__.py", "import os\n__version__ = \"1.0\"\n", "import os\n__version__ = \"1.1\"\n"),
        ("sonar.properties", "sonar.projectVersion=1.0\n", "sonar.projectVersion=1.1\n"),
    ],
    &[(
        "uv.lock",
        "version = 1\n\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\nsource = { editable = \".\" }\n",
        "version = 1\n\n[[package]]\nname = \"p\"\nversion = \"0.2.0\"\nsource = { editable = \".\" }\n",
    )],
    &[
        (
            "a/package.json",
            "{\"name\":\"@x/a\",\"version\":\"1.0.0\"}",
            "{\"name\":\"@x/a\",\"version\":\"1.1.0\"}",
        ),
        (
            "b/package.json",
            "{\"name\":\"@x/b\",\"version\":\"3.0.0\",\"dependencies\":{\"@x/a\":\"^1.0.0\"}}",
            "{\"name\":\"@x/b\",\"version\":\"3.0.1\",\"dependencies\":{\"@x/a\":\"^1.1.0\"}}",
        ),
    ],
    &[(
        "lib/p/version.rb",
        "module P\n  VERSION = \"1.2.3\"\nend\n",
        "module P\n  VERSION = \"1.2.4\"\nend\n",
    )],
    &[("p.gemspec", "  spec.version = '1.2.3'\n", "  spec.version = '1.2.4'\n")],
    &[("mix.exs", "  @version \"1.2.3\"\n", "  @version \"1.2.4\"\n")],
    &[("setup.py", "setup(name='p', \n  version='1.2.3',\n)\n", "setup(name='p', \n  version='1.3.0',\n)\n")],
    &[(
        "Chart.yaml",
        "name: p\nversion: 1.0.0\nappVersion: 1.0.0\n",
        "name: p\nversion: 1.1.0\nappVersion: 1.1.0\n",
    )],
    &[("pom.xml", "<project>\n  <version>1.0</version>\n", "<project>\n  <version>1.1</version>\n")],
    &[(
        "app.csproj",
        "<Project>\n <PropertyGroup>\n  <Version>1.0.0</Version>\n",
        "<Project>\n <PropertyGroup>\n  <Version>1.0.1</Version>\n",
    )],
];

#[test]
fn what_release_tools_write_is_a_release() {
    let (old, new) = (["1.0.0", "1.0.0", "1.0.0"], ["1.0.1", "1.0.0", "1.0.0"]);
    for files in RELEASES {
        assert!(released(files), "{files:?}");
    }
    for (path, text) in [("package-lock.json", LOCK), ("Cargo.lock", CARGO_LOCK), ("Cargo.toml", CARGO)] {
        let (path, old, new) = step(path, text, old, new);
        assert!(released(&[(path, &old, &new)]), "{path}");
    }
}

#[test]
fn whatever_else_changed_is_work() {
    let package =
        ("package.json", "{\"name\":\"p\",\"version\":\"1.0.0\"}", "{\"name\":\"p\",\"version\":\"1.0.1\"}");
    let table: &[&[FileChange<'_>]] = &[
        &[],
        &[("CHANGELOG", "", "all\n")],
        &[package, ("a.js", "let x = 1;\n", "let x = 2;\n")],
        &[package, ("a.js", "let x = '1.0.0';\n", "let x = '1.0.1';\n")],
        &[package, ("a.js", "", "x\n")],
        &[(
            "package.json",
            "{\"version\":\"1.0.0\",\"type\":\"module\"}",
            "{\"version\":\"1.0.1\",\"type\":\"commonjs\"}",
        )],
        &[(
            "package.json",
            "{\"version\":\"1.0.0\",\"x\":{\"version\":\"1.0.0\"}}",
            "{\"version\":\"1.0.1\",\"x\":{\"version\":\"1.0.1\"}}",
        )],
        &[(
            "package.json",
            "{\"version\":\"1.0.0\",\"dependencies\":{\"x\":\"1.0.0\"}}",
            "{\"version\":\"1.0.1\",\"dependencies\":{\"x\":\"1.0.1\"}}",
        )],
        &[("package.json", "{\"dependencies\":{\"x\":\"1.0.0\"}}", "{\"dependencies\":{\"x\":\"1.0.1\"}}")],
        &[(
            "package.json",
            "{\"version\":\"1.0.0\",\"exports\":{\"a\":\"x\",\"b\":\"y\"}}",
            "{\"version\":\"1.0.1\",\"exports\":{\"b\":\"y\",\"a\":\"x\"}}",
        )],
        &[("Cargo.toml", "[package]\nrust-version = \"1.80\"\n", "[package]\nrust-version = \"1.81\"\n")],
        &[("a.py", "    version = \"1.0\"\n", "    version = \"1.1\"\n")],
        &[("a.py", "if version > (1, 2):\n", "if version > (1, 3):\n")],
        &[(
            "pom.xml",
            "<project>\n <parent>\n  <version>1.0</version>\n",
            "<project>\n <parent>\n  <version>1.1</version>\n",
        )],
        &[(
            "Chart.yaml",
            "dependencies:\n  - name: x\n    version: 1.0.0\n",
            "dependencies:\n  - name: x\n    version: 1.1.0\n",
        )],
        &[("package.json", "{\"version\":\"1.0.0\"}", "{\"version\":\"one\"}")],
    ];
    for files in table {
        assert!(!released(files), "{files:?}");
    }
    // A dependency that goes the same way as the project, or alone.
    let old = ["1.0.0", "1.0.0", "1.0.0"];
    for (path, text, new) in [
        ("package-lock.json", LOCK, ["1.0.1", "1.0.1", "1.0.0"]),
        ("package-lock.json", LOCK, ["1.0.0", "1.0.1", "1.0.0"]),
        ("Cargo.lock", CARGO_LOCK, ["1.0.1", "1.0.1", "1.0.0"]),
        ("Cargo.lock", CARGO_LOCK, ["1.0.0", "1.0.1", "1.0.0"]),
        ("Cargo.toml", CARGO, ["1.0.1", "1.0.1", "1.0.0"]),
        ("Cargo.toml", CARGO, ["1.0.1", "1.0.0", "1.0.1"]),
    ] {
        let (path, old, new) = step(path, text, old, new);
        assert!(!released(&[(path, &old, &new)]), "{path}: {new}");
    }
}

#[test]
fn a_declared_version_is_seen_beside_other_work() {
    let files = [Rewritten {
        path: b"package.json",
        old: b"{\n \"version\": \"1.0.0\",\n \"x\": 1\n}",
        new: b"{\n \"version\": \"1.0.1\",\n \"x\": 2\n}",
    }];
    assert!(declares_version(&files));
    assert!(!declares_version(&[Rewritten { new: b"{\n \"version\": \"1.0.0\"\n}", ..files[0] }]));
}
