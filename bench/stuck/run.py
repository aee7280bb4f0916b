#!/usr/bin/env python3
"""How many stretches in which an author was stuck `andon replay` reports, and how many healthy ones it halts.

    bench/stuck/run.py --andon target/dist/andon --mirrors DIR [--half tuning|kept] [--misses]

`stretches.tsv` holds stretches that `scan.py` found without Andon and that were then read: stuck where a reasonable person would
have stopped the author, healthy, or open. Whether rules may be tuned on a stretch is fixed by its base: an even last hex digit is
for tuning, an odd one is kept out. Only the half kept out gives the figure. Each stretch is replayed by itself, with default
rules; commits that only lost tests do not count as warnings. `--misses` names the stuck ones without a halt.
"""

import argparse
import collections
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import replays  # noqa: E402

HALVES = ("tuning", "kept")


def half(stretch):
    """The half of a stretch."""
    return HALVES[int(stretch["base"][-1], 16) % 2]


def measured(andon, env, clone, stretch):
    """The numbers of the first commit with a warning or a halt and of the first with a halt, the rules of both, and the length."""
    reported, halted, rules, length = None, None, set(), 0
    for line in replays.replayed(andon, f"{stretch['base']}..{stretch['tip']}", env, clone):
        length += 1
        telling = {one["rule"] for one in line["findings"] if one["level"] == line["decision"]} - {"test-weakening"}
        if line["decision"] in ("warn", "halt") and telling:
            reported = reported or length
            rules |= telling
        if line["decision"] == "halt":
            halted = halted or length
    return reported, halted, rules, length


def shown(title, found):
    """The table of one half."""
    print(f"\n| {title} | stretches | reported | halted | reported at commit, median | halted at, median | of commits, median |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for verdict in ("stuck", "open", "healthy"):
        some = [measure for stretch, measure in found if stretch["verdict"] == verdict]
        reported, halted = ([measure[at] for measure in some if measure[at]] for at in (0, 1))
        cells = [len(some), f"{len(reported)} ({100 * len(reported) // max(len(some), 1)} %)", f"{len(halted)} ({100 * len(halted) // max(len(some), 1)} %)"]
        cells += [statistics.median(numbers) if numbers else "-" for numbers in (reported, halted, [measure[3] for measure in some])]
        print(f"| {verdict} | " + " | ".join(map(str, cells)) + " |")
    rules = collections.Counter(rule for stretch, measure in found if stretch["verdict"] == "stuck" for rule in measure[2])
    print("\nThe stuck are reported by " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()) + ".")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--andon", default="andon", help="the program")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True, help="where the histories are")
    asked.add_argument("--half", choices=HALVES, help="one half alone")
    asked.add_argument("--misses", action="store_true", help="name stuck stretches that are not halted, and healthy ones that are")
    args = asked.parse_args()
    andon = str(pathlib.Path(args.andon).resolve()) if os.sep in args.andon else args.andon
    found, missing = collections.defaultdict(list), set()
    with tempfile.TemporaryDirectory() as scratch:
        env = replays.environment(scratch)
        for stretch in replays.rows(HERE / "stretches.tsv"):
            mirror = replays.where(args.mirrors, stretch["repository"])
            if mirror is None:
                missing.add(stretch["repository"])
            elif args.half in (None, half(stretch)):
                clone = replays.borrowed(mirror, env, pathlib.Path(scratch) / stretch["repository"].replace("/", "+"))
                found[half(stretch)].append((stretch, measured(andon, env, clone, stretch)))
    for name, title in (("tuning", "for tuning"), ("kept", "kept out")):
        if found[name]:
            shown(title, found[name])
    for stretch, (reported, halted, rules, length) in (one for name in HALVES for one in found[name]):
        if args.misses and (stretch["verdict"] == "stuck") != bool(halted) and stretch["verdict"] != "open":
            place = f"{half(stretch)} {stretch['repository']} {stretch['base']}..{stretch['tip']}"
            print(f"{place}: {stretch['verdict']}, reported at {reported}, halted at {halted} of {length} ({', '.join(sorted(rules))}): {stretch['why']}")
    if missing:
        print("\nNot there: " + ", ".join(sorted(missing)), file=sys.stderr)


if __name__ == "__main__":
    main()
