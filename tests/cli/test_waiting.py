"""What is seen of waiting: on a terminal, in a log, and nowhere."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness.doors import APPLY, KEY, command, environment, in_this_process, read_to_end, read_until
from harness.served import Served
from harness.sites import Site, dashboard
from harness.workspaces import PROJECT, SLO, project_at

from reconciler.cli.console import giving_way, words
from reconciler.cli.options import CLEAR, Shown, shown_on
from reconciler.errors import Locked
from reconciler.journal.store import LockTimeout, taken_in_time
from reconciler.runtime.progress import Answering, Deed, Locking, Waits

BOARD = Answering("GET", "/v1/dashboards/dashboards/0kVvz1PJ")


@dataclass
class Watched:
    """A line that is drawn by a clock of its own, into a text."""

    width: int | None = None
    at: float = 100.0
    out: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        """Begin with nothing noted."""
        self.waits = Waits(lambda: self.at)
        self.shown = Shown(self.waits, self._columns if self.width is not None else None)

    def _columns(self) -> int:
        return self.width or 0

    def pass_by(self, seconds: float) -> str:
        """Let time go by in ticks of a tenth; give what was written meanwhile."""
        before = len(self.out.getvalue())
        with redirect_stderr(self.out):
            for _ in range(round(seconds * 10)):
                self.at += 0.1
                self.shown.tick()
        return self.out.getvalue()[before:]


@pytest.mark.promise("P48")
@pytest.mark.parametrize("width", [None, 59])
def test_short_runs_are_silent(width: int | None) -> None:
    """Nothing is shown before half a second, nor of many short things with pauses between."""
    watched = Watched(width)

    for _ in range(10):
        with watched.waits.on(BOARD):
            assert watched.pass_by(0.4) == ""
        assert watched.pass_by(0.1) == ""
    with watched.waits.on(BOARD):
        assert watched.pass_by(0.6) != ""


@pytest.mark.promise("P48")
def test_a_log_has_a_line_a_second() -> None:
    """A log has at most one line a second, each whole and plain."""
    watched = Watched()

    with watched.waits.step(Deed.READING, "Dashboard", 2_000) as step:
        said = ""
        for _ in range(100):
            step.done += 7
            said += watched.pass_by(0.1)

    lines = said.splitlines()
    assert 9 <= len(lines) <= 10
    assert all(line.startswith("reading dashboards: ") for line in lines)
    assert "\x1b" not in said
    assert "\r" not in said


@pytest.mark.promise("P48")
def test_a_terminal_has_one_line() -> None:
    """On a terminal the line is drawn over the one before, only where it says something new."""
    watched = Watched(59)

    with watched.waits.on(BOARD):
        said = watched.pass_by(3.05)
    gone = watched.pass_by(0.1)

    first, *drawn = said.split(CLEAR)
    assert first == ""
    assert [line[-3:] for line in drawn] == ["wer", "1 s", "2 s", "3 s"][: len(drawn)]
    assert "\n" not in said
    assert gone == CLEAR


@pytest.mark.promise("P48")
def test_words_find_the_line_cleared() -> None:
    """Words are never written behind the line: it is cleared first, and drawn again later."""
    watched = Watched(59)

    with watched.waits.on(BOARD), giving_way(watched.shown.away):
        before = watched.pass_by(0.6)
        with redirect_stderr(watched.out):
            words("[1/2] written")
        after = watched.pass_by(0.1)

    assert f"{before}{CLEAR}[1/2] written\n{after}" == watched.out.getvalue()
    assert after == before


@pytest.mark.promise("P48")
@pytest.mark.parametrize(
    ("environ", "quiet", "terminal", "form"),
    [
        ({}, False, True, "line"),
        ({}, False, False, None),
        ({}, True, True, None),
        ({"TERM": "dumb"}, False, True, None),
        ({"RECONCILER_PROGRESS": "1"}, False, False, "log"),
        ({"RECONCILER_PROGRESS": "1"}, False, True, "line"),
        ({"RECONCILER_PROGRESS": "1", "TERM": "dumb"}, False, True, "log"),
        ({"RECONCILER_PROGRESS": "1"}, True, False, None),
        ({"RECONCILER_PROGRESS": "0"}, False, True, None),
    ],
)
def test_who_sees_it(
    environ: dict[str, str], quiet: bool, terminal: bool, form: str | None
) -> None:
    """A terminal sees it, a log that asked, and nobody who asked for quiet."""
    shown = shown_on(Waits(), environ, quiet=quiet, terminal=terminal)

    assert (shown and ("log" if shown.width is None else "line")) == form


def noted_by(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Collect all that is noted as waited for from now on."""
    noted: list[object] = []
    plain = Waits.on

    @contextmanager
    def on(self: Waits, wait: object) -> Iterator[None]:
        noted.append(wait)
        with plain(self, wait):  # type: ignore[arg-type]  # passed on as it came
            yield

    monkeypatch.setattr(Waits, "on", on)
    return noted


@pytest.mark.promise("P48")
def test_every_request_is_noted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request of an apply is noted while it is on its way, without its query."""
    noted = noted_by(monkeypatch)

    site.apply(dashboard())

    requests = [
        (answering.method, answering.path)
        for answering in noted
        if isinstance(answering, Answering)
    ]
    assert requests == [(one.method, one.path.partition("?")[0]) for one in site.sent]
    assert requests != []


@pytest.mark.promise("P48")
def test_the_holder_of_the_lock_is_noted() -> None:
    """Who holds the lock is noted from the first refusal on, until it is free."""
    waits, seen = Waits(lambda: 0.0), []
    times = iter(range(4))

    def take() -> None:
        seen.append([wait.wait for wait in waits.now().waits])
        if next(times) < 3:
            raise Locked("held by alice")

    patience = LockTimeout(60, lambda: 0.0, lambda _: None)
    taken_in_time(take, patience, lambda _: None, waits)

    held = [Locking("held by alice")]
    assert seen == [[], held, held, held]
    assert waits.now().waits == ()


def on_terminal(
    folder: Path,
    service: Served,
    *arguments: str,
    width: int,
    when: Callable[[subprocess.Popen[bytes]], None],
    until: bytes,
) -> tuple[int, str]:
    """Run a command whose stderr is a terminal; do something once it shows certain words."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(service.base_url, TERM="xterm"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=inner,
    ) as process:
        os.close(inner)
        shown = read_until(outer, until)
        when(process)
        assert process.stdout is not None
        process.stdout.read()
        shown += read_to_end(outer)
        code = process.wait(60)
    os.close(outer)
    return code, shown.decode()


@pytest.mark.promise("P48")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_frozen_service(folder: Path, service: Served, number: signal.Signals) -> None:
    """What a frozen service is asked is told at 60 columns; a signal ends it, the line cleared."""
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    service.switch.misbehave({"path": "/v1/slo/*", "fault": {"delay": 3600}})

    code, shown = on_terminal(
        folder,
        service,
        "plan",
        width=60,
        when=lambda process: process.send_signal(number),
        until=b" to answer, 2 s",
    )

    assert code == 128 + number
    drawn, _, rest = shown.rpartition(CLEAR)
    assert "waiting for GET /v1/slo/slos/" in drawn
    assert rest.strip() == ""
    assert max(map(len, drawn.split(CLEAR))) < 60
    assert KEY not in shown


@pytest.mark.promise("P48")
def test_a_log_that_nobody_reads(folder: Path, service: Served) -> None:
    """A log that asked is told what an apply waits for; that nobody reads on stops nothing."""
    slow = {"method": "POST", "path": "/v1/slo/slos", "fault": {"delay": 4}}
    service.switch.misbehave(slow)
    with subprocess.Popen(
        command(*APPLY, "--yes"),
        cwd=folder,
        env=environment(service.base_url, RECONCILER_PROGRESS="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        told = next(line for line in process.stderr if b"waiting for POST" in line)
        process.stderr.close()
        code = process.wait(60)

    assert re.fullmatch(rb"writing: \d of 5; waiting for POST /v1/slo/slos to answer, 1 s\n", told)
    assert code == 0
    assert service.rows("SELECT count(*) FROM saved_views") == [(1,)]


def test_timings_of_a_run(tmp_path: Path) -> None:
    """`--timings` says at the end where the time went, and changes no data."""
    shop = project_at(tmp_path, PROJECT, slo=SLO)
    plain = shop.run("plan", "--format", "json")

    timed = shop.run("plan", "--format", "json", "--timings", "--no-cache")

    assert timed.out == plain.out
    assert "reading manifests: 1" in timed.err
    assert "comparing with live: 1" in timed.err
    assert "checking manifests: 1" in timed.err
    assert "opening the client" in timed.err
    assert "the rest" in timed.err
    assert "took " in shop.run("validate", "--timings", "-e", "nowhere").err
