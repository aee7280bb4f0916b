//! Strongly connected components, self-loops and the edges that close them.
//!
//! A workflow has at most 64 nodes, so that plain reachability will do. petgraph without its features would be seven crates
//! more (0.8; five with 0.7 and 0.6), for what two functions do here.

use std::collections::BTreeSet;

use super::{Anchor, EdgeDeclaration};
use crate::mistake::quoted;
use crate::problem::Problem;
use andon_core::domain::workflow::{Cycle, Node};

/// The cycles by id. An anchor that closes none, and a second one in a cycle, are wrong.
pub(super) fn cycles(nodes: &[Node], edges: &[EdgeDeclaration], wrongs: &mut Vec<Problem>) -> Vec<Cycle> {
    let components = components(nodes, edges);
    for declared in edges.iter().filter(|declared| declared.anchor == Anchor::Declared) {
        if !components.iter().any(|nodes| within(nodes, declared)) {
            wrongs.push(Problem {
                span: declared.at.clone(),
                what: format!(
                    "anchor {} is part of no cycle: it is never passed twice",
                    quoted(&declared.edge.id())
                ),
                hint: "declare the edges that lead back, or remove `anchor`".to_owned(),
            });
        }
    }
    let mut cycles: Vec<Cycle> =
        components.iter().filter_map(|component| cycle(nodes, edges, component, wrongs)).collect();
    cycles.sort_by(|one, other| one.id.cmp(&other.id));
    cycles
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

/// What is reached from `start` along at least one edge.
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

fn cycle(
    nodes: &[Node],
    edges: &[EdgeDeclaration],
    component: &BTreeSet<&str>,
    wrongs: &mut Vec<Problem>,
) -> Option<Cycle> {
    let inside: Vec<&EdgeDeclaration> = edges.iter().filter(|declared| within(component, declared)).collect();
    let mut anchors = inside.iter().filter(|declared| declared.anchor == Anchor::Declared);
    let chosen = anchors.next();
    if let Some(second) = anchors.next() {
        wrongs.push(Problem {
            span: second.at.clone(),
            what: format!("a second anchor, {}, in one cycle", quoted(&second.edge.id())),
            hint: "keep the one whose passes are to be counted".to_owned(),
        });
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
