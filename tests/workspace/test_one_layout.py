"""What import, init and adopt write is laid out as `fmt` lays it out."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from harness.doors import typed
from hypothesis import assume, example, given
from hypothesis import strategies as st
from styled_texts import Editing, edit_between, relinked, root_of, style_of
from test_composing import documents

from reconciler.document import Json
from reconciler.syntax.read_text import read_text
from reconciler.workspace.compose import UnwritableError, check_writable, laid_out
from reconciler.workspace.layout import tidied
from reconciler.workspace.manifest_edits import Script, text_after


@pytest.mark.promise("S8")
@given(documents)
@example({"spec": {"a": [[1, [2]], [[]], [{"b": 1}], ["x\ny"]]}})
@example({"spec": {"a": [[[{"b": [["x\n y"]]}]]]}})
def test_new_manifests(document: dict[str, Json]) -> None:
    """A document that is written new is one that `fmt --check` keeps, whatever it holds."""
    try:
        check_writable(document)
        text = laid_out({"spec": document})
    except UnwritableError:
        return

    assert tidied(read_text(text, is_json=False), is_json=False) in (None, text)


@pytest.mark.promise("S8")
@given(st.integers(0, 2**32))
@example(154)
@example(226)
@example(306)
@example(339)
def test_edited_manifests(number: int) -> None:
    """A file that `fmt --check` keeps is one that it keeps after `adopt`, whatever was edited."""
    chance = Random(number)  # noqa: S311 - repeatable
    style = style_of(chance)
    roots = [root_of(style) for _ in range(1 if style.is_json else chance.choice([1, 2]))]
    neat = tidied(read_text(style.text(roots), is_json=style.is_json), is_json=style.is_json)
    edited = [relinked(root) for root in roots]
    for _ in range(chance.randint(1, 8)):
        Editing(style, chance.choice(edited)).edit()
    pairs = zip(roots, edited, strict=True)
    found = {nth: edit_between(old, new) for nth, (old, new) in enumerate(pairs)}
    changes = {nth: edit for nth, edit in found.items() if edit is not None}
    assume(neat is not None and changes)
    reading = read_text(neat or "", is_json=style.is_json)

    made = text_after(Script(Path("a"), "a", reading, style.is_json), changes)

    assert made is not None
    again = read_text(made[0], is_json=style.is_json)
    assert tidied(again, is_json=style.is_json) in (None, made[0])


@pytest.mark.promise("S8")
def test_new_projects(tmp_path: Path) -> None:
    """Every YAML file that `init` makes, be it a workflow, is kept by `fmt --check`."""
    assert typed("init", str(tmp_path)).code == 0
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".yaml", ".yml")]
    made = [file.read_text(encoding="utf-8") for file in files]

    assert {file.name for file in files} >= {"plan.yml", "SLO.yaml", "reconciler.yaml"}
    assert [tidied(read_text(text, is_json=False), is_json=False) for text in made] == made
