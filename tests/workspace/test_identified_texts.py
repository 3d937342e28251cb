"""Ids and variables that are written into random texts in every style."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping as Mapping_
from pathlib import Path
from random import Random

import pytest
from styled_texts import Mapping, root_of, style_of

from reconciler.document import Edit, Json
from reconciler.errors import InvalidInput
from reconciler.model import Manifest, Ref, Source
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import written
from reconciler.workspace import manifest_edits
from reconciler.workspace.manifest_edits import Given, IdTarget, Script, identified, text_after
from reconciler.workspace.write_files import add_variables

CASES = int(os.environ.get("IDENTIFIED_TEXTS", "60"))
ID = 8_675_309
"""An id that no drawn text holds by itself."""

pytestmark = pytest.mark.promise("S26")


def drawn(number: int, key: str) -> tuple[str, bool, list[Json]]:
    """Draw a text with a mapping under a key, whether it is JSON, and its documents."""
    for attempt in range(100):
        style = style_of(Random(number * 100 + attempt))  # noqa: S311 - repeatable
        roots = [root_of(style) for _ in range(1 if style.is_json else 2)]
        member = next(
            (member for member in roots[0].members if isinstance(member.node, Mapping)), None
        )
        if member is not None:
            member.key = key
            text = style.text(roots)
            reading = read_text(text, is_json=style.is_json)
            if not reading.has_errors:
                return text, style.is_json, [document.value for document in reading.documents]
    raise AssertionError(number)


def test_ids() -> None:
    """An id that is written loses no comment, and says nothing else; nearly all can be written."""
    refused = 0
    for number in range(CASES):
        text, is_json, _ = drawn(number, "metadata")
        reading = read_text(text, is_json=is_json)
        line, column = reading.documents[0].locate(())
        given = Given(Manifest(Ref("SLO", "a"), {}, Source("a", line, column)), ID)

        made = identified(
            Script(Path("a"), "a", reading, is_json),
            [given],
            IdTarget("local", alone=number % 2 == 0),
        )

        refused += not made.written
        before, after = written(text).comments(), written(made.text).comments()
        assert Counter(before) == Counter(after), text
        (value, *_) = read_text(made.text, is_json=is_json).documents
        assert bool(made.written) == (str(ID) in str(value.value["metadata"])), text  # type: ignore[index,call-overload]  # a mapping
    assert refused <= CASES // 50


def test_variables(tmp_path: Path) -> None:
    """A variable that is written into a project file loses no comment of it."""
    refused, file = 0, tmp_path / "reconciler.yaml"
    for number in range(CASES):
        text, is_json, documents = drawn(number, "environments")
        if is_json or len(documents) > 1:
            text = text.split("---")[0] if not is_json else text
        found = read_text(text, is_json=False).documents[0].value["environments"]  # type: ignore[index,call-overload]  # a mapping
        name = next(iter(found), None)  # type: ignore[arg-type]  # a mapping
        if name is None:
            continue
        file.write_bytes(text.encode())
        try:
            add_variables(file, {name: {"added": "seven"}})
        except InvalidInput:
            refused += 1
        after = file.read_bytes().decode()
        assert Counter(written(text).comments()) == Counter(written(after).comments()), text
    assert refused <= CASES // 50


@pytest.mark.promise("S28")
def test_many_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of a file are written in one edit of its text, however many documents it has."""
    edits: list[int] = []

    def counted(script: Script, changes: Mapping_[int, Edit]) -> object:
        edits.append(len(changes))
        return text_after(script, changes)

    monkeypatch.setattr(manifest_edits, "text_after", counted)
    reading = read_text("---\n".join(f"metadata: {{name: a{nth}}}\n" for nth in range(50)))
    places = [document.locate(()) for document in reading.documents]
    given = [
        Given(Manifest(Ref("SLO", f"a{nth}"), {}, Source("a", *place)), nth)
        for nth, place in enumerate(places)
    ]

    made = identified(
        Script(Path("a"), "a", reading, is_json=False), given, IdTarget("x", alone=True)
    )

    assert (len(made.written), edits) == (50, [50])
