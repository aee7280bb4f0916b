#!/usr/bin/env python3
"""Makes `aidev.tsv` of the AIDev set: agent, repository, pull request, base, tip and the commits that are counted; and
`before.tsv`: the last commit of the same repositories before 2024, when agents made no pull requests yet.

    bench/aidev/collect.py --set DIR --mirrors DIR

`--set` is a clone of github.com/SAILResearch/AI_Teammates_in_SE3, `--mirrors` holds clones with the refs of pull requests, as
OWNER+NAME/repo or OWNER+NAME.git. For each pull request of the set whose repository is there: the tip is the last of its
listed commits that no other has as a parent, the base is the first parent of the first one whose parent is not listed, and
listed commits outside base..tip are left out. Prints what could not be taken. A table that is there is extended: rows of
repositories without a mirror stay. Histories that `../histories` knows are left out of `before.tsv`.
"""

import argparse
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import replays  # noqa: E402

AGENTS = {"Claude_Code": "Claude Code", "Copilot": "Copilot", "Cursor": "Cursor", "Devin": "Devin", "OpenAI_Codex": "Codex"}
COLUMNS = ("agent", "repository", "pr", "base", "tip", "commits")
ABBREVIATED = 12
AGENTS_SINCE = "2024-01-01"


def git(source, *args, given=None):
    """What git printed, as lines; none where it failed."""
    done = subprocess.run(["git", *args], cwd=source, input=given, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def table(source, folder, name):
    """A table of the set."""
    text = subprocess.run(["git", "show", f"HEAD:AIDev-pop/{folder}/{name}.csv"], cwd=source, capture_output=True, check=True)
    return csv.DictReader(io.StringIO(text.stdout.decode("utf-8")))


def listed(source):
    """By repository, and agent and number of the pull request: its commits in the order of the set."""
    found, orphans = collections.defaultdict(lambda: collections.defaultdict(list)), 0
    for folder, agent in AGENTS.items():
        requests = {row["pr_id"]: (row["repo_url"], row["pr_number"]) for row in table(source, folder, "prs_without_issues")}
        requests.update({row["id"]: (row["repo_url"], row["number"]) for row in table(source, folder, "prs")})
        for row in table(source, folder, "pr_commits"):
            if row["pr_id"] not in requests:
                orphans += 1
                continue
            url, number = requests[row["pr_id"]]
            found["/".join(url.split("/")[-2:])][agent, int(number)].append(row["sha"])
    print(f"{orphans} commits of the set name no pull request of it", file=sys.stderr)
    return found


def parents(source, commits):
    """The parents of those of `commits` that are there."""
    asked = "".join(f"{commit}^{{commit}}\n" for commit in commits)
    checked = git(source, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=asked)
    there = [line.split()[0] for line in checked if line.endswith(" commit")]
    found = git(source, "rev-list", "--no-walk=unsorted", "--parents", "--stdin", given="\n".join(there) + "\n")
    return {line.split()[0]: line.split()[1:] for line in found}


def span(source, commits, above):
    """Base, tip and the counted commits of a pull request, or nothing where the mirror lacks them."""
    there = [commit for commit in dict.fromkeys(commits) if commit in above]
    below = {parent for commit in there for parent in above[commit]}
    tips = [commit for commit in there if commit not in below]
    roots = [commit for commit in there if above[commit] and above[commit][0] not in there]
    if not tips or not roots:
        return None
    base = above[roots[0]][0]
    within = set(git(source, "rev-list", f"{base}..{tips[-1]}"))
    counted = [commit for commit in there if commit in within]
    return (base, tips[-1], counted) if counted else None


def collected(source, name, requests):
    """The rows of one repository. A commit of two pull requests is counted with the first."""
    above = parents(source, [commit for commits in requests.values() for commit in commits])
    seen, asked, taken = set(), len(set().union(*requests.values())), 0
    for (agent, number), commits in sorted(requests.items()):
        found = span(source, commits, above)
        if found is None:
            continue
        base, tip, counted = found
        own = [commit[:ABBREVIATED] for commit in counted if commit not in seen]
        seen.update(counted)
        taken += len(own)
        if own:
            yield dict(zip(COLUMNS, (agent, name, number, base[:ABBREVIATED], tip[:ABBREVIATED], " ".join(own))))
    print(f"{name}: {taken} of {asked} commits of {len(requests)} pull requests", file=sys.stderr)


def before(source):
    """The last commit of people and bots alone, by first parents of HEAD."""
    return next(iter(git(source, "rev-list", "-1", "--first-parent", f"--before={AGENTS_SINCE}", "HEAD")), "")


def extended(name, found):
    """Writes a table: the rows that are found, and those of other repositories that were there."""
    kept = collections.defaultdict(list)
    for row in replays.rows(HERE / name) if (HERE / name).exists() else []:
        kept[row["repository"]].append(row)
    kept.update(found)
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for repository in sorted(kept, key=str.lower):
            writer.writerows(kept[repository])


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--set", type=pathlib.Path, required=True, help="a clone of the AIDev set")
    asked.add_argument("--mirrors", type=pathlib.Path, required=True, help="where the histories are")
    args = asked.parse_args()
    # A commit that a partial mirror lacks is lacking: nothing is asked of a network.
    os.environ["GIT_NO_LAZY_FETCH"] = "1"
    known = {row["history"] for row in replays.rows(HERE.parent / "histories" / "histories.tsv")}
    pulls, earlier = {}, {}
    for name, requests in listed(args.set).items():
        source = replays.where(args.mirrors, name)
        if source is None:
            continue
        pulls[name] = list(collected(source, name, requests))
        tip = before(source)[:ABBREVIATED]
        if tip and name not in known:
            earlier[name] = [dict(zip(COLUMNS, ("", name, "", "", tip, "")))]
    extended("aidev.tsv", pulls)
    extended("before.tsv", earlier)


if __name__ == "__main__":
    main()
