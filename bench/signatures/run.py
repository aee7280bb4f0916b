#!/usr/bin/env python3
"""Measures failure signatures over the reports of real runners.

    bench/signatures/run.py --andon target/debug/andon --out /tmp/signatures.md

Each suite of `suites/` fails in many ways. It is run again at once, from another directory, and with other lines
added above and between its tests: nothing of that may change a failure. Then it is run with another value, another
exception type and another name in it: each of those must show. `andon explain --format json` reads the reports.
Standard library only. What is not installed is skipped; see bench/README.md.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = 0.98
BASE = {"V": "41", "K": 0, "N": "", "shift": False}
# Name, what differs from the first run, and the mark of the tests that must differ then.
SAME = [("again", {}), ("elsewhere", {}), ("shifted", {"shift": True})]
OTHER = [("value", {"V": "43"}), ("kind", {"K": 1}), ("name", {"N": "two"})]
PIP = ["pytest==8.4.2", "pytest-xdist==3.8.0", "pytest-reportlog==0.4.0"]
NPM = ["jest@29.7.0", "vitest@2.1.9", "mocha@10.8.2", "tape@5.9.0"]
COMMENTS = {".rs": "//", ".js": "//", ".mjs": "//", ".go": "//", ".cc": "//", ".php": "//"}

JS_HEAD = """const assert = require('node:assert');
const child = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
"""
JS_EXPECT = """
describe('nested', () => {
  describe('deeper', () => {
    test('value that is expected', () => {
      expect(1 + 2).toBe(@V@);
    });
  });
});

test('object that is expected', () => {
  expect({ a: 1, b: [1, 2, 3] }).toEqual({ a: 1, b: [1, 2, 4] });
});

test('set that is expected', () => {
  expect(new Set(['ann', 'bob'])).toEqual(new Set(['cid']));
});

test('never ends', async () => {
  await new Promise(() => {});
}, 300);

describe('broken hook', () => {
  beforeAll(() => {
    throw new Error('the hook is broken');
  });
  test('is never reached', () => {});
});
"""
JS_NODE = """
describe('nested', () => {
  test('value in a nested suite', () => {
    assert.strictEqual(1 + 2, @V@);
  });
});

test('never ends', { timeout: 300 }, async () => {
  await new Promise((done) => setTimeout(done, 2000));
});
"""
JS_MOCHA = """
describe('nested', () => {
  describe('deeper', () => {
    it('value in a nested suite', () => {
      assert.strictEqual(1 + 2, @V@);
    });
  });
  it('never ends', function (done) {
    this.timeout(300);
    setTimeout(() => {}, 10);
  });
});

describe('broken hook', () => {
  before(() => {
    throw new Error('the hook is broken');
  });
  it('is never reached', () => {});
});
"""


class Runner:
    """How one suite becomes a project, and the reports that its runs leave behind."""

    def __init__(self, name, needs, suite, kinds, runs):
        self.name, self.needs, self.suite, self.kinds, self.runs = name, needs, suite, kinds, runs

    def files(self, bench):
        return {
            str(path.relative_to(HERE / "suites" / self.suite).with_suffix("")): path.read_text()
            for path in sorted((HERE / "suites" / self.suite).rglob("*.in"))
        }


class Js(Runner):
    """The list of tests in JavaScript, in the words of one runner."""

    def __init__(self, name, needs, target, test, head, tail, runs):
        super().__init__(name, needs, "js", ["TypeError", "RangeError"], runs)
        self.target, self.test, self.head, self.tail = target, test, head, tail

    def files(self, bench):
        text = super().files(bench)["tests.js"]
        head = JS_HEAD + self.head
        if self.target.endswith(".mjs"):
            head = re.sub(r"const (\w+) = require\('([^']+)'\);", r"import \1 from '\2';", head)
            text = text.replace("__dirname", "import.meta.dirname")
        text = text.replace("@HEAD@", head).replace("@TAIL@", self.tail).replace("@TEST@", self.test)
        return {self.target: text, "package.json": '{"name": "sample", "private": true}\n'}


def runners(bench):
    """Every runner with its ways to report: name, argument list, and the report (a file, or None for the output)."""
    node, bin_ = "node", str(bench.work / "node_modules/.bin")
    python = str(bench.work / "venv/bin/python")
    pytest = [python, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_pytest.py"]
    jest = [f"{bin_}/jest", "--ci", "--rootDir", "."]
    vitest = [f"{bin_}/vitest", "run", "--no-color", "--globals", "--root", "."]
    build_gtest = "g++ -std=c++17 -O0 tests.cc -lgtest -lgtest_main -lpthread -o tests"
    ctest = "cmake -S . -B build >/dev/null && cd build && ctest"
    js = ["js"]
    return [
        Runner("cargo test", ["cargo"], "rust", ["u8", "f64"], [
            ("text", ["cargo", "test", "--no-fail-fast", "--offline"], None),
            ("text, backtraces", ["env", "RUST_BACKTRACE=1", "cargo", "test", "--no-fail-fast", "--offline"], None),
        ]),
        Runner("nextest", ["cargo", "cargo-nextest"], "rust", ["u8", "f64"], [
            ("junit", ["cargo", "nextest", "run", "--no-fail-fast", "--offline"], "target/nextest/default/junit.xml"),
            ("libtest-json", ["env", "NEXTEST_EXPERIMENTAL_LIBTEST_JSON=1", "cargo", "nextest", "run", "--no-fail-fast",
                              "--offline", "--message-format", "libtest-json"], None),
        ]),
        Runner("pytest", ["@venv"], "python", ["ValueError", "LookupError"], [
            ("text", pytest, None),
            ("text, --tb=short", [*pytest, "--tb=short", "-q"], None),
            ("text, -n2", [*pytest, "-n2", "-v"], None),
            ("junit", [*pytest, "--junitxml=report.xml"], "report.xml"),
            ("reportlog", [*pytest, "--report-log=report.jsonl"], "report.jsonl"),
        ]),
        Runner("unittest", ["python3"], "python", ["ValueError", "LookupError"], [
            ("text", ["python3", "-m", "unittest", "tests/test_unit.py"], None),
            ("text, -v", ["python3", "-m", "unittest", "-v", "tests/test_unit.py"], None),
        ]),
        Js("jest", ["@jest", *js], "sample.test.js", "test", "", JS_EXPECT, [
            ("text", jest, None),
            ("json", [*jest, "--json", "--outputFile=report.json"], "report.json"),
        ]),
        Js("vitest", ["@vitest", *js], "sample.test.mjs", "test", "", JS_EXPECT, [
            ("text", vitest, None),
            ("json", [*vitest, "--reporter=json", "--outputFile=report.json"], "report.json"),
            ("junit", [*vitest, "--reporter=junit", "--outputFile=report.xml"], "report.xml"),
            ("tap", [*vitest, "--reporter=tap-flat"], None),
        ]),
        Js("node --test", ["node"], "sample.test.js", "test", "const { test, describe } = require('node:test');\n",
           JS_NODE, [
               ("tap", [node, "--test", "--test-reporter=tap"], None),
               ("junit", [node, "--test", "--test-reporter=junit"], None),
           ]),
        Js("mocha", ["@mocha", *js], "sample.js", "it", "", JS_MOCHA, [
            ("text", [f"{bin_}/mocha", "--no-color", "--exit", "sample.js"], None),
            ("json", [f"{bin_}/mocha", "--exit", "--reporter", "json", "sample.js"], None),
            ("xunit", [f"{bin_}/mocha", "--exit", "--reporter", "xunit", "--reporter-option", "output=report.xml",
                       "sample.js"], "report.xml"),
            ("tap", [f"{bin_}/mocha", "--exit", "--reporter", "tap", "sample.js"], None),
        ]),
        Js("tape", ["@tape", *js], "sample.js", "check", TAPE, "", [("tap", [node, "sample.js"], None)]),
        Runner("go test", ["go"], "go", ['errors.New("the same words")', '&os.PathError{Err: errors.New("the same words")}'], [
            ("text", ["go", "test", "./..."], None),
            ("text, -v", ["go", "test", "-v", "./..."], None),
            ("json", ["go", "test", "-json", "./..."], None),
        ]),
        Runner("gtest", ["g++"], "cpp", ['std::runtime_error("the same words")', "7"], [
            ("text", ["sh", "-c", f"{build_gtest} && ./tests"], None),
            ("xml", ["sh", "-c", f"{build_gtest} && ./tests --gtest_output=xml:report.xml"], "report.xml"),
        ]),
        Runner("ctest", ["ctest", "cmake"], "ctest", ["one", "two"], [
            ("text", ["sh", "-c", f"{ctest} --output-on-failure"], None),
            ("text, plain", ["sh", "-c", ctest], None),
            ("junit", ["sh", "-c", f"{ctest} --output-junit ../report.xml"], "report.xml"),
        ]),
        Runner("bats", ["bats"], "bats", ["one", "two"], [
            ("tap", ["bats", "sample.bats"], None),
            ("text", ["bats", "--formatter", "pretty", "sample.bats"], None),
            ("junit", ["bats", "--formatter", "junit", "sample.bats"], None),
        ]),
        Runner("minitest", ["ruby"], "minitest", ["ArgumentError", "KeyError"], [
            ("text", ["ruby", "test_sample.rb"], None),
            ("text, -v", ["ruby", "test_sample.rb", "-v"], None),
        ]),
        Runner("RSpec", ["rspec"], "rspec", ["ArgumentError", "KeyError"], [
            ("text", ["rspec", "sample_spec.rb"], None),
            ("text, documentation", ["rspec", "--format", "documentation", "--order", "rand", "sample_spec.rb"], None),
        ]),
        Runner("PHPUnit", ["phpunit"], "phpunit", ["RuntimeException", "LogicException"], [
            ("text", ["phpunit", "--do-not-cache-result", "SampleTest.php"], None),
            ("junit", ["phpunit", "--do-not-cache-result", "--log-junit", "report.xml", "SampleTest.php"], "report.xml"),
        ]),
    ]


TAPE = """const test = require('tape');
const check = (name, body) => test(name, async (t) => {
  t.equal(1, 1, 'comes first');
  await body(t);
});
check('value that tape compares', (t) => t.equal(1 + 2, @V@));
check('object that tape compares', (t) => t.deepEqual({ a: 1 }, { a: @V@ }, 'value'));
"""


class Bench:
    """One measurement."""

    def __init__(self, options):
        self.options = options
        self.work = Path(options.work).resolve()
        self.andon = Path(options.andon).resolve()
        self.env = dict(os.environ, CI="true", NO_COLOR="1", LC_ALL="C.UTF-8", GIT_CEILING_DIRECTORIES=str(self.work))
        for name in ["CLAUDECODE", "CARGO_TARGET_DIR", "FORCE_COLOR", "RUST_BACKTRACE", "NODE_OPTIONS", "PYTHONPATH"]:
            self.env.pop(name, None)

    def install(self):
        """Brings the runners of PyPI and npm into the work directory."""
        self.work.mkdir(parents=True, exist_ok=True)
        if not (self.work / "venv/bin/pytest").exists():
            self.quiet([sys.executable, "-m", "venv", str(self.work / "venv")])
            self.quiet([str(self.work / "venv/bin/pip"), "install", "-q", "--disable-pip-version-check", *PIP])
        if shutil.which("npm"):
            missing = [name for name in NPM if not (self.work / "node_modules" / name.split("@")[0]).exists()]
            if missing:
                (self.work / "package.json").write_text('{"name": "runners", "private": true}\n')
                self.quiet(["npm", "install", "--no-audit", "--no-fund", "--silent", *NPM])

    def quiet(self, command):
        done = subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{command[0]} failed: {done.stderr.strip()[-300:]}", file=sys.stderr)

    def has(self, need):
        if need == "@venv":
            return (self.work / "venv/bin/pytest").exists()
        if need == "js":
            return bool(shutil.which("node"))
        if need.startswith("@"):
            return (self.work / "node_modules" / need[1:]).exists()
        return bool(shutil.which(need))

    def project(self, runner, place, change):
        """Writes the suite to a directory of its own; of an older one only what was built is kept."""
        marks = {**BASE, **change}
        place.mkdir(parents=True, exist_ok=True)
        for name, text in runner.files(self).items():
            extra = f"{COMMENTS.get(Path(name).suffix, '#')} Another line.\n" * 7 if marks["shift"] else ""
            text = text.replace("@S@\n", extra).replace("@V@", marks["V"]).replace("@N@", marks["N"])
            text = text.replace("@K@", runner.kinds[marks["K"]])
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name.endswith((".sh", ".bats")) else 0o644)
        if runner.name == "nextest":
            (place / ".config").mkdir(exist_ok=True)
            (place / ".config/nextest.toml").write_text('[profile.default.junit]\npath = "junit.xml"\n')

    def failures(self, runner, way, place):
        """Runs the suite and gives the failures by id."""
        _, command, report = way
        if report:
            (place / report).unlink(missing_ok=True)
        done = subprocess.run(
            command, cwd=place, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if not report else subprocess.PIPE, timeout=600, check=False,
        )
        path = place / report if report else place.with_suffix(".out")
        if not report:
            path.write_bytes(done.stdout)
        explained = subprocess.run(
            [str(self.andon), "explain", "--format", "json", "--exit-code", str(done.returncode), "--root", str(place),
             str(path)],
            cwd=place, env=self.env, capture_output=True, text=True, check=False,
        )
        if explained.returncode != 0:
            raise RuntimeError(f"{path}: {explained.stderr.strip()[:300]}")
        read = json.loads(explained.stdout)
        if read["status"] not in ("failed", "crashed"):
            raise RuntimeError(f"{path}: {read['status']} {read['warnings']}")
        found = {}
        for failure in read["failures"]:
            found[failure["test"]] = failure["text"]
        return read, found

    def measure(self, runner, way):
        """The row of one way to report."""
        where = self.work / "projects" / re.sub(r"\W+", "-", f"{runner.name} {way[0]}")
        one, two = where / "one/project", where / "and/somewhere/else/p2"
        self.project(runner, one, {})
        read, first = self.failures(runner, way, one)
        row = {"format": read["format"], "failures": len(first), "notes": [], "ids": {}, "errors": {}}
        for name, change in SAME:
            place = two if name == "elsewhere" else one
            self.project(runner, place, change)
            _, found = self.failures(runner, way, place)
            row["ids"][name] = sum(test in found for test in first) / len(first)
            kept = [test for test in first if test in found and found[test] == first[test]]
            row["errors"][name] = len(kept) / len(first)
            self.note(row, name, first, found)
        row["merged"] = self.merged(runner, way, one, first, row)
        if len(set(read["failing"])) + sum(test is None for test in first) != len(first):
            row["notes"].append("ids and failures do not agree")
        return row

    def merged(self, runner, way, place, first, row):
        """How many failures that are not the same read the same, of how many."""
        merged = total = 0
        for name, change in OTHER:
            self.project(runner, place, change)
            _, found = self.failures(runner, way, place)
            mark = {"value": "value", "kind": "kind", "name": "renamed"}[name]
            for test in first:
                squeezed = re.sub(r"[\W_]+", "", test or "").lower()
                # A report without texts tells names apart and nothing else.
                if mark not in squeezed or (way[0] == "text, plain" and name != "name"):
                    continue
                total += 1
                same_id = test in found
                same = same_id if name == "name" else same_id and found[test] == first[test]
                if same and first[test] is not None:
                    merged += 1
                    row["notes"].append(f"{name}: {test} reads the same")
                elif same:
                    total -= 1  # The report has no text at all.
        self.project(runner, place, {})
        return merged, total

    def note(self, row, name, first, found):
        for test, text in first.items():
            if test not in found:
                row["notes"].append(f"{name}: {test} is gone")
            elif found[test] != text:
                row["notes"].append(f"{name}: {test}: {text!r} became {found[test]!r}")


def percent(share):
    return f"{share * 100:.1f}"


def table(rows):
    lines = [
        "| runner | report | read as | failures | ids: again, elsewhere, shifted (%) | errors: the same (%) | merged |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for runner, way, row in rows:
        if isinstance(row, str):
            lines.append(f"| {runner} | {way} | {row} | | | | |")
            continue
        ids = " / ".join(percent(row["ids"][name]) for name, _ in SAME)
        errors = " / ".join(percent(row["errors"][name]) for name, _ in SAME)
        merged, total = row["merged"]
        lines.append(
            f"| {runner} | {way} | {row['format']} | {row['failures']} | {ids} | {errors} | {merged} of {total} |"
        )
    return "\n".join(lines) + "\n"


def verdict(rows):
    """The whole, and whether it is enough."""
    measured = [row for _, _, row in rows if not isinstance(row, str)]
    failures = sum(row["failures"] for row in measured) * len(SAME)
    shares = []
    for level in ("ids", "errors"):
        kept = sum(share * row["failures"] for row in measured for share in row[level].values())
        shares.append(kept / failures if failures else 0.0)
    merged = sum(row["merged"][0] for row in measured)
    total = sum(row["merged"][1] for row in measured)
    broken = [f"{runner} {way}" for runner, way, row in rows if isinstance(row, str) and row.startswith("broken")]
    worst = min((share for row in measured for level in ("ids", "errors") for share in row[level].values()), default=0)
    text = (
        f"{len(measured)} reports, {failures} comparisons: ids the same {percent(shares[0])} %, errors the same"
        f" {percent(shares[1])} % (worst report {percent(worst)} %); {merged} of {total} different failures merged.\n"
    )
    if broken:
        text += f"Not measured, though installed: {', '.join(broken)}.\n"
    return text, bool(measured) and min(shares) >= TARGET and merged == 0 and not broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", required=True, help="the program")
    parser.add_argument("--work", default="/tmp/andon-signatures", help="where suites and runners are kept")
    parser.add_argument("--out", help="write the table here as well")
    parser.add_argument("--only", default="", help="a part of a runner's name")
    parser.add_argument("--notes", action="store_true", help="show each failure that did not do as it should")
    bench = Bench(parser.parse_args())
    bench.install()
    rows = []
    for runner in runners(bench):
        if bench.options.only not in runner.name:
            continue
        missing = [need.strip("@") for need in runner.needs if not bench.has(need)]
        for way in runner.runs:
            if missing:
                rows.append((runner.name, way[0], f"skipped: no {', '.join(missing)}"))
                continue
            try:
                row = bench.measure(runner, way)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError, OSError) as error:
                row = f"broken: {error}"
            rows.append((runner.name, way[0], row))
            print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
            if bench.options.notes and not isinstance(row, str):
                for note in row["notes"]:
                    print(f"    {note[:1500]}", file=sys.stderr, flush=True)
    text, enough = verdict(rows)
    shown = f"{table(rows)}\n{text}"
    print(shown)
    if bench.options.out:
        Path(bench.options.out).write_text(shown)
    sys.exit(0 if enough else 1)


if __name__ == "__main__":
    main()
