//! What is made from the table of keys: template, schema, defaults.

use super::super::keys::{Contents, SECTIONS};
use super::super::rules::PLANNED;
use super::super::*;
use super::{read, source};

#[test]
fn the_template_loads_commented_and_uncommented() {
    for command in [None, Some("cargo test"), Some("a 'b' \"c\" \\ \u{1b} \n d")] {
        let text = template(command);
        let config = load(&[source(Layer::Repository, &text)]).unwrap();
        assert_eq!(config.test.command, command.map(|one| TestCommand::Shell(one.to_owned())), "{text}");
        let is_setting = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        let uncommented: Vec<&str> =
            text.lines().map(|line| line.strip_prefix("# ").filter(is_setting).unwrap_or(line)).collect();
        let open = load(&[source(Layer::Repository, &uncommented.join("\n"))]).unwrap();
        assert_eq!(open.guard, config.guard);
        assert_eq!(open.rules, load(&[]).unwrap().rules);
        assert_eq!((open.paths.docs, open.paths.ignore), (config.paths.docs, config.paths.ignore));
        assert!(open.test.command.is_some() && open.test.timeout == config.test.timeout);
    }
}

#[test]
fn the_schema_is_closed_and_described() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let sections = schema["properties"].as_object().unwrap();
    assert_eq!(sections.len(), 11);
    for (name, section) in sections {
        assert!(section["description"].is_string(), "{name}");
        if name != "normalize" {
            assert_eq!(section["additionalProperties"], false, "{name}");
        }
    }
    let ack = &schema["properties"]["guard"]["properties"]["ack"];
    assert_eq!(ack["enum"], serde_json::json!(["delete", "resume"]));
    assert_eq!(ack["default"], "delete");
    let rules = schema["properties"]["rules"]["properties"].as_object().unwrap();
    assert_eq!(rules.len(), crate::detect::REGISTRY.len());
}

#[test]
fn the_registry_and_the_configuration_agree() {
    let config = load(&[]).unwrap();
    assert_eq!(config.rules, crate::detect::defaults());
    for rule in known_rules() {
        assert!(!PLANNED.contains(&rule.id), "{} is here and planned", rule.id);
        assert!(rule.params.iter().all(|spec| spec.name != "level"), "{}", rule.id);
    }
}

#[test]
fn every_default_is_a_value_that_may_be_written() {
    for section in &SECTIONS {
        let Contents::Keys(keys) = &section.contents else { continue };
        for key in *keys {
            let default = (key.default)();
            if default == Value::Unset {
                continue;
            }
            let config = read(&format!("[{}]\n{} = {default}", section.name, key.name)).unwrap();
            let name = format!("{}.{}", section.name, key.name);
            let entry = config.entries().into_iter().find(|entry| entry.key == name).unwrap();
            assert_eq!((entry.value, entry.origin.layer()), (default, Layer::Repository));
        }
    }
}
