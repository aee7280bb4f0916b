//! What README.md and docs/ show is what happens: their examples are run, their links lead somewhere.
//!
//! A page is a walk through one directory. `console` blocks hold commands and what they print; a block whose fence
//! names a file, as in ```` ```bash loop.sh ````, is written to that file first. Other scripts, configurations and JSON
//! are read by the programs that they are for.

mod blocks;
mod commands;
mod examples;
mod links;
mod prose;
mod recipe;
mod scripts;

use std::path::{Path, PathBuf};

use blocks::{Block, Step};

use crate::support::{Out, Stage, andon_path, image::built};

/// README.md, and every page of docs/.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    collect(&root.join("docs"), &mut pages);
    pages
}

/// The pages of a folder and of those below it.
fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
}

/// A stage with the program on its PATH.
fn stage() -> Stage {
    built!({
        let stage = Stage::bare_ground();
        let program = andon_path();
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        stage.set("PATH", &path);
        stage
    })
}

/// Runs the steps of a `console` block in `dir`, which `cd` changes.
fn walk(stage: &Stage, dir: &mut PathBuf, page: &Path, steps: &[Step]) {
    for step in steps {
        if let Some(target) = step.command.strip_prefix("cd ") {
            *dir = dir.join(target);
            continue;
        }
        // The page shows a person at a terminal, where the rule is asked for; a test has none.
        let command = step.command.replace("andon resume ", "andon resume --yes ");
        // Both streams in the order in which a terminal shows them.
        let out: Out = stage.run_in(dir, "sh", &["-c", &format!("{{ {command}; }} 2>&1")], None);
        let found: Vec<&str> = out.stdout.lines().collect();
        assert!(
            blocks::matches(&step.shown, &found),
            "{}: $ {}\n--- the page\n{}\n--- found\n{}",
            page.display(),
            step.command,
            step.shown.join("\n"),
            out.stdout
        );
    }
}

/// Asks the program that the block is for whether it can read it.
fn read(block: &Block) -> Out {
    let stage = stage();
    stage.git(&["init", "-q", "."]).ok();
    match block.language.as_str() {
        "toml" => {
            // A person's own file says where it is.
            let own = block.text.starts_with("# ~/.config/andon/config.toml");
            let file =
                if own { stage.root().join(".config/andon/config.toml") } else { stage.path("andon.toml") };
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, &block.text).unwrap();
            stage.andon(&["config", "check"])
        }
        "python" => stage.run_in(
            stage.dir(),
            "python3",
            &["-c", "import ast, sys; ast.parse(sys.stdin.read())"],
            Some(block.text.as_bytes()),
        ),
        _ => stage.run_in(stage.dir(), "bash", &["-n"], Some(block.text.as_bytes())),
    }
}

#[test]
fn the_examples_are_true() {
    let mut commands = 0;
    for page in pages() {
        let stage = stage();
        let mut dir = stage.dir().to_owned();
        for block in blocks::read(&std::fs::read_to_string(&page).unwrap()) {
            match (&block.file, block.language.as_str()) {
                (Some(file), _) => std::fs::write(dir.join(file), &block.text).unwrap(),
                (None, "console") => {
                    let steps = blocks::steps(&block.text);
                    commands += steps.len();
                    walk(&stage, &mut dir, &page, &steps);
                }
                (None, _) => {}
            }
        }
    }
    assert!(commands > 40, "README.md and docs/ have their walks: {commands}");
}

#[test]
fn what_is_not_run_can_be_read() {
    for page in pages() {
        for block in blocks::read(&std::fs::read_to_string(&page).unwrap()) {
            match block.language.as_str() {
                "json" => {
                    let mut values =
                        serde_json::Deserializer::from_str(&block.text).into_iter::<serde_json::Value>();
                    assert!(values.all(|value| value.is_ok()), "{}: {}", page.display(), block.text);
                }
                "sh" | "bash" | "python" | "toml" => {
                    let out = read(&block);
                    assert_eq!(out.code, 0, "{}:\n{}\n{out}", page.display(), block.text);
                }
                "console" | "makefile" | "text" | "ts" | "yaml" => {}
                other => panic!("{}: a block of {other}", page.display()),
            }
        }
    }
}
