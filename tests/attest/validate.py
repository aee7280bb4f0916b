"""Makes a record, a check and a decision, attests each, and reads the attestations with the libraries of in-toto."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope

ANDON = Path(sys.argv[1]).resolve()
REPORT = "1..1\nok 1 - a\n"
TRUE = "ANDON_TESTED_ON_TREE ANDON_NO_BYPASS ANDON_NO_OPEN_HALT ANDON_TESTS_NOT_WEAKENED".split()


class Ground:
    """A repository with hooks, and a person with a key."""

    def __init__(self, root):
        self.root = root
        self.repo = root / "repo"
        self.repo.mkdir()
        self.env = {
            "HOME": str(root),
            "PATH": f"{ANDON.parent}:{os.environ['PATH']}",
            "GIT_CONFIG_NOSYSTEM": "1",
            # An agent may run this; a debug build can be told to look no further.
            "ANDON_TEST_ABOVE": "none",
        }
        self.run("ssh-keygen", "-q", "-N", "", "-t", "ed25519", "-f", str(root / "key"))
        for name, value in {
            "user.name": "Ann",
            "user.email": "ann@example.org",
            "gpg.format": "ssh",
            "user.signingKey": str(root / "key"),
            "init.defaultBranch": "main",
        }.items():
            self.run("git", "config", "--global", name, value)

    def run(self, *command, said=None, codes=(0,)):
        done = subprocess.run(command, cwd=self.repo, env=self.env, input=said, capture_output=True, text=True)
        if done.returncode not in codes:
            sys.exit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def andon(self, *args, **more):
        return self.run(str(ANDON), *args, **more)

    def commit(self, text):
        (self.repo / "code.c").write_text(text)
        self.run("git", "add", ".")
        self.andon("test")
        self.run("git", "commit", "-q", "-m", text)

    def verified(self, envelope):
        """The statement of an envelope, once its signature held over what DSSE says is signed."""
        envelope = Envelope.from_dict(json.loads(envelope))
        (signature,) = envelope.signatures.values()
        (self.root / "sig").write_bytes(bytes.fromhex(signature.signature))
        public = (self.root / "key.pub").read_text()
        (self.root / "allowed").write_text(f'human:ann namespaces="dsse" {public}')
        verify = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "human:ann", "-n", "dsse", "-s", "sig"]
        subprocess.run(verify, cwd=self.root, input=envelope.pae(), check=True, stdout=subprocess.DEVNULL)
        read = json_format.Parse(envelope.payload, statement_pb2.Statement())
        statement = Statement.copy_from_pb(read)
        statement.validate()
        return json.loads(envelope.payload)


def main(ground):
    ground.run("git", "init", "-q", ".")
    (ground.repo / "andon.toml").write_text('[test]\ncommand = ["cat", "report.tap"]\nformat = "tap"\n')
    (ground.repo / "report.tap").write_text(REPORT)
    ground.run("git", "add", ".")
    ground.run("git", "commit", "-q", "-m", "Begin")
    ground.andon("install")
    ground.andon("witness", "init", "--name", "human:ann")
    ground.commit("one\n")
    head = ground.run("git", "rev-parse", "HEAD").strip()

    record = ground.verified(ground.andon("attest", "record"))
    assert record["subject"][0]["digest"] == {"gitCommit": head}, record
    result = json_format.ParseDict(record["predicate"], test_result_pb2.TestResult())
    assert result.result == "PASSED" and len(result.configuration) == 1, record
    ResourceDescriptor.copy_from_pb(result.configuration[0]).validate()

    check = ground.verified(ground.andon("attest", "check", "HEAD~1..HEAD"))
    assert check["predicateType"] == "https://in-toto.io/attestation/svr/v0.2", check
    assert check["predicate"]["properties"] == TRUE, check

    def said(action, codes=(0,), **more):
        return json.loads(ground.andon("round", action, said=json.dumps(more), codes=codes))["round"]

    opened = said("open", question="Which way?")
    asked = said("verdict", codes=(1,), round=opened, agent="agent:judge", text='{"deferred": true}')
    ground.andon("review", "accept", asked)
    ground.andon("review", "resolve", asked, "--decision", "reject_round", "--rationale", "ask again")
    decided = ground.verified(ground.andon("attest", "resolution", asked))
    assert decided["predicate"]["decision"] == "reject_round", decided
    assert decided["predicate"]["votes"][0]["witness"] == "human:ann", decided
    print("attest: record, check and resolution are valid in-toto statements, signed by SSH key")


with tempfile.TemporaryDirectory() as scratch:
    main(Ground(Path(scratch)))
