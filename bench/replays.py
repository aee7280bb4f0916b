"""What the scripts that replay public histories share: tables, mirrors, clones, the lines of a replay, authors."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys

# Platforms and programs by which agents commit, in the author or in a `Co-authored-by` trailer.
AGENTS = re.compile(
    r"copilot-swe-agent|\+Copilot@|devin-ai-integration|cursoragent|cursor\[bot\]|no-?reply@anthropic\.com|claude\[bot\]"
    r"|codex\[bot\]|chatgpt-codex|noreply@openai\.com|gpt-engineer-app|lovable-dev|google-labs-jules|openhands|\(aider\)",
    re.IGNORECASE,
)
BOTS = re.compile(r"\[bot\]|\bbot\b|[-\w]bot@|bot\d* <|jenkins-?ci|jenkins@|travis-?ci|travis@|semantic-release|buildkite|dotnet-maestro", re.IGNORECASE)


def rows(path):
    """The rows of a table, without its head."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def environment(home):
    """An environment without a user's configuration and without markers of an agent."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    kept.update(HOME=home, XDG_CONFIG_HOME=home, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    return kept


def where(mirrors, name):
    """The git directory of a history, if it is there."""
    flat = name.replace("/", "+")
    for path in (mirrors / flat / "repo", mirrors / f"{flat}.git", mirrors / flat):
        for directory in (path / ".git", path):
            if (directory / "HEAD").exists():
                return directory
    return None


def borrowed(source, env, clone):
    """A repository that borrows the objects of `source`, without its refs, and takes Andon's caches."""
    if not clone.exists():
        subprocess.run(["git", "init", "-q", "--bare", clone], check=True, env=env)
        (clone / "objects" / "info" / "alternates").write_text(f"{source.resolve() / 'objects'}\n", encoding="utf-8")
        if (source / "shallow").exists():
            shutil.copy(source / "shallow", clone / "shallow")
    return clone


def replayed(andon, commits, env, clone):
    """Each line of a replay in `clone`."""
    asked = [andon, "replay", commits, "--threads", "1", "--format", "json"]
    with subprocess.Popen(asked, cwd=clone, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        for line in run.stdout:
            if line.startswith(b'{"commit"'):
                yield json.loads(line)
        said = run.stderr.read().decode(errors="replace").strip()
    if run.returncode:
        print(f"{clone.name} {commits}: andon ended with {run.returncode}: {said}", file=sys.stderr)


def authors(source, commits, env):
    """Who made each commit of a range: `agents`, `bots` or `people`, by author, committer and trailers."""
    shown = "%H%x00%an <%ae>%x00%(trailers:key=Co-authored-by,valueonly,separator=%x2C)"
    said = subprocess.run(["git", "log", f"--format={shown}", commits], cwd=source, env=env, check=True, capture_output=True)
    kinds = {}
    for line in said.stdout.decode(errors="replace").splitlines():
        commit, author, helpers = line.split("\0")
        by_agent = AGENTS.search(author) or AGENTS.search(helpers)
        kinds[commit] = "agents" if by_agent else "bots" if BOTS.search(author) else "people"
    return kinds
