"""Arguments that look like an id are ids, whatever they begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import typed
from hypothesis import given
from hypothesis import strategies as st

from reconciler.cli.root import with_ids_last
from reconciler.features.import_.command import import_

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
IDS = st.text(ALPHABET, min_size=19, max_size=19).map(lambda rest: f"-9{rest}")


@pytest.mark.promise("S7")
@given(st.lists(IDS | st.sampled_from(["shop", "a-b"]), min_size=1, max_size=4), st.data())
def test_ids_among_options(names: list[str], data: st.DataObject) -> None:
    """Ids that begin with a hyphen are arguments in their order, wherever options are."""
    words = ["dashboard", *names]
    for option in (["--dry-run"], ["-e", "x"], ["--format", "json"], ["--to=y"], ["-q"]):
        place = data.draw(st.integers(0, len(words)))
        if not (place and words[place - 1] in ("-e", "--format")):
            words[place:place] = option

    with import_.make_context("import", with_ids_last(import_, words)) as context:
        assert context.params["words_given"] == ("dashboard", *names)


@pytest.mark.promise("S7")
@pytest.mark.parametrize("first", ALPHABET)
def test_any_first_character(first: str) -> None:
    """An id is an id whatever character follows its hyphen."""
    name = f"-{first}AbCdEfGhIjKlMnOpQ_12"[:21]
    words = ["dashboard", name, "--dry-run"]

    with import_.make_context("import", with_ids_last(import_, words)) as context:
        assert context.params["words_given"] == ("dashboard", name)


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    "words",
    [
        ["--environmant-of-this"],
        ["-eproduction-europe-w", "--dry-run"],
        ["-e", "-9abcdefghijklmnopqrs"],
        ["--to", "-9abcdefghijklmnopqrs"],
        ["--", "-9abcdefghijklmnopqrs"],
        ["-9abc"],
    ],
)
def test_what_is_no_id(words: list[str]) -> None:
    """Options, their values, what follows `--`, and shorter words stay as they are."""
    assert with_ids_last(import_, ["dashboard", *words])[:1] in (["dashboard"], ["-e"], ["--to"])
    assert [one for one in with_ids_last(import_, words) if one != "--"] == [
        word for word in words if word != "--"
    ]


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    "words",
    [
        ["import", "dashboard"],
        ["incidents", "close"],
        ["rollback", "last"],
        ["adopt"],
        ["plan"],
        ["journal", "show"],
    ],
)
def test_every_command(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command that takes ids or references takes such an id for an option."""
    monkeypatch.chdir(tmp_path)
    Path("reconciler.yaml").write_text("environments: {local: {emulator: {data: x.db}}}\n")

    ran = typed(*words, "-9abcdefghijklmnopqrs")

    assert "No such option" not in ran.err
