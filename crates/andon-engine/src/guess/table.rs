//! The table of guesses: which files must be there, what they must hold, and the command.
//!
//! It is one text, as an array of rows would be relocated at every start of the program. Rows of one kind exclude each
//! other: the first row whose signs are all there is the guess. What takes more than signs is in [`super::project_kinds`],
//! `cargo`, `node` and `python`.

use super::listing::Listing;
use super::{GuessedCommand, KindGuess};

/// `kind | signs | command | reason`.
///
/// Signs are joined by `&`. Each begins with files, separated by commas, of which one must be there; `~` requires one of
/// the texts after it in one of them, `=` a line, `#` a member of JSON, `!` that they are no JSON. The reason is the file
/// of the first sign unless it is given. One that begins with `?` says why the command is not sure, with `{}` for that
/// file.
const TABLE: &str = "\
tox     | tox.ini~[tox],[testenv                  | tox
tox     | tox.toml                                | tox
tox     | pyproject.toml~[tool.tox                | tox
tox     | setup.cfg~[tox:tox]                     | tox
nox     | noxfile.py~def tests(                   | nox -s tests
nox     | noxfile.py~def test(                    | nox -s test
nox     | noxfile.py~def unit(                    | nox -s unit
nox     | noxfile.py~def unit_tests(              | nox -s unit_tests
nox     | noxfile.py~def pytest(                  | nox -s pytest
nox     | noxfile.py                              | nox | ?a noxfile.py without a session called tests
maven   | pom.xml & mvnw                          | ./mvnw test
maven   | pom.xml                                 | mvn test
gradle  | GRADLE & ANDROID~com.android. & gradlew | ./gradlew testDebugUnitTest | ?{} of an Android project, whose unit tests are one task for each variant
gradle  | GRADLE & ANDROID~com.android.           | gradle testDebugUnitTest | ?{} of an Android project, whose unit tests are one task for each variant
gradle  | GRADLE & gradlew                        | ./gradlew test
gradle  | GRADLE                                  | gradle test
php     | composer.json!                          | | ?a composer.json that cannot be read
php     | composer.json#/scripts/test             | composer test | the script in composer.json
php     | artisan                                 | php artisan test
php     | tests/Pest.php                          | vendor/bin/pest | pest in composer.json
php     | composer.json#/require-dev/pestphp~1pest,/require/pestphp~1pest | vendor/bin/pest | pest in composer.json
php     | phpunit.xml,phpunit.xml.dist,phpunit.dist.xml | vendor/bin/phpunit
php     | composer.json#/require-dev/phpunit~1phpunit,/require/phpunit~1phpunit | vendor/bin/phpunit tests | ?phpunit in composer.json, and no phpunit.xml that says what it runs
dart    | pubspec.yaml=sdk: flutter,flutter:      | flutter test
dart    | pubspec.yaml                            | dart test
cmake   | CMakeLists.txt & CTEST & build/CMakeCache.txt | cmake --build build && ctest --test-dir build | CMakeLists.txt and build/
cmake   | CMakeLists.txt & CTEST                  | cmake -S . -B build && cmake --build build && ctest --test-dir build | ?CMakeLists.txt, and no build directory that is known
cmake   | meson.build & build/build.ninja         | meson test -C build | meson.build and build/
cmake   | meson.build                             | meson test -C build | ?meson.build, and no build directory that is known
elixir  | mix.exs                                 | mix test
swift   | Package.swift                           | swift test
haskell | stack.yaml                              | stack test
cabal   | cabal.project                           | cabal test all
scala   | build.sbt                               | sbt test
zig     | build.zig                               | zig build test
clojure | project.clj                             | lein test
ocaml   | dune-project                            | dune test
crystal | shard.yml                               | crystal spec
gleam   | gleam.toml                              | gleam test
bazel   | MODULE.bazel,WORKSPACE.bazel            | bazel test //...
lua     | .busted                                 | busted
erlang  | rebar.config                            | rebar3 do eunit, ct
";

/// Names of the table for long lists.
const LISTS: [(&str, &str); 3] = [
    ("GRADLE", "build.gradle.kts,build.gradle,settings.gradle.kts,settings.gradle"),
    ("ANDROID", "build.gradle.kts,build.gradle,app/build.gradle.kts,app/build.gradle"),
    (
        "CTEST",
        "CMakeLists.txt,tests/CMakeLists.txt,test/CMakeLists.txt~enable_testing,include(CTest),add_test,_discover_tests",
    ),
];

/// The kinds that [`super::python`] looks up by name: its environments may own them.
const OF_PYTHON: [&str; 2] = ["tox", "nox"];

/// What each kind of the table says of `listing`, but for those that belong to Python.
pub(super) fn guesses(listing: &Listing) -> Vec<KindGuess> {
    let mut kinds: Vec<&str> = rows().map(|row| row.kind).filter(|kind| !OF_PYTHON.contains(kind)).collect();
    kinds.dedup();
    kinds.into_iter().filter_map(|kind| guess(listing, kind)).collect()
}

/// What `kind` says of `listing`.
pub(super) fn guess(listing: &Listing, kind: &str) -> Option<KindGuess> {
    rows().filter(|row| row.kind == kind).find_map(|row| {
        let files: Option<Vec<&str>> = row.signs.split('&').map(|sign| shows(listing, sign)).collect();
        let file = *files?.first()?;
        let command = |because: &str| GuessedCommand::new(row.command, because);
        Some(match row.reason.strip_prefix('?') {
            Some(doubt) => KindGuess::Unsure {
                seen: doubt.replace("{}", file),
                candidates: (!row.command.is_empty()).then(|| command(file)).into_iter().collect(),
            },
            None => KindGuess::Sure(command(if row.reason.is_empty() { file } else { row.reason })),
        })
    })
}

struct Row {
    kind: &'static str,
    signs: String,
    command: &'static str,
    reason: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().map(|line| {
        let mut cells = line.split('|').map(str::trim);
        let mut cell = || cells.next().unwrap_or_default();
        let (kind, signs) = (cell(), cell());
        let signs = LISTS.iter().fold(signs.to_owned(), |signs, (name, list)| signs.replace(name, list));
        Row { kind, signs, command: cell(), reason: cell() }
    })
}

/// A sign: its files, and what one of them must hold.
fn parts(sign: &str) -> (impl Iterator<Item = &str>, &str) {
    let (files, wanted) = sign.split_at(sign.find(['~', '=', '#', '!']).unwrap_or(sign.len()));
    (files.split(','), wanted)
}

/// The file that shows a sign.
fn shows<'s>(listing: &Listing, sign: &'s str) -> Option<&'s str> {
    let (mut files, wanted) = parts(sign.trim());
    files.find(|file| listing.has(file) && holds(listing.text(file).unwrap_or_default(), wanted))
}

/// Whether a file of this text holds what is `wanted`.
fn holds(text: &str, wanted: &str) -> bool {
    let json = || serde_json::from_str::<serde_json::Value>(text).ok();
    let mut kind = wanted.chars();
    let (kind, mut any) = (kind.next(), kind.as_str().split(','));
    match kind {
        None => true,
        Some('~') => any.any(|part| text.contains(part)),
        Some('=') => any.any(|line| text.lines().any(|one| one.trim() == line)),
        Some('#') => json().is_some_and(|all| {
            any.any(|path| all.pointer(path).is_some_and(|found| !found.is_null() && found != ""))
        }),
        Some(_) => json().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::READ;
    use super::*;

    #[test]
    fn every_row_is_whole_and_what_it_looks_into_is_read() {
        for row in rows() {
            assert!(!row.kind.is_empty() && !row.command.is_empty() || row.reason.starts_with('?'));
            for (mut files, wanted) in row.signs.split('&').map(|sign| parts(sign.trim())) {
                assert!(wanted.is_empty() || files.all(|file| READ.contains(file)), "{}", row.signs);
            }
        }
    }
}
