//! A declaration is heard, and every doubt has its line.

use crate::{Config, ConfigSource, Layer, load};
use andon_core::domain::{Edits, NodeMatch, Span};

const FLOW: &str = "\
[workflow]
nodes.planner = { edits = false, trailer = \"Agent: planner\" }
nodes.coder = { environment = \"coder\", max_turns = 9, max_runtime = \"2h\" }
nodes.verifier = { edits = false }
edges = [
  { from = \"planner\", to = \"coder\" },
  { from = \"coder\", to = \"verifier\" },
  { from = \"verifier\", to = \"coder\", anchor = true, max_iterations = 5, max_runtime = \"1h\", max_cost = \"5.50\" },
  { from = \"planner\", to = \"planner\" },
]
";

fn read(text: &str) -> Result<Config, String> {
    let source =
        ConfigSource { layer: Layer::Repository, name: "andon.toml".into(), text: text.as_bytes().to_vec() };
    load(&[source]).map_err(|errors| errors.to_string())
}

#[test]
fn what_is_declared_is_heard() {
    let flow = read(FLOW).unwrap().workflow;
    assert_eq!(flow.nodes.len(), 3);
    let coder = flow.node("coder").unwrap();
    assert_eq!(
        (coder.edits, coder.max_turns, coder.max_runtime),
        (Edits::Expected, Some(9), Some(Span(7200)))
    );
    assert_eq!(flow.node("verifier").unwrap().matches, [NodeMatch::Environment("verifier".into())]);
    assert_eq!(flow.edits("planner"), Edits::None);
    let ids: Vec<&str> = flow.cycles.iter().map(|cycle| cycle.id.as_str()).collect();
    assert_eq!(ids, ["coder+verifier:coder->verifier,verifier->coder", "planner:planner->planner"]);
    let cycle = flow.cycle_of("coder").unwrap();
    assert_eq!(cycle.anchor.id(), "verifier->coder");
    assert_eq!((cycle.budget.max_iterations, cycle.budget.max_cost), (Some(5), Some(5_500_000)));
    assert_eq!(flow.cycles[1].anchor.from, flow.cycles[1].anchor.to);
    assert!(!read("").unwrap().workflow.is_declared());
}

#[test]
fn ids_do_not_depend_on_the_order_of_declaration() {
    let ring = |edges: [&str; 3]| {
        let edges = edges.map(|edge| {
            let (from, to) = edge.split_once('>').unwrap();
            format!("{{ from = \"{from}\", to = \"{to}\" }}")
        });
        let text = format!(
            "[workflow]\nnodes = {{ c = {{}}, a = {{}}, b = {{}} }}\nedges = [{}]\n",
            edges.join(", ")
        );
        read(&text).unwrap().workflow
    };
    let (one, other) = (ring(["a>b", "b>c", "c>a"]), ring(["c>a", "a>b", "b>c"]));
    assert_eq!(one.cycles[0].id, other.cycles[0].id);
    assert_eq!(one.cycles[0].nodes, ["a", "b", "c"]);
    // The edge back to the node that is declared first closes it.
    assert_eq!(one.cycles[0].anchor.to, "c");
}

#[test]
fn every_doubt_is_an_error_with_its_line() {
    let nodes = "[workflow]\nnodes = { a = {}, b = {} }\n";
    for (rest, expected) in [
        ("edges = [{ from = \"a\", to = \"c\" }]", "andon.toml:3:10: node `c` is not declared"),
        (
            "edges = [{ from = \"a\", to = \"b\", anchor = true }]",
            "andon.toml:3:10: anchor `a->b` is part of no cycle",
        ),
        (
            "edges = [{ from = \"a\", to = \"b\", anchor = true }, { from = \"b\", to = \"a\", anchor = true }]",
            "a second anchor, `b->a`, in one cycle",
        ),
        (
            "edges = [{ from = \"a\", to = \"b\" }, { from = \"a\", to = \"b\" }]",
            "edge `a->b` is declared twice",
        ),
        ("edges = [{ from = \"a\" }]", "an edge needs `from` and `to`"),
        ("edges = [7]", "an edge must be a table"),
        ("edges = 7", "must be a list of tables"),
        (
            "edges = [{ from = \"a\", to = \"a\", max_iterations = 3 }]",
            "a budget of a cycle belongs to its anchor",
        ),
        (
            "edges = [{ from = \"a\", to = \"a\", anchor = true, max_iterations = -3 }]",
            "andon.toml:3:66: `max_iterations` must be a whole number from 1",
        ),
        (
            "edges = [{ from = \"a\", to = \"a\", anchor = true, max_cost = \"-1\" }]",
            "`max_cost` must be an amount",
        ),
        (
            "edges = [{ from = \"a\", to = \"a\", anchor = true, max_runtime = \"0s\" }]",
            "`max_runtime` must be a duration",
        ),
        ("edges = [{ from = \"a\", to = \"a\", budget = 1 }]", "unknown key `budget` in an edge"),
        ("nods = {}", "unknown key `nods` in workflow"),
    ] {
        let error = read(&format!("{nodes}{rest}\n")).unwrap_err();
        assert!(error.contains(expected), "{rest}\n{error}");
    }
    for (text, expected) in [
        (
            "nodes.a = { environment = \"x\" }\nnodes.b = { environment = \"x\" }",
            "andon.toml:3:7: nodes `a` and `b` match the same commits",
        ),
        ("nodes.a = { max_turns = 0 }", "`max_turns` must be a whole number from 1"),
        ("nodes.a = { edits = \"no\" }", "`edits` must be true or false"),
        ("nodes.a = { author = \"\" }", "`author` must be a text"),
        ("nodes.\"a b\" = {}", "`a b` is no name for a node"),
        ("nodes.a = 7", "node `a` must be a table"),
        ("nodes = 7", "`workflow.nodes` must be a table"),
        ("nodes.a = { colour = 1 }", "unknown key `colour` in node `a`"),
    ] {
        let error = read(&format!("[workflow]\n{text}\n")).unwrap_err();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}
