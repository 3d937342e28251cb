"""What editors make of the files that `init` writes: errors, completion and words at a place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.doors import typed
from language_server import LanguageServer, language_server

from reconciler.kinds import KINDS
from reconciler.kinds.kind import Kind

NAMES = [kind.name for kind in KINDS]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a workspace that `init` made, without the settings that name schemas too."""
    folder = tmp_path_factory.mktemp("shop")
    assert typed("init", str(folder), "--base-url", "https://api.example.com").code == 0
    (folder / ".vscode" / "settings.json").unlink()
    return folder


@pytest.fixture(scope="module")
def server(shop: Path) -> Iterator[LanguageServer]:
    """Start one server for all."""
    with language_server(shop) as running:
        yield running


def place_of(text: str, words: str) -> tuple[int, int]:
    """Give line and column, from 0, of some words."""
    before = text[: text.index(words)]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def opened(server: LanguageServer, file: Path, what: str, text: str) -> Path:
    """Open a text that stands beside a file, and is no other's."""
    beside = file.with_name(f"{what}-{file.name}")
    server.open(beside, text)
    return beside


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_errors(server: LanguageServer, shop: Path, kind: Kind) -> None:
    """A value of another type is an error at its line, and the only one of an example."""
    file = shop / "examples" / f"{kind.name}.yaml"
    text = file.read_text(encoding="utf-8")
    # Without a mistake there would be nothing to wait for.
    wrong = text.replace("metadata:\n", "metadata:\n  protect: perhaps\n", 1)
    found = server.first_wrong(opened(server, file, "wrong", wrong))

    lines = [value["range"]["start"]["line"] for value in found]
    assert set(lines) == {place_of(wrong, "  protect")[0]}, found


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_completion(server: LanguageServer, shop: Path, kind: Kind) -> None:
    """Below `spec` the fields of the kind are offered, and after `kind` all kinds."""
    file = shop / "examples" / f"{kind.name}.yaml"
    text = file.read_text(encoding="utf-8")
    head = text[: text.index("\nspec:") + len("\nspec:\n")]
    begun = opened(server, file, "begun", head + "  ")
    bare = text.replace(f"kind: {kind.name}", "kind: ")
    other = opened(server, file, "bare", bare)
    fields = {field.alias or name for name, field in kind.spec.model_fields.items()}
    line, _ = place_of(bare, "kind: ")

    assert set(server.completion(begun, head.count("\n"), 2)) & fields
    assert set(server.completion(other, line, len("kind: "))) >= set(NAMES)


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_hover(server: LanguageServer, shop: Path, kind: Kind) -> None:
    """The place of a field tells which kind of manifest it belongs to, or what it is."""
    file = shop / "examples" / f"{kind.name}.yaml"
    text = file.read_text(encoding="utf-8")
    shown = opened(server, file, "shown", text)
    line, _ = place_of(text, "\nspec:")

    assert server.hover(shown, line + 1, 1) != ""


def test_the_project_file(server: LanguageServer, shop: Path) -> None:
    """An unknown field of the project file is its only error, and settings are offered."""
    file = shop / "reconciler.yaml"
    text = file.read_text(encoding="utf-8")
    wrong = text + "\nenviroments: {}\n"
    found = server.first_wrong(opened(server, file, "wrong", wrong))
    begun = opened(server, file, "begun", text + "\n")

    assert {value["range"]["start"]["line"] for value in found} == {
        place_of(wrong, "enviroments")[0]
    }
    assert "exclude" in server.completion(begun, text.count("\n") + 1, 0)
