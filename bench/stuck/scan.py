#!/usr/bin/env python3
"""Looks for stretches in which an author may be stuck, by git alone: no rule and no word list of Andon's is used.

    bench/stuck/scan.py --mirrors DIR [--history OWNER/NAME ...] > candidates.tsv

Looked at are the pull requests of ../aidev/aidev.tsv, and the first parents of HEAD of each `--history`. A run is an author's
commits, none more than `PAUSE` after the one before. Within `WINDOW` commits of a run that touch one file, a stretch is

    survival   half of the lines that they add to the file are gone by the last of them, and four of them took such lines
    subjects   five subjects have a word of repair in common
    repeated   three have the same subject
    returns    the file is back twice at what it was two or more commits before
    reverts    three undo an earlier one, as the subject says
    pipeline   five change no file but such of pipelines, builds and their scripts

Files in which a platform keeps its own state are left out. Overlapping windows are one stretch of up to `LONGEST` commits. Stretches come in the order of the checksum of repository and base,
so that the first N of them are a sample; `run.py` says which half was kept out of tuning.
"""

import argparse
import collections
import hashlib
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import replays  # noqa: E402

WINDOW, LONGEST, PAUSE = 8, 16, 3 * 3600
REPAIR = re.compile(r"\b(fix\w*|repair\w*|resolv\w*|correct\w*|debug\w*|again|retry|attempt\w*|really|proper\w*|address\w*)\b", re.IGNORECASE)
REVERT = re.compile(r"\b(revert|undo|roll ?back|restore)", re.IGNORECASE)
PIPELINE = re.compile(r"^\.github/|\.ya?ml$|Dockerfile|Makefile|\.sh$|\.toml$|package(-lock)?\.json$|\.lock$|lock\.yaml$|tsconfig|\.gradle")
SAVED = re.compile(r"^\.lovable/|^\.replit$")
SHORT, BULK = 4, 1500
COLUMNS = ("repository", "base", "tip", "by", "chosen", "file", "commits")


class Commit:
    """A commit: its author, time and subject, and by file its blob, and the lines that it adds and takes."""

    def __init__(self, head):
        self.id, parents, self.author, time, self.subject = head.split("\0", 4)
        self.parent, self.time = parents.split(" ")[0], int(time)
        self.blobs, self.added, self.gone = {}, collections.defaultdict(list), collections.defaultdict(list)


def commits(source, span, env):
    """The commits of a range by first parents, oldest first, without merges."""
    shown = "--format=%x01%H%x00%P%x00%ae%x00%ct%x00%s"
    asked = ["git", "log", "--reverse", "--first-parent", "--no-merges", "--no-renames", "--raw", "--no-abbrev", "-p", "-U0", shown, *span]
    with subprocess.Popen(asked, cwd=source, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        commit, path, lines = None, None, 0
        for raw in run.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith("\1"):
                if commit:
                    yield commit
                commit, path = Commit(line[1:]), None
            elif line.startswith(":") and commit and path is None:
                fields, name = line.split("\t", 1)
                commit.blobs[name] = fields.split()[3]
            elif line.startswith("diff --git "):
                path, lines = line.rsplit(" b/", 1)[-1], 0
            elif line[:1] in "+-" and path and not line.startswith(("+++", "---")) and lines < BULK:
                lines += 1
                text = line[1:].strip()
                if len(text) >= SHORT:
                    (commit.added if line[0] == "+" else commit.gone)[path].append(text)
        if commit:
            yield commit


def survival(window, name):
    """Half of what the commits add is gone by the end, and four of them took it."""
    own, added, gone, takers = collections.Counter(), 0, 0, 0
    for commit in window:
        taken = 0
        for text in commit.gone[name]:
            if own[text]:
                own[text] -= 1
                taken += 1
        takers, gone = takers + (taken > 0), gone + taken
        # The first one may bring the file: what is gone of that was not written here.
        own.update(commit.added[name])
        added += len(commit.added[name]) if commit is not window[0] else 0
    return takers >= 4 and gone >= 8 and 2 * gone >= added


def repeated(window):
    """Three have the same subject."""
    subjects = collections.Counter(re.sub(r"\W+", " ", commit.subject.lower()) for commit in window)
    return max(subjects.values()) >= 3


def subjects(window):
    """Five subjects have a word of repair, and a word beside it, in common."""
    words = collections.Counter()
    for commit in window:
        if REPAIR.search(commit.subject):
            words.update({word for word in re.findall(r"[a-z]{4,}", commit.subject.lower()) if not REPAIR.fullmatch(word)})
    return any(count >= 5 for count in words.values())


def returns(window, name):
    """The file is back twice at what it was."""
    seen, back = [], 0
    for commit in window:
        blob = commit.blobs[name]
        back += blob in seen[:-1]
        seen.append(blob)
    return back >= 2


def pipeline(window):
    """Five change no other files."""
    return sum(all(PIPELINE.search(name) for name in commit.blobs) for commit in window) >= 5


def signs(window, name):
    """The signs of a window of commits to one file."""
    found = {
        "survival": survival(window, name),
        "subjects": subjects(window),
        "repeated": repeated(window),
        "returns": returns(window, name),
        "reverts": sum(bool(REVERT.search(commit.subject)) for commit in window) >= 3,
        "pipeline": pipeline(window),
    }
    return {sign for sign, there in found.items() if there}


def runs(walked):
    """The runs of each author in a range."""
    last = {}
    for commit in walked:
        run = last.setdefault(commit.author, [])
        if run and commit.time - run[-1].time > PAUSE:
            yield run
            run = last[commit.author] = []
        run.append(commit)
    yield from last.values()


def stretches(run):
    """The stretches of a run: first and last commit, signs and file."""
    by_file = collections.defaultdict(list)
    for at, commit in enumerate(run):
        for name in commit.blobs:
            if not SAVED.search(name):
                by_file[name].append(at)
    found = []
    for name, places in by_file.items():
        for begin in range(max(len(places) - 3, 0)):
            window = places[begin : begin + WINDOW]
            marks = signs([run[at] for at in window], name)
            if marks:
                found.append((window[0], window[-1], marks, name))
    found.sort(key=lambda one: (one[0], one[1]))
    joined = []
    for first, last, marks, name in found:
        if joined and first <= joined[-1][1]:
            joined[-1][1] = min(max(joined[-1][1], last), joined[-1][0] + LONGEST - 1)
            joined[-1][2].update(marks)
        else:
            joined.append([first, last, set(marks), name])
    return [one for one in joined if one[1] - one[0] >= 3]


def spans(mirrors, histories):
    """Repository, arguments of `git log` and the commits that are looked at (all of them where None)."""
    pulls = replays.rows(HERE.parent / "aidev" / "aidev.tsv")
    for pull in pulls:
        own = set(pull["commits"].split())
        if len(own) >= 4 and not histories:
            yield pull["repository"], [f"{pull['base']}..{pull['tip']}"], own
    for name in histories:
        yield name, ["HEAD"], None


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--mirrors", type=pathlib.Path, required=True, help="where the histories are")
    asked.add_argument("--history", action="append", default=[], help="a history to look at instead of the pull requests")
    args = asked.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        env = replays.environment(scratch)
        for name, span, own in spans(args.mirrors, args.history):
            source = replays.where(args.mirrors, name)
            if source is None:
                continue
            walked = (commit for commit in commits(source, span, env) if own is None or commit.id[:12] in own)
            kinds = None
            for first, last, marks, file, run in ((*one, run) for run in runs(walked) for one in stretches(run)):
                kinds = kinds or replays.authors(source, span[0], env)
                base, tip = run[first].parent[:12], run[last].id[:12]
                found.append((name, base, tip, kinds[run[last].id], "+".join(sorted(marks)), file, str(last - first + 1)))
    order = sorted(found, key=lambda row: hashlib.sha256(f"{row[0]} {row[1]}".encode()).digest())
    print("\t".join(COLUMNS))
    for _, same in itertools.groupby(order, key=lambda row: row[:2]):
        print("\t".join(next(same)))


if __name__ == "__main__":
    main()
