#!/usr/bin/env python3
"""Whole-process comparison: what long histories cost, beside git's own diff hashing.

    bench/bulk.py --andon target/dist/andon --history /path/to/a/repository.git --out /tmp/results.md

Measures every case in interleaved rounds of one run: `git log -p | git patch-id --stable`, `andon replay` over the same
range with and without its cache, `andon backfill` and `andon check`, and `check` of
the newest 50 commits of a generated history of 100,000. Writes a Markdown table of medians, ratios and peak memory.
Standard library only. See bench/README.md.
"""

import argparse
import datetime
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hermetic

EPOCH = 1_600_000_000


class Bench:
    """The tools, the environment and the scratch directory of one run."""

    def __init__(self, options):
        self.work = Path(options.work or tempfile.mkdtemp(prefix="andon-bulk-")).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.andon = Path(options.andon).resolve()
        self.git = shutil.which("git")
        home = self.work / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.env = hermetic.environment(home)

    def run(self, *argv, cwd=None, stdin=None):
        """Runs an untimed step; ends the benchmark when it fails."""
        return hermetic.run(self.env, argv, cwd, stdin)

    def mirror(self, name, source):
        """A packed bare copy of its own, so that nothing is written where the history came from."""
        top = self.work / name
        if not top.exists():
            self.run(self.git, "clone", "-q", "--mirror", source, top)
            self.run(self.git, "repack", "-adq", cwd=top)
        return top

    def generated(self, commits):
        top = self.work / f"generated-{commits}"
        if top.exists():
            return top
        top.mkdir()
        self.run(self.git, "init", "-q", "--bare", "-b", "main", cwd=top)
        self.run(self.git, "fast-import", "--quiet", cwd=top, stdin=history(commits))
        self.run(self.git, "repack", "-adq", cwd=top)
        self.run(self.git, "commit-graph", "write", "--reachable", cwd=top)
        return top


def history(commits):
    """A fast-import stream: 200 files, each commit changes a line of one or two of them and now and then adds one."""
    chance = random.Random(5)
    lines = {path: [f"line {n}" for n in range(60)] for path in (f"src/d{n // 20}/f{n % 20}.txt" for n in range(200))}
    out = []
    for number in range(commits):
        changed = chance.sample(sorted(lines), 1 + chance.randrange(2)) if number else sorted(lines)
        if chance.random() < 0.05:
            lines[f"src/new/{number % 500}.txt"] = changed_lines = [f"new {number}"]
            changed = [*changed, f"src/new/{number % 500}.txt"]
            del changed_lines
        message = f"Change {number}"
        out.append(f"commit refs/heads/main\ncommitter Bench <bench@localhost> {EPOCH + number * 900} +0000\n"
                   f"data {len(message)}\n{message}\n")
        for path in dict.fromkeys(changed):
            text = lines[path]
            text[chance.randrange(len(text))] = f"changed in {number}"
            content = "\n".join(text) + "\n"
            out.append(f"M 100644 inline {path}\ndata {len(content)}\n{content}\n")
        out.append("\n")
    return "".join(out).encode()


class Case:
    """One measured command line."""

    def __init__(self, name, argv, cwd, commits, **more):
        self.name, self.argv, self.cwd, self.commits = name, [str(a) for a in argv], cwd, commits
        self.before, self.exits = more.get("before"), more.get("exits", (0,))
        self.walls, self.cpu, self.peaks = [], [], []

    def measure(self, bench, keep):
        if self.before:
            self.before()
        with open(os.devnull, "r+b") as null:
            began = time.perf_counter()
            child = subprocess.Popen(self.argv, cwd=self.cwd, env=bench.env, stdin=null, stdout=null,
                                     stderr=subprocess.PIPE)
            said = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in self.exits:
            sys.exit(f"{self.name}: exit {child.returncode}\n{said.decode(errors='replace')}")
        if keep:
            self.walls.append(wall)
            self.cpu.append(usage.ru_utime + usage.ru_stime)
            self.peaks.append(usage.ru_maxrss / 1024)


def newest(bench, top, commits):
    """The range of the newest commits: down to the first parent below which that many are missing."""
    chain = bench.run(bench.git, "rev-list", "--first-parent", "HEAD", cwd=top).split()
    low, high = 1, len(chain) - 1
    while low < high:
        middle = (low + high) // 2
        count = int(bench.run(bench.git, "rev-list", "--count", f"{chain[middle]}..HEAD", cwd=top))
        low, high = (low, middle) if count >= commits else (middle + 1, high)
    spec = f"{chain[low]}..HEAD"
    return spec, int(bench.run(bench.git, "rev-list", "--count", spec, cwd=top))


def drop(top, *names):
    """Forgets caches, and the refs that are named."""
    def forget():
        shutil.rmtree(top / "andon", ignore_errors=True)
        for name in names:
            subprocess.run(["git", "update-ref", "-d", name], cwd=top, check=True)
    return forget


def of_history(bench, top, commits):
    spec, count = newest(bench, top, commits)
    cold = drop(top, "refs/notes/andon")
    pipe = f"git log -p {spec} | git patch-id --stable"

    def replay(name, *more, **options):
        return Case(name, [bench.andon, "replay", spec, *more], top, count, **options)

    return [
        Case("git log -p, git patch-id --stable", ["sh", "-c", pipe], top, count),
        replay("andon replay, 2 threads", "-j2", before=cold),
        replay("andon replay, 1 thread", "-j1", before=cold),
        replay("andon replay again, from its cache", "-j2", before=warm(bench, top, spec)),
        Case("andon backfill, 2 threads", [bench.andon, "backfill", spec, "-j2"], top, count, before=cold),
        Case("andon check of what was backfilled, 2 threads", [bench.andon, "check", spec, "-j2"], top, count,
             before=drop(top), exits=(1,)),
        # The last of a round: the next begins without records.
        Case("andon replay beside those records, 2 threads", [bench.andon, "replay", spec, "-j2"], top, count,
             before=drop(top)),
    ]


def warm(bench, top, spec):
    def fill():
        drop(top, "refs/notes/andon")()
        bench.run(bench.andon, "replay", spec, cwd=top)
    return fill


def of_generated(bench, commits):
    top = bench.generated(commits)
    small = "main~50..main"
    bench.run(bench.andon, "backfill", small, cwd=top)
    return [
        Case(f"andon check of 50 commits of {commits:,}", [bench.andon, "check", small], top, 50, exits=(1,)),
        Case(f"git rev-list of 50 commits of {commits:,}", ["git", "rev-list", small], top, 50),
        Case(f"andon replay of {commits:,} commits, 2 threads", [bench.andon, "replay", "main~50", "-j2"], top,
             commits - 50, before=drop(top)),
    ]


def table(cases):
    base = statistics.median(cases[0].walls)
    rows = ["| case | median | commits/s | against git | CPU | peak memory |", "|---|--:|--:|--:|--:|--:|"]
    for case in cases:
        wall = statistics.median(case.walls)
        rate, peer = case.commits / wall, cases[0].commits / base
        shown = f"{wall * 1000:,.0f} ms" if wall < 1 else f"{wall:,.2f} s"
        against = f"{rate / peer:.1f}" if case.commits == cases[0].commits else ""
        rows.append(f"| {case.name} | {shown} | {rate:,.0f} | {against} | {statistics.median(case.cpu):,.2f} s "
                    f"| {max(case.peaks):,.0f} MB |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--andon", required=True, help="the program")
    parser.add_argument("--history", required=True, help="a repository with a long history; it is cloned")
    parser.add_argument("--commits", type=int, default=10_000, help="of that history")
    parser.add_argument("--generated", type=int, default=100_000, help="commits of the generated history; 0 leaves it out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", help="kept between runs")
    parser.add_argument("--out", help="where the table goes; default: standard output")
    options = parser.parse_args()
    bench = Bench(options)
    groups = [of_history(bench, bench.mirror("history", options.history), options.commits)]
    if options.generated:
        groups.append(of_generated(bench, options.generated))
    for number in range(options.rounds + 1):
        for cases in groups:
            # The first round warms up. The order is fixed where one case works on what another left.
            for case in cases:
                case.measure(bench, number > 0)
        print(f"round {number} of {options.rounds}", file=sys.stderr)
        if number > 0:
            tell(bench, options, groups, number)


def tell(bench, options, groups, rounds):
    """Writes what was measured so far: a run of an hour must not lose all to its last minute."""
    head = (f"{rounds} rounds, {datetime.date.today()}, {os.cpu_count()} processors, {platform.machine()}, "
            f"{bench.run(bench.git, '--version')}, history: {Path(options.history).name}")
    text = head + "\n\n" + "\n\n".join(table(cases) for cases in groups) + "\n"
    if options.out:
        Path(options.out).write_text(text)
    elif rounds == options.rounds:
        print(text)


if __name__ == "__main__":
    main()
