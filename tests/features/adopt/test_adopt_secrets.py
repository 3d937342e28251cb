"""`adopt` and `drift`: what was a secret stays one, wherever somebody put it live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import Workspace, project_at
from test_adopt import BOARD, OTHER, VARIABLES, adopt, edit_live, text_of, widgets

OLD = "old-token-of-the-team-1"
NEW = "new-token-of-the-team-2"
SECRET = BOARD.replace("{markdownText: slow}", "{markdownText: '${secret:TOKEN}'}")


@pytest.fixture
def rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a workspace whose secret has another value than what was applied at first."""
    monkeypatch.setenv("TOKEN", OLD)
    shop = project_at(tmp_path.resolve(), VARIABLES, board=SECRET)
    assert shop.apply().code == 0
    return shop


def copied(board: Any) -> None:
    """Copy the widget that holds the secret."""
    made = {**widgets(board)[1], "id": {"value": OTHER}, "title": "Copy"}
    widgets(board).append(made)


def in_words(text: str) -> Any:
    """Let somebody put a value into a text of another form."""

    def edit(board: Any) -> None:
        made = {
            "id": {"value": OTHER},
            "title": f"curl -H 'Authorization: Bearer {text}'",
            "definition": {"markdown": {"markdownText": f"token={text}\n"}},
        }
        widgets(board)[1:] = [made]

    return edit


@pytest.mark.parametrize("edit", [copied, in_words(OLD)])
@pytest.mark.parametrize("applied", [True, False])
def test_rotated_secret(
    rotated: Workspace, monkeypatch: pytest.MonkeyPatch, edit: Any, *, applied: bool
) -> None:
    """A value that a secret had once is neither shown nor written, wherever it stands live."""
    if edit is copied:
        edit_live(rotated, edit)
    monkeypatch.setenv("TOKEN", NEW)
    if applied:
        plan = rotated.run("apply", "--yes", "--override-guard", "test", "--allow-destroy")
        assert plan.code == 0, plan.err
        edit_live(rotated, in_words(OLD))
    elif edit is not copied:
        edit_live(rotated, edit)
    mine = text_of(rotated)

    for words in (["--dry-run"], ["--format", "json"], ["--format", "markdown"], ["--theirs"]):
        ran = adopt(rotated, "--all", *words)
        assert OLD not in ran.out + ran.err, words
        assert ran.code == 3, (words, ran)
    for form in ("text", "json", "markdown"):
        told = rotated.run("drift", "--format", form)
        assert OLD not in told.out + told.err
        assert told.code == 2

    assert text_of(rotated) == mine


@pytest.mark.parametrize("where", ["title", "text"])
def test_secret_inside_another_text(rotated: Workspace, where: str) -> None:
    """A secret that somebody put into another text comes into no manifest in clear."""

    def edit(board: Any) -> None:
        if where == "title":
            widgets(board)[0]["title"] = f"curl -H {OLD}"
        else:
            in_words(OLD)(board)

    edit_live(rotated, edit)
    ran = adopt(rotated, "--all", "--theirs")

    assert ran.code == 3
    assert OLD not in text_of(rotated) + ran.out + ran.err


def test_others_are_adopted(rotated: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """New widgets that hold no secret come in beside a rotated one."""
    monkeypatch.setenv("TOKEN", NEW)
    assert rotated.apply().code == 0

    def edit(board: Any) -> None:
        new = {"id": {"value": OTHER}, "title": "More to see"}
        new["definition"] = {"markdown": {"markdownText": "nothing that is secret"}}
        widgets(board).append(new)

    edit_live(rotated, edit)

    assert adopt(rotated, "--all").code == 0
    assert "nothing that is secret" in text_of(rotated)


def test_secrets_of_others_need_not_be_set(
    rotated: Workspace, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """What is compared by seals, and what nobody asked about, wants no secret to be there."""
    rotated.write("other.yaml", SECRET.replace("checkout ", "other ").replace("TOKEN", "UNSET"))
    edit_live(rotated, lambda board: board.update(name="Live"))

    ran = adopt(rotated, "Dashboard/checkout")
    told = typed("drift", "--project", str(rotated.root / "reconciler.yaml"), "--format", "json")

    assert (ran.code, told.code) == (0, 0), ran.err + told.err
    assert "Live" in text_of(rotated)

    monkeypatch.delenv("TOKEN")
    told = typed("drift", "--project", str(rotated.root / "reconciler.yaml"))
    assert told.code == 0, told.err
    every = adopt(rotated, "--all")
    assert every.code == 3
    golden(every.out)
