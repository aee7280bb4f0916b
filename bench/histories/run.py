#!/usr/bin/env python3
"""Public histories: what `andon replay` would have halted, and whether that was right when read.

    bench/histories/run.py --andon target/dist/andon --mirrors DIR [--only TEXT] [--out DIR] [--clones DIR]

`histories.tsv` names the histories, with who made them (largely people, or largely agents) and the commit that was
replayed. The mirrors are OWNER+NAME/repo or OWNER+NAME.git; those that are missing are skipped, by name. `readings.tsv`
holds how a halt was judged by reading its commits: right or wrong, and why. Nothing is written into the histories; what
is kept of them is ids and counts. Exits with 1 where people's work is halted and the reading does not call it right, a
halt was not read, fewer than 95 % of the halts of agents are right, or more than 0.10 % of people's commits or 0.5 % of
agents' carry a warning of a loop. Commits that are only told to have taken tests away are counted beside: that is a
fact, and `replay` looks for it in histories of up to 1,000 commits.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import replays  # noqa: E402

WARNED = {"people": 0.10, "agents": 0.5}
RIGHT = {"people": 100.0, "agents": 95.0}
WITHIN = 10


def note(stretches, line):
    """Takes a commit into the stretches that it begins or is within."""
    for stretch in stretches:
        if line["commit"].startswith(stretch["first"]) or stretch.get("at", 0):
            stretch["at"] = stretch.get("at", 0) + 1
        telling = {one["rule"] for one in line["findings"] if one["level"] == line["decision"]} - {"test-weakening"}
        within = 0 < stretch.get("at", 0) <= WITHIN and "told" not in stretch
        if within and line["decision"] in ("halt", "warn") and telling:
            stretch["told"] = f"{line['decision']} by {', '.join(sorted(telling))} at {stretch['at']}"


def measured(name, lines, read, keep, stretches):
    """The figures of one history, and its halts."""
    commits, warned, lost, rules, halts = 0, 0, 0, collections.Counter(), []
    for line in lines:
        commits += 1
        note(stretches, line)
        decision = line["decision"]
        if decision not in ("halt", "warn"):
            continue
        if keep:
            keep.write(json.dumps(line) + "\n")
        telling = [one for one in line["findings"] if one["level"] == decision]
        if decision == "warn":
            only_lost = all(one["rule"] == "test-weakening" for one in telling)
            warned, lost = warned + (not only_lost), lost + only_lost
            rules.update(one["rule"] for one in telling)
        else:
            rule = telling[0]["rule"] if telling else "?"
            reading = read.get((name, line["commit"][:12]), {"reading": "unread", "why": telling[0]["message"]})
            halts.append((name, line["commit"][:12], rule, reading["reading"], reading["why"]))
    return commits, warned, lost, rules, halts


def shown(kind, found):
    """The table of one kind, with its sum."""
    print(f"\n| by {kind} | commits | halts | right when read | warnings | % of commits | lost tests only | warned by |")
    print("|---|--:|--:|--:|--:|--:|--:|---|")
    total = [0, 0, 0, 0, 0]
    for name, commits, warned, lost, rules, halts in found:
        right = sum(halt[3] == "right" for halt in halts)
        told = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
        print(f"| {name} | {commits} | {len(halts)} | {right} | {warned} | {100 * warned / max(commits, 1):.3f} | {lost} | {told} |")
        total = [was + more for was, more in zip(total, (commits, len(halts), right, warned, lost))]
    commits, halts, right, warned, lost = total
    print(f"| all | {commits} | {halts} | {right} | {warned} | {100 * warned / max(commits, 1):.3f} | {lost} | |")
    return commits, halts, right, warned


def shown_stretches(stuck):
    """Prints the stretches in which agents were stuck."""
    if not stuck:
        return
    print(f"\n| stuck | from | looked for by | told within {WITHIN} commits | what happened |\n|---|---|---|---|---|")
    for one in stuck:
        print(f"| {one['history']} | {one['first']} | {one['chosen']} | {one.get('told', '-')} | {one['why']} |")
    for chosen in sorted({one["chosen"] for one in stuck}):
        some = [one for one in stuck if one["chosen"] == chosen]
        told = sum("told" in one for one in some)
        print(f"\nLooked for by {chosen}: {told} of {len(some)} are told.")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--andon", default="andon", help="the program")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True, help="where the histories are")
    asked.add_argument("--only", default="", help="histories whose name or kind contains this")
    asked.add_argument("--out", type=pathlib.Path, help="a folder for the lines of halts and warnings")
    asked.add_argument("--clones", type=pathlib.Path, help="a folder for clones with Andon's caches, kept for the next run")
    args = asked.parse_args()
    andon = str(pathlib.Path(args.andon).resolve()) if os.sep in args.andon else args.andon
    read = {(row["history"], row["commit"]): row for row in replays.rows(HERE / "readings.tsv")}
    stuck = replays.rows(HERE / "stretches.tsv")
    found, missing = collections.defaultdict(list), []
    with tempfile.TemporaryDirectory() as scratch:
        env = replays.environment(scratch)
        for row in replays.rows(HERE / "histories.tsv"):
            name, kind, tip = row["history"], row["kind"], row["tip"]
            if args.only not in name and args.only not in kind:
                continue
            source = replays.where(args.mirrors, name)
            if source is None:
                missing.append(name)
                continue
            keep = None
            if args.out:
                args.out.mkdir(parents=True, exist_ok=True)
                keep = open(args.out / (name.replace("/", "+") + ".jsonl"), "w", encoding="utf-8")
            own = [stretch for stretch in stuck if stretch["history"] == name]
            clone = (args.clones or pathlib.Path(scratch)) / name.replace("/", "+")
            lines = replays.replayed(andon, tip, env, replays.borrowed(source, env, clone))
            found[kind].append((name, *measured(name, lines, read, keep, own)))
            print(f"{name}: {found[kind][-1][1]} commits, {len(found[kind][-1][5])} halts", file=sys.stderr, flush=True)
            if not args.clones:
                subprocess.run(["rm", "-rf", clone], check=True)
    good = True
    for kind, lines in found.items():
        commits, halts, right, warned = shown(kind, lines)
        good &= 100 * warned <= WARNED[kind] * commits
        good &= 100 * right >= RIGHT[kind] * halts
    halts = [halt for lines in found.values() for line in lines for halt in line[5]]
    good &= all(halt[3] != "unread" for halt in halts)
    if halts:
        print("\n| history | commit | rule | read | why |\n|---|---|---|---|---|")
        for halt in halts:
            print("| " + " | ".join(halt) + " |")
    shown_stretches([stretch for stretch in stuck if "at" in stretch])
    if missing:
        print("\nNot there: " + ", ".join(missing), file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
