#!/usr/bin/env python3
"""Whole-process comparison: `andon replay` beside git's own walk, on histories of five shapes.

    bench/shapes.py --andon target/dist/andon --out /tmp/results.md

Makes each history with fast-import and packs it as a server would. Measures `git log -p --numstat`, `andon replay` with nothing
cached and `andon replay` again, in interleaved rounds of one run, and writes a Markdown table of medians and ratios.
Standard library only. See bench/README.md.
"""

import argparse
import random
import shutil
import statistics
import sys
from pathlib import Path

import bulk

WORDS = "alpha beta gamma delta value count index state error result buffer stream parse write read close".split()


def text(chance, lines, line="{} = {}({}, {})"):
    """Lines that hardly repeat, so that a delta is as small as it is in real files."""
    return [line.format(*(chance.choice(WORDS) for _ in range(3)), chance.randrange(10**6)) for _ in range(lines)]


class History:
    """A fast-import stream: files that are lists of lines."""

    def __init__(self, seed):
        self.chance, self.files, self.out, self.number = random.Random(seed), {}, [], 0

    def commit(self, changed):
        when = bulk.EPOCH + self.number * 900
        message = f"Change {self.number}"
        self.out.append(f"commit refs/heads/main\ncommitter Bench <bench@localhost> {when} +0000\n"
                        f"data {len(message)}\n{message}\n")
        for path in changed:
            content = "\n".join(self.files[path]) + "\n"
            self.out.append(f"M 100644 inline {path}\ndata {len(content)}\n{content}\n")
        self.out.append("\n")
        self.number += 1

    def edit(self, path, lines=2):
        """Replaces some lines of a file and adds one now and then."""
        content = self.files[path]
        for _ in range(lines):
            content[self.chance.randrange(len(content))] = text(self.chance, 1)[0]
        if self.chance.random() < 0.3:
            content.insert(self.chance.randrange(len(content)), text(self.chance, 1)[0])

    def grow(self, commits, each, lines=2):
        """Commits each of which edits so many files."""
        paths = sorted(self.files)
        self.commit(paths)
        for _ in range(commits):
            changed = self.chance.sample(paths, each)
            for path in changed:
                self.edit(path, lines)
            self.commit(changed)


def folders(history):
    """Twelve folders of 2,000 small files."""
    history.files = {f"data/set{folder}/item-{n:04}.txt": text(history.chance, 8)
                     for folder in range(12) for n in range(2_000)}
    history.grow(3_000, 2, 1)


def tests(history):
    """Code and tests of it, of which each commit edits both."""
    for n in range(60):
        history.files[f"src/part{n}.py"] = text(history.chance, 300)
        history.files[f"tests/test_part{n}.py"] = [
            line for test in range(60)
            for line in (f"def test_{WORDS[test % 16]}_{test}():", *text(history.chance, 4, "    assert {}.{}({}) == {}"), "")]
    paths = sorted(history.files)
    history.commit(paths)
    for number in range(500):
        part = history.chance.randrange(60)
        history.edit(f"src/part{part}.py", 6)
        content = history.files[f"tests/test_part{part}.py"]
        at = 6 * history.chance.randrange(len(content) // 6)
        content[at:at] = [f"def test_new_{number}():", *text(history.chance, 4, "    assert {}.{}({}) == {}"), ""]
        history.commit([f"src/part{part}.py", f"tests/test_part{part}.py"])


def big(history):
    """Files of 0.3, 0.8 and 2.5 MB."""
    history.files = {f"big/{lines}.txt": text(history.chance, lines) for lines in (10_000, 26_000, 80_000)}
    history.grow(400, 1, 5)


def sweeps(history):
    """Commits that each go over 300 of 3,000 files."""
    history.files = {f"src/d{n // 50}/f{n % 50}.txt": text(history.chance, 60) for n in range(3_000)}
    history.grow(150, 300)


def plain(history):
    """A long history of small commits."""
    history.files = {f"src/d{n // 20}/f{n % 20}.txt": text(history.chance, 120) for n in range(400)}
    history.grow(8_000, 2)


SHAPES = [folders, tests, big, sweeps, plain]


def generated(bench, shape, seed):
    top = bench.work / f"{shape.__name__}.git"
    if not top.exists():
        history = History(seed)
        shape(history)
        bench.run(bench.git, "init", "-q", "--bare", "-b", "main", top)
        bench.run(bench.git, "fast-import", "--quiet", cwd=top, stdin="".join(history.out).encode())
        bench.run(bench.git, "repack", "-adfq", cwd=top)
    return top, int(bench.run(bench.git, "rev-list", "--count", "main", cwd=top)) - 1


def cases(bench, shape, seed):
    top, commits = generated(bench, shape, seed)
    # Not the first commit: it adds everything, and that is one step for either.
    spec = f"main~{commits}..main"
    replay = [bench.andon, "replay", spec]
    return [
        bulk.Case("git", [bench.git, "log", "-p", "--numstat", spec], top, commits),
        bulk.Case("replay", replay, top, commits, before=lambda: shutil.rmtree(top / "andon", ignore_errors=True)),
        # The run before has left its cache.
        bulk.Case("again", replay, top, commits),
    ]


def table(groups):
    rows = ["| shape | commits | git log -p --numstat | replay | CPU | against git | again | against git | peak memory |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for name, (git, first, again) in groups.items():
        base, cold, warm = (statistics.median(case.walls) for case in (git, first, again))
        rows.append(f"| {name} | {git.commits:,} | {base:.2f} s | {cold:.2f} s | {statistics.median(first.cpu):.2f} s "
                    f"| {cold / base:.2f} | {warm:.2f} s | {warm / base:.2f} | {max(first.peaks):,.0f} MB |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--andon", required=True, help="the program")
    parser.add_argument("--shapes", default="", help="names, separated by commas; default: all")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", help="kept between runs")
    parser.add_argument("--out", help="where the table goes; default: standard output")
    options = parser.parse_args()
    bench = bulk.Bench(options)
    wanted = set(filter(None, options.shapes.split(",")))
    shapes = [shape for shape in SHAPES if not wanted or shape.__name__ in wanted]
    groups = {shape.__name__: cases(bench, shape, options.seed) for shape in shapes}
    for number in range(options.rounds):
        for group in groups.values():
            for case in group:
                case.measure(bench, True)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    if options.out:
        Path(options.out).write_text(table(groups), encoding="utf-8")
    else:
        print(table(groups))


if __name__ == "__main__":
    main()
