"""Ids that are written into manifests, in the layout that these have."""

from __future__ import annotations

import pytest

from reconciler.errors import InvalidInput
from reconciler.manifests.editing import with_id
from reconciler.resource import Ref

pytestmark = pytest.mark.promise("P18")

VIEW = Ref("SavedView", "errors")


def manifest(metadata: str) -> str:
    return f"# ours\nkind: SavedView\nmetadata:{metadata}spec: {{name: 'x'}} # told\n"


@pytest.mark.parametrize(
    ("alone", "before", "after"),
    [
        (True, "\n  name: errors # n\n", "\n  name: errors # n\n  id: 7\n"),
        (False, "\n  name: errors # n\n", "\n  name: errors # n\n  ids:\n    local: 7\n"),
        (True, " {name: errors}\n", " {name: errors, id: 7}\n"),
        (False, " {name: errors}\n", " {name: errors, ids: {local: 7}}\n"),
        (
            False,
            " {name: errors, ids: {other: 5}, labels: {}}\n",
            " {name: errors, ids: {other: 5, local: 7}, labels: {}}\n",
        ),
        (
            True,
            "\n  ids:\n    other: 5 # theirs\n  name: errors\n",
            "\n  ids:\n    other: 5 # theirs\n    local: 7\n  name: errors\n",
        ),
        (True, "\n  name: errors\n  id:\n", "\n  name: errors\n  id: 7\n"),
        (False, "\n  name: errors\n  ids:\n", "\n  name: errors\n  ids:\n    local: 7\n"),
        (True, "\n  name: errors\n  ids:\n", "\n  name: errors\n  id: 7\n"),
    ],
)
def test_written(before: str, after: str, *, alone: bool) -> None:
    """An id goes behind the name, or among the ids that are there; all else stays as it was."""
    other = manifest(" {name: others}\n")
    text = f"{other}---\n{manifest(before)}"

    written = with_id(text, VIEW, 7, "local", alone=alone)

    assert written == f"{other}---\n{manifest(after)}"


def test_gone() -> None:
    """A manifest that is not in the file any more is an error."""
    with pytest.raises(InvalidInput, match="not in the file any more"):
        with_id(manifest(" {name: others}\n"), VIEW, 7, "local", alone=True)
