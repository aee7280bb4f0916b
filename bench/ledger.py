#!/usr/bin/env python3
"""A ledger of many signed entries, and what it takes to read it.

    bench/ledger.py target/dist/andon [--entries 10000] [--cpu] [--skip-peers]

Makes a repository with a policy, rounds, and their accepts and resolutions, signed with a key of its own, packs it, and
prints the shortest of five runs of each command, in milliseconds: with nothing remembered, after three new entries, and
unchanged. Then `check` of 50 commits with 100 resolutions, and `git commit` with Andon's hooks beside that ledger and
without one, in turns. Peers: `git verify-commit` one by one, and once for all. With --cpu it prints processor time, which
other work on the machine changes less. Needs python3 with cryptography.
"""

import argparse
import base64
import datetime
import hashlib
import json
import os
import pathlib
import resource
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
import zlib

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

RUNS = 5
WRITER = "0123456789abcdef0123456789abcdef"
STEP = 600


def text(data):
    return struct.pack(">I", len(data)) + data


class Signer:
    def __init__(self, where):
        self.key = Ed25519PrivateKey.generate()
        raw = self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.blob = text(b"ssh-ed25519") + text(raw)
        self.public = "ssh-ed25519 " + base64.b64encode(self.blob).decode()
        private = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
        where.write_bytes(private)
        where.chmod(0o600)
        where.with_suffix(".pub").write_text(self.public + "\n")

    def armour(self, payload):
        head = text(b"git") + text(b"") + text(b"sha512")
        made = self.key.sign(b"SSHSIG" + head + text(hashlib.sha512(payload).digest()))
        whole = b"SSHSIG" + struct.pack(">I", 1) + text(self.blob) + head + text(text(b"ssh-ed25519") + text(made))
        code = base64.b64encode(whole).decode()
        lines = [code[at : at + 70] for at in range(0, len(code), 70)]
        return "\n ".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----"])


class Ledger:
    """Entries of one writer, each on top of the one before."""

    def __init__(self, repo, signer, begin):
        self.objects, self.signer, self.at = repo / ".git" / "objects", signer, begin
        self.tip, self.id, self.count = None, None, 0

    def write(self, kind, data):
        whole = f"{kind} {len(data)}\0".encode() + data
        name = hashlib.sha1(whole).hexdigest()
        path = self.objects / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole, 1))
        return name

    def append(self, kind, said, signed=True):
        self.count, self.at = self.count + 1, self.at + STEP
        moment = datetime.datetime.fromtimestamp(self.at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = {"schema": "andon/ledger@1", "type": kind, "writer": WRITER, "lamport": self.count, "at": moment, **said}
        if self.id:
            entry["ledger"] = self.id
        blob = self.write("blob", json.dumps(entry, sort_keys=True, separators=(",", ":")).encode())
        tree = self.write("tree", b"100644 entry.json\0" + bytes.fromhex(blob))
        parent = f"parent {self.tip}\n" if self.tip else ""
        who = f"andon <andon@localhost> {self.at} +0000"
        head = f"tree {tree}\n{parent}author {who}\ncommitter {who}\n"
        payload = f"{head}\n{kind}\n".encode()
        object = payload
        if signed:
            object = f"{head}gpgsig {self.signer.armour(payload)}\n\n{kind}\n".encode()
        self.tip = self.write("commit", object)
        found = hashlib.sha256(payload).hexdigest()
        self.id = self.id or found
        return found


CPU = False


def clock():
    if not CPU:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(*args, cwd, env, code=0):
    begin = clock()
    done = subprocess.run(args, cwd=cwd, env=env, capture_output=True)
    took = clock() - begin
    assert done.returncode == code, done
    return took * 1000


def shortest(program, *args, before=lambda: None, **more):
    took = []
    for _ in range(RUNS):
        before()
        took.append(timed(program, *args, **more))
    return min(took)


def forget(repo):
    shutil.rmtree(repo / ".git" / "andon" / "cache", ignore_errors=True)


def runner(repo, env):
    return lambda *args: subprocess.run(args, cwd=repo, env=env, check=True, capture_output=True, text=True).stdout


def make(repo, env, entries):
    """A repository with a ledger of so many entries."""
    run = runner(repo, env)
    if not (repo / ".git").exists():
        run("git", "init", "-q", ".")
        run("git", "commit", "-q", "--allow-empty", "-m", "Begin")
    signer = Signer(repo.parent / f"{repo.name}.key")
    ledger = Ledger(repo, signer, int(time.time()) - STEP * (entries + 100))
    rules = {"cap": 1_000_000, "rotation": 0}
    grant = {"key": signer.public, "who": "human:ann", "roles": ["admin", "witness"]}
    policy = {"version": 1, "threshold": 1, "solo": True, "keys": [grant], "rules": rules}
    ledger.append("policy", policy)
    while ledger.count < entries:
        ask(ledger, answered=ledger.count <= entries - 6)
    point(ledger, run)
    run("git", "repack", "-adq")
    run("git", "prune-packed", "-q")
    (repo.parent / "allowed").write_text(f'human:ann namespaces="git" {signer.public}\n')
    return ledger


def point(ledger, run):
    run("git", "update-ref", f"refs/andon/ledger/{WRITER}", ledger.tip)


def ask(ledger, answered):
    """A round, and what a witness says to it."""
    number = ledger.count
    asked = ledger.append(
        "round",
        {
            "question": f"Which way {number}?", "issuer": "agent:planner", "proposer": "agent:coder",
            "opposer": "agent:reviewer", "synthesizer": "agent:judge", "tags": [f"topic-{number % 20}"],
            "claim": f"Add the column online in batches of {number} rows while writers go on as they did before.",
            "critique": "Locks pile up behind every batch, replicas lag for hours, rollback becomes impossible; "
            "copy into shadow tables and swap names.",
            "opened_at": ledger.at, "expires_at": ledger.at + 1800,
            "arrived": {"claim": ledger.at, "critique": ledger.at, "verdict": ledger.at},
            "verdict": {"deferred": True, "parse_failures": 0},
        },
        signed=False,
    )
    if not answered:
        return
    ledger.append("accept", {"round": asked})
    ledger.append(
        "resolution",
        {
            "round": asked, "trigger": "deferral", "decision": "accept_opposer", "factual_checks": [],
            "rationale": f"Replicas lagged the last time as well, number {number}.", "time_spent_seconds": 600,
            "sycophancy_assessment": {"detected": False, "rationale": "It names a failure of its own."},
            "witness": "human:ann",
        },
    )


def reading(program, root, env, entries):
    repo = root / "repo"
    repo.mkdir()
    ledger = make(repo, env, entries)
    run = runner(repo, env)

    def news():
        ask(ledger, answered=True)
        point(ledger, run)

    for args in [["review"], ["status"], ["review", "status"], ["ledger", "verify"]]:
        cold = shortest(program, *args, before=lambda: forget(repo), cwd=repo, env=env)
        subprocess.run([program, "review"], cwd=repo, env=env, check=True, capture_output=True)
        new = shortest(program, *args, before=news, cwd=repo, env=env)
        again = shortest(program, *args, cwd=repo, env=env)
        print(f"andon {' '.join(args):16} nothing remembered {cold:8.1f}   3 new entries {new:8.1f}   unchanged {again:8.1f} ms")


def loop(program, root, env, name):
    """A repository whose commits Andon records."""
    repo = root / name
    repo.mkdir()
    run = runner(repo, env)
    run("git", "init", "-q", ".")
    run(program, "install")
    (repo / "andon.toml").write_text('[test]\ncommand = "true"\n')
    commit(program, repo, env, "0")
    return repo


def commit(program, repo, env, text):
    run = runner(repo, env)
    (repo / "code.py").write_text(text + "\n")
    run("git", "add", ".")
    run(program, "test")
    return timed("git", "commit", "-q", "-m", f"Write {text}", cwd=repo, env=env)


def checking(program, root, env):
    repo = loop(program, root, env, "checked")
    for number in range(50):
        commit(program, repo, env, f"x = {number} * {number}")
    ledger = make(repo, env, 307)
    args = ["check", "HEAD~50..HEAD"]
    with_them = shortest(program, *args, "--policy-id", ledger.id, cwd=repo, env=env)
    without = shortest(program, *args, cwd=repo, env=env)
    print(f"andon check, 50 commits: {without:.1f} ms; with 100 resolutions {with_them:.1f} ms")


def hooks(program, root, env, entries):
    plain, signed = loop(program, root, env, "plain"), loop(program, root, env, "signed")
    ledger = make(signed, env, entries)
    with open(signed / "andon.toml", "a") as toml:
        toml.write(f'[guard]\nack = "signed"\nledger = "{ledger.id}"\n')
    took = {plain: [], signed: []}
    for number in range(21):
        for repo in [plain, signed] if number % 2 else [signed, plain]:
            took[repo].append(commit(program, repo, env, f"y = {number} + {number}"))
    for what, repo in [("without a ledger", plain), (f"asking for signatures, {entries} entries", signed)]:
        # The first commits remember what the ledger holds.
        print(f"git commit, {what}: median {statistics.median(took[repo][2:]):.1f} ms, first {took[repo][0]:.1f} ms")


def peers(root, env, entries):
    repo = root / "repo"
    name = f"refs/andon/ledger/{WRITER}"
    all = subprocess.run(["git", "rev-list", "-n", "600", name], cwd=repo, capture_output=True, text=True).stdout.split()
    kinds = subprocess.run(["git", "log", "-n", "600", "--format=%s", name], cwd=repo, capture_output=True, text=True)
    some = [commit for commit, kind in zip(all, kinds.stdout.split()) if kind != "round"][:300]
    verify = ["git", "-c", f"gpg.ssh.allowedSignersFile={root}/allowed", "verify-commit"]
    begin = time.perf_counter()
    for commit in some:
        subprocess.run([*verify, commit], cwd=repo, env=env, check=True, capture_output=True)
    one = time.perf_counter() - begin
    begin = time.perf_counter()
    subprocess.run([*verify, *some], cwd=repo, env=env, check=True, capture_output=True)
    once = time.perf_counter() - begin
    for what, took in [("one by one", one), ("once for all", once)]:
        print(f"git verify-commit, {what:12} {took * 1000 * entries / len(some):8.0f} ms for as many, from {len(some)}")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("program")
    options.add_argument("--entries", type=int, default=10_000)
    options.add_argument("--cpu", action="store_true")
    options.add_argument("--skip-peers", action="store_true")
    options = options.parse_args()
    global CPU
    CPU = options.cpu
    program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        env = {
            "HOME": str(root), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "TMPDIR": str(root),
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        }
        reading(program, root, env, options.entries)
        checking(program, root, env)
        hooks(program, root, env, options.entries)
        if not options.skip_peers:
            peers(root, env, options.entries)


main()
