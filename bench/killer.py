#!/usr/bin/env python3
"""Kills andon at random times and looks at what is left.

    bench/killer.py --andon target/debug/andon [--rounds 500] [--seed 1]

Each round starts one of: a commit with its hooks, `andon test`, `andon sync`, `andon resume`, `andon install`, in a
session of its own, and kills the whole session with SIGKILL after a random time. git itself is killed with it, so
lock files of git are cleared as a person would. Then:

- `git fsck` must be clean and `git status` must work,
- every record that was there before must still be there, unchanged or as one line of its note,
- every ledger entry that was there before must still be reachable from its ref.

After every round the loop goes on; at the end everything must heal: one more commit in each clone and a sync, and
every commit has its record in both clones. Standard library only. Exits 1 when something was lost.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hermetic

CONFIG = """\
[test]
command = "sh check.sh"
[rules]
iteration-cap = "off"
"""
CHECK = 'echo 1..2; echo ok 1 - a; if [ -e red ]; then echo not ok 2 - b; exit 1; else echo ok 2 - b; fi\n'


class Ground:
    """Two clones of one bare repository, in a hermetic environment."""

    def __init__(self, andon, root):
        self.andon, self.root = andon, root
        self.env = hermetic.environment(root)
        self.git(root, "init", "-q", "--bare", "-b", "main", "hub.git")
        self.clones = []
        for name in ("one", "two"):
            self.git(root, "clone", "-q", "hub.git", name)
            where = root / name
            if name == "one":
                (where / "andon.toml").write_text(CONFIG)
                (where / "check.sh").write_text(CHECK)
                (where / "code.c").write_text("start\n")
                self.git(where, "add", ".")
                self.git(where, "commit", "-qm", "Start")
                self.git(where, "push", "-q", "origin", "HEAD:main")
            self.run(where, [andon, "install"])
            self.git(where, "switch", "-qc", name)
            self.clones.append(where)

    def run(self, where, args, check=True):
        args = [str(arg) for arg in args]
        done = subprocess.run(args, cwd=where, env=self.env, capture_output=True, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{args} in {where}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def git(self, where, *args, check=True):
        return self.run(where, ["git", *args], check).stdout

    def notes(self, where):
        """Every line of every note, by commit."""
        lines = collections.defaultdict(set)
        listed = [line.split() for line in self.git(where, "notes", "--ref=andon", "list", check=False).splitlines()]
        if listed:
            done = subprocess.run(
                ["git", "cat-file", "--batch"], cwd=where, env=self.env, capture_output=True,
                input="".join(f"{blob}\n" for blob, _ in listed).encode(),
            )
            out = done.stdout
            for _, commit in listed:
                head, _, rest = out.partition(b"\n")
                size = int(head.split()[2])
                lines[commit] |= set(rest[:size].split(b"\n")) - {b""}
                out = rest[size + 1 :]
        return lines

    def ledger(self, where):
        return set(self.git(where, "rev-list", "--glob=refs/andon/ledger/*").split())

    def journal(self, where):
        return sum(f.read_text(errors="replace").count('"healed"') for f in where.glob(".git/andon/journal*.jsonl"))


def clear_locks(where):
    """What git says to do after it was killed; ours are left for andon to deal with."""
    for lock in where.glob(".git/**/*.lock"):
        if "refs/notes/andon" not in str(lock) and "refs/andon" not in str(lock):
            lock.unlink()


def work(ground, where, rng, number):
    """One thing to be killed: a shell line."""
    andon = ground.andon
    red = "touch red" if rng.random() < 0.4 else "rm -f red"
    commit = f"{red}; echo {number} > code.c; {andon} test; git add -A; git commit -qm 'Round {number}'"
    return rng.choice(
        [
            commit,
            commit,
            commit,
            f"echo {number} > code.c; {andon} test",
            f"{andon} sync",
            f"{andon} sync",
            f"{andon} resume --reason 'round {number}'",
            f"{andon} install",
        ]
    )


def kill_at(ground, where, line, seconds):
    child = subprocess.Popen(
        ["sh", "-c", line], cwd=where, env=ground.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    killed = True
    try:
        child.wait(seconds)
        killed = False
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return killed


def lost(before, after):
    return [commit for commit, lines in before.items() if not lines <= after.get(commit, set())]


def same_facts(before, after):
    """Records that were replaced by a later line about the same commit count as kept."""
    return [commit for commit in lost(before, after) if not after.get(commit)]


def round_of(ground, rng, number, spans, found):
    where = rng.choice(ground.clones)
    line = work(ground, where, rng, number)
    kind = "commit" if "commit" in line else next(word for word in ("test", "sync", "resume", "install") if word in line)
    notes, ledger = ground.notes(where), ground.ledger(where)
    begin = time.perf_counter()
    killed = kill_at(ground, where, line, rng.random() * spans.get(kind, 0.6))
    if not killed:
        # Aim within what such a call takes.
        spans[kind] = (spans.get(kind, 0.6) + 1.2 * (time.perf_counter() - begin)) / 2
    clear_locks(where)
    clear_locks(ground.root / "hub.git")
    fsck = ground.run(where, ["git", "fsck", "--strict"], check=False)
    if fsck.returncode:
        found.append(f"round {number} ({line}): fsck: {fsck.stderr}{fsck.stdout}")
    if ground.run(where, ["git", "status"], check=False).returncode:
        found.append(f"round {number} ({line}): git status failed")
    gone = same_facts(notes, ground.notes(where))
    if gone:
        found.append(f"round {number} ({line}): records of {gone} are gone")
    if not ledger <= ground.ledger(where):
        found.append(f"round {number} ({line}): ledger entries are gone")
    return killed


def settle(ground, number, found):
    """Everything heals: halts answered, one commit each, synced both ways."""
    for where in ground.clones:
        (where / "red").unlink(missing_ok=True)
        ground.run(where, [ground.andon, "install"])
        ground.run(where, [ground.andon, "sync"])
        for _ in range(3):
            ground.run(where, [ground.andon, "resume", "--yes", "--reason", "settle"], check=False)
        (where / "code.c").write_text(f"settled {number} {where.name}\n")
        ground.run(where, [ground.andon, "test"])
        ground.git(where, "add", "-A")
        commit = ["git", "commit", "-qm", f"Settled {number}"]
        if ground.run(where, commit, check=False).returncode:
            # A post-commit that was killed owed a halt: the next hook has written it, and a person answers.
            ground.run(where, [ground.andon, "resume", "--yes", "--reason", "settle"])
            ground.run(where, commit)
        missing = set(ground.git(where, "rev-list", "HEAD", "^origin/main").split()) - set(ground.notes(where))
        if missing:
            found.append(f"after round {number}: {len(missing)} commits of {where.name} have no record: {sorted(missing)[:3]}")
    for where in [*ground.clones, ground.clones[0]]:
        done = ground.run(where, [ground.andon, "sync"], check=False)
        if done.returncode:
            found.append(f"after round {number}: sync of {where.name}: {done.stdout}{done.stderr}")
    one, two = (ground.notes(where) for where in ground.clones)
    if one != two:
        found.append(f"after round {number}: the clones differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", required=True, type=Path)
    parser.add_argument("--rounds", default=500, type=int)
    parser.add_argument("--seed", default=1, type=int)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    root = Path(tempfile.mkdtemp(prefix="andon-killer-")).resolve()
    found, killed, spans = [], 0, {}
    begin = time.time()
    try:
        ground = Ground(options.andon.resolve(), root)
        for number in range(1, options.rounds + 1):
            killed += round_of(ground, rng, number, spans, found)
            if number % 50 == 0 or number == options.rounds:
                settle(ground, number, found)
                print(f"{number} rounds, {killed} killed, {len(found)} faults, {time.time() - begin:.0f} s", flush=True)
        healed = sum(ground.journal(where) for where in ground.clones)
        records = len(ground.notes(ground.clones[0]))
        print(f"{records} records, {healed} journal lines of what was healed")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
