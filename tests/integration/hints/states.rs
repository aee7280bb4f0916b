//! The states in which hints come, and the hints that no state here brings about.

/// A state, as lines of a shell: what makes it, and what shows the trouble.
pub(super) struct State {
    pub(super) name: &'static str,
    pub(super) make: &'static str,
    pub(super) trigger: &'static str,
    /// What a person does before the hint, where it says so.
    pub(super) answer: &'static str,
    /// Who can make it.
    pub(super) maker: Maker,
}

/// Who can make a state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    Anyone,
    /// It has files of several users.
    Superuser,
}

const fn state(name: &'static str, make: &'static str, trigger: &'static str) -> State {
    State { name, make, trigger, answer: "true", maker: Maker::Anyone }
}

const fn of_two_users(name: &'static str, make: &'static str, trigger: &'static str) -> State {
    State { maker: Maker::Superuser, ..state(name, make, trigger) }
}

/// Gives all to another user, as whom `../as LINE` runs a line; `sudo` gives the rights back for what that user runs.
pub(super) const GIVEN_AWAY: &str = r#"git config --global --add safe.directory '*'; mkdir ../bin; cp $(command -v andon) ../bin;     printf '#!/bin/sh\nexec "$@"\n' > ../bin/sudo; printf '#!/bin/sh\necho 65534\n' > ../bin/id;     printf '#!/bin/sh\nPATH=%s/bin:$PATH exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$1"\n' "$(cd .. && pwd)" > ../as;     chmod +x ../as ../bin/*; chown -R 65534:65534 ..;"#;

/// A partial clone of `../hub`.
pub(super) const PARTIAL: &str = "git clone -q --bare . ../hub; git push -q ../hub refs/notes/andon; \
    git -C ../hub config uploadpack.allowFilter true; git -C ../hub config uploadpack.allowAnySHA1InWant true; \
    git remote add origin \"file://$(cd ../hub && pwd)\"; git config remote.origin.promisor true; \
    git config remote.origin.partialclonefilter blob:none; \
    lose() { O=$(git rev-parse $1); rm -f .git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); };";

/// A writer's ref in `$R`, after a halt.
pub(super) const HALTED: &str = "andon stop --reason 'look at it' && rm .andon/STOP; \
    R=$(git for-each-ref --format='%(refname)' refs/andon/ledger | head -1);";

pub(super) static STATES: &[State] = &[
    state("a commit that no test ran on", "echo 9 >> one.c && git add one.c", "git commit -qm Work"),
    state(
        "a file beside it",
        "echo 9 >> one.c; echo 1 > two2.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "assume-unchanged",
        "git update-index --assume-unchanged two.c; echo 9 >> two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "skip-worktree",
        "git update-index --skip-worktree two.c; echo 9 >> two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a new repository inside",
        "git init -q nested; echo 1 > nested/in.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a clone inside",
        "git clone -q . nested; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "a hook that formats",
        "andon uninstall; printf '#!/bin/sh\\necho \"// $(wc -l < one.c)\" >> one.c; git add one.c\\n' > .git/hooks/pre-commit; \
         chmod +x .git/hooks/pre-commit; andon install; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state("a hook is gone", "rm .git/hooks/post-commit", "andon status"),
    state("a hook is not executable", "chmod -x .git/hooks/post-commit", "andon doctor"),
    state("an edited shim", "echo 'echo mine' >> .git/hooks/pre-commit", "andon install"),
    state(
        "two hooks of others",
        "andon uninstall; echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; andon install; \
         printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit",
        "andon install",
    ),
    state(
        "a chained shim",
        "cp .git/hooks/pre-commit .git/hooks/pre-commit.andon-chained; echo '#!/bin/sh' > .git/hooks/pre-commit",
        "andon install",
    ),
    state("hooks switched off", "git config core.hooksPath /dev/null", "andon install"),
    state(
        "a lock that was left",
        "ANDON=0 git commit -q --allow-empty -m Unseen; : > .git/refs/notes/andon.lock",
        "andon backfill HEAD",
    ),
    state(
        "half a manifest",
        "head -c 40 .git/andon/install.json > m; cat m > .git/andon/install.json; rm m",
        "andon doctor",
    ),
    state(
        "a pipe for a manifest",
        "rm .git/andon/install.json; mkfifo .git/andon/install.json",
        "andon doctor",
    ),
    state(
        "a link for a manifest",
        "mv .git/andon/install.json .git/andon/there.json; ln -s there.json .git/andon/install.json",
        "andon doctor",
    ),
    state("a lock that doctor finds", "touch -d 2020-01-01 .git/refs/notes/andon.lock", "andon doctor"),
    state("a damaged id", "andon stop; rm .andon/STOP; echo junk > .git/andon/writer", "andon stop"),
    state(
        "an entry that nobody can read",
        "@HALTED T=$(printf '100644 blob %s\\tentry.json\\n' $(echo junk | git hash-object -w --stdin) | git mktree); \
         git update-ref $R $(echo x | git commit-tree $T -p $R)",
        "andon check HEAD",
    ),
    state(
        "an object of the ledger that is gone",
        "@HALTED O=$(git rev-parse $R); rm -f .git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-)",
        "andon status",
    ),
    state(
        "an object that is gone of the ledger of a clone that was copied",
        "@HALTED cp -a .git ../copy; rm -r .git; mv ../copy .git; rm -r .git/andon/cache; B=$(git rev-parse $R:entry.json); \
         rm -f .git/objects/$(echo $B | cut -c1-2)/$(echo $B | cut -c3-)",
        "andon status",
    ),
    state(
        "a replaced commit",
        "git replace HEAD $(git commit-tree HEAD^{tree} -m Other)",
        "andon check HEAD",
    ),
    state("a graft", "mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts", "andon check HEAD"),
    state("notes that are copied", "git config notes.rewriteRef 'refs/notes/*'", "andon doctor"),
    state(
        "fetches that overwrite",
        "git remote add origin .; git config --add remote.origin.fetch '+refs/notes/*:refs/notes/*'",
        "andon doctor",
    ),
    state(
        "a test program that is not executable",
        "cp check.sh run.sh; printf '[test]\\ncommand = \"./run.sh\"\\n' > andon.toml",
        "andon doctor",
    ),
    state("a journal of junk", "echo junk >> .git/andon/journal.jsonl", "andon doctor"),
    state("a folder that is a file", "rm -rf .andon; echo mine > .andon", "andon stop"),
    state("no record", "ANDON=0 git commit -q --allow-empty -m Unseen", "andon check HEAD~1..HEAD"),
    state(
        "records that were fetched under another name",
        "git update-ref refs/notes/remotes/origin/andon refs/notes/andon; git update-ref -d refs/notes/andon",
        "andon doctor",
    ),
    state(
        "hooks for all repositories, and others here",
        "mkdir -p ../hooks; git config --global core.hooksPath \"$(cd ../hooks && pwd)\"; git config core.hooksPath .git/hooks",
        "andon doctor",
    ),
    state("a lock on the configuration", ": > .git/config.lock", "andon uninstall"),
    state(
        "a folder in the place of the id",
        "rm -f .git/andon/writer; mkdir .git/andon/writer",
        "andon stop",
    ),
    state(
        "a folder in the place of a report",
        "mkdir -p .andon/CHECKPOINT.md; echo mine > .andon/CHECKPOINT.md/note",
        "andon stop",
    ),
    state(
        "an untested commit past the gate",
        "git tag base; echo 9 >> one.c; git commit -qam Work --no-verify",
        "andon check base..HEAD",
    ),
    state(
        "an entry of the ledger that is no JSON",
        "@HALTED E=$(printf '100644 blob %s\tentry.json\n' $(echo x | git hash-object -w --stdin) | git mktree); \
         git update-ref $R $(git commit-tree -p $R -m x $E)",
        "andon ledger verify",
    ),
    state(
        "an entry of the ledger that is no halt of this version",
        "@HALTED E=$(git show $R:entry.json | sed s/user_stop/dance/ | git hash-object -w --stdin); \
         T=$(printf '100644 blob %s\tentry.json\n' $E | git mktree); git update-ref $R $(git commit-tree -p $R -m x $T)",
        "andon ledger verify",
    ),
    state(
        "a ledger that is a file",
        "git update-ref refs/andon/ledger/x $(git hash-object -w one.c)",
        "andon doctor",
    ),
    state(
        "records that are a file",
        "git update-ref refs/notes/andon $(git hash-object -w one.c)",
        "andon status",
    ),
    state(
        "a record of junk",
        "git notes --ref=andon add -f -m junk HEAD; git config core.editor 'truncate -s 0'",
        "andon status",
    ),
    state(
        "a shallow clone",
        "git clone -q --bare . ../hub; git remote add origin \"file://$(cd ../hub && pwd)\"; git rev-parse HEAD > .git/shallow; \
         git commit -q --allow-empty -m More",
        "andon check HEAD~2..HEAD",
    ),
    state(
        "tests that failed at the commit and pass now",
        "echo '[ ! -e ../broken ] || { echo 1..1; echo not ok 1 - a; exit 1; }; echo 1..1; echo ok 1 - a' > check.sh; \
         git add check.sh; : > ../broken; andon test; git commit -qm Red; rm ../broken; andon test",
        "andon complete",
    ),
    state(
        "the configuration was removed",
        "git tag base; git rm -q andon.toml; git commit -qm Leave",
        "andon check base..HEAD",
    ),
    state("paths are given", "echo 9 >> one.c; echo 9 >> two.c; andon test", "git commit -qm Work one.c"),
    state(
        "a file that was taken away",
        "echo 9 >> one.c; git add one.c; rm two.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "an executable bit that git does not look at",
        "git config core.fileMode false; chmod +x two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    state(
        "size and times that git remembers",
        "touch -d '1 hour ago' two.c; git config core.trustctime false; git status -s; cp -p two.c ../two; \
         sed s/5/6/ ../two > two.c; touch -r ../two two.c; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
    State {
        answer: "andon resume --reason 'go on' --yes 'a test'",
        ..state(
            "a merge that a halt stops",
            "git switch -qc side; echo 1 > one.c; andon test; git commit -qam Side; git switch -q main; echo 9 >> one.c; \
             andon test; git commit -qam Main; git merge -q side; echo 1 > one.c; git add one.c; andon test; \
             andon stop --reason look",
            "git commit -q --no-edit",
        )
    },
    state(
        "a commit without a record, by one whose others have theirs",
        "git tag base; echo 9 >> one.c; ANDON=0 git commit -qam Unseen",
        "andon check --test base..HEAD",
    ),
    state(
        "a merge past the gate",
        "git tag base; git switch -qc side; echo 1 > side.c; git add side.c; andon test; git commit -qm Side; \
         git switch -q main; echo 9 >> one.c; git add one.c; andon test; git commit -qm Main; git merge -q --no-commit side; \
         echo 8 >> two.c; git add two.c; git commit -q --no-verify --no-edit",
        "andon check base..HEAD",
    ),
    state("tests that name none", "echo true > check.sh; git add check.sh", "andon test"),
    state(
        "tests that take too long",
        "echo 'sleep 2; echo 1..1; echo ok 1 - a' > check.sh; git add check.sh; \
         sed -i 's/^.test.$/[test]\\ntimeout = \"1s\"/' andon.toml",
        "andon test; git commit -qm Work",
    ),
    state(
        "a run that was handed in",
        "echo 9 >> one.c; git add one.c; printf '1..1\\nok 1 - a\\n' > ../run.tap",
        "andon observe test_run --report ../run.tap --exit-code 0; git commit -qm Work",
    ),
    state(
        "a test program that the project has elsewhere",
        "mkdir -p .venv/bin; cp check.sh .venv/bin/run-all; chmod +x .venv/bin/run-all; \
         printf '[test]\\ncommand = \"run-all\"\\n' > andon.toml",
        "andon doctor",
    ),
    state(
        "no test command",
        "printf 'test:\\n\\tsh check.sh\\n' > Makefile; printf '[test]\\n' > andon.toml",
        "andon test",
    ),
    state(
        "records that are at the remote alone",
        "git clone -q --bare . ../hub; git remote add origin ../hub; andon sync origin; \
         git for-each-ref --format='delete %(refname)' refs/notes refs/andon | git update-ref --stdin; rm -r .git/andon",
        "andon check HEAD",
    ),
    state(
        "a remote whose records are not fetched",
        "git clone -q --bare . ../hub; git remote add origin ../hub",
        "andon doctor",
    ),
    state(
        "a checkout that is not the tip",
        "git tag base; echo 9 >> one.c; andon test; git commit -qam Work; echo 8 >> one.c",
        "andon check --test base..HEAD",
    ),
    state("a manager that is not there", "true", "andon install --mode lefthook"),
    state(
        "a script of husky that ends early",
        "andon uninstall; mkdir -p .husky/_; printf 'npm test\\nexit 0\\n' > .husky/pre-commit; git config core.hooksPath .husky/_",
        "andon install",
    ),
    state(
        "hooks of husky that are not executable",
        "andon uninstall; mkdir -p .husky/_; : > .husky/_/husky.sh; git config core.hooksPath .husky; \
         printf '#!/bin/sh\\n. \"$(dirname -- \"$0\")/_/husky.sh\"\\ntrue\\n' > .husky/pre-commit; chmod +x .husky/pre-commit; \
         andon install --mode husky; chmod -x .husky/*",
        "andon status",
    ),
    state(
        "a plugin of a person in the place of ours",
        "mkdir -p .opencode/plugin; echo mine > .opencode/plugin/andon.js",
        "andon agent install opencode --project",
    ),
    state("a page into a folder that is not there", "true", "andon report HEAD -o missing/folder/page.html"),
    state(
        "a note beyond the bound",
        "head -c 1100000 /dev/zero | tr '\\0' x > ../big; git notes --ref=andon add -f -F ../big HEAD",
        "andon backfill HEAD",
    ),
    state("a file in the place of the records", "echo garbage > .git/refs/notes/andon", "andon status"),
    state(
        "a worktree whose folder is gone",
        "git worktree add -q ../away; rm -r ../away",
        "andon watch --once",
    ),
    of_two_users("a repository of another user", "chown -R 1234:1234 .", "andon status"),
    of_two_users(
        "files of root from a container",
        "@GIVEN_AWAY chown -R 0:0 .git/andon",
        "../as 'andon stop --reason look'",
    ),
    of_two_users(
        "a folder that may not be written",
        "@GIVEN_AWAY chmod -R a-w .git/andon",
        "../as 'andon stop --reason look'",
    ),
    state(
        "a program in the environment of pre-commit",
        "andon uninstall; mkdir -p ../cache/pre-commit/env; cp $(command -v andon) ../cache/pre-commit/env; \
         printf '#!/bin/sh\\nexport PRE_COMMIT=1 PRE_COMMIT_HOME=%s\\nexec $PRE_COMMIT_HOME/env/andon hook pre-commit\\n' \
         \"$(cd ../cache/pre-commit && pwd)\" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; \
         echo 9 >> one.c; git add one.c",
        "git commit -qm Work",
    ),
    state(
        "a rewriting of more commits than are read",
        "head -c 67200000 /dev/zero | tr '\\0' a > ../rewritten; ANDON=0 git commit -q --allow-empty -m Unseen",
        "git notes --ref=andon list HEAD > ../record || andon hook post-rewrite rebase < ../rewritten",
    ),
    state(
        "a run of which no command is known",
        "C=$(andon status --format json | sed -n 's/.*\"code\": *\"\\([0-9a-f]*\\)\".*/\\1/p' | head -1); \
         printf '{\"code\":\"%s\",\"status\":\"passed\",\"total\":1}\\n' $C > ../run.json",
        "andon observe test_run < ../run.json",
    ),
    state(
        "a content that a partial clone lacks",
        "@PARTIAL echo 9 >> one.c; git add one.c; andon test; git commit -qm Work; lose HEAD~1:one.c",
        "andon check HEAD~1..HEAD",
    ),
    state(
        "hooks of a client that were changed",
        "andon agent install claude --project; sed -i 's/\"SessionStart\"/\"SessionStarted\"/' .claude/settings.json",
        "andon doctor",
    ),
    state(
        "a partial clone of an old version of git",
        "@PARTIAL git config --unset remote.origin.promisor; git config core.repositoryFormatVersion 1; \
         git config extensions.partialClone origin; lose HEAD:two.c",
        "andon status && git cat-file -e HEAD:two.c",
    ),
    state(
        "a record that a partial clone lacks",
        "@PARTIAL lose $(git notes --ref=andon list HEAD)",
        "andon check HEAD",
    ),
    state(
        "hooks of husky for patches are gone",
        "andon uninstall; mkdir -p .husky/_; : > .husky/_/husky.sh; git config core.hooksPath .husky; \
         printf '#!/bin/sh\\n. \"$(dirname -- \"$0\")/_/husky.sh\"\\ntrue\\n' > .husky/pre-commit; chmod +x .husky/pre-commit; \
         andon install --mode husky; rm .husky/*-applypatch",
        "andon doctor",
    ),
    state(
        "a signed ledger that is not here",
        "git clone -q --bare . ../hub; git remote add origin ../hub; git config remote.origin.fetch '+refs/*:refs/remotes/origin/*'; \
         ssh-keygen -q -t ed25519 -N '' -f ../key; git config gpg.format ssh; git config user.signingKey ../key.pub; \
         L=$(andon witness init --name human:ann | grep -o '[0-9a-f]\\{64\\}' | head -1); andon sync origin; \
         git for-each-ref --format='delete %(refname)' refs/andon | git update-ref --stdin; rm -r .git/andon; \
         printf '[guard]\\nack = \"signed\"\\nledger = \"%s\"\\n' $L >> andon.toml",
        "andon doctor | grep -A1 answers:",
    ),
    state(
        "a server that refused the records once",
        "git clone -q --bare . ../hub; git remote add origin ../hub; git config andon.push true; \
         printf '#!/bin/sh\\n[ -e said ] || { : > said; exit 1; }\\n' > ../hub/hooks/update; chmod +x ../hub/hooks/update",
        "git for-each-ref --format='%(refname)' --contains refs/notes/andon refs/andon/remotes | grep -q . || \
         { rm -f ../hub/said; git push -q origin HEAD:refs/heads/$$; }",
    ),
    State {
        answer: "andon resume --reason 'go on' --yes 'a test'",
        ..state(
            "a loop that was better before",
            "printf 'echo 1..2; echo ok 1 - a; grep -q ^1$ one.c && echo ok 2 - b || { echo not ok 2 - b; exit 1; }\\n' > check.sh; \
             git add -A; andon test; git commit -qm Good; \
             for i in 7 8 9; do sed -i 1s/.*/$i/ one.c; andon test; git commit -qam $i; done",
            "andon status; git commit -q --allow-empty -m Next",
        )
    },
    state(
        "an agent's file that is not as it was pinned",
        "echo Work > CLAUDE.md; printf '[identity]\\nfiles = [\"CLAUDE.md\"]\\n' >> andon.toml; andon pin; git add -A; andon test; \
         git commit -qm Pin; echo more >> CLAUDE.md; git add CLAUDE.md",
        "git commit -qm Work",
    ),
    state(
        "an agent's file that was committed without hooks",
        "git clone -q --bare . ../hub; echo Work > CLAUDE.md; printf '[identity]\\nfiles = [\"CLAUDE.md\"]\\n' >> andon.toml; andon pin; \
         git add -A; andon test; git commit -qm Pin; echo more >> CLAUDE.md; ANDON=0 git commit -qam Sneak",
        "git push -q ../hub HEAD:main",
    ),
    state(
        "a file that the tests saw and the commit has not",
        "echo 1 > data.csv; echo 9 >> one.c; git add one.c; andon test",
        "git commit -qm Work",
    ),
];
