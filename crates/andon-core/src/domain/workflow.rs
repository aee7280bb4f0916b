//! The declared workflow: the nodes, their handovers, and the cycles that these form (docs/spec-map.md, loop safety:
//! definitions and budget model).

use super::Span;

/// The workflow. Without a declared one it is empty: one node, one self-loop, and only `iteration-cap` binds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workflow {
    /// The nodes in the order in which they are declared.
    pub nodes: Vec<Node>,
    /// The edges in the order in which they are declared.
    pub edges: Vec<Edge>,
    /// The strongly connected components of two nodes and more, and the self-loops, by id.
    pub cycles: Vec<Cycle>,
}

/// A role in the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The name by which events and `ANDON_NODE` call it; no two nodes share one.
    pub name: String,
    /// States whether the node is expected to change files.
    pub edits: Edits,
    /// The conditions that identify its commits.
    pub matches: Vec<NodeMatch>,
    /// Turns that halt the loop, where they are not those of `node-turns`.
    pub max_turns: Option<u64>,
    /// Runtime that halts the loop, where it is not that of `node-runtime`.
    pub max_runtime: Option<Span>,
}

/// States whether a node is expected to change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edits {
    /// A turn of it without a change is idle.
    Expected,
    /// It plans or reviews: a turn of it that changes nothing is not idle.
    None,
}

/// A condition that identifies the commits of a node; all conditions of a node must hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeMatch {
    /// `ANDON_NODE` (or `--node`) is this text.
    Environment(String),
    /// The author's `Name <address>` contains this text; stars at its ends mean the same.
    Author(String),
    /// The message has this trailer line, such as `Agent: coder`.
    Trailer(String),
    /// The branch is this one, or begins with what is before a final `*`.
    Branch(String),
}

/// Work is handed over from one node to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Who hands over.
    pub from: String,
    /// To whom.
    pub to: String,
}

/// A strongly connected component of at least two nodes, or a self-loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Stable: the sorted nodes and edges (docs/spec-map.md, loop safety: cycle detection).
    pub id: String,
    /// Its nodes, sorted.
    pub nodes: Vec<String>,
    /// The edge that closes it: a pass along it is an iteration.
    pub anchor: Edge,
    /// Budgets, where they are not those of the rules.
    pub budget: CycleBudget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CycleBudget {
    pub max_iterations: Option<u64>,
    /// Runtime of all its nodes together.
    pub max_runtime: Option<Span>,
    /// Cost of all its nodes together, in millionths of a dollar.
    pub max_cost: Option<u64>,
}

impl Workflow {
    /// Returns whether one is declared.
    pub fn is_declared(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Returns the edits expected of `node`; edits are expected where it is not declared.
    pub fn edits(&self, node: &str) -> Edits {
        self.node(node).map_or(Edits::Expected, |node| node.edits)
    }

    /// The cycle that `node` belongs to. Components are disjoint; a self-loop within a larger one is part of it.
    pub fn cycle_of(&self, node: &str) -> Option<&Cycle> {
        self.cycles.iter().find(|cycle| cycle.nodes.iter().any(|name| name == node))
    }
}

/// The known facts about who made a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Maker<'a> {
    /// `ANDON_NODE`.
    pub environment: Option<&'a str>,
    /// The author's `Name <address>`.
    pub author: &'a str,
    /// The trailers of the message: key and value.
    pub trailers: &'a [(String, String)],
    /// The branch without `refs/heads/`; `None` when detached.
    pub branch: Option<&'a str>,
}

impl Workflow {
    /// The first declared node that all of its matches say made a commit.
    pub fn node_for(&self, maker: &Maker<'_>) -> Option<&Node> {
        self.nodes.iter().find(|node| node.matches.iter().all(|one| one.holds(maker)))
    }
}

impl Workflow {
    /// Returns whether a commit can be that of the node called `name`, as far as author and trailers tell. Environment and branch
    /// are known only where it was made: a node that asks for them may be it or not.
    pub fn may_be(&self, name: &str, author: &str, trailers: &[(String, String)]) -> bool {
        let maker = Maker { environment: None, author, trailers, branch: None };
        for node in &self.nodes {
            let reported = |one: &&NodeMatch| matches!(one, NodeMatch::Author(_) | NodeMatch::Trailer(_));
            if !node.matches.iter().filter(reported).all(|one| one.holds(&maker)) {
                continue;
            }
            let surely = node.matches.iter().all(|one| reported(&one));
            if surely || node.name == name {
                return node.name == name;
            }
        }
        // No node is surely it: then one that is not declared made it.
        self.node(name).is_none()
    }
}

impl NodeMatch {
    fn holds(&self, maker: &Maker<'_>) -> bool {
        match self {
            Self::Environment(name) => maker.environment == Some(name.as_str()),
            // A star at an end says what holds anyway.
            Self::Author(part) => maker.author.contains(part.trim_matches('*')),
            Self::Trailer(line) => maker.trailers.iter().any(|(key, value)| {
                let pair = line.split_once(':');
                pair.is_some_and(|(k, v)| k.trim().eq_ignore_ascii_case(key) && v.trim() == value.trim())
            }),
            Self::Branch(pattern) => maker.branch.is_some_and(|branch| match pattern.strip_suffix('*') {
                Some(beginning) => branch.starts_with(beginning),
                None => branch == pattern,
            }),
        }
    }
}

impl Edge {
    /// `from->to`: the id of an edge.
    pub fn id(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, matches: Vec<NodeMatch>) -> Node {
        Node { name: name.into(), edits: Edits::Expected, matches, max_turns: None, max_runtime: None }
    }

    #[test]
    fn the_first_node_of_which_all_holds_made_the_commit() {
        let flow = Workflow {
            nodes: vec![
                node("bot", vec![NodeMatch::Author("bot@x".into()), NodeMatch::Branch("auto/*".into())]),
                node("reviewer", vec![NodeMatch::Trailer("Agent: reviewer".into())]),
                node("coder", vec![NodeMatch::Environment("coder".into())]),
            ],
            ..Workflow::default()
        };
        let none = Maker { environment: None, author: "P <p@x>", trailers: &[], branch: Some("main") };
        let trailers = [("agent".to_owned(), "reviewer".to_owned())];
        let found = |maker: Maker<'_>| flow.node_for(&maker).map(|node| node.name.clone());
        assert_eq!(found(none), None);
        assert_eq!(found(Maker { environment: Some("coder"), ..none }).as_deref(), Some("coder"));
        assert_eq!(found(Maker { trailers: &trailers, ..none }).as_deref(), Some("reviewer"));
        assert_eq!(found(Maker { author: "B <bot@x>", ..none }), None);
        let bot = Maker { author: "B <bot@x>", branch: Some("auto/1"), ..none };
        assert_eq!(found(bot).as_deref(), Some("bot"));
        assert_eq!(found(Maker { branch: None, ..bot }), None);
        let may_be =
            |name: &str, author: &str, trailers: &[(String, String)]| flow.may_be(name, author, trailers);
        assert!(may_be("reviewer", "P <p@x>", &trailers) && !may_be("coder", "P <p@x>", &trailers));
        assert!(may_be("coder", "P <p@x>", &[]) && may_be("agent", "P <p@x>", &[]));
        assert!(!may_be("reviewer", "P <p@x>", &[]) && !may_be("bot", "P <p@x>", &trailers));
        assert!(may_be("bot", "B <bot@x>", &trailers) && may_be("reviewer", "B <bot@x>", &trailers));
        for (pattern, holds) in [("bot", true), ("*bot*", true), ("*bot@x>", true), ("*robot*", false)] {
            assert_eq!(NodeMatch::Author(pattern.into()).holds(&bot), holds, "{pattern}");
        }
    }
}
