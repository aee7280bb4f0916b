//! The files made from the table of keys: template, schema, defaults.

use super::super::keys::{Contents, Kind, SECTIONS};
use super::{super::*, read, source};

#[test]
fn the_template_is_short_loads_and_shows_the_choices() {
    for command in [None, Some("cargo test"), Some("a 'b' \"c\" \\ \u{1b} \n d")] {
        let text = template(command);
        assert!(text.lines().count() <= 20, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        let config = load(&[source(Layer::Repository, &text)]).unwrap();
        assert_eq!(config.test.command, command.map(|one| TestCommand::Shell(one.to_owned())), "{text}");
        let defaults = load(&[]).unwrap();
        assert_eq!(config.guard, defaults.guard);
        assert_eq!(config.rules, defaults.rules);
        assert_eq!((config.paths.docs, config.paths.ignore), (defaults.paths.docs, defaults.paths.ignore));
        for word in ["applies_to = \"everyone\"", "\"agents\"", "andon config show", "[test]", "command = "] {
            assert!(text.contains(word), "{text}");
        }
    }
}

#[test]
fn no_limit_is_written_none() {
    let load_rule = |rule: &str, value: &str| {
        load(&[source(Layer::Repository, &format!("[rules]\n{rule} = {{ {value} }}"))])
    };
    for (rule, key, some) in [
        ("turn-tokens", "max", "7"),
        ("cycle-cost", "max_cents", "7"),
        ("node-turns", "max", "7"),
        ("cycle-iterations", "max", "7"),
        ("turn-timeout", "max", "\"7m\""),
        ("node-runtime", "max", "\"7m\""),
        ("cycle-runtime", "max", "\"7m\""),
    ] {
        let shown = |value: &str| {
            let config = load_rule(rule, &format!("{key} = {value}")).unwrap();
            let name = format!("rules.{rule}.{key}");
            config.entries().into_iter().find(|entry| entry.key == name).unwrap().value.to_string()
        };
        assert_eq!((shown("\"none\""), shown(some)), ("\"none\"".to_owned(), some.to_owned()), "{rule}");
        for zero in ["0", "\"0s\""] {
            let error = load_rule(rule, &format!("{key} = {zero}")).unwrap_err().to_string();
            assert!(error.contains(&format!("write {key} = \"none\"")), "{error}");
            assert!(error.contains("or \"none\" for no limit, not"), "{error}");
        }
    }
    let wrong = load_rule("turn-tokens", "max = \"nine\"").unwrap_err().to_string();
    insta::assert_snapshot!(wrong, @r#"
    andon.toml:2:23: `rules.turn-tokens.max` must be a whole number from 1 to 1000000000, or "none" for no limit, not "nine"
      help: write max = "none"
    "#);
    let schema = schema().to_string();
    assert!(schema.contains(r#""const":"none""#) && !schema.contains(r#""const":"off""#), "{schema}");
}

#[test]
fn the_schema_is_closed_and_described() {
    let schema = schema();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert_eq!(schema["$id"], "https://www.schemastore.org/andon.json");
    let sections = schema["properties"].as_object().unwrap();
    assert_eq!(sections.len(), SECTIONS.len());
    for (name, section) in sections {
        assert!(section["description"].is_string(), "{name}");
        if name != "normalize" {
            assert_eq!(section["additionalProperties"], false, "{name}");
        }
    }
    let ack = &schema["properties"]["guard"]["properties"]["ack"];
    assert_eq!(ack["enum"], serde_json::json!(["delete", "resume", "signed"]));
    assert_eq!((&ack["default"], &ack["type"]), (&"delete".into(), &"string".into()));
    let rules = schema["properties"]["rules"]["properties"].as_object().unwrap();
    assert_eq!(rules.len(), andon_core::detect::REGISTRY.len());
}

#[test]
fn the_registry_and_the_configuration_agree() {
    let config = load(&[]).unwrap();
    assert_eq!(config.rules, andon_core::detect::defaults());
    for rule in known_rules() {
        assert!(rule.params.iter().all(|spec| spec.name != "level"), "{}", rule.id);
    }
}

#[test]
fn every_default_is_a_value_that_may_be_written() {
    for section in &SECTIONS {
        let Contents::Keys(keys) = &section.contents else { continue };
        for key in *keys {
            assert_eq!(key.section, section.name);
            let default = key.default();
            // A table is shown as a list, and has nothing in it by default.
            if default == Value::Unset || matches!(key.kind, Kind::Pinned) {
                continue;
            }
            let config = read(&format!("[{}]\n{} = {default}", section.name, key.name)).unwrap();
            let name = format!("{}.{}", section.name, key.name);
            let entry = config.entries().into_iter().find(|entry| entry.key == name).unwrap();
            assert_eq!((entry.value, entry.origin.layer()), (default, Layer::Repository));
        }
    }
}
