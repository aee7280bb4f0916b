#!/usr/bin/env python3
"""The story of a stuck loop, told by each real client: refused, tested, stuck, halted, and every way around the halt.

Called by run.sh. A scripted model (fakemodel.py) says what the agent does; the test then checks the
repository, what the model was told, and how often it was asked.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clients import CLIENTS, write  # noqa: E402
from fakemodel import FakeModel  # noqa: E402

# Seconds for one session of a client. One that still runs then is kept in a loop.
LIMIT = 100
# Requests to the model that a session may take beyond what its script needs: titles, and what our gate may hold.
SPARE = 8
PRINTED = threading.Lock()

TESTS = """echo 1..1
if grep -q 42 answer.c; then echo ok 1 - answer; else echo not ok 1 - answer; exit 1; fi
"""


class Failed(Exception):
    """A step that did not hold."""


class Story:
    """One client from its installation to the end."""

    def __init__(self, client, options):
        self.client, self.options = client, options
        self.work = os.path.join(options.work, client.name)
        shutil.rmtree(self.work, ignore_errors=True)
        self.home, self.repo = os.path.join(self.work, "home"), os.path.join(self.work, "repo")
        os.makedirs(self.repo)
        # Login shells (Codex) take their PATH from here.
        write(os.path.join(self.home, ".bash_profile"), f"PATH={options.bin}:$PATH\n")
        self.settings_file = os.path.join(self.home if client.of_user else self.repo, client.settings)
        self.level = ["--user"] if client.of_user else []
        self.steps, self.sessions = 0, 0

    # ---- saying and running ---------------------------------------------------------------------------

    def say(self, text):
        with PRINTED:
            print(f"{self.client.name}: {text}", flush=True)

    def step(self, text):
        self.steps += 1
        self.say(f"step {self.steps}: {text}")

    def holds(self, truth, text):
        if not truth:
            raise Failed(text)

    def person(self):
        """The environment of a person: a home of its own and nothing of the machine."""
        path = ":".join([self.options.bin, "/usr/local/bin", "/usr/bin", "/bin"])
        return {"PATH": path, "HOME": self.home, "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb", "NO_COLOR": "1",
                "LANG": "C.UTF-8", "TMPDIR": self.options.work}

    def run(self, *argv, good=True):
        done = subprocess.run(argv, cwd=self.repo, env=self.person(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        if good and done.returncode:
            raise Failed(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def head(self):
        return self.run("git", "rev-parse", "HEAD").stdout.strip()

    def record(self, revision):
        done = self.run("git", "notes", "--ref=andon", "show", revision, good=False)
        return json.loads(done.stdout.splitlines()[0]) if done.returncode == 0 else None

    def session(self, turns, after="Done.", most=None):
        """Runs the client against a model with these turns. Returns what the model was told, by turn."""
        self.sessions += 1
        log = os.path.join(self.work, f"session{self.sessions}")
        with FakeModel({"turns": turns, "after": after}, log) as model:
            self.client.prepare(self.home, self.repo, model.url)
            env = {**self.person(), **self.client.env(self.home, model.url)}
            env["PATH"] = self.options.path + ":" + env["PATH"]
            begun = time.time()
            with open(os.path.join(log, "output"), "wb") as output:
                process = subprocess.Popen(self.client.argv(), cwd=self.repo, env=env, stdin=subprocess.DEVNULL,
                                           stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
                try:
                    process.wait(LIMIT)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, 9)
                    process.wait()
                    raise Failed(f"the client still ran after {LIMIT} s, {len(model.requests)} requests: {log}")
            asked = [one for one in model.requests if one.get("track") == "main"]
            self.say(f"  session {self.sessions}: {len(asked)} requests in {time.time() - begun:.0f} s, exit {process.returncode}")
            self.holds(most == 0 or len(asked) >= min(len(turns), 2), f"the model was asked {len(asked)} times only: {log}")
            most = len(turns) + SPARE if most is None else most
            self.holds(len(asked) <= most, f"the model was asked {len(asked)} times, {most} at most: {log}")
        return Told(turns, asked, log)

    # ---- the story ------------------------------------------------------------------------------------

    def set_up(self):
        self.run("git", "init", "-q", "-b", "main", ".")
        self.run("git", "config", "user.name", "A Person")
        self.run("git", "config", "user.email", "person@example.com")
        self.run("git", "commit", "-q", "--allow-empty", "-m", "Root")
        self.run("git", "branch", "bare")
        write(os.path.join(self.repo, "tests.sh"), TESTS)
        write(os.path.join(self.repo, "answer.c"), "42\n")
        write(os.path.join(self.repo, "andon.toml"), '[test]\ncommand = "sh tests.sh"\n')
        self.step("install the hooks of git and of the client; a second time changes nothing")
        self.run("andon", "install")
        self.run("andon", "agent", "install", self.client.name, *self.level)
        settings = self.settings()
        self.run("andon", "agent", "install", self.client.name, *self.level)
        self.holds(self.settings() == settings, "the second install changed the settings")
        self.run("git", "add", "--all")
        self.run("andon", "test")
        self.run("git", "commit", "-q", "-m", "Start")

    def settings(self):
        with open(self.settings_file, encoding="utf-8") as file:
            return file.read()

    def work_that_goes_well(self):
        begun = self.head()
        told = self.session([
            {"shell": "echo '42 apples' > answer.c"},
            {"shell": "git commit -qam Untested; git log --format=%s -1"},
            {"shell": "andon test"},
            {"shell": "git commit -qam Tested && git log --format=%s -1"},
        ])
        self.step("an untested commit is refused, and the reason reaches the model")
        self.holds(told.says(1, "untested-edit"), f"the refusal did not reach the model: {told.log}")
        self.step("the tests run in the agent's shell")
        self.holds(told.says(2, "ok 1 - answer"), f"the tests did not reach the model: {told.log}")
        self.step("the tested commit passes and is recorded")
        subjects = self.run("git", "log", "--format=%s", f"{begun}..").stdout.split()
        self.holds(subjects == ["Tested"], f"commits: {subjects}")
        record = self.record("HEAD")
        self.holds(record and record["gate"] == "passed", f"record: {record}")
        self.holds(record["tests"]["status"] == "passed", f"record: {record}")

    def work_without_a_habit(self):
        """The agent knows the test command of the project, and nothing of Andon."""
        begun = self.head()
        told = self.session([
            {"shell": "echo '42 figs' > answer.c"},
            {"shell": "sh tests.sh"},
            {"shell": "git commit -qam Plain; git log --format=%s -1"},
        ] + ([] if self.client.rewrites else [{"shell": "andon test && git commit -qam Plain"}]) + [
            {"shell": "echo '42 dates' > answer.c; git stash -q; git checkout -q bare; ls -A"},
            {"shell": "git checkout -q main; git stash drop -q; git status --short"},
        ])
        if self.client.rewrites:
            self.step("the plain test command counts: it runs as andon test, and the model sees that in one line")
            self.holds(told.says(1, "ok 1 - answer"), f"the tests did not reach the model: {told.log}")
            self.holds(told.says(1, "this runs as"), f"the model was not told: {told.log}")
        else:
            self.step("a plain run that passes proves nothing, and the refusal says what does")
            self.holds(told.says(2, "andon test"), f"the refusal did not reach the model: {told.log}")
        subjects = self.run("git", "log", "--format=%s", f"{begun}..").stdout.split()
        self.holds(subjects == ["Plain"], f"commits: {subjects}: {told.log}")
        self.holds(self.record("HEAD")["gate"] == "passed", f"record: {self.record('HEAD')}")
        self.step("a stash, and a branch without the settings of the client, are no attack on the guard")
        with open(os.path.join(self.repo, ".git/andon/journal.jsonl"), encoding="utf-8") as journal:
            self.holds("guard_disarmed" not in journal.read(), f"somebody is accused: {told.log}")
        self.holds(self.run("git", "status", "--porcelain", "-uno").stdout == "", f"the checkout did not work: {told.log}")

    def a_model_that_never_finishes(self):
        """The code is changed again and again and never tested, and the model says that it is done, for ever."""
        turns = [{"shell": "echo '42 pears' > answer.c"}]
        for number in range(40):
            turns += ["Done.", {"shell": f"echo '42 pears {number}' > answer.c"}]
        # The end of a turn is held once, which costs what is said and what is done then.
        told = self.session(turns, most=2 + 2)
        self.step("a model that never obeys gets one reminder, and is then let go")
        self.holds(told.says(1, "not done yet") == self.client.holds_turns, f"the end of the turn: {told.log}")
        self.run("git", "checkout", "-q", "--", "answer.c")

    def stuck(self):
        turns = [{"shell": f"echo {number} > answer.c; {self.client.test}; git commit -qam 'Try {number}'; git log -1 --format=%s"}
                 for number in (50, 51, 52)]
        told = self.session(turns + [{"shell": "echo 53 > answer.c && echo changed"}, {"shell": "andon status"}])
        self.step("the same failure three times halts the loop")
        status = self.run("andon", "status", "--exit-code", good=False)
        self.holds(status.returncode == 1 and "halted" in status.stdout.lower(), f"status: {status.stdout}")
        self.holds(os.path.exists(os.path.join(self.repo, ".andon/CHECKPOINT.md")), "there is no CHECKPOINT.md")
        subjects = self.run("git", "log", "--format=%s", "-3").stdout
        self.holds("Try 50" in subjects, f"commits: {subjects}")
        self.step("a tool call after the halt is refused with the reason")
        self.holds(told.says(3, "halted"), f"the model was not told of the halt: {told.log}")
        answer = open(os.path.join(self.repo, "answer.c"), encoding="utf-8").read()
        self.holds(answer.strip() != "53", "the edit after the halt was made")
        self.step("reading and `andon status` still work")
        self.holds(told.says(4, "Loop"), f"andon status was refused: {told.log}")

    def ways_around(self):
        unset = " ".join(f"-u {name}" for name in self.client.markers)
        settings = self.settings_file
        edit = "echo 60 > answer.c; "
        return [
            f"{edit}git commit -qam around1",
            f"{edit}git commit --no-verify -qam around2",
            f"{edit}git -c core.hooksPath=/dev/null commit -qam around3",
            f"{edit}git config core.hooksPath /dev/null; git commit -qam around4",
            f"{edit}ANDON=0 git commit --no-verify -qam around5",
            "andon resume --reason 'I am sure'",
            f"env {unset} andon resume --reason 'I am a person'",
            "rm -f .andon/CHECKPOINT.md; git commit --allow-empty -qm around6",
            "rm -rf .andon .git/andon; git commit --allow-empty -qm around7",
            "rm -f .git/hooks/*; git commit --allow-empty -qm around8",
            f"echo '{{}}' > {settings if self.client.of_user else self.client.settings}; echo emptied",
            {"write": [settings, "{}\n"]},
            "andon uninstall; git commit --allow-empty -qm around9",
            " ".join(["andon agent uninstall", self.client.name, *self.level]),
            "git update-ref refs/heads/main $(git commit-tree -p HEAD -m around10 'HEAD^{tree}')",
            "git update-ref -d refs/notes/andon; git for-each-ref --format='delete %(refname)' refs/andon | git update-ref --stdin",
            "echo 'x' > .andon/STOP; rm -f .andon/STOP; sed -i s/block/off/ andon.toml; git commit -qam around11",
        ]

    def halted(self):
        halted_at, settings = self.head(), self.settings()
        ways = self.ways_around()
        turns = [{"shell": way} if isinstance(way, str) else way for way in ways]
        # Where a prompt is blocked, the model is not asked at all.
        self.session(turns, most=0 if self.client.blocks_prompts else len(turns) + 2 * SPARE)
        self.step(f"{len(ways)} ways around the halt: every commit that got through is recorded as bypassed")
        made = self.run("git", "rev-list", f"{halted_at}..HEAD").stdout.split()
        for commit in made:
            record = self.record(commit)
            self.holds(record and record["gate"] == "bypassed", f"a commit after the halt: {commit}, record {record}")
        self.holds(self.run("git", "merge-base", "--is-ancestor", halted_at, "HEAD", good=False).returncode == 0,
                   "the halted commit is gone from the branch")
        self.step("the halt is still unanswered")
        status = self.run("andon", "status", "--exit-code", good=False)
        self.holds(status.returncode == 1 and "halted" in status.stdout.lower(), f"status: {status.stdout}{status.stderr}")
        self.step("the settings of the client, the hooks of git and the records are still there")
        self.holds(self.settings() == settings, "the client's settings were changed")
        doctor = self.run("andon", "doctor", good=False)
        self.holds(doctor.returncode == 0, f"doctor: {doctor.stdout}")
        self.holds(self.record(halted_at), "the records are gone")
        self.say(f"  commits after the halt: {len(made)}")

    def without_its_hooks(self):
        """The client's settings are gone, as if a person had emptied them: the hooks of git and `check` are what is left."""
        halted_at, settings = self.head(), self.settings_file
        os.rename(settings, os.path.join(self.work, "settings"))
        edit = "echo 60 > answer.c; git commit -qam"
        self.session([{"shell": way} for way in (f"{edit} gone1", f"{edit} gone2 --no-verify", f"ANDON=0 {edit} gone3",
                                                 "git -c core.hooksPath=/dev/null commit --allow-empty -qm gone4")])
        self.step("without the client's hooks: each commit after the halt is recorded as bypassed, or found by andon check")
        made = self.run("git", "rev-list", f"{halted_at}..HEAD").stdout.split()
        check = self.run("andon", "check", f"{halted_at}..HEAD", good=False)
        for commit in made:
            record = self.record(commit)
            self.holds(not record or record["gate"] == "bypassed", f"a commit after the halt: {commit}, record {record}")
            self.holds(check.returncode == 1 and commit[:7] in check.stdout + check.stderr, f"check: {check.stdout}{check.stderr}")
        self.say(f"  commits that check found: {len(made)}")
        self.run("git", "reset", "-q", "--hard", halted_at)
        if self.client.of_user:
            os.rename(os.path.join(self.work, "settings"), settings)

    def a_new_session(self):
        before = self.head()
        self.session([{"shell": "echo 42 > answer.c; andon test; git commit -qam 'Again'"}, {"shell": "git status --short"}],
                     most=0 if self.client.blocks_prompts else None)
        self.step("a new session begins halted, and ends by itself")
        made = self.run("git", "rev-list", f"{before}..HEAD").stdout.split()
        self.holds(not made, f"commits in a halted loop: {made}")

    def answered(self):
        self.step("a person answers, and the work goes on")
        self.run("andon", "resume", "--yes", "the story plays the person", "--reason", "start from 42")
        self.run("git", "checkout", "-q", "--", ".")
        self.session([
            {"shell": "echo '42 plums' > answer.c; andon test"},
            {"shell": "git commit -qam 'Right again'"},
        ])
        self.holds(self.run("git", "log", "-1", "--format=%s").stdout.strip() == "Right again", "the commit was not made")
        self.holds(self.record("HEAD")["gate"] == "passed", "the commit did not pass the gate")

    def put_back(self):
        self.step("uninstalling takes the settings out again")
        self.run("andon", "agent", "uninstall", self.client.name, *self.level)
        self.holds(not os.path.exists(self.settings_file), "the settings are still there")

    def tell(self):
        self.set_up()
        self.work_that_goes_well()
        self.work_without_a_habit()
        self.a_model_that_never_finishes()
        self.stuck()
        self.halted()
        self.without_its_hooks()
        self.a_new_session()
        self.answered()
        self.put_back()


class Told:
    """What the model was told after each of its turns."""

    def __init__(self, turns, asked, log):
        self.log = log
        self.answers = ["\n".join(one["told"]) for one in asked[1:]] + [""] * len(turns)

    def says(self, turn, words):
        return re.search(words, self.answers[turn], re.IGNORECASE) is not None


def tell(name, options):
    story, begun = Story(CLIENTS[name], options), time.time()
    try:
        story.tell()
    except (Failed, subprocess.TimeoutExpired) as failure:
        story.say(f"FAILED after step {story.steps}: {failure}")
        return False
    story.say(f"all {story.steps} steps hold, {time.time() - begun:.0f} s")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], metavar="CLIENT")
    parser.add_argument("--program", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--path", required=True, help="where the clients and their node are")
    parser.add_argument("--jobs", type=int, default=3)
    options = parser.parse_args()
    options.work = os.path.realpath(options.work)
    # The program under its name, and nothing else of the folder it was built in.
    options.bin = os.path.join(options.work, "bin")
    os.makedirs(options.bin, exist_ok=True)
    shutil.copy2(options.program, os.path.join(options.bin, "andon"))
    by_default = [name for name, client in CLIENTS.items() if client.by_default]
    names, begun = options.clients or by_default, time.time()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        held = dict(zip(names, pool.map(lambda name: tell(name, options), names)))
    failed = [name for name, good in held.items() if not good]
    print(f"clients: {', '.join(names)}: {'FAILED: ' + ', '.join(failed) if failed else 'all hold'}, {time.time() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
