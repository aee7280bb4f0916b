"""A small stand-in for the runners of GitHub Actions and of GitLab CI: it reads the YAML of the recipes as they do, and runs
every script with the shell that they run it with."""

import os
import pathlib
import re
import shutil
import subprocess

import yaml

import expressions


class Failed(Exception):
    """A recipe is not what its runner would take."""


def output_of(path):
    """What steps wrote to a file of NAME=VALUE lines."""
    lines = path.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


class Github:
    """One job of a workflow."""

    SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]

    def __init__(self, root, event, environment, actions):
        self.root, self.environment, self.actions = root, dict(environment), actions
        self.workspace = root / "workspace"
        self.workspace.mkdir()
        self.log, self.steps, self.failed, self.saves = "", {}, False, []
        for name in ("output", "summary", "env", "path"):
            (root / name).write_text("")
        self.github = event
        self.environment.update({
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(root / "summary"), "GITHUB_ENV": str(root / "env"),
            "GITHUB_PATH": str(root / "path"),
        })

    def functions(self):
        return {
            "always": lambda: True,
            "success": lambda: not self.failed,
            "failure": lambda: self.failed,
            "hashFiles": lambda *globs: "x" if any(list(self.workspace.glob(one)) for one in globs) else "",
        }

    def context(self, inputs, steps):
        return {"github": self.github, "inputs": inputs, "steps": steps, "runner": {"os": "Linux", "arch": "X64"}}

    def value(self, text, inputs, steps):
        return expressions.substitute(str(text), self.context(inputs, steps), self.functions())

    def is_wanted(self, step, inputs, steps):
        condition = str(step.get("if", "success()"))
        inner = re.fullmatch(r"\s*\$\{\{(.*)\}\}\s*", condition, flags=re.S)
        condition = inner.group(1) if inner else condition
        wanted = expressions.evaluate(condition, self.context(inputs, steps), self.functions())
        asks = re.search(r"\b(always|failure|success)\(", condition)
        return bool(wanted) and bool(asks or not self.failed)

    def run_steps(self, steps, inputs, action_path=None):
        """Runs steps; the outputs of those that have an id."""
        known = {}
        for step in steps:
            if bool("uses" in step) == bool("run" in step):
                raise Failed(f"a step does one thing: {step}")
            if action_path and "run" in step and "shell" not in step:
                raise Failed(f"a step of a composite action names its shell: {step}")
            if not self.is_wanted(step, inputs, known):
                continue
            outputs = self.run(step, inputs, known, action_path)
            if "id" in step:
                known[step["id"]] = {"outputs": outputs}
        return known

    def run(self, step, inputs, known, action_path):
        if "uses" in step:
            given = {name: self.value(value, inputs, known) for name, value in step.get("with", {}).items()}
            return self.use(step["uses"], given)
        (self.root / "output").write_text("")
        environment = dict(self.environment, GITHUB_OUTPUT=str(self.root / "output"))
        if action_path:
            environment["GITHUB_ACTION_PATH"] = str(action_path)
        for name, value in step.get("env", {}).items():
            environment[name] = self.value(value, inputs, known)
        script = self.root / "step.sh"
        script.write_text(self.value(step["run"], inputs, known))
        ran = subprocess.run(self.SHELL + [str(script)], cwd=self.workspace, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.log += ran.stdout
        self.environment.update(output_of(self.root / "env"))
        added = (self.root / "path").read_text().split()
        if added:
            self.environment["PATH"] = os.pathsep.join(added[::-1] + [self.environment["PATH"]])
            (self.root / "path").write_text("")
        if ran.returncode != 0 and not step.get("continue-on-error"):
            self.failed = True
            self.code = ran.returncode
        return output_of(self.root / "output")

    def use(self, name, given):
        action, _, _ = name.partition("@")
        if action == "actions/cache":
            return self.cache(given)
        if action in self.actions and callable(self.actions[action]):
            return self.actions[action](self, given) or {}
        folder = self.actions.get(action)
        if folder is None:
            raise Failed(f"unknown action: {name}")
        declared = yaml.safe_load((folder / "action.yml").read_text())
        if declared["runs"]["using"] != "composite":
            raise Failed("not a composite action")
        for needed in ("name", "description"):
            if needed not in declared:
                raise Failed(f"an action has a {needed}")
        unknown = set(given) - set(declared["inputs"])
        if unknown:
            raise Failed(f"unknown inputs: {unknown}")
        inputs = {name: given.get(name, one.get("default", "")) for name, one in declared["inputs"].items()}
        known = self.run_steps(declared["runs"]["steps"], inputs, folder)
        return {name: self.value(one["value"], inputs, known) for name, one in declared["outputs"].items()}

    def cache(self, given):
        path = pathlib.Path(given["path"].replace("~", self.environment["HOME"]))
        kept = self.root.parent / "cache" / given["key"]
        if kept.exists():
            shutil.copytree(kept, path, dirs_exist_ok=True)
            return {"cache-hit": "true"}
        self.saves.append((path, kept))
        return {"cache-hit": ""}

    def job(self, workflow):
        """Runs the only job of a workflow; its exit code."""
        document = yaml.safe_load(workflow.read_text())
        (job,) = document["jobs"].values()
        self.code = 0
        self.run_steps(job["steps"], {})
        for path, kept in self.saves:
            if path.exists() and not self.failed:
                shutil.copytree(path, kept)
        return self.code


class Reference(yaml.SafeLoader):
    """YAML with GitLab's `!reference`."""


Reference.add_constructor("!reference", lambda loader, node: ("reference", loader.construct_sequence(node)))


class Gitlab:
    """A pipeline of a component."""

    def __init__(self, root, component, inputs, environment, predefined):
        self.root, self.environment = root, dict(environment, CI="true", GITLAB_CI="true", **predefined)
        text = component.read_text()
        head, body = text.split("\n---\n", 1)
        declared = yaml.safe_load(head)["spec"]["inputs"]
        unknown = set(inputs) - set(declared)
        if unknown:
            raise Failed(f"unknown inputs: {unknown}")
        values = {}
        for name, one in declared.items():
            if name not in inputs and "default" not in one:
                raise Failed(f"{name} is mandatory")
            values[name] = expressions.shown(inputs.get(name, one.get("default")))

        def value(found):
            if found.group(1) not in values:
                raise Failed(f"no input {found.group(1)}")
            return values[found.group(1)]
        self.jobs = yaml.load(re.sub(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]", value, body), Reference)
        self.log = ""

    def job(self, name, project):
        """Runs a job in a folder; its exit code."""
        job = self.jobs[name]
        kept = self.root / "cache" / job.get("cache", {}).get("key", "none")
        if "cache" in job and kept.exists():
            shutil.copytree(kept, project, dirs_exist_ok=True)
        lines = list(job.get("before_script", [])) + list(job["script"])
        if not all(isinstance(line, str) for line in lines):
            raise Failed(f"a line of a script is text: {lines}")
        environment = dict(self.environment, CI_PROJECT_DIR=str(project))
        environment.update({name: str(value) for name, value in job.get("variables", {}).items()})
        ran = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(lines)], cwd=project, env=environment,
                             text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.log += ran.stdout
        for path in job.get("cache", {}).get("paths", []):
            if (project / path).exists():
                shutil.copytree(project / path, kept / path, dirs_exist_ok=True)
        return ran.returncode

    def artifacts(self, name):
        return self.jobs[name].get("artifacts", {})
