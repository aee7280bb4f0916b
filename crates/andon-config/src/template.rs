//! The `andon.toml` that `andon install` writes: short enough to be read, with what a project may want to change on
//! its first day. Everything else is a command away.

use super::keys::DOCS;
use super::value::toml_text;

/// Where installing writes the JSON Schema, seen from the top of the working tree.
pub const SCHEMA_FILE: &str = ".git/andon/andon.schema.json";

const HEAD: &str =
    "# Andon stops a coding loop that no longer makes progress. Everything else: andon config show\n";

const GUARD: &str = "[guard]\n\
                     applies_to = \"everyone\"  # whose commits are refused; \"agents\": people's are only recorded\n";

/// The file, with `command` as the test command when there is one. At most 20 lines; loads without errors.
pub fn template(command: Option<&str>) -> String {
    let command = command.map(str::trim).filter(|command| !command.is_empty());
    let command = command.map_or_else(
        || {
            "# command = \"cargo test\"  # what runs your tests; without it untested code only warns\n"
                .to_owned()
        },
        |command| format!("command = {}\n", toml_text(command)),
    );
    let docs: String = DOCS.iter().map(|line| globs(line)).collect();
    format!(
        "#:schema ./{SCHEMA_FILE}\n{HEAD}\n{GUARD}\n[test]\n{command}\n[paths]\n\
         docs = [  # a commit of nothing but these needs no tests\n{docs}]\n"
    )
}

fn globs(line: &[&str]) -> String {
    let globs: Vec<String> = line.iter().map(|glob| toml_text(glob)).collect();
    format!("  {},\n", globs.join(", "))
}
