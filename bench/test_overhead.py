#!/usr/bin/env python3
"""What `andon test` adds to a run of the tests.

    bench/test_overhead.py --andon target/dist/andon

Builds repositories of 100 and 50,000 files and measures, in interleaved rounds: the test command alone (`true`),
the same under `andon test`, and `git status`. Prints a Markdown table of medians: wall time that is added, and CPU
time (user and system, children included) against that of `git status`. Three states of the working tree: clean, ten
edited files, and ten edited and ten untracked ones. Standard library only. See bench/README.md.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hermetic

STATES = ["clean", "10 edited", "10 edited, 10 untracked"]


def build(repo, files, env):
    repo.mkdir(parents=True)
    run = lambda *argv: subprocess.run(argv, cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    run("git", "init", "-q", ".")
    for number in range(files):
        path = repo / f"d{number // 2500:02}" / f"s{number // 50 % 50:02}" / f"f{number:05}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 3)
    (repo / "andon.toml").write_text('[test]\ncommand = ["true"]\n')
    run("git", "add", "-A")
    run("git", "commit", "-qm", "Start")
    # Past the second in which the files were written: their stat data can be trusted.
    time.sleep(1.1)
    run("git", "status")


def edit(repo, state, env):
    files = sorted(repo.glob("d*/s*/f*.txt"))[:10]
    if state != "clean":
        for path in files:
            path.write_text("edited\n")
    if state.endswith("untracked"):
        for number, path in enumerate(files):
            path.with_name(f"new{number}.txt").write_text("new\n")
    subprocess.run(["git", "status"], cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)


def measure(argv, repo, env):
    """Wall and CPU seconds of one process with all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(argv, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{argv}: {done.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--andon", required=True)
    parser.add_argument("--files", type=int, nargs="+", default=[100, 50_000])
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    andon = str(Path(options.andon).resolve())
    with tempfile.TemporaryDirectory(prefix="andon-bench-") as work:
        work = Path(work)
        env = hermetic.environment(work)
        print("| files | working tree | `true` ms | `andon test` adds ms | its CPU ms | `git status` CPU ms | ratio |")
        print("|--:|---|--:|--:|--:|--:|--:|")
        for files in options.files:
            repo = work / str(files)
            build(repo, files, env)
            for state in STATES:
                edit(repo, state, env)
                cases = {"true": ["true"], "andon": [andon, "test"], "status": ["git", "status"]}
                found = {name: [] for name in cases}
                for round_ in range(options.rounds + 2):
                    order = list(cases)
                    random.shuffle(order)
                    for name in order:
                        sample = measure(cases[name], repo, env)
                        if round_ >= 2:
                            found[name].append(sample)
                wall = {name: statistics.median(one[0] for one in samples) * 1000 for name, samples in found.items()}
                cpu = {name: statistics.median(one[1] for one in samples) * 1000 for name, samples in found.items()}
                print(
                    f"| {files:,} | {state} | {wall['true']:.1f} | {wall['andon'] - wall['true']:+.1f} | "
                    f"{cpu['andon']:.1f} | {cpu['status']:.1f} | {cpu['andon'] / cpu['status']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
