//! The members of a workspace, from its manifests' own graph: Cargo, npm and its kind, go.work, uv, Maven, Gradle.
//!
//! Each member that has tests becomes a scope of `andon.toml` ([`scopes`]). Members that need each other, as
//! dev-dependencies may have it, and members inside of others become one.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::Regex;
use serde_json::Value as Json;

use super::WORDS;
use andon_core::{WordList, domain::Scope};
use testreport::pattern;

/// Manifests by their path from the top of the working tree. The caller bounds their number and size.
pub type Manifests = BTreeMap<String, String>;

/// The names of files that are read.
pub const NAMES: WordList = WordList::section(WORDS, "members");
/// Names that matter at the top, whatever is in them.
pub const TOP_NAMES: WordList = WordList::section(WORDS, "members at the top");

/// Most members of a workspace; a larger one gets no scopes.
const MAX_MEMBERS: usize = 200;

/// A scope as it may be declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedScope {
    /// Name, paths and needs.
    pub scope: Scope,
    /// The command that runs its tests.
    pub command: String,
}

/// A member of a workspace.
#[derive(Debug, Clone)]
struct Member {
    /// Its directory, from the top; never the top itself.
    dir: String,
    /// Its name in commands.
    name: String,
    /// The word by which others need it: its directory or its name, as the kind of workspace has it.
    key: String,
    /// The keys of what it needs: other members, itself, and packages from elsewhere.
    needs: BTreeSet<String>,
    /// True when a command for its tests is known.
    tested: bool,
}

impl Member {
    /// A member with tests that others need by its directory.
    fn by_dir(dir: &str, name: &str, needs: BTreeSet<String>) -> Self {
        Self { dir: dir.to_owned(), name: name.to_owned(), key: dir.to_owned(), needs, tested: true }
    }

    /// A member with tests that others need by its name.
    fn by_name(dir: &str, name: &str, needs: BTreeSet<String>) -> Self {
        Self { key: name.to_owned(), ..Self::by_dir(dir, name, needs) }
    }
}

/// Reads the members of a workspace of one kind; `None` where the directory is no such workspace.
type MemberReader = fn(&Manifests) -> Option<Vec<Member>>;

/// Builds the command that runs the tests of some members together.
type MemberCommand = fn(&[&Member], &Manifests) -> String;

/// The scopes of the workspace at the top, by the first kind that it is of; fewer than two are none.
pub fn scopes(manifests: &Manifests) -> Vec<ProposedScope> {
    let kinds: [(MemberReader, MemberCommand); 6] = [
        (cargo, |members, _| format!("cargo test {}", each(members, |member| format!("-p {}", member.name)))),
        (node, of_node),
        (go, |members, _| format!("go test {}", each(members, |member| format!("./{}/...", member.dir)))),
        (uv, of_uv),
        (maven, of_maven),
        (gradle, of_gradle),
    ];
    for (read, command) in kinds {
        let Some(members) = read(manifests) else { continue };
        let tested = members.iter().filter(|member| member.tested).count();
        if (2..=MAX_MEMBERS).contains(&tested) && members.len() <= MAX_MEMBERS {
            return joined(&members, manifests, command);
        }
    }
    Vec::new()
}

/// One scope for each group of members that cannot be taken apart.
fn joined(members: &[Member], manifests: &Manifests, command: MemberCommand) -> Vec<ProposedScope> {
    let place: BTreeMap<&str, usize> =
        members.iter().enumerate().map(|(at, member)| (member.key.as_str(), at)).collect();
    let needs = |at: usize| members[at].needs.iter().filter_map(|key| place.get(key.as_str()).copied());
    let reaches: Vec<BTreeSet<usize>> = (0..members.len())
        .map(|at| {
            let (mut found, mut open) = (BTreeSet::new(), vec![at]);
            while let Some(one) = open.pop() {
                open.extend(needs(one).filter(|need| found.insert(*need)));
            }
            found
        })
        .collect();
    let inside = |one: usize, other: usize| {
        let below = members[one].dir.strip_prefix(&members[other].dir);
        below.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut group: Vec<usize> = (0..members.len()).collect();
    for one in 0..members.len() {
        for other in 0..one {
            let ring = reaches[one].contains(&other) && reaches[other].contains(&one);
            if ring || inside(one, other) || inside(other, one) {
                let (old, new) = (group[one].max(group[other]), group[one].min(group[other]));
                group.iter_mut().filter(|at| **at == old).for_each(|at| *at = new);
            }
        }
    }
    let names = names(members, &group);
    let mut scopes = Vec::new();
    for (&first, name) in &names {
        let own: Vec<&Member> =
            members.iter().zip(&group).filter(|(_, of)| **of == first).map(|(member, _)| member).collect();
        let needed =
            own.iter().flat_map(|member| member.needs.iter()).filter_map(|key| place.get(key.as_str()));
        let needed: BTreeSet<&String> =
            needed.filter(|at| group[**at] != first).filter_map(|at| names.get(&group[*at])).collect();
        let tested: Vec<&Member> = own.iter().copied().filter(|member| member.tested).collect();
        if tested.is_empty() {
            continue;
        }
        scopes.push(ProposedScope {
            scope: Scope {
                name: name.clone(),
                paths: tops(&own).into_iter().map(|dir| format!("{dir}/**")).collect(),
                needs: needed.into_iter().cloned().collect(),
            },
            command: command(&tested, manifests),
        });
    }
    // A member without tests is code in no scope, which everything reads anyway.
    let kept: BTreeSet<String> = scopes.iter().map(|one| one.scope.name.clone()).collect();
    for one in &mut scopes {
        one.scope.needs.retain(|need| kept.contains(need));
    }
    if scopes.len() < 2 { Vec::new() } else { scopes }
}

/// The directories of members, without those inside of others.
fn tops<'a>(members: &[&'a Member]) -> Vec<&'a str> {
    let dirs: Vec<&str> = members.iter().map(|member| member.dir.as_str()).collect();
    let inside = |dir: &str| {
        dirs.iter().any(|other| dir.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
    };
    dirs.iter().copied().filter(|dir| !inside(dir)).collect()
}

/// A name for each group: that of its first member without its namespace; the directory where two would be the same.
fn names(members: &[Member], group: &[usize]) -> BTreeMap<usize, String> {
    let short = |at: usize| word(members[at].name.rsplit(['/', ':']).next().unwrap_or_default());
    let long = |at: usize| word(&members[at].dir);
    let firsts: BTreeSet<usize> = group.iter().copied().collect();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for at in &firsts {
        *times.entry(short(*at)).or_default() += 1;
    }
    let named = |at: usize| if times[&short(at)] == 1 { short(at) } else { long(at) };
    firsts.into_iter().map(|at| (at, named(at))).collect()
}

/// `text` as the name of a scope.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let word: String = text.trim_start_matches(['@', '.', '/']).chars().map(plain).take(64).collect();
    let word = word.trim_matches(['-', '_']).to_owned();
    if word.is_empty() { "member".to_owned() } else { word }
}

/// The directories below the top that have a manifest of this name and match one of the globs.
fn matching<'m>(manifests: &'m Manifests, name: &str, globs: &[String], but: &[String]) -> Vec<&'m str> {
    let (wanted, unwanted) = (set(globs), set(but));
    let dirs = manifests.keys().filter_map(|path| path.strip_suffix(name)?.strip_suffix('/'));
    dirs.filter(|dir| wanted.is_match(dir) && !unwanted.is_match(dir)).collect()
}

fn set(globs: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        if let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// `path`, which a manifest in `dir` names, from the top. `None` where it leads out of the repository.
fn resolved(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn texts(value: Option<&toml::Value>) -> Vec<String> {
    let items = value.and_then(toml::Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn cargo(manifests: &Manifests) -> Option<Vec<Member>> {
    let root: toml::Table = manifests.get("Cargo.toml")?.parse().ok()?;
    let workspace = root.get("workspace")?;
    let globs = texts(workspace.get("members"));
    let shared = workspace.get("dependencies").and_then(toml::Value::as_table);
    let dirs = matching(manifests, "Cargo.toml", &globs, &texts(workspace.get("exclude")));
    let mut members = Vec::new();
    for dir in dirs {
        let Ok(manifest) = manifests[&format!("{dir}/Cargo.toml")].parse::<toml::Table>() else { continue };
        let Some(name) = manifest.get("package").and_then(|package| package.get("name")?.as_str()) else {
            continue;
        };
        let mut needs = BTreeSet::new();
        for table in tables_of_cargo(&manifest) {
            for (name, dependency) in table {
                let inherits = dependency.get("workspace").and_then(toml::Value::as_bool) == Some(true);
                let own = dependency.get("path").map(|path| (dir, path));
                let from = shared.filter(|_| inherits).and_then(|shared| shared.get(name)?.get("path"));
                let path = own.or(from.map(|path| ("", path)));
                needs.extend(path.and_then(|(from, path)| resolved(from, path.as_str()?)));
            }
        }
        members.push(Member::by_dir(dir, name, needs));
    }
    Some(members)
}

/// The tables of dependencies of a manifest, also those of a target.
fn tables_of_cargo(manifest: &toml::Table) -> Vec<&toml::Table> {
    const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let targets = targets.filter_map(|(_, target)| target.as_table());
    let all = std::iter::once(manifest).chain(targets);
    all.flat_map(|table| TABLES.iter().filter_map(|name| table.get(*name)?.as_table())).collect()
}

fn each(members: &[&Member], say: impl Fn(&Member) -> String) -> String {
    members.iter().map(|member| say(member)).collect::<Vec<_>>().join(" ")
}

fn node(manifests: &Manifests) -> Option<Vec<Member>> {
    let root: Json = serde_json::from_str(manifests.get("package.json")?).ok()?;
    let listed = &root["workspaces"];
    let listed = if listed.is_object() { &listed["packages"] } else { listed };
    let mut globs: Vec<String> =
        listed.as_array().into_iter().flatten().filter_map(|glob| glob.as_str().map(str::to_owned)).collect();
    globs.extend(manifests.get("pnpm-workspace.yaml").map(|text| packages_of_pnpm(text)).unwrap_or_default());
    let (but, globs): (Vec<String>, Vec<String>) = globs.into_iter().partition(|glob| glob.starts_with('!'));
    let but: Vec<String> = but.iter().map(|glob| glob[1..].to_owned()).collect();
    let dirs = matching(manifests, "package.json", &globs, &but);
    let member = |dir: &str| {
        let manifest: Json = serde_json::from_str(&manifests[&format!("{dir}/package.json")]).ok()?;
        let tables = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
        let tables = tables.iter().filter_map(|table| manifest[*table].as_object());
        let needs = tables.flat_map(|table| table.keys().cloned()).collect();
        // The placeholder of `npm init` is no test.
        let script = manifest["scripts"]["test"].as_str();
        let tested = script.is_some_and(|script| !script.contains("no test specified"));
        Some(Member { tested, ..Member::by_name(dir, manifest["name"].as_str()?, needs) })
    };
    Some(dirs.into_iter().filter_map(member).collect())
}

/// The list `packages` of pnpm-workspace.yaml: one text a line. No more of YAML is used there.
fn packages_of_pnpm(text: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "packages:").skip(1);
    let item = |line: &str| {
        let item = line.trim().strip_prefix('-')?.split(" #").next()?.trim();
        Some(item.trim_matches(['\'', '"']).to_owned())
    };
    let mut found = Vec::new();
    for line in lines.by_ref() {
        match item(line) {
            Some(glob) => found.push(glob),
            None if line.trim().is_empty() || line.trim().starts_with('#') => {}
            None => break,
        }
    }
    found
}

fn of_node(members: &[&Member], manifests: &Manifests) -> String {
    let has = |name: &str| manifests.contains_key(name);
    if has("pnpm-workspace.yaml") || has("pnpm-lock.yaml") {
        format!("pnpm {} test", each(members, |member| format!("--filter {}", member.name)))
    } else if has("yarn.lock") {
        let one = |member: &&Member| format!("yarn workspace {} test", member.name);
        members.iter().map(one).collect::<Vec<_>>().join(" && ")
    } else if has("bun.lock") || has("bun.lockb") {
        format!("bun run {} test", each(members, |member| format!("--filter {}", member.name)))
    } else {
        format!("npm test {}", each(members, |member| format!("-w {}", member.name)))
    }
}

fn go(manifests: &Manifests) -> Option<Vec<Member>> {
    let listed = pattern(r"(?m)^\s*(?:use\s+)?(\.(?:/[A-Za-z0-9_\x{80}-\x{10ffff}./-]*)?)\s*(?://.*)?$")?;
    let used = listed.captures_iter(manifests.get("go.work")?);
    let dirs: Vec<String> =
        used.filter_map(|found| resolved("", &found[1])).filter(|dir| !dir.is_empty()).collect();
    let name = pattern(r#"(?m)^module\s+"?([^\s"]+)"#)?;
    let member = |dir: &String| {
        let text = manifests.get(&format!("{dir}/go.mod"))?;
        let needs = text.split_whitespace().map(str::to_owned).collect();
        Some(Member::by_name(dir, &name.captures(text)?[1], needs))
    };
    Some(dirs.iter().filter_map(member).collect())
}

fn uv(manifests: &Manifests) -> Option<Vec<Member>> {
    let root: toml::Table = manifests.get("pyproject.toml")?.parse().ok()?;
    let workspace = root.get("tool")?.get("uv")?.get("workspace")?;
    let globs = texts(workspace.get("members"));
    let dirs = matching(manifests, "pyproject.toml", &globs, &texts(workspace.get("exclude")));
    // PEP 503: a run of these is one.
    let plain = |name: &str| {
        let words = name.trim().split(['-', '_', '.']).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-").to_lowercase()
    };
    let member = |dir: &str| {
        let manifest: toml::Table = manifests[&format!("{dir}/pyproject.toml")].parse().ok()?;
        let project = manifest.get("project")?;
        let name = project.get("name")?.as_str()?;
        let tool = manifest.get("tool").and_then(|tool| tool.get("uv"));
        let tables = [manifest.get("dependency-groups"), project.get("optional-dependencies")];
        let tables = tables.into_iter().flatten().filter_map(toml::Value::as_table).flatten();
        let lists = [project.get("dependencies"), tool.and_then(|uv| uv.get("dev-dependencies"))];
        let lists = lists.into_iter().flatten().chain(tables.map(|(_, list)| list));
        let needs = lists.flat_map(|list| texts(Some(list))).map(|wanted| {
            let wanted = wanted.trim_start();
            let end = wanted.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
            plain(&wanted[..end.unwrap_or(wanted.len())])
        });
        Some(Member { key: plain(name), ..Member::by_dir(dir, name, needs.collect()) })
    };
    Some(dirs.into_iter().filter_map(member).collect())
}

fn of_uv(members: &[&Member], _: &Manifests) -> String {
    let one = |member: &&Member| format!("uv run --package {} pytest {}", member.name, member.dir);
    members.iter().map(one).collect::<Vec<_>>().join(" && ")
}

fn maven(manifests: &Manifests) -> Option<Vec<Member>> {
    let root = manifests.get("pom.xml")?;
    let module = pattern(r"<module>\s*([^<\s]+)\s*</module>")?;
    let dependency = pattern(r"(?s)<dependency>(.*?)</dependency>")?;
    // Of a module only what it calls itself and what it depends on: another group's artifact of the same name is none of it.
    let aside = pattern(
        r"(?s)<!--.*?-->|<exclusions>.*?</exclusions>|<dependencyManagement>.*?</dependencyManagement>|<build>.*?</build>|<reporting>.*?</reporting>|<profiles>.*?</profiles>",
    )?;
    let parent = pattern(r"(?s)<parent>(.*?)</parent>|<dependencies>.*?</dependencies>")?;
    let group = pattern(r"<groupId>\s*([^<\s]+)\s*</groupId>")?;
    let artifact = pattern(r"<artifactId>\s*([^<\s]+)\s*</artifactId>")?;
    let mut dirs: Vec<String> = Vec::new();
    let mut open = vec![(String::new(), root)];
    while let Some((dir, text)) = open.pop() {
        let text = aside.replace_all(text, "");
        for found in module.captures_iter(&text) {
            let Some(below) =
                resolved(&dir, &found[1]).filter(|below| dirs.len() < MAX_MEMBERS && !dirs.contains(below))
            else {
                continue;
            };
            if let Some(text) = manifests.get(&format!("{below}/pom.xml")) {
                dirs.push(below.clone());
                open.push((below, text));
            }
        }
    }
    let member = |dir: &String| {
        let text = aside.replace_all(&manifests[&format!("{dir}/pom.xml")], "");
        let first = |pattern: &Regex, text: &str| pattern.captures(text).map(|found| found[1].to_owned());
        let own = parent.replace_all(&text, "");
        let inherited =
            || parent.captures_iter(&text).find_map(|found| first(&group, found.get(1)?.as_str()));
        let own_group = first(&group, &own).or_else(inherited).unwrap_or_default();
        let needs = dependency.captures_iter(&text).filter_map(|found| {
            // A property is that of the project, as good as always.
            let of =
                first(&group, &found[1]).filter(|of| !of.contains("${")).unwrap_or_else(|| own_group.clone());
            Some(format!("{of}:{}", first(&artifact, &found[1])?))
        });
        let key = format!("{own_group}:{}", first(&artifact, &own)?);
        // One that only lists modules has no code.
        (!module.is_match(&text)).then(|| Member { key, ..Member::by_dir(dir, dir, needs.collect()) })
    };
    Some(dirs.iter().filter_map(member).collect())
}

fn of_maven(members: &[&Member], manifests: &Manifests) -> String {
    let program = if manifests.contains_key("mvnw") { "./mvnw" } else { "mvn" };
    let names: Vec<&str> = members.iter().map(|member| member.dir.as_str()).collect();
    format!("{program} -pl {} -am test", names.join(","))
}

fn gradle(manifests: &Manifests) -> Option<Vec<Member>> {
    let settings = manifests.get("settings.gradle").or_else(|| manifests.get("settings.gradle.kts"))?;
    let include = pattern(r#"(?m)^\s*include(?-u:\b)[ (]*((?:["'][^"']+["'][\s,]*)+)"#)?;
    let quoted = pattern(r#"["']([^"']+)["']"#)?;
    let project = pattern(r#"project\s*\(\s*(?:path\s*[:=]\s*)?["'](:[^"']+)["']"#)?;
    let listed: Vec<&str> =
        include.captures_iter(settings).filter_map(|found| found.get(1)).map(|list| list.as_str()).collect();
    let paths = listed.iter().flat_map(|list| quoted.captures_iter(list)).map(|found| {
        let path = found[1].trim_start_matches(':').to_owned();
        (path.replace(':', "/"), format!(":{path}"))
    });
    let members = paths.filter_map(|(dir, path)| {
        let text = ["build.gradle", "build.gradle.kts"]
            .iter()
            .find_map(|name| manifests.get(&format!("{dir}/{name}")))?;
        let needs = project.captures_iter(text).filter_map(|found| resolved("", &found[1].replace(':', "/")));
        Some(Member::by_dir(&dir, &path, needs.collect()))
    });
    Some(members.collect())
}

fn of_gradle(members: &[&Member], manifests: &Manifests) -> String {
    let program = if manifests.contains_key("gradlew") { "./gradlew" } else { "gradle" };
    format!("{program} {}", each(members, |member| format!("{}:test", member.name)))
}

#[cfg(test)]
mod tests;
