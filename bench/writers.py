#!/usr/bin/env python3
"""Many writers: is a record lost, does a hook fail, and what does company cost?

    bench/writers.py --andon target/dist/andon [--out FILE]

1. N processes commit in N worktrees of one store at once: every commit must have its record, no hook may fail or say
   anything. The median time of post-commit is compared with one process alone, and with N processes in N stores of
   their own: what is above that is the price of sharing, not that of having fewer cores than processes. Then once more
   with a pause between two commits, as agents have that edit and test: one alone, and N in one store.
2. For each number of clones: they commit and run `andon sync` after each commit, through one bare repository. Every record
   must be in every clone at the end, the records and ledgers of all clones must be equal, and no push may be refused.

3. A remote with the refs of many writers: what the first sync and the next one cost.

Standard library only. Exits 1 when anything is lost.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hermetic

CONFIG = '[rules]\nuntested-edit = "off"\niteration-cap = "off"\n'


class Store:
    """A scratch directory with a hermetic environment."""

    def __init__(self, andon, root):
        self.andon, self.root = andon, root
        self.env = hermetic.environment(root)

    def run(self, where, *args, ok=True, **env):
        env = self.env | env
        done = subprocess.run([str(a) for a in args], cwd=where, env=env, capture_output=True, text=True)
        if ok and done.returncode:
            sys.exit(f"{args} in {where}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def repository(self, name):
        where = self.root / name
        where.mkdir()
        self.run(where, "git", "init", "-q", "-b", "main", ".")
        (where / "andon.toml").write_text(CONFIG)
        (where / "code.c").write_text("start\n")
        self.run(where, self.andon, "install")
        self.run(where, "git", "add", ".")
        self.run(where, "git", "commit", "-qm", "Start")
        return where


def commits(store, where, count, label, each=None, pause=0.0):
    """Makes commits; returns what was said on standard error and the failures."""
    said, failed = [], []
    chance = random.Random(label)
    trace = {"GIT_TRACE2_EVENT": str(store.root / "trace" / label)}
    for number in range(count):
        (where / "code.c").write_text(f"{label} {number}\n")
        done = store.run(where, "git", "commit", "-qam", f"{label} {number}", ok=False, **trace)
        if done.returncode:
            failed.append(done.stderr)
        if done.stderr:
            said.append(done.stderr)
        if each:
            each(where, failed)
        if pause:
            time.sleep(pause * chance.uniform(0.5, 1.5))
    return said, failed


def records(store, where):
    return len(store.run(where, "git", "notes", "--ref=andon", "list").stdout.splitlines())


def times(store, labels):
    """What git itself saw of post-commit: milliseconds, and how many ended with an error."""
    spans, bad = [], 0
    for label in labels:
        begun = {}
        for line in (store.root / "trace" / label).read_text().splitlines():
            event = json.loads(line)
            key = (event["sid"], event.get("child_id"))
            if event["event"] == "child_start" and event.get("hook_name") == "post-commit":
                begun[key] = True
            elif event["event"] == "child_exit" and begun.pop(key, None):
                spans.append(event["t_rel"] * 1e3)
                bad += event["code"] != 0
    return spans, bad


def together(store, wheres, count, label, pause=0.0):
    """Commits in all directories at once: labels, messages, failures and seconds."""
    labels = [f"{label}{number}" for number in range(len(wheres))]
    begin = time.perf_counter()
    with ThreadPoolExecutor(len(wheres)) as pool:
        jobs = [pool.submit(commits, store, where, count, name, None, pause) for where, name in zip(wheres, labels)]
        ends = [job.result() for job in jobs]
    said, failed = (sum(len(end[at]) for end in ends) for at in (0, 1))
    return labels, said, failed, time.perf_counter() - begin


def worktrees(store, writers, count, pause):
    """Part 1. Returns table rows, and whether they held."""
    main = store.repository("store")
    for number in range(writers + 1):
        store.run(main, "git", "worktree", "add", "-q", "-b", f"w{number}", store.root / f"w{number}")
    commits(store, store.root / f"w{writers}", count, "alone")
    alone, _ = times(store, ["alone"])
    own = [store.repository(f"own{number}") for number in range(writers)]
    labels, *_ = together(store, own, count, "own")
    apart, _ = times(store, labels)
    shared = [store.root / f"w{number}" for number in range(writers)]
    row = sharing(store, main, shared, (count, "shared", 0.0), (alone, apart))
    if not pause:
        return [row]
    commits(store, store.root / f"w{writers}", count, "paused", pause=pause)
    alone, _ = times(store, ["paused"])
    return [row, sharing(store, main, shared, (count, "pausing", pause), (alone, None))]


def sharing(store, main, wheres, rounds, others):
    """Commits in all worktrees at once. Returns a table row, and whether it held."""
    count, label, pause = rounds
    alone, apart = others
    before = records(store, main)
    labels, said, failed, seconds = together(store, wheres, count, label, pause)
    spans, bad = times(store, labels)
    lost = len(wheres) * count - (records(store, main) - before)
    failed += bad
    fsck = store.run(main, "git", "fsck", "--strict", ok=False)
    one, many = statistics.median(alone), statistics.median(spans)
    row = {
        "writers x commits": f"{len(wheres)} x {count}",
        "pause": f"{pause * 1e3:.0f} ms",
        "records lost": lost,
        "hooks failed": failed,
        "messages": said,
        "post-commit, one writer": f"{one:.1f} ms",
        "all, a store each": f"{statistics.median(apart):.1f} ms" if apart else "",
        "all, one store": f"{many:.1f} ms",
        "against one writer": f"{many / one:.2f}",
        "against a store each": f"{many / statistics.median(apart):.2f}" if apart else "",
        "seconds": f"{seconds:.0f}",
        "fsck": "clean" if fsck.returncode == 0 else fsck.stderr.strip(),
    }
    return row, lost == 0 and failed == 0 and fsck.returncode == 0


def clones(store, writers, count):
    """Part 2."""
    seed = store.repository(f"seed{writers}")
    hub = store.root / f"hub{writers}.git"
    store.run(store.root, "git", "clone", "-q", "--bare", seed, hub)
    store.run(seed, "git", "remote", "add", "origin", hub)
    store.run(seed, store.andon, "sync")
    wheres = []
    for number in range(writers):
        where = store.root / f"clone{writers}-{number}"
        store.run(store.root, "git", "clone", "-q", hub, where)
        store.run(where, store.andon, "install")
        store.run(where, "git", "switch", "-qc", f"branch{number}")
        wheres.append(where)
    spans, refused = [], []

    def sync(where, failed):
        begin = time.perf_counter()
        done = store.run(where, store.andon, "sync", "--format", "json", ok=False)
        spans.append((time.perf_counter() - begin) * 1e3)
        if done.returncode:
            failed.append(done.stderr)
        else:
            refused.append(json.loads(done.stdout)["retries"])

    begin = time.perf_counter()
    with ThreadPoolExecutor(writers) as pool:
        jobs = [pool.submit(commits, store, where, count, where.name, sync) for where in wheres]
        ends = [job.result() for job in jobs]
    seconds = time.perf_counter() - begin
    failed = sum(len(failed) for _, failed in ends)
    for text in [text for _, failed in ends for text in failed][:3]:
        print(text, file=sys.stderr)
    for where in wheres:
        store.run(where, store.andon, "sync")
    refs = [
        store.run(where, "git", "notes", "--ref=andon", "list").stdout
        + store.run(where, "git", "for-each-ref", "refs/andon/ledger").stdout
        for where in wheres
    ]
    lost = [writers * count + 1 - records(store, where) for where in wheres]
    row = {
        "clones x commits": f"{writers} x {count}",
        "records lost": max(lost),
        "failures": failed,
        "pushes refused": sum(refused),
        "all equal": "yes" if len(set(refs)) == 1 else "NO",
        "median sync": f"{statistics.median(spans):.0f} ms",
        "longest sync": f"{max(spans):.0f} ms",
        "longest against median": f"{max(spans) / statistics.median(spans):.1f}",
        "seconds": f"{seconds:.0f}",
        "syncs a second": f"{len(spans) / seconds:.1f}",
    }
    return row, max(lost) == 0 and failed == 0 and sum(refused) == 0 and len(set(refs)) == 1


def fetched(store, writers, each):
    """Part 3: a remote with the refs of many writers, and a clone that syncs with it for the first time and then again."""
    seed = store.repository("many")
    hub = store.root / "many.git"
    store.run(store.root, "git", "clone", "-q", "--bare", seed, hub)
    line = store.run(seed, "git", "notes", "--ref=andon", "show", "HEAD").stdout.strip()
    stream = []
    for writer in range(writers):
        name = f"refs/andon/records/{writer:032x}"
        for number in range(each):
            text = line.replace('"gate":"passed"', f'"gate":"passed","number":{number}').encode() + b"\n"
            digits = f"{writer * each + number:040x}"[::-1]
            first = f"from {name}^0\n".encode() if number else b""
            stream.append(f"commit {name}\ncommitter B <b@example.org> {1_700_000_000 + number} +0000\ndata 1\nn\n".encode())
            stream.append(first if number == 0 else b"")
            stream.append(f"M 644 inline {digits[:2]}/{digits[2:]}\ndata {len(text)}\n".encode() + text + b"\n")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=hub, input=b"".join(stream), env=store.env, check=True)
    store.run(store.root, "git", "clone", "-q", hub, "reader")
    where = store.root / "reader"
    store.run(where, store.andon, "install")

    def timed(*command):
        begin = time.perf_counter()
        store.run(where, *command)
        return time.perf_counter() - begin

    specs = "+refs/andon/records/*:refs/plain/*"
    row = {"writers x records": f"{writers} x {each}"}
    row["first sync"] = f"{timed(store.andon, 'sync'):.2f} s"
    row["again"] = f"{timed(store.andon, 'sync'):.2f} s"
    row["git fetch alone, first"] = f"{timed('git', 'fetch', '-q', '--no-tags', 'origin', specs):.2f} s"
    row["status"] = f"{timed(store.andon, 'status'):.2f} s"
    have = records(store, where)
    row["records"] = have
    return row, have >= writers * each


def table(rows):
    lines = [f"| {' | '.join(str(value) for value in row.values())} |\n" for row in rows]
    return f"| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}\n{''.join(lines)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", required=True, type=Path)
    parser.add_argument("--worktrees", default=8, type=int, help="0 leaves part 1 out")
    parser.add_argument("--commits", default=200, type=int)
    parser.add_argument("--pause", default=0.5, type=float, help="seconds between two commits; 0 leaves that part out")
    parser.add_argument("--clones", default="4,48", help="how many there are, one number for each measurement")
    parser.add_argument("--syncs", default=480, type=int, help="of all clones together")
    parser.add_argument("--writers", default=1000, type=int, help="how many refs are fetched; 0 leaves part 3 out")
    parser.add_argument("--work", type=Path, help="where the scratch directory is made")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="andon-writers-", dir=options.work)).resolve()
    try:
        store = Store(options.andon.resolve(), root)
        (root / "trace").mkdir()
        parts = worktrees(store, options.worktrees, options.commits, options.pause) if options.worktrees else []
        numbers = [int(number) for number in options.clones.split(",")]
        many = [fetched(store, options.writers, 10)] if options.writers else []
        fleets = [clones(store, number, max(1, options.syncs // number)) for number in numbers]
    finally:
        shutil.rmtree(root, ignore_errors=True)
    tables = [table([row for row, _ in part]) for part in (parts, fleets, many) if part]
    text = "\n".join(tables)
    print(text)
    if options.out:
        options.out.write_text(text)
    sys.exit(0 if all(held for _, held in [*parts, *fleets, *many]) else 1)


if __name__ == "__main__":
    main()
