//! `[workflow]`: nodes and edges as they are declared, and the cycles that follow from them (docs/spec-map.md, loop safety:
//! definitions, budget model, implementation sketch).
//!
//! Everything that could make a budget silently bind nowhere is an error at its line: undeclared nodes, nodes that
//! match the same commits, anchors that close no cycle, budgets of nothing or less.

use std::{collections::BTreeSet, ops::Range};

use toml::de::{DeTable, DeValue};

use super::value::{Item, Name, Problem, in_order, suggest};
use super::{mistake::quoted, reading::count};
use andon_core::domain::{
    Cycle, CycleBudget, Edge, Edits, Node, NodeMatch, ParamSpec, Span, Workflow, usage::micros,
};

/// Most nodes.
const MAX_NODES: usize = 64;
/// Most edges.
const MAX_EDGES: usize = 256;
/// Longest name or text, in bytes.
const MAX_TEXT: usize = 256;

const NODE_KEYS: [&str; 7] =
    ["environment", "author", "trailer", "branch", "edits", "max_turns", "max_runtime"];
const EDGE_KEYS: [&str; 6] = ["from", "to", "anchor", "max_iterations", "max_runtime", "max_cost"];

/// An edge as it is declared.
struct EdgeDeclaration {
    /// From where to where.
    edge: Edge,
    /// True where it is declared to close the cycle.
    anchor: bool,
    /// The budgets of the cycle that it closes.
    budget: CycleBudget,
    /// The place of the entry.
    at: Range<usize>,
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
    let cycles = reader.cycles(&nodes, &edges);
    if !reader.wrongs.is_empty() {
        return Err(reader.wrongs);
    }
    Ok(Workflow { nodes, edges: edges.into_iter().map(|declared| declared.edge).collect(), cycles })
}

struct Reader {
    wrongs: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, span: Range<usize>, what: impl Into<String>, hint: &str) {
        self.wrongs.push(Problem { span, what: what.into(), hint: hint.to_owned() });
    }

    fn table<'a>(&mut self, item: &'a Item<'a>, what: &str, hint: &str) -> Option<&'a DeTable<'a>> {
        let table = item.get_ref().as_table();
        if table.is_none() {
            self.wrong(item.span(), format!("{what} must be a table"), hint);
        }
        table
    }

    fn unknown(&mut self, span: Range<usize>, place: &str, word: &str, known: &[&str]) {
        let what = format!("unknown key {} in {place}", quoted(word));
        let hint = suggest(word, known.iter().copied());
        self.wrong(span, what, &hint);
    }

    fn nodes(&mut self, item: &Item<'_>) -> Vec<(Node, Range<usize>)> {
        let hint = "write nodes.coder = { environment = \"coder\" }";
        let Some(table) = self.table(item, "`workflow.nodes`", hint) else { return Vec::new() };
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
        let table = self.table(item, &format!("node {}", quoted(word)), "write { edits = true }")?;
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
            self.wrong(item.span(), "`workflow.edges` must be a list of tables", hint);
            return Vec::new();
        };
        if items.len() > MAX_EDGES {
            self.wrong(item.span(), format!("more than {MAX_EDGES} edges"), "declare fewer");
        }
        items.iter().take(MAX_EDGES).filter_map(|item| self.edge(item)).collect()
    }

    fn edge(&mut self, item: &Item<'_>) -> Option<EdgeDeclaration> {
        let hint = "write { from = \"coder\", to = \"reviewer\" }";
        let table = self.table(item, "an edge", hint)?;
        let (mut from, mut to, mut anchor) = (None, None, false);
        let mut budget = CycleBudget::default();
        let mut budgeted = None;
        for (key, item) in in_order(table) {
            match key.get_ref().as_ref() {
                "from" => from = self.text(key, item),
                "to" => to = self.text(key, item),
                "anchor" => anchor = self.switch(key, item) == Some(true),
                "max_iterations" => budget.max_iterations = self.count(key, item),
                "max_runtime" => budget.max_runtime = self.span(key, item),
                "max_cost" => budget.max_cost = self.money(key, item),
                other => self.unknown(key.span(), "an edge", other, &EDGE_KEYS),
            }
            if key.get_ref().starts_with("max_") {
                budgeted = Some(key.span());
            }
        }
        if let (Some(span), false) = (budgeted, anchor) {
            let what = "a budget of a cycle belongs to its anchor, and this edge is none";
            self.wrong(span, what, "add anchor = true, or move the budget to the anchor");
        }
        let (Some(from), Some(to)) = (from, to) else {
            self.wrong(item.span(), "an edge needs `from` and `to`", hint);
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
                let hint = "give one of them another environment, author, trailer or branch";
                self.wrong(span.clone(), what, hint);
            }
        }
    }

    fn check_edges(&mut self, nodes: &[(Node, Range<usize>)], edges: &[EdgeDeclaration]) {
        for (at, declared) in edges.iter().enumerate() {
            for name in [&declared.edge.from, &declared.edge.to] {
                if !nodes.iter().any(|(node, _)| node.name == *name) {
                    let what = format!("node {} is not declared", quoted(name));
                    let hint = suggest(name, nodes.iter().map(|(node, _)| node.name.as_str()));
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
        self.value(key, item, "a text of at most 256 bytes", |value| {
            value.as_str().filter(|text| !text.trim().is_empty() && text.len() <= MAX_TEXT).map(str::to_owned)
        })
    }

    fn switch(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<bool> {
        #[allow(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general enough over lifetimes"
        )]
        self.value(key, item, "true or false", |value| value.as_bool())
    }

    fn count(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<u64> {
        self.value(key, item, "a whole number from 1 to 1000000000", |value| count(value, 1..=ParamSpec::ANY))
    }

    fn span(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<Span> {
        self.value(key, item, "a duration such as \"2h\"", |value| {
            value.as_str()?.parse().ok().filter(|span| *span > Span(0))
        })
    }

    /// US dollars in millionths.
    fn money(&mut self, key: &Name<'_>, item: &Item<'_>) -> Option<u64> {
        self.value(key, item, "an amount of US dollars such as \"5.00\"", |value| {
            micros(value.as_str().filter(|text| text.len() <= 32)?).filter(|amount| *amount > 0)
        })
    }

    fn value<T>(
        &mut self,
        key: &Name<'_>,
        item: &Item<'_>,
        expected: &str,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Option<T> {
        let value = read(item.get_ref());
        if value.is_none() {
            let what = format!("{} must be {expected}", quoted(key.get_ref()));
            self.wrong(item.span(), what, "fix the value, or remove the key");
        }
        value
    }

    /// The cycles by id. An anchor that closes none, and a second one in a cycle, are wrong.
    fn cycles(&mut self, nodes: &[Node], edges: &[EdgeDeclaration]) -> Vec<Cycle> {
        let components = components(nodes, edges);
        for declared in edges.iter().filter(|declared| declared.anchor) {
            if !components.iter().any(|nodes| within(nodes, declared)) {
                let id = quoted(&declared.edge.id());
                let what = format!("anchor {id} is part of no cycle: it is never passed twice");
                let hint = "declare the edges that lead back, or remove `anchor`";
                self.wrong(declared.at.clone(), what, hint);
            }
        }
        let mut cycles: Vec<Cycle> =
            components.iter().filter_map(|component| self.cycle(nodes, edges, component)).collect();
        cycles.sort_by(|one, other| one.id.cmp(&other.id));
        cycles
    }

    fn cycle(
        &mut self,
        nodes: &[Node],
        edges: &[EdgeDeclaration],
        component: &BTreeSet<&str>,
    ) -> Option<Cycle> {
        let inside: Vec<&EdgeDeclaration> =
            edges.iter().filter(|declared| within(component, declared)).collect();
        let mut anchors = inside.iter().filter(|declared| declared.anchor);
        let chosen = anchors.next();
        if let Some(second) = anchors.next() {
            let what = format!("a second anchor, {}, in one cycle", quoted(&second.edge.id()));
            self.wrong(second.at.clone(), what, "keep the one whose passes are to be counted");
        }
        // Without a word of it: the first edge back to the node that is declared first.
        let first = nodes.iter().find(|node| component.contains(node.name.as_str()))?;
        let anchor = chosen.or_else(|| inside.iter().find(|declared| declared.edge.to == first.name))?;
        let names: Vec<String> = component.iter().map(|name| (*name).to_owned()).collect();
        let mut ids: Vec<String> = inside.iter().map(|declared| declared.edge.id()).collect();
        ids.sort_unstable();
        Some(Cycle {
            id: format!("{}:{}", names.join("+"), ids.join(",")),
            nodes: names,
            anchor: anchor.edge.clone(),
            budget: anchor.budget,
        })
    }
}

fn within(component: &BTreeSet<&str>, declared: &EdgeDeclaration) -> bool {
    component.contains(declared.edge.from.as_str()) && component.contains(declared.edge.to.as_str())
}

/// Each component that is a cycle: of two nodes and more, or of one with a self-loop.
fn components<'a>(nodes: &'a [Node], edges: &'a [EdgeDeclaration]) -> Vec<BTreeSet<&'a str>> {
    let reach: Vec<BTreeSet<&str>> = nodes.iter().map(|node| reachable(&node.name, edges)).collect();
    let mut components: Vec<BTreeSet<&str>> = Vec::new();
    for (node, from_here) in nodes.iter().zip(&reach) {
        let name = node.name.as_str();
        if !from_here.contains(name) || components.iter().any(|known| known.contains(name)) {
            continue;
        }
        let back = nodes.iter().zip(&reach).filter(|(other, from_there)| {
            from_here.contains(other.name.as_str()) && from_there.contains(name)
        });
        components.push(back.map(|(other, _)| other.name.as_str()).collect());
    }
    components
}

/// The nodes that are reached from `start` along at least one edge.
fn reachable<'a>(start: &'a str, edges: &'a [EdgeDeclaration]) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for declared in edges.iter().filter(|declared| declared.edge.from == at) {
            if seen.insert(declared.edge.to.as_str()) {
                open.push(&declared.edge.to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests;
