#!/usr/bin/env python3
"""Runs `andon test` on each row of rows.jsonl and prints what it got wrong, by class.

A row is a run of a test command: the runner and its version, the command, what each program that it starts prints (`calls`),
files of the project, report files that the run writes, lines of `[test]`, and the truth: `green` for an honest pass, `no green`
for everything else. Programs are stand-ins that print what the row says. `{TOP}` is the working tree, `{OTHER}` a folder beside it.

    bench/greens/run.py [--andon FILE] [--jobs N] [--show] [--from ROW]
"""
import argparse, collections, concurrent.futures, json, os, pathlib, shutil, subprocess, tempfile

HERE = pathlib.Path(__file__).parent
PROGRAMS = """pytest python npx npm bundle go cargo ctest node vendor/bin/phpunit bats mvn ./mvnw gradle ./gradlew dotnet sbt lein
bin/kaocha swift flutter dart mix rebar3 erl gleam cabal stack dune zig nim nimble crystal ./tests make meson Rscript julia pwsh robot
behave busted prove vendor/bin/pest ginkgo bazel tox nox nose2 shellspec ./run-tests pnpm java deno bun ./build/tests ./build/a
./build/b ninja yarn rush composer docker just task pre-commit shellcheck ruff mypy rspec buck2 pants plz runghc vendor/bin/paratest
vendor/bin/phpspec vendor/bin/codecept lua mill v ward trial stestr forge terraform opa helm dbt
gotestsum yath clojure xcodebuild dub fpm emacs eask raco lit runtest ant ceedling cram hurl wasm-pack odin hare roc swipl conftest snforge octave matlab
ct_run hatch melos mage parallel moon rebar xmake npm-run-all wireit lage green""".split()
STAND_IN = """#!/bin/sh
row={row}
n=$(cat "$row/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$row/n"
[ $n = 1 ] && [ -d "$row/writes" ] && cp -r "$row/writes/." {top}
[ -f "$row/err.$n" ] && cat "$row/err.$n" >&2
[ -f "$row/out.$n" ] && cat "$row/out.$n"
exit $(cat "$row/exit.$n" 2>/dev/null || echo 0)
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def prepare(place, row):
    top, other, of_row = place / "top", place / "other", place / "row"
    for folder in (top, other, of_row, place / "bin"):
        folder.mkdir(parents=True)
    filled = lambda text: text.replace("{TOP}", str(top)).replace("{OTHER}", str(other))
    for program in [one for one in PROGRAMS if "/" not in one or one in row["command"].replace("../tests", "")] + ["runner"]:
        stand_in = (top if "/" in program else place / "bin") / program
        write(stand_in, STAND_IN.format(row=of_row, top=top))
        stand_in.chmod(0o755)
    for script in ("check.sh", "tests.sh"):
        write(top / script, "runner\n")
    write(other / "phpunit.xml", "<phpunit/>\n")
    for path, text in row.get("files", {}).items():
        write(top / path, filled(text))
    if row["command"] == "npm test" and not (top / "package.json").exists():
        write(top / "package.json", '{"scripts": {"test": "sh check.sh"}}')
    config = "[guard]\napplies_to = \"everyone\"\n[test]\ncommand = %s\n%s\n" % (json.dumps(row["command"]), row.get("config", ""))
    write(top / "andon.toml", config)
    return top, of_row, filled


def calls(of_row, filled, list_of_calls, writes):
    shutil.rmtree(of_row)
    of_row.mkdir()
    for number, call in enumerate(list_of_calls, 1):
        for kind, name in (("out", "stdout"), ("err", "stderr")):
            write(of_row / f"{kind}.{number}", filled(call.get(name, "")))
        write(of_row / f"exit.{number}", str(call.get("exit", 0)))
    for path, text in writes.items():
        write(of_row / "writes" / path, filled(text))


def run(andon, row, number):
    with tempfile.TemporaryDirectory(prefix="greens") as folder:
        top, of_row, filled = prepare(pathlib.Path(folder).resolve(), row)
        env = {"PATH": f"{top.parent}/bin:/usr/bin:/bin", "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
        env |= row.get("env", {})
        subprocess.run(["git", "init", "-q", "."], cwd=top, env=env, check=True)
        if "before" in row:
            calls(of_row, filled, [{"stdout": row["before"]}], {})
            subprocess.run([andon, "test"], cwd=top, env=env, capture_output=True)
        calls(of_row, filled, row["calls"], row.get("writes", {}))
        ran = subprocess.run([andon, "test", "--format", "json"], cwd=top, env=env, capture_output=True, text=True)
        try:
            told = json.loads(ran.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            told = {"status": "no answer", "warnings": ran.stderr}
        return number, told


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--andon", default=str(HERE.parent.parent / "target/debug/andon"))
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--show", action="store_true", help="print the answer to each miss")
    words.add_argument("--from", type=int, default=1, dest="first", help="the first row to run")
    words.add_argument("--max", type=int, default=0, help="misses that are no failure")
    args = words.parse_args()
    rows = [json.loads(line) for line in (HERE / "rows.jsonl").read_text().splitlines()][args.first - 1 :]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        answers = dict(pool.map(lambda one: run(os.path.abspath(args.andon), one[1], one[0]), enumerate(rows)))
    misses, seen = collections.defaultdict(list), collections.Counter()
    for number, row in enumerate(rows):
        told = answers[number]
        evidence = told.get("tests", told)
        green = evidence.get("status") == "passed" and told.get("validity", "valid") == "valid"
        by_exit = str(evidence.get("runner", "")).startswith("exit")
        seen[row["truth"]] += 1
        if green == (row["truth"] == "green"):
            continue
        how = "wrong red" if not green else "wrong green, by exit code" if by_exit else "wrong green, with a report"
        if green and by_exit and not told.get("warnings"):
            how += ", silent"
        misses[f"{how}: {row['kind']}"].append((number + args.first, row, told))
    for what in sorted(misses):
        print(f"{len(misses[what]):4} {what}")
        for number, row, told in misses[what]:
            print(f"       row {number}: {row['runner']} {row['version']}: {row['command']!r}")
            if args.show:
                print(f"         {json.dumps(told)[:600]}")
    total = sum(map(len, misses.values()))
    wrong = collections.Counter(what.split(":")[0] for what in misses for _ in misses[what])
    print(f"{total} of {len(rows)} rows are wrong ({seen['green']} honest greens): {dict(wrong)}")
    return total > args.max


if __name__ == "__main__":
    raise SystemExit(main())
