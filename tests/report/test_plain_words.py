"""Small words that reports get wrong: one of a thing, and what nobody knows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.workspaces import PROJECT, Workspace

from reconciler.cli.root import report_error
from reconciler.errors import GuardRefused
from reconciler.journal.entries import Compacted
from reconciler.journal.history import History
from reconciler.model import Ref
from reconciler.report.journal_formats import journal_text
from reconciler.report.table import Style
from reconciler.report.words import plural

AT = datetime(2025, 1, 31, tzinfo=UTC).isoformat()


def test_one_of_a_thing() -> None:
    """One is never several, of a noun with a plural of its own neither."""
    assert [plural(count, "field") for count in (0, 1, 2)] == ["0 fields", "1 field", "2 fields"]
    assert [plural(count, "entry", "entries") for count in (1, 2)] == ["1 entry", "2 entries"]


def test_kept_without_an_id() -> None:
    """Of what has no id, as a list of policies, no id is shown."""
    kept = Compacted(
        at=AT,
        ref=Ref("LogPolicySet", "all"),
        remote_id=None,
        exists=True,
        attempts=1,
        protect=False,
    )

    assert "None" not in journal_text([kept], History(), Style())


def test_each_refusal_is_an_error(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    """Each of several refusals begins with `error:`, and its ways out stand below it."""
    assert report_error(GuardRefused("one [a]\n  - way", "two [b]")) == 11

    golden(capsys.readouterr().err)


def test_a_number_in_quotes(tmp_path: Path, golden: Golden) -> None:
    """Of an id that is a number in quotes, it is said that this is a text."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", PROJECT)
    workspace.write(
        "view.yaml",
        "apiVersion: reconciler/v1\nkind: SavedView\n"
        'metadata: {name: errors, id: "12"}\nspec: {name: Errors}\n',
    )

    golden(workspace.run("validate").out)
