"""`reconciler approve` on a real terminal, and where there is none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from approving import Repository, needs_openssh
from harness.doors import Shown, on_terminal, typed
from harness.workspaces import SLO

pytestmark = needs_openssh

REFUSED, USAGE = 11, 64
LONG = "sum(rate(http_requests_total{job='checkout',code!~'5..'}[5m])) by (zone) " * 3
LINES = "First the shop.\nThen a line that is long enough to be broken on a narrow terminal, twice."


def approve(
    here: Repository, answer: str, name: str = "alice", *more: str, width: int = 80
) -> Shown:
    """Approve `plan.json` on a terminal, as a person who gives one answer."""
    line = ("approve", str(here.plan_file), "--key", str(here.keys.of(name)), *more)
    return on_terminal(line, here.root, width=width, typed=f"{answer}\n")


def approvals(here: Repository) -> list[Path]:
    """Return the approvals next to the plan."""
    return sorted(here.root.glob("*.approval"))


def without_blanks(text: str) -> str:
    """Return a text without colours, blanks and line ends."""
    return re.sub(r"\x1b\[[0-9;]*m|\s", "", text)


@pytest.mark.parametrize("width", [60, 200])
def test_all_is_shown(repository: Repository, width: int) -> None:
    """Each change and each value is shown whole, on lines that fit, and `yes` signs the plan."""
    text = SLO.replace("query: good", f'query: "{LONG}"').replace(
        "  name: Checkout\n", f"  name: Checkout\n  description: {json.dumps(LINES)}\n"
    )
    repository.write("manifests/slo.yaml", text)
    document = repository.planned()

    shown = approve(repository, "yes", width=width)

    assert shown.code == 0, shown.terminal
    words = without_blanks(shown.terminal)
    for change in document["changes"]:
        assert change["ref"] in words
        for field in change["fields"]:
            for value in re.findall(r"[^\n]+", str(field.get("after", ""))):
                bare = value if isinstance(field.get("after"), str) else ""
                assert without_blanks(bare) in words
    assert document["digest"] in words
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.terminal.splitlines()]
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []
    (file,) = approvals(repository)
    assert file.name == "plan.json.alice.approval"
    assert file.stat().st_mode & 0o077 == 0
    second = approve(repository, "yes", "carol", width=width)
    assert second.code == 0, second.terminal
    given = [word for file in approvals(repository) for word in ("--approval", str(file))]
    ran = repository.run("apply", "--plan", str(repository.plan_file), *given)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("answer", "name", "more", "code"),
    [
        ("y", "alice", (), 0),
        ("", "alice", (), 0),
        ("YES", "alice", (), 0),
        ("no", "alice", (), 0),
        ("yes", "mallory", (), REFUSED),
        ("yes", "nobody", (), USAGE),
        ("yes", "alice", ("--for", "8d"), USAGE),
        ("yes", "alice", ("--for", "0m"), USAGE),
        ("yes", "alice", ("-e", "staging"), USAGE),
    ],
)
def test_nothing_is_signed(
    repository: Repository, answer: str, name: str, more: tuple[str, ...], code: int
) -> None:
    """Any answer but `yes`, a stranger's key and wrong options write no approval."""
    repository.planned()

    shown = approve(repository, answer, name, *more)

    assert (shown.code, approvals(repository)) == (code, [])


@pytest.mark.parametrize("blocked", [False, True])
def test_a_new_folder(repository: Repository, *, blocked: bool) -> None:
    """`--out` makes the folder of the approval, and refuses a file in its place."""
    repository.planned()
    if blocked:
        repository.write("signed", "a file")
    place = repository.root / "signed" / "production" / "alice.approval"

    shown = approve(repository, "yes", "alice", "--out", str(place))

    assert (shown.code, place.is_file()) == ((4, False) if blocked else (0, True)), shown.terminal


def test_no_terminal(repository: Repository) -> None:
    """Without a terminal no approval is signed, whatever comes by a pipe."""
    repository.planned()
    line = ("approve", str(repository.plan_file), "--key", str(repository.keys.of("alice")))

    assert typed(*line).code == USAGE
    assert approvals(repository) == []
