//! What is merged into the settings of a client, and what is wrong with settings that cannot be read: for JSON and TOML alike.

use andon_core::domain::agent::Client;
use andon_core::escape::shell_quote;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObjectProp};

/// The placeholder of the program in a template: alone in exec form, else quoted for a shell.
const PROGRAM: &str = "@ANDON@";

/// Where settings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableSettings {
    /// From 1; `None` where the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong, as a clause.
    pub why: String,
}

impl UnreadableSettings {
    /// At the innermost of the members that are named.
    pub(super) fn shape(text: &str, members: &[&str], why: &str) -> Self {
        let start = text.len() - text.trim_start().len();
        let place = members.iter().fold(start, |from, name| {
            let quoted = format!("\"{name}\"");
            text.get(from..).and_then(|rest| rest.find(&quoted)).map_or(from, |at| from + at)
        });
        Self { line: Some(text[..place].matches('\n').count() + 1), why: why.to_owned() }
    }
}

/// What is merged into settings: our file below `hooks/agents/`, and the program that takes its placeholder's place.
#[derive(Debug, Clone, Copy)]
pub struct Template<'a> {
    /// Whose settings they are.
    pub client: Client,
    /// The template, with its placeholder.
    pub text: &'a str,
    /// Path of the program that the hooks start.
    pub program: &'a str,
}

impl Template<'_> {
    /// The text with the program in it, for files that are ours alone.
    pub fn filled(&self) -> String {
        self.with(&self.quoted())
    }

    /// The program as a shell reads it.
    pub(super) fn quoted(&self) -> String {
        shell_quote(self.program)
    }

    /// The text with `program` in the place of it.
    pub(super) fn with(&self, program: &str) -> String {
        self.text.replace(PROGRAM, program)
    }

    pub(super) fn string(&self, text: &str) -> String {
        if text == PROGRAM { self.program.to_owned() } else { text.replace(PROGRAM, &self.quoted()) }
    }

    pub(super) fn input(&self, node: &CstNode) -> CstInputValue {
        if let Some(object) = node.as_object() {
            return CstInputValue::Object(
                object.properties().iter().filter_map(|one| self.member(one)).collect(),
            );
        }
        if let Some(list) = node.as_array() {
            return CstInputValue::Array(list.elements().iter().map(|one| self.input(one)).collect());
        }
        if let Some(number) = node.as_number_lit() {
            return CstInputValue::Number(number.to_string());
        }
        let text = node.as_string_lit().and_then(|literal| literal.decoded_value().ok());
        text.map_or(CstInputValue::Null, |text| CstInputValue::String(self.string(&text)))
    }

    pub(super) fn member(&self, member: &CstObjectProp) -> Option<(String, CstInputValue)> {
        Some((member.decoded_name()?, self.input(&member.value()?)))
    }
}
