"""What the scripts here start programs with: no settings of the machine, no editor, one author, an own home."""

import os
import subprocess
import sys


def environment(home, *before_path):
    """The environment; `before_path` are directories to look for programs in first."""
    env = {
        "PATH": os.pathsep.join([*map(str, before_path), os.environ["PATH"]]),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for role in ("AUTHOR", "COMMITTER"):
        env[f"GIT_{role}_NAME"] = "Bench"
        env[f"GIT_{role}_EMAIL"] = "bench@localhost"
    return env


def run(env, argv, cwd=None, stdin=None):
    """Runs an untimed step and returns what it printed; ends the script when the step fails."""
    done = subprocess.run([str(a) for a in argv], cwd=cwd, env=env, input=stdin,
                          stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace")
        sys.exit(f"{' '.join(map(str, argv))} in {cwd}: exit {done.returncode}\n{said}")
    return done.stdout.decode(errors="replace").strip()
