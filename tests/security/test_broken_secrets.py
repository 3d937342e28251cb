"""A secret that the service quotes, in text that is broken into lines or cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from harness.doors import environment, lines_with_formats, on_terminal, typed_at
from harness.served import Served, served
from harness.workspaces import workspace

from reconciler.api.secret import Redaction
from reconciler.report.html.page import fitting
from reconciler.report.markdown import code
from reconciler.report.safe import for_html, safe
from reconciler.report.table import Heading, Style, table, wrapped

PHRASE = "Xylo marimba quartz Ventura oboe lattice nickel fjord"
KEY_FILE = "-----BEGIN SAMPLE-----\nQUJjREVmR0hJams\nTE1uT3BRUnNUdVY\n-----END SAMPLE-----\n"
MANIFESTS = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  description: "${secret:PHRASE} ${secret:KEY_FILE}"
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
PAINT = re.compile(r"\x1b\[[0-9;]*m")
MORE = {"PHRASE": f"{PHRASE}\n", "KEY_FILE": KEY_FILE}
# What somebody who reads the log would know of the secrets.
TELLING = [*PHRASE.lower().split()[:-1], *KEY_FILE.lower().split("\n")[1:3]]


def told(text: str) -> list[str]:
    """Name what a text tells of the secrets."""
    shown = PAINT.sub("", text).lower()
    return [text for text in TELLING if text in shown]


@pytest.fixture(params=range(3))
def quoting(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, Served]]:
    """Give a workspace, and a service that refuses what is written and quotes the secrets."""
    folder = workspace(tmp_path / "shop", MANIFESTS)
    said = f"{'x' * (17 * request.param)} no {PHRASE.upper()} in {KEY_FILE.strip()} or {PHRASE}"
    with served() as service:
        body = json.dumps({"message": said})
        service.switch.misbehave({"method": "POST", "fault": {"status": 400, "body": body}})
        yield folder, service


def test_on_terminals(quoting: tuple[Path, Served]) -> None:
    """No width of a terminal, and no pipe, breaks a quoted secret so that half of it is told."""
    folder, service = quoting
    asking = "environments: {default: {api: {validateSlos: all}}}"
    (folder / "reconciler.yaml").write_text(asking, encoding="utf-8")
    more = environment(service.base_url, **MORE)
    shown = [
        on_terminal(["plan"], folder, width=width, more=more).terminal for width in (60, 75, 100)
    ]
    piped = on_terminal(["plan", "-v"], folder, piped=True, more=more)

    for text in (*shown, piped.out, piped.terminal):
        assert told(text) == []
    assert "no *** in *** or ***" in piped.out


def test_in_every_format(quoting: tuple[Path, Served]) -> None:
    """No format of a plan or an apply, and no journal, holds a quoted secret or a line of it."""
    folder, service = quoting
    lines = [line for line in lines_with_formats() if line.startswith(("plan ", "drift "))]

    for line in ("apply --new-journal --yes", "apply --yes", "journal show", *lines):
        with mock.patch("reconciler.cli.console._redaction", []):
            ran = typed_at(folder, environment(service.base_url, **MORE), *line.split())
        assert told(ran.out + ran.err) == [], line
    for file in folder.rglob("*"):
        if file.is_file():
            assert told(file.read_text(encoding="utf-8")) == [], file


def test_before_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Foreign text loses its secrets before it is cut, broken, escaped or drawn."""
    monkeypatch.setattr("reconciler.cli.console._redaction", [Redaction([PHRASE, KEY_FILE])])
    narrow = Style(width=60, terminal=True)
    said = f"see {PHRASE} and {KEY_FILE}"

    for text in (
        *(safe(said, longest) for longest in range(8, 80)),
        *wrapped(said, narrow),
        table([Heading("a"), Heading("b")], [[said, said]], narrow),
        *(fitting(said, room, "s") for room in range(40, 400, 9)),
        code(said, 20),
        for_html(said),
    ):
        assert told(text) == []
