"""Listings as processes of their own: closed pipes, signals, terminals."""

from __future__ import annotations

import re
import signal
import socket

import pytest
from harness.doors import begun, of_a_terminal, on_terminal
from harness.workspaces import Shop

ESCAPE = "\x1b"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LISTINGS = ["events list", "cases list", "usage"]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_closed_pipe(shop: Shop, form: str) -> None:
    """What is printed as it comes ends silently with `| head -1`."""
    arguments = ["events", "list", "--limit", "0", "--format", form]
    with begun(shop.root, arguments, of_a_terminal()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() != ""
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(60)

    assert (code, said) == (141, "")


@pytest.mark.parametrize("arguments", ["events list --limit 3", "usage --chart"])
def test_closed_before(shop: Shop, arguments: str) -> None:
    """A pipe that is closed before anything is printed ends silently too."""
    with begun(shop.root, arguments.split(), of_a_terminal()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(60)

    assert (code, said) == (141, "")


@pytest.mark.promise("P43")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("arguments", ["events list", "doctor"])
def test_signals(shop: Shop, arguments: str, number: signal.Signals, code: int) -> None:
    """A signal while the service is silent ends a command at once, without a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        shop.settle(f"environments: {{there: {{baseUrl: '{url}'}}}}\n")
        keyed = of_a_terminal(RECONCILER_API_KEY="canary")
        with begun(shop.root, arguments.split(), keyed) as process:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)
                process.send_signal(number)
                out, noise = process.communicate(timeout=60)

    assert (process.returncode, noise) == (code, "\n")
    assert out == ""


@pytest.mark.parametrize("arguments", LISTINGS)
def test_no_colour_in_pipes(shop: Shop, arguments: str) -> None:
    """In a pipe there is no colour, and nothing is cut however narrow the terminal would be."""
    with begun(shop.root, arguments.split(), of_a_terminal(COLUMNS="60")) as process:
        out, noise = process.communicate(timeout=60)

    assert process.returncode == 0
    assert ESCAPE not in out + noise
    assert "…" not in out


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize(("arguments", "cell"), [("events list", -1), ("incidents list", 0)])
def test_ids_are_whole(shop: Shop, arguments: str, cell: int, width: int) -> None:
    """However narrow a terminal is, no id is cut; what gives way is marked as cut."""
    shown = on_terminal([*arguments.split(), "-q", "--limit", "9"], shop.root, width=width)

    assert shown.code == 0
    heading, *lines = shown.terminal.splitlines()
    assert heading.startswith(f"{ESCAPE}[1m")
    assert lines != []
    assert all(UUID.fullmatch(line.split()[cell]) for line in lines)
    assert width > 80 or any("…" in line for line in lines)


@pytest.mark.parametrize("arguments", ["cases list", "usage", "usage --chart"])
def test_lines_fit(shop: Shop, arguments: str) -> None:
    """Lines without ids are no wider than the terminal."""
    shown = on_terminal([*arguments.split(), "-q"], shop.root, width=80)

    plain = re.sub(rf"{ESCAPE}\[[0-9;]*m", "", shown.terminal)
    assert max(map(len, plain.splitlines())) <= 80


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_asked_for(shop: Shop, more: dict[str, str]) -> None:
    """With NO_COLOR or on a dumb terminal there is no escape sequence, progress included."""
    shown = on_terminal(
        ["events", "list", "--limit", "0"], shop.root, more={**more, "TERM": "dumb"}
    )

    assert ESCAPE not in shown.terminal


def test_no_progress_when_quiet(shop: Shop) -> None:
    """With -q the terminal stays empty."""
    shown = on_terminal(["events", "list", "--limit", "250", "-q"], shop.root, piped=True)

    assert shown.terminal == ""


@pytest.mark.parametrize("typed", ["y\n", "n\n", "\n"])
def test_close_on_a_terminal(shop: Shop, typed: str) -> None:
    """On a terminal the incident is shown, and closed only after a yes."""
    one = shop.run("incidents", "list", "--open", "--format", "json").json[0]["id"]

    shown = on_terminal(["incidents", "close", one], shop.root, typed=typed)

    assert shown.code == 0
    assert f"{one}  " in shown.terminal
    assert "Close 1 of 1? [y/N]:" in shown.terminal
    left = shop.run("incidents", "list", "--open", "--format", "json").json
    assert (one in {incident["id"] for incident in left}) is (typed != "y\n")
