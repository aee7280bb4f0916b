use super::*;

/// `NAME [needs] paths: command`, a line each.
fn told(files: &[(&str, &str)]) -> String {
    let manifests = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let lines = scopes(&manifests).into_iter().map(|one| {
        let Scope { name, paths, needs } = one.scope;
        format!("{name} [{}] {}: {}\n", needs.join(" "), paths.join(" "), one.command)
    });
    lines.collect()
}

#[test]
fn cargo_members_need_what_they_depend_on_by_path() {
    let root = "[workspace]\nmembers = [\"crates/*\", \"tools/gen\"]\nexclude = [\"crates/old\"]\n\
                [workspace.dependencies]\ncore = { path = \"crates/core\" }\nserde = \"1\"\n";
    let files = [
        ("Cargo.toml", root),
        ("crates/core/Cargo.toml", "[package]\nname = \"my-core\"\n[dependencies]\nserde.workspace = true\n"),
        ("crates/cli/Cargo.toml", "[package]\nname = \"cli\"\n[dependencies]\ncore.workspace = true\n"),
        ("crates/old/Cargo.toml", "[package]\nname = \"old\"\n"),
        (
            "tools/gen/Cargo.toml",
            "[package]\nname = \"gen\"\n[target.'cfg(unix)'.dev-dependencies]\ncli = { path = \"../../crates/cli\" }\n",
        ),
    ];
    insta::assert_snapshot!(told(&files), @r"
    cli [my-core] crates/cli/**: cargo test -p cli
    my-core [] crates/core/**: cargo test -p my-core
    gen [cli] tools/gen/**: cargo test -p gen
    ");
}

#[test]
fn members_that_need_each_other_or_lie_in_each_other_are_one() {
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"*\", \"a/macros\"]\n"),
        ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }\n"),
        ("a/macros/Cargo.toml", "[package]\nname = \"macros\"\n"),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n[dev-dependencies]\na = { path = \"../a\" }\n"),
        ("c/Cargo.toml", "[package]\nname = \"c\"\n[dependencies]\nmacros = { path = \"../a/macros\" }\n"),
    ];
    insta::assert_snapshot!(told(&files), @r"
    a [] a/** b/**: cargo test -p a -p macros -p b
    c [a] c/**: cargo test -p c
    ");
}

#[test]
fn workspaces_of_node_by_their_package_manager() {
    let ui = r#"{"name": "@org/ui", "scripts": {"test": "vitest run"}}"#;
    let app =
        r#"{"name": "@org/app", "scripts": {"test": "jest"}, "dependencies": {"@org/ui": "workspace:*"}}"#;
    let docs = r#"{"name": "docs", "scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    let files = |root: &'static str, more: (&'static str, &'static str)| {
        told(&[
            ("package.json", root),
            more,
            ("packages/ui/package.json", ui),
            ("packages/app/package.json", app),
            ("packages/docs/package.json", docs),
        ])
    };
    let listed = r#"{"workspaces": ["packages/*"]}"#;
    insta::assert_snapshot!(files(listed, ("go.mod", "")), @r"
    app [ui] packages/app/**: npm test -w @org/app
    ui [] packages/ui/**: npm test -w @org/ui
    ");
    insta::assert_snapshot!(files(r#"{"workspaces": {"packages": ["packages/*"]}}"#, ("yarn.lock", "")), @r"
    app [ui] packages/app/**: yarn workspace @org/app test
    ui [] packages/ui/**: yarn workspace @org/ui test
    ");
    let pnpm = "packages:\n  # all\n  - 'packages/*' # here\n  - '!packages/docs'\ncatalog:\n  - x\n";
    insta::assert_snapshot!(files("{}", ("pnpm-workspace.yaml", pnpm)), @r"
    app [ui] packages/app/**: pnpm --filter @org/app test
    ui [] packages/ui/**: pnpm --filter @org/ui test
    ");
    insta::assert_snapshot!(files(listed, ("bun.lock", "")), @r"
    app [ui] packages/app/**: bun run --filter @org/app test
    ui [] packages/ui/**: bun run --filter @org/ui test
    ");
}

#[test]
fn modules_of_go() {
    let files = [
        ("go.work", "go 1.22\n\nuse (\n\t./api\n\t./cmd/tool // the tool\n)\n"),
        ("api/go.mod", "module example.com/api\n\ngo 1.22\n"),
        ("cmd/tool/go.mod", "module example.com/tool\n\nrequire example.com/api v0.1.0\n"),
    ];
    insta::assert_snapshot!(told(&files), @r"
    api [] api/**: go test ./api/...
    tool [api] cmd/tool/**: go test ./cmd/tool/...
    ");
}

#[test]
fn members_of_uv() {
    let files = [
        ("pyproject.toml", "[tool.uv.workspace]\nmembers = [\"libs/*\"]\n"),
        ("libs/core/pyproject.toml", "[project]\nname = \"My__Core\"\n"),
        (
            "libs/cli/pyproject.toml",
            "[project]\nname = \"cli\"\n[project.optional-dependencies]\nall = [\" WEB [x] ; extra\"]\n",
        ),
        (
            "libs/web/pyproject.toml",
            "[project]\nname = \"web\"\ndependencies = [\"my-core>=1; python_version > '3'\", \"x\"]\n",
        ),
    ];
    insta::assert_snapshot!(told(&files), @r"
    cli [web] libs/cli/**: uv run --package cli pytest libs/cli
    My__Core [] libs/core/**: uv run --package My__Core pytest libs/core
    web [My__Core] libs/web/**: uv run --package web pytest libs/web
    ");
}

#[test]
fn modules_of_maven_and_gradle() {
    let pom = |artifact: &str, needs: &str| {
        format!(
            "<project><parent><artifactId>top</artifactId></parent><artifactId>{artifact}</artifactId>\
             <dependencies><dependency><artifactId>{needs}</artifactId></dependency></dependencies></project>"
        )
    };
    let core = pom("core", "junit");
    // An artifact of another group has the name alone, and what is excluded is not needed.
    let web = "<project><parent><groupId>org.x</groupId><artifactId>top</artifactId></parent><artifactId>web</artifactId>\
        <dependencies><dependency><groupId>${project.groupId}</groupId><artifactId>core</artifactId><exclusions><exclusion>\
        <groupId>org.x</groupId><artifactId>tool</artifactId></exclusion></exclusions></dependency>\
        <dependency><groupId>org.other</groupId><artifactId>tool</artifactId></dependency></dependencies></project>";
    let (core, tool) = (
        core.replace("<parent>", "<parent><groupId>org.x</groupId>"),
        pom("tool", "core").replace("<parent>", "<parent><groupId>org.x</groupId>"),
    );
    let files = [
        (
            "pom.xml",
            "<project><artifactId>top</artifactId><modules><module>core</module><module>web</module><module>tool</module></modules></project>",
        ),
        ("mvnw", ""),
        ("core/pom.xml", core.as_str()),
        ("web/pom.xml", web),
        ("tool/pom.xml", tool.as_str()),
    ];
    insta::assert_snapshot!(told(&files), @r"
    core [] core/**: ./mvnw -pl core -am test
    web [core] web/**: ./mvnw -pl web -am test
    tool [core] tool/**: ./mvnw -pl tool -am test
    ");
    let files = [
        ("settings.gradle.kts", "rootProject.name = \"x\"\ninclude(\":core\", \":apps:web\")\n"),
        ("core/build.gradle.kts", "plugins { java }\n"),
        ("apps/web/build.gradle.kts", "dependencies { implementation(project(\":core\")) }\n"),
    ];
    insta::assert_snapshot!(told(&files), @r"
    core [] core/**: gradle :core:test
    web [core] apps/web/**: gradle :apps:web:test
    ");
}

#[test]
fn what_is_no_workspace_has_no_scopes() {
    for files in [
        &[][..],
        &[("Cargo.toml", "[package]\nname = \"a\"\n")],
        &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/Cargo.toml", "[package]\nname = \"a\"\n")],
        &[
            ("Cargo.toml", "not toml ["),
            ("package.json", "not json"),
            ("go.work", "use (\n"),
            ("pom.xml", "<"),
        ],
        &[("Cargo.toml", "[workspace]\nmembers = 3\n"), ("package.json", r#"{"workspaces": 3}"#)],
    ] {
        assert_eq!(told(files), "", "{files:?}");
    }
}
