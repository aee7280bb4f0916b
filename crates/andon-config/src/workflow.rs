//! `[workflow]`: nodes and edges as they are declared, and the cycles that follow from them (docs/spec-map.md, loop safety:
//! definitions, budget model, implementation sketch).
//!
//! Everything that could make a budget silently bind nowhere is an error at its line: undeclared nodes, nodes that
//! match the same commits, anchors that close no cycle, budgets of nothing or less.

mod cycles;

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::mistake::quoted;
use super::problem::Problem;
use super::reading::MAX_COUNT;
use super::suggest;
use andon_core::domain::time::Span;
use andon_core::domain::usage::micros;
use andon_core::domain::workflow::{CycleBudget, Edge, Edits, Node, NodeMatch, Workflow};

/// Most nodes.
const MAX_NODES: usize = 64;
/// Most edges.
const MAX_EDGES: usize = 256;
/// Longest name or text, in bytes.
const MAX_TEXT: usize = 256;

type Item<'a> = Spanned<DeValue<'a>>;
type Name<'a> = Spanned<DeString<'a>>;

const NODE_KEYS: [&str; 7] =
    ["environment", "author", "trailer", "branch", "edits", "max_turns", "max_runtime"];
const EDGE_KEYS: [&str; 6] = ["from", "to", "anchor", "max_iterations", "max_runtime", "max_cost"];

/// An edge as it is declared.
pub(super) struct EdgeDeclaration {
    /// From where to where.
    pub(super) edge: Edge,
    /// Whether it is said to close its cycle.
    pub(super) anchor: Anchor,
    /// The budgets of the cycle that it closes.
    pub(super) budget: CycleBudget,
    /// The place of the entry.
    pub(super) at: Range<usize>,
}

/// Whether an edge is said to close its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Declared,
    /// Nothing is said.
    No,
}

/// Reads the section. All that is wrong comes back at once.
pub(super) fn read(table: &DeTable<'_>) -> Result<Workflow, Vec<Problem>> {
    let mut reader = Reader { wrongs: Vec::new() };
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (name, item) in in_order(table) {
        match name.get_ref().as_ref() {
            "nodes" => nodes = reader.nodes(item),
            "edges" => edges = reader.edges(item),
            word => reader.unknown(name.span(), "workflow", word, &["nodes", "edges"]),
        }
    }
    reader.check_nodes(&nodes);
    reader.check_edges(&nodes, &edges);
    let nodes: Vec<Node> = nodes.into_iter().map(|(node, _)| node).collect();
    let cycles = cycles::cycles(&nodes, &edges, &mut reader.wrongs);
    if !reader.wrongs.is_empty() {
        return Err(reader.wrongs);
    }
    Ok(Workflow { nodes, edges: edges.into_iter().map(|declared| declared.edge).collect(), cycles })
}

fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Name<'a>, &'t Item<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

struct Reader {
    wrongs: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, span: Range<usize>, what: String, hint: &str) {
        self.wrongs.push(Problem { span, what, hint: hint.to_owned() });
    }

    fn unknown(&mut self, span: Range<usize>, place: &str, word: &str, known: &[&str]) {
        let what = format!("unknown key {} in {place}", quoted(word));
        let hint = suggest::hint(word, known.iter().copied());
        self.wrong(span, what, &hint);
    }

    fn nodes(&mut self, item: &Item<'_>) -> Vec<(Node, Range<usize>)> {
        let Some(table) = item.get_ref().as_table() else {
            let hint = "write nodes.coder = { environment = \"coder\" }";
            self.wrong(item.span(), "`workflow.nodes` must be a table".to_owned(), hint);
            return Vec::new();
        };
        if table.len() > MAX_NODES {
            self.wrong(item.span(), format!("more than {MAX_NODES} nodes"), "declare fewer");
        }
        let nodes = in_order(table).into_iter().take(MAX_NODES);
        nodes.filter_map(|(name, item)| Some((self.node(name, item)?, name.span()))).collect()
    }

    fn node(&mut self, name: &Name<'_>, item: &Item<'_>) -> Option<Node> {
        let word = name.get_ref().as_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if word.is_empty() || word.len() > 64 || !word.chars().all(plain) {
            let what = format!("{} is no name for a node", quoted(word));
            self.wrong(name.span(), what, "use letters, digits, `-`, `_` and `.`, at most 64");
            return None;
        }
        let Some(table) = item.get_ref().as_table() else {
            self.wrong(
                item.span(),
                format!("node {} must be a table", quoted(word)),
                "write { edits = true }",
            );
            return None;
        };
        let mut node = Node {
            name: word.to_owned(),
            edits: Edits::Expected,
            matches: Vec::new(),
            max_turns: None,
            max_runtime: None,
        };
        for (key, item) in in_order(table) {
            match key.get_ref().as_ref() {
                "environment" => node.matches.extend(self.text(key, item).map(NodeMatch::Environment)),
                "author" => node.matches.extend(self.text(key, item).map(NodeMatch::Author)),
                "trailer" => node.matches.extend(self.text(key, item).map(NodeMatch::Trailer)),
                "branch" => node.matches.extend(self.text(key, item).map(NodeMatch::Branch)),
                "edits" if self.switch(key, item) == Some(false) => node.edits = Edits::None,
                "edits" => {}
                "max_turns" => node.max_turns = self.count(key, item),
                "max_runtime" => node.max_runtime = self.span(key, item),
                other => self.unknown(key.span(), &format!("node {}", quoted(word)), other, &NODE_KEYS),
            }
        }
        if node.matches.is_empty() {
            node.matches.push(NodeMatch::Environment(word.to_owned()));
        }
        node.matches.sort();
        Some(node)
    }

    fn edges(&mut self, item: &Item<'_>) -> Vec<EdgeDeclaration> {
        let Some(items) = item.get_ref().as_array() else {
            let hint = "write edges = [{ from = \"coder\", to = \"reviewer\" }]";
            self.wrong(item.span(), "`workflow.edges` must be a list of tables".to_owned(), hint);
            return Vec::new();
        };
        if items.len() > MAX_EDGES {
            self.wrong(item.span(), format!("more than {MAX_EDGES} edges"), "declare fewer");
        }
        items.iter().take(MAX_EDGES).filter_map(|item| self.edge(item)).collect()
    }

    fn edge(&mut self, item: &Item<'_>) -> Option<EdgeDeclaration> {
        let hint = "write { from = \"coder\", to = \"reviewer\" }";
        let Some(table) = item.get_ref().as_table() else {
            self.wrong(item.span(), "an edge must be a table".to_owned(), hint);
            return None;
        };
        let (mut from, mut to, mut anchor) = (None, None, Anchor::No);
        let mut budget = CycleBudget::default();
        let mut budgeted = None;
        for (key, item) in in_order(table) {
            match key.get_ref().as_ref() {
                "from" => from = self.text(key, item),
                "to" => to = self.text(key, item),
                "anchor" if self.switch(key, item) == Some(true) => anchor = Anchor::Declared,
                "anchor" => {}
                "max_iterations" => budget.max_iterations = self.count(key, item),
                "max_runtime" => budget.max_runtime = self.span(key, item),
                "max_cost" => budget.max_cost = self.money(key, item),
                other => self.unknown(key.span(), "an edge", other, &EDGE_KEYS),
            }
            if key.get_ref().starts_with("max_") {
                budgeted = Some(key.span());
            }
        }
        if let (Some(span), Anchor::No) = (budgeted, anchor) {
            let what = "a budget of a cycle belongs to its anchor, and this edge is none".to_owned();
            self.wrong(span, what, "add anchor = true, or move the budget to the anchor");
        }
        let (Some(from), Some(to)) = (from, to) else {
            self.wrong(item.span(), "an edge needs `from` and `to`".to_owned(), hint);
            return None;
        };
        Some(EdgeDeclaration { edge: Edge { from, to }, anchor, budget, at: item.span() })
    }

    fn check_nodes(&mut self, nodes: &[(Node, Range<usize>)]) {
        for (at, (node, span)) in nodes.iter().enumerate() {
            let twin = nodes.iter().take(at).find(|(before, _)| before.matches == node.matches);
            if let Some((twin, _)) = twin {
                let what =
                    format!("nodes {} and {} match the same commits", quoted(&twin.name), quoted(&node.name));
                self.wrong(
                    span.clone(),
                    what,
                    "give one of them another environment, author, trailer or branch",
                );
            }
        }
    }

    fn check_edges(&mut self, nodes: &[(Node, Range<usize>)], edges: &[EdgeDeclaration]) {
        for (at, declared) in edges.iter().enumerate() {
            for name in [&declared.edge.from, &declared.edge.to] {
                if !nodes.iter().any(|(node, _)| node.name == *name) {
                    let what = format!("node {} is not declared", quoted(name));
                    let hint = suggest::hint(name, nodes.iter().map(|(node, _)| node.name.as_str()));
                    self.wrong(declared.at.clone(), what, &hint);
                }
            }
            if edges.iter().take(at).any(|before| before.edge == declared.edge) {
                let what = format!("edge {} is declared twice", quoted(&declared.edge.id()));
                self.wrong(declared.at.clone(), what, "keep one of the two");
            }
        }
    }

    fn text(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<String> {
        let text = item.get_ref().as_str().filter(|text| !text.trim().is_empty() && text.len() <= MAX_TEXT);
        if text.is_none() {
            self.not(key, item, "a text of at most 256 bytes");
        }
        text.map(str::to_owned)
    }

    fn switch(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<bool> {
        let switch = item.get_ref().as_bool();
        if switch.is_none() {
            self.not(key, item, "true or false");
        }
        switch
    }

    fn count(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<u64> {
        let number = item.get_ref().as_integer();
        let count = number
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .filter(|count| (1..=MAX_COUNT).contains(count));
        if count.is_none() {
            self.not(key, item, "a whole number from 1 to 1000000000");
        }
        count
    }

    fn span(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<Span> {
        let span = item.get_ref().as_str().and_then(|text| text.parse().ok()).filter(|span| *span > Span(0));
        if span.is_none() {
            self.not(key, item, "a duration such as \"2h\"");
        }
        span
    }

    /// US dollars in millionths.
    fn money(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<u64> {
        let text = item.get_ref().as_str().filter(|text| text.len() <= 32);
        let amount = text.and_then(micros).filter(|amount| *amount > 0);
        if amount.is_none() {
            self.not(key, item, "an amount of US dollars such as \"5.00\"");
        }
        amount
    }

    fn not(&mut self, key: &Name<'_>, item: &Item<'_>, expected: &str) {
        let what = format!("{} must be {expected}", quoted(key.get_ref()));
        self.wrong(item.span(), what, "fix the value, or remove the key");
    }
}

#[cfg(test)]
mod tests;
