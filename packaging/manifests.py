#!/usr/bin/env python3
"""Manifests of package managers that want a version and a checksum: scoop, winget, mise, and SchemaStore.

  packaging/manifests.py fill ARCHIVE OUT    with the version of Cargo.toml and the checksum of the archive for Windows
  packaging/manifests.py check PROGRAM       whether everything that is committed for packages agrees; ends with 1 if not

`check` needs the packages PyYAML and jsonschema.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

TOP = pathlib.Path(__file__).resolve().parent.parent
MANIFESTS = TOP / "packaging/manifests"
WINDOWS = "x86_64-pc-windows-msvc"


def toml(path):
    return tomllib.loads((TOP / path).read_text(encoding="utf-8"))


def version():
    return toml("Cargo.toml")["workspace"]["package"]["version"]


def fill(archive, out):
    """Every manifest with the version and the checksum in their places; without what only the check reads."""
    checksum = hashlib.sha256(pathlib.Path(archive).read_bytes()).hexdigest()
    for template in sorted(MANIFESTS.rglob("*")):
        name = template.relative_to(MANIFESTS)
        if template.is_dir() or "negative" in name.parts:
            continue
        text = template.read_text(encoding="utf-8")
        file = pathlib.Path(out) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("@VERSION@", version()).replace("@SHA256@", checksum), encoding="utf-8")


class Check:
    """Collects what does not hold, so that one run says all of it."""

    def __init__(self):
        self.wrong = []
        self.checked = 0

    def that(self, holds, what):
        self.checked += 1
        if not holds:
            self.wrong.append(what)

    def archive(self, url, where):
        """An address of an archive that dist makes for this version."""
        targets = toml("dist-workspace.toml")["dist"]["targets"]
        repository = toml("Cargo.toml")["workspace"]["package"]["repository"]
        found = re.fullmatch(rf"{re.escape(repository)}/releases/download/v([^/]+)/andon-([a-z0-9_-]+)\.(zip|tar\.gz)", url)
        self.that(bool(found), f"{where}: {url} is no archive of a release")
        if found:
            self.that(found[1] == version(), f"{where}: {found[1]} is not the version {version()}")
            self.that(found[2] in targets, f"{where}: dist-workspace.toml has no target {found[2]}")
            self.that((found[3] == "zip") == (found[2] == WINDOWS), f"{where}: {found[2]} comes in another form")


def scoop(check, filled, checksum):
    manifest = json.loads((filled / "scoop/andon.json").read_text())
    for key in ("version", "description", "homepage", "license", "architecture", "bin", "checkver", "autoupdate"):
        check.that(key in manifest, f"scoop: {key} is missing")
    for name, one in manifest["architecture"].items():
        check.archive(one["url"], f"scoop, {name}")
        check.that(one["hash"] == checksum, "scoop: not the checksum of the archive")
        later = manifest["autoupdate"]["architecture"][name]["url"]
        check.that(later.replace("$version", version()) == one["url"], "scoop: autoupdate looks elsewhere")


def winget(check, filled, checksum):
    import yaml

    found = {}
    for file in (filled / "winget").glob("*.yaml"):
        manifest = yaml.safe_load(file.read_text())
        found[manifest["ManifestType"]] = manifest
        check.that(file.name.startswith(manifest["PackageIdentifier"]), f"winget: {file.name} has another identifier")
        check.that(manifest["PackageVersion"] == version(), f"winget: {file.name} has another version")
    check.that(sorted(found) == ["defaultLocale", "installer", "version"], f"winget: there are {sorted(found)}")
    check.that(len({one["ManifestVersion"] for one in found.values()}) == 1, "winget: manifests of several versions")
    check.that(found["version"]["DefaultLocale"] == found["defaultLocale"]["PackageLocale"], "winget: locales differ")
    for one in found["installer"]["Installers"]:
        check.archive(one["InstallerUrl"], "winget")
        check.that(one["InstallerSha256"] == checksum, "winget: not the checksum of the archive")


def schemastore(check, filled, program):
    import jsonschema

    schema = json.loads(subprocess.run([program, "config", "schema"], check=True, capture_output=True).stdout)
    entry = json.loads((filled / "schemastore/catalog-entry.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    check.that(schema["$id"] == entry["url"], f"SchemaStore: {entry['url']} is not {schema['$id']}")
    validator = jsonschema.Draft7Validator(schema)
    for file in sorted((MANIFESTS / "schemastore").rglob("*.toml")):
        mistakes = list(validator.iter_errors(tomllib.loads(file.read_text())))
        said = "; ".join(one.message for one in mistakes)
        check.that(bool(mistakes) == ("negative" in file.parts), f"{file.relative_to(TOP)}: {said or 'is taken as right'}")
        # The program says the same of it as the schema.
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            (pathlib.Path(folder) / "andon.toml").write_text(file.read_text())
            told = subprocess.run([program, "config", "check"], cwd=folder, capture_output=True, text=True)
            refused = told.returncode != 0
            check.that(refused == bool(mistakes), f"{file.relative_to(TOP)}: the program says {told.stderr or 'it is fine'}")


def versions(check):
    for path in ("pyproject.toml", "packaging/python/pyproject.toml"):
        project = toml(path)["project"]
        given = project.get("version", version())
        check.that(given == version(), f"{path}: {given} is not the version {version()}")
    for name, one in toml("Cargo.toml")["workspace"]["dependencies"].items():
        if isinstance(one, dict) and "path" in one and "version" in one:
            check.that(one["version"] == version(), f"Cargo.toml: {name} is wanted as {one['version']}")
    mise = toml("packaging/manifests/mise/andon.toml")
    check.that(set(mise) == {"backends", "description", "test"}, "mise: other keys than its registry knows")
    check.that(f"github:{slug()}" in mise["backends"], "mise: another repository")


def slug():
    return toml("Cargo.toml")["workspace"]["package"]["repository"].removeprefix("https://github.com/")


def workflows(check):
    import yaml

    targets = set(toml("dist-workspace.toml")["dist"]["targets"])
    jobs = {}
    for name in ("release", "packages", "publish"):
        text = (TOP / f".github/workflows/{name}.yml").read_text()
        jobs[name] = yaml.safe_load(text)["jobs"]
        for action in re.findall(r"uses: *\"?([^\s\"#]+)", text):
            pinned = action.startswith(("./", "$/")) or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
            check.that(bool(pinned), f"{name}.yml: {action} is not pinned by its commit")
    wheels = {one["target"] for one in jobs["packages"]["wheel"]["strategy"]["matrix"]["include"]}
    check.that(wheels == targets, f"packages.yml: wheels and archives differ by {sorted(wheels ^ targets)}")


def crate(check):
    """What is packed for crates.io: all that the code reads, and no tests."""
    listed = subprocess.run(
        ["cargo", "package", "--package", "andon", "--list", "--allow-dirty", "--offline"],
        cwd=TOP, check=True, capture_output=True, text=True,
    ).stdout.split()
    packed = set(listed)
    for unwanted in ("tests/", "bench/", "benches/", "docs/", "packaging/", ".github/", ".ci/"):
        found = sum(file.startswith(unwanted) for file in packed)
        check.that(found == 0, f"the crate packs {found} files of {unwanted}")
    for file in sorted(packed):
        if not file.endswith(".rs") or "/tests" in file:
            continue
        code = (TOP / file).read_text().split("#[cfg(test)]")[0]
        for wanted in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', code):
            path = ((TOP / file).parent / wanted).resolve().relative_to(TOP).as_posix()
            check.that(path in packed, f"{file} reads {path}, which is not packed")


def check_all(program):
    program = str(pathlib.Path(program).resolve())
    check = Check()
    with tempfile.TemporaryDirectory() as folder:
        filled = pathlib.Path(folder) / "filled"
        archive = pathlib.Path(folder) / "archive"
        archive.write_bytes(b"an archive")
        fill(archive, filled)
        checksum = hashlib.sha256(b"an archive").hexdigest()
        for file in filled.rglob("*.*"):
            check.that(not re.search("@[A-Z0-9]+@", file.read_text()), f"{file.name}: something is not filled in")
        scoop(check, filled, checksum)
        winget(check, filled, checksum)
        schemastore(check, filled, program)
    versions(check)
    workflows(check)
    crate(check)
    for what in check.wrong:
        print(f"error: {what}", file=sys.stderr)
    print(f"packages: {check.checked} checks, {len(check.wrong)} failed")
    return 1 if check.wrong else 0


def main(arguments):
    match arguments:
        case ["fill", archive, out]:
            fill(archive, out)
            return 0
        case ["check", program]:
            return check_all(program)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
