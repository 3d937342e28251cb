"""Ids that are written into manifests, in the layout that these have."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.model import Manifest, Member, Ref, RemoteId, Source
from reconciler.syntax.read_text import read_text
from reconciler.workspace.manifest_edits import Given, IdentifiedText, IdTarget, Script, identified

pytestmark = [pytest.mark.promise("P18", "S26", "S27")]

VIEW = Ref("SavedView", "errors")


def manifest(metadata: str) -> str:
    return f"# ours\nkind: SavedView\nmetadata:{metadata}spec: {{name: 'x'}} # told\n"


def with_ids(
    text: str, nth: int, *ids: RemoteId, alone: bool, of: int = 0, is_json: bool = False
) -> IdentifiedText:
    """Write ids into a document of a text: of its manifest, or of its items from the first on."""
    script = Script(Path("m.yaml"), "m.yaml", read_text(text, is_json=is_json), is_json)
    line, column = script.reading.documents[nth].locate(())
    given = [
        Given(Manifest(VIEW, {}, Source("m.yaml", line, column, item)), remote_id)
        for number, remote_id in enumerate(ids, 1)
        for item in [Member(number, f"name: {number}", of) if of else None]
    ]
    return identified(script, given, IdTarget("local", alone=alone))


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
        (
            True,
            " {\n  name: errors, # why\n  labels: &l {a: b} # theirs\n}\n",
            " {\n  name: errors, # why\n  labels: &l {a: b}, # theirs\n  id: 7\n}\n",
        ),
    ],
)
def test_written(before: str, after: str, *, alone: bool) -> None:
    """An id goes into `metadata`, or among the ids that are there; all else stays as it was."""
    other = manifest(" {name: others}\n")
    text = f"{other}---\n{manifest(before)}"

    made = with_ids(text, 1, 7, alone=alone)

    assert made.text == f"{other}---\n{manifest(after)}"
    assert made.by_hand == []


def test_line_ends() -> None:
    """A text whose lines end with a carriage return has another such line."""
    text = manifest("\n  name:   errors\n").replace("\n", "\r\n")

    made = with_ids(text, 0, 7, alone=True)

    assert made.text == text.replace("errors\r\n", "errors\r\n  id: 7\r\n")


def test_json() -> None:
    """An id is written into a manifest in JSON as into one in YAML."""
    text = '{"kind": "SavedView",\n "metadata": {"name": "errors"}}\n'

    made = with_ids(text, 0, 7, alone=True, is_json=True)

    assert made.text == '{"kind": "SavedView",\n "metadata": {"name": "errors", "id": 7}}\n'


ITEMS = """\
kind: SavedView
metadata: {name: "${each:name}"} # ours
forEach:
  - {name: a} # first
  - name: b # second
    other: ${var:x}
"""


FROM_FILE = "forEach: ${file:views.yaml}\n"


def test_items() -> None:
    """Ids of items go into the items, and `metadata` names them."""
    made = with_ids(ITEMS, 0, 7, 8, alone=False, of=2)

    assert made.text == (
        'kind: SavedView\nmetadata: {name: "${each:name}", ids: {local: "${each:id}"}} # ours\n'
        "forEach:\n  - {name: a, id: 7} # first\n"
        "  - name: b # second\n    other: ${var:x}\n    id: 8\n"
    )
    assert made.by_hand == []


def test_items_of_another_key() -> None:
    """Where the items have an `id` of their own, that of the service gets another key."""
    made = with_ids(ITEMS.replace("name: a}", "name: a, id: x}"), 0, 7, 8, alone=True, of=2)

    assert "{name: a, id: x, id_local: 7}" in made.text
    assert 'id: "${each:id_local}"' in made.text


@pytest.mark.parametrize(
    ("before", "ids", "key"),
    [
        (ITEMS, (7,), "id"),
        (ITEMS[: ITEMS.index("forEach")] + "forEach: {var: views}\n", (7, 8), "SavedView_id"),
        (ITEMS[: ITEMS.index("forEach")] + FROM_FILE, (7, 8), "SavedView_id"),
    ],
)
def test_items_elsewhere(before: str, ids: tuple[int, ...], key: str) -> None:
    """Where ids of items cannot be written without a guess, each is said, and what names it."""
    made = with_ids(before, 0, *ids, alone=False, of=2)

    (said,) = made.by_hand
    assert made.text == before
    assert f"ids: {{local: ${{each:{key}}}}}" in said
    assert all(f"`{key}: {id_}`" in said for id_ in ids)


def test_items_of_two_manifests() -> None:
    """Two manifests that are made of the same items of a file have a key each for their ids."""
    errors = ITEMS[: ITEMS.index("forEach")].replace("each:name}", "each:name}-errors") + FROM_FILE
    both = f"{errors}---\n{errors.replace('-errors', '-slow')}"

    said = [with_ids(both, nth, 7 + nth, alone=True, of=1).by_hand[0] for nth in range(2)]

    assert "`SavedView_errors_id: 7`" in said[0]
    assert "`SavedView_slow_id: 8`" in said[1]


def test_metadata_elsewhere() -> None:
    """An id that has no place in a file is said with what to write."""
    made = with_ids("kind: SavedView\nmetadata: ${file:m.yaml}\n", 0, 7, alone=True)

    assert made.by_hand == ["m.yaml:1: write `id: 7` under `metadata` of SavedView/errors by hand"]
