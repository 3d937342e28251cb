"""Where the commands of the journal look for it: where `plan` and `apply` look."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from harness.doors import KEY, typed
from harness.served import Served
from harness.workspaces import VIEW

from reconciler.runtime.advice import LOST_JOURNAL


@pytest.fixture
def here(tmp_path: Path, service: Served, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder beside one of manifests, without a project file."""
    for name in ("here", "their manifests"):
        (tmp_path / name).mkdir()
    (tmp_path / "their manifests" / "view.yaml").write_text(VIEW, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("RECONCILER_BASE_URL", service.base_url)
    monkeypatch.setenv("RECONCILER_API_KEY", KEY)
    return tmp_path / "here"


def test_the_same_place(here: Path) -> None:
    """Without a project file, `--path` leads to the journal that `apply` of that PATH wrote."""
    manifests = "../their manifests"
    assert typed("apply", "--yes", "--new-journal", manifests).code == 0

    shown = typed("journal", "show", "--path", manifests)
    verified = typed("journal", "verify", "--path", manifests)

    assert "SavedView/errors" in shown.out
    assert verified.code == 0
    assert str(here.parent / "their manifests" / ".reconciler" / "journal.jsonl") in verified.out


def test_no_journal_here(here: Path) -> None:
    """Where there is none, it may be lost; if only the folder says where, another way is named."""
    ran = [typed("journal", word) for word in ("show", "history", "verify")]

    place = f"there is no journal at {here / '.reconciler' / 'journal.jsonl'}"
    assert [shown.code for shown in ran] == [8, 8, 8]
    for shown in ran:
        assert place in shown.err
        assert LOST_JOURNAL in " ".join(shown.err.split())
        assert "with `--path PATH`" in shown.err


@pytest.mark.parametrize("where", ["elsewhere", "here", "by-file"])
def test_advice_that_works(here: Path, where: str) -> None:
    """`journal init`, as a refused apply prints it, begins the journal that the apply then uses."""
    manifests = here.parent / "their manifests"
    asked = ["../their manifests"]
    if where == "here":
        (manifests / "view.yaml").rename(here / "view.yaml")
        asked = []
    if where == "by-file":
        (manifests / "reconciler.yaml").write_text("environments: {local: {}}", encoding="utf-8")
        asked = ["--project", str(manifests / "reconciler.yaml")]
    refused = typed("apply", "--yes", *asked)
    (advice,) = re.findall(r"`reconciler (journal init [^`]*)`", refused.err)

    begun = typed(*shlex.split(advice))

    assert (refused.code, begun.code) == (11, 0), begun.err
    assert typed("apply", "--yes", *asked).code == 0
