#!/usr/bin/env python3
"""Runs the recipes of hooks/ci as their runners would: in clones of scratch repositories, with the events of a forge.

    tests/ci/recipes.py PROGRAM
"""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True

try:
    import yaml  # noqa: F401
except ImportError:
    sys.exit("error: python3 has no yaml: pip install pyyaml")

from runner import Failed, Github, Gitlab  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parents[2]
RECIPES = HERE / "hooks" / "ci"
ACTION = "YOUR-ORG/andon"
ZERO = "0" * 40
BOT = ("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com")
FORGE = ("GitHub", "noreply@github.com")
PERSON = ("A. Author", "author@example.org")

CHECK = """#!/bin/sh
echo 1..1
if grep -q bug code.txt; then echo 'not ok 1 - a'; exit 1; fi
echo 'ok 1 - a'
"""

# In place of the compiler: what it would have built, and a line for each time it was asked.
CARGO = """#!/bin/sh
echo "cargo $*" >> "$CARGO_LOG"
while [ $# -gt 0 ]; do
  case $1 in --root) root=$2 ;; --path) [ -f "$2/Cargo.toml" ] || exit 9 ;; esac
  shift
done
mkdir -p "$root/bin" && cp "$ANDON_BUILT" "$root/bin/andon"
"""


class Ground:
    """A forge with one repository: main, with the hooks in use, and a branch on top of it."""

    def __init__(self, root, program):
        self.root, self.program = root, program
        tools = root / "tools"
        tools.mkdir()
        cargo = tools / "cargo"
        cargo.write_text(CARGO)
        cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self.environment = dict(keep, HOME=str(root / "home"), GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1",
                                ANDON_TEST_ABOVE="none", ANDON_BUILT=str(program), CARGO_LOG=str(root / "cargo.log"))
        self.environment["PATH"] = f"{tools}{os.pathsep}{keep['PATH']}"
        (root / "home").mkdir()
        self.origin, self.dev = root / "origin.git", root / "dev"
        self.git(root, "init", "-q", "--bare", "-b", "main", str(self.origin))
        self.git(self.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.git(root, "init", "-q", "-b", "main", str(self.dev))
        self.git(self.dev, "remote", "add", "origin", self.url(self.origin))
        self.write("check.sh", CHECK)
        self.write("code.txt", "1\n")
        self.write("andon.toml", '[test]\ncommand = "sh check.sh"\n')
        self.andon(self.dev, "install")
        self.git(self.dev, "add", ".")
        self.andon(self.dev, "test")
        self.git(self.dev, "commit", "-qm", "Start")
        self.push("main")
        self.git(self.dev, "switch", "-qc", "topic")
        self.step("2\n", "Work")

    @staticmethod
    def url(path):
        return f"file://{path}"

    def call(self, where, program, arguments, people=(PERSON, PERSON)):
        author, committer = people
        environment = dict(self.environment, GIT_AUTHOR_NAME=author[0], GIT_AUTHOR_EMAIL=author[1],
                           GIT_COMMITTER_NAME=committer[0], GIT_COMMITTER_EMAIL=committer[1])
        ran = subprocess.run([program, *arguments], cwd=where, env=environment, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ran.returncode != 0:
            raise Failed(f"{program} {arguments}: exit {ran.returncode}\n{ran.stdout}")
        return ran.stdout.strip()

    def git(self, where, *arguments, people=(PERSON, PERSON)):
        return self.call(where, "git", arguments, people)

    def andon(self, where, *arguments):
        return self.call(where, str(self.program), arguments)

    def write(self, name, text):
        (self.dev / name).write_text(text)

    def step(self, code, message):
        self.write("code.txt", code)
        subprocess.run([str(self.program), "test"], cwd=self.dev, env=self.environment, capture_output=True, check=False)
        self.git(self.dev, "commit", "-qam", message)

    def stranger(self, code, message, author=BOT, committer=FORGE):
        """A commit that is made where no hook runs."""
        self.write("code.txt", code)
        self.git(self.dev, "-c", "core.hooksPath=/dev/null", "commit", "-qam", message, people=(author, committer))

    def push(self, branch, records=True):
        self.git(self.dev, "-c", "core.hooksPath=/dev/null", "push", "-qf", "origin", branch)
        if records:
            self.git(self.dev, "push", "-qf", "origin", "refs/notes/andon", "refs/andon/*:refs/andon/*")

    def id(self, name):
        return self.git(self.dev, "rev-parse", name)

    def event(self, name):
        pull = {"base": {"sha": self.id("main")}, "head": {"sha": self.id("topic"), "repo": self.repository()}}
        bodies = {
            "pull_request": {"pull_request": pull},
            "merge_group": {"merge_group": {"base_sha": self.id("main"), "head_sha": self.id("topic")}},
            "push": {"before": self.id("main")},
            "new branch": {"before": ZERO},
        }
        body = dict(bodies[name], repository={"default_branch": "main"})
        return {"event_name": name, "event": body, "sha": self.id("topic"), "repository": "org/project"}

    def repository(self, name="org/project", path=None):
        return {"full_name": name, "clone_url": self.url(path or self.origin)}

    def github(self, name, event, workflow=RECIPES / "github.yml"):
        root = self.root / name
        root.mkdir()
        actions = {"actions/checkout": self.checkout, ACTION: HERE, "github/codeql-action/upload-sarif": self.upload}
        shutil.rmtree(self.root / "home")
        (self.root / "home").mkdir()
        job = Github(root, event, self.environment, actions)
        job.uploaded = []
        job.exit = job.job(workflow)
        job.summary = (root / "summary").read_text()
        return job

    def checkout(self, job, given):
        """actions/checkout: one commit, no notes."""
        self.git(job.workspace, "init", "-q", ".")
        self.git(job.workspace, "remote", "add", "origin", self.url(self.origin))
        # As the real one: branches of the remote as well, but only where all of history is asked for.
        depth = [] if str(given.get("fetch-depth", "1")) == "0" else ["--depth=1"]
        self.git(job.workspace, "fetch", "-q", *depth, "origin", given["ref"],
                 "+refs/heads/main:refs/remotes/origin/main")
        self.git(job.workspace, "checkout", "-q", "--detach", given["ref"])

    @staticmethod
    def upload(job, given):
        job.uploaded.append((job.workspace / given["sarif_file"]).read_text())

    def gitlab(self, name, inputs, predefined=()):
        root = self.root / name
        root.mkdir()
        known = {
            "CI_PIPELINE_SOURCE": "merge_request_event", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": ZERO,
            "CI_COMMIT_SHA": self.id("topic"), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.example.org/g/p",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_URL": "https://gitlab.example.org/g/p",
        }
        known.update(predefined)
        pipeline = Gitlab(self.root, RECIPES / "gitlab.yml", inputs, self.environment, known)
        pipeline.project = root / "project"
        pipeline.project.mkdir()
        if pipeline.job("andon-program", pipeline.project) != 0:
            raise Failed(pipeline.log)
        self.git(pipeline.project, "init", "-q", ".")
        self.git(pipeline.project, "remote", "add", "origin", self.url(self.origin))
        self.git(pipeline.project, "fetch", "-q", "--depth=1", "origin", known["CI_COMMIT_SHA"])
        self.git(pipeline.project, "checkout", "-q", "--detach", known["CI_COMMIT_SHA"])
        pipeline.exit = pipeline.job("andon", pipeline.project)
        return pipeline

    def built(self):
        log = self.root / "cargo.log"
        return log.read_text().splitlines() if log.exists() else []


def holds(what, condition, log):
    if not condition:
        raise Failed(f"{what}\n{log}")


def github(ground):
    """The workflow and the action, over the events of GitHub."""
    ground.stranger("3\n", "Bump left-pad")
    ground.push("topic")
    for name in ("pull_request", "merge_group", "push", "new branch"):
        job = ground.github(f"green {name}", ground.event(name))
        holds(f"{name} is green", job.exit == 0, job.log)
        holds("it is annotated", "::notice title=tip-tested::" in job.log, job.log)
        holds("the summary says so", job.summary.startswith("<!-- andon-check -->\n## ✅ Andon: "), job.summary)
        holds("SARIF went to code scanning", len(job.uploaded) == 1 and "tip-tested" in job.uploaded[0], job.log)
        holds("the records were fetched", "no-records" not in job.log and "1 passed" in job.log, job.log)
    holds("built once, then cached", len(ground.built()) == 1, ground.built())
    ground.stranger("bug\n", "Bump it once more")
    ground.push("topic")
    job = ground.github("red", ground.event("pull_request"))
    holds("failing tests are red", job.exit == 1 and "::error title=failing-tests::" in job.log, job.log)
    holds("a red check is uploaded too", len(job.uploaded) == 1, job.log)
    holds("so says the summary", job.summary.startswith("<!-- andon-check -->\n## ❌ Andon: "), job.summary)


def github_forks(ground):
    """A fork: its records are taken in where they can be read, and the tests stand in where not."""
    fork = ground.root / "fork.git"
    ground.git(ground.root, "clone", "-q", "--bare", ground.url(ground.dev), str(fork))
    ground.git(ground.dev, "push", "-qf", ground.url(fork), "refs/notes/andon", "refs/andon/*:refs/andon/*")
    ground.push("topic", records=False)
    for name, path, code in (("readable", fork, "speaks"), ("private", ground.root / "nowhere.git", "tip-tested")):
        event = ground.event("pull_request")
        event["event"]["pull_request"]["head"]["repo"] = ground.repository("contributor/project", path)
        job = ground.github(f"fork {name}", event)
        holds(f"a fork is green ({name})", job.exit == 0, job.log)
        holds(f"what counts as evidence ({name})", ("tip-tested" in job.log) == (code == "tip-tested"), job.log)


def github_inputs(ground):
    """The other inputs of the action."""
    ground.stranger("3\n", "Bump left-pad")
    ground.push("topic")
    text = (RECIPES / "github.yml").read_text()

    def job(name, inputs, before=""):
        lines = "".join(f"          {key}: {value!r}\n" for key, value in inputs.items())
        step = f"      - uses: {ACTION}@COMMIT\n"
        workflow = ground.root / f"{name}.yml"
        workflow.write_text(text.replace(step, f"{before}{step}        with:\n{lines}"))
        return ground.github(name, ground.event("pull_request"), workflow)
    ran = job("without tests", {"test": "false", "program": str(ground.program)})
    holds("without tests evidence is missing", ran.exit == 3, ran.log)
    before = "      - run: sh check.sh > \"$GITHUB_WORKSPACE/../report.tap\"\n"
    ran = job("with a report", {"test-report": "../report.tap", "exit-code": "0", "sarif": ""}, before)
    holds("the report of the job counts as evidence", ran.exit == 0 and "handed in" in ran.log, ran.log)
    holds("no SARIF was asked for", ran.uploaded == [], ran.log)
    ran = job("with a range", {"range": "HEAD~1..HEAD", "program": str(ground.program)})
    holds("the range is judged", ran.exit == 0 and "checked 1 commit in HEAD~1..HEAD" in ran.log, ran.log)


def gitlab(ground):
    """The component, over the pipelines of GitLab."""
    ground.stranger("3\n", "Apply 1 suggestion(s) to 1 file(s)", PERSON, ("GitLab", "noreply@gitlab.example.org"))
    ground.push("topic")
    inputs = {"source": "https://gitlab.example.org/g/andon.git", "commit": "a" * 40, "prepare": "touch /dev/null"}
    for name, predefined in (
        ("merge request", {}),
        ("default branch", {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main",
                            "CI_COMMIT_BEFORE_SHA": ground.id("main"), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": ""}),
        ("fork", {"CI_MERGE_REQUEST_SOURCE_PROJECT_URL": ground.url(ground.root / "nowhere")}),
    ):
        pipeline = ground.gitlab(f"gitlab {name}", inputs, predefined)
        holds(f"{name} is green", pipeline.exit == 0 and "tip-tested" in pipeline.log, pipeline.log)
        for report in pipeline.artifacts("andon")["reports"].values():
            holds(f"{report} is there", (pipeline.project / report).exists(), pipeline.log)
    holds("built once, then cached", len(ground.built()) == 1, ground.built())
    holds("from the commit that was named", f"--rev {'a' * 40} andon" in ground.built()[0], ground.built())
    pipeline = ground.gitlab("gitlab program", {"program": str(ground.program), "test": False})
    holds("without tests evidence is missing", pipeline.exit == 3, pipeline.log)
    ground.stranger("bug\n", "Bump it")
    ground.push("topic")
    pipeline = ground.gitlab("gitlab red", inputs)
    holds("failing tests are red", pipeline.exit == 1 and "failing-tests" in pipeline.log, pipeline.log)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    for story in (github, github_forks, github_inputs, gitlab):
        with tempfile.TemporaryDirectory() as folder:
            story(Ground(pathlib.Path(folder).resolve(), program))
        print(f"ok: {story.__doc__.splitlines()[0]}")


if __name__ == "__main__":
    try:
        main()
    except Failed as why:
        sys.exit(f"error: {why}")
