"""Faults over a real connection."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from reconciler.emulator import Faults, create_app, load_settings
from reconciler.emulator.serving import serve
say = lambda line: print(line, flush=True)
faults = load_settings(Faults, Path(sys.argv[1]))
serve(create_app(faults=faults, log=Path(sys.argv[2])), announce=say)
"""
ROOT = "/mgmt/openapi/latest"
POLICIES = "/dataplans/policies/v1"
VIEWS = "/data-exploration/saved-views/v1"
RULES = [
    {"path": "/v1/slo/slos/before", "fault": {"drop": "before"}},
    {"path": "/v1/slo/slos/after", "fault": {"drop": "after"}},
    {"path": "/v1/slo/slos/short", "fault": {"truncate": 5, "declared": "whole"}},
    {"path": "/v1/slo/slos/cut", "fault": {"truncate": 5}},
    {"path": "/v1/slo/slos/drip", "fault": {"drip": {"size": 10, "every": 0.01}}},
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tcp") / "log.jsonl"


@pytest.fixture(scope="module")
def port(log: Path) -> Iterator[int]:
    faults = log.with_name("faults.json")
    faults.write_text(json.dumps({"rules": RULES}))
    command = [sys.executable, "-c", PROGRAM, str(faults), str(log)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("emulator ready: "), process.communicate()
        try:
            yield int(line.rpartition(":")[2])
        finally:
            process.terminate()
            _, noise = process.communicate(timeout=30)
        assert noise == ""


def ask(port: int, name: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", f"{ROOT}/v1/slo/slos/{name}", headers={"Authorization": "k"})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@pytest.mark.parametrize(("name", "noted"), [("before", 0), ("after", 404)])
def test_drop(port: int, log: Path, name: str, noted: int) -> None:
    """A drop closes the connection without a byte, and the server says nothing of it."""
    with pytest.raises(http.client.RemoteDisconnected):
        ask(port, name)

    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["path"].rpartition("/")[2], last["status"]) == (name, noted)


def test_body_shorter_than_declared(port: int) -> None:
    """A body that breaks off is a protocol error for the client."""
    with pytest.raises(http.client.IncompleteRead):
        ask(port, "short")


def test_cut_body_of_the_right_length(port: int) -> None:
    """A cut body of the right length arrives without a protocol error."""
    assert ask(port, "cut") == (404, b'{"cod')


def test_drip(port: int) -> None:
    """A dripped answer arrives whole."""
    status, body = ask(port, "drip")

    assert (status, json.loads(body)["code"]) == (404, 404)


def test_server_goes_on(port: int) -> None:
    """A request without a fault is answered after all that."""
    assert ask(port, "other")[0] == 404
