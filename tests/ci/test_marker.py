"""The hidden first line of our comment."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.ci.forge import Marker, read_marker, root_of

DIGEST = "sha256:" + "0f" * 32
MARKER = Marker(
    environment="production",
    root=root_of("."),
    digest=DIGEST,
    head="1" * 40,
    base="2" * 40,
    run=12,
    state="applied",
)

HOSTILE = st.lists(
    st.one_of(st.sampled_from(["-->", "--", "<!--", ">", "\n", "\\", '"', "}", "`"]), st.text()),
    max_size=5,
).map("".join)


@given(
    st.builds(
        Marker,
        environment=HOSTILE,
        root=HOSTILE,
        digest=st.sampled_from(["", DIGEST]),
        head=HOSTILE,
        base=HOSTILE,
        run=st.integers(0, 10**18),
    )
)
def test_whatever_it_holds(marker: Marker) -> None:
    """A marker is read as it was written, on one line, and nothing in it ends its comment."""
    inside = marker.line.removeprefix("<!-- reconciler ").removesuffix(" -->")

    assert read_marker(f"{marker.line}\nthe plan") == marker
    assert read_marker(f"{marker.line}\r\nthe plan") == marker
    assert len(marker.line.splitlines()) == 1
    assert not any(ending in inside for ending in ("--", "<", ">"))


def changed(**fields: Any) -> str:
    """Give the line of a marker that somebody edited."""
    document = json.loads(MARKER.line.removeprefix("<!-- reconciler ").removesuffix(" -->"))
    document |= fields
    kept = {name: value for name, value in document.items() if value is not None}
    return f"<!-- reconciler {json.dumps(kept)} -->"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "### Plan",
        " " + MARKER.line,
        MARKER.line + " ",
        MARKER.line.replace("reconciler", "reconcilers"),
        MARKER.line.replace("}", ""),
        changed(version=2),
        changed(version=None),
        changed(more="x"),
        changed(digest=None),
        changed(digest="sha256:short"),
        changed(digest="md5:" + "0" * 64),
        changed(run="12"),
        changed(run=True),
        changed(truncated=False),
        changed(state="approved"),
        changed(environment=["production"]),
        "<!-- reconciler [1] -->",
    ],
)
def test_what_is_no_marker(line: str) -> None:
    """Only a line in exactly this form, with exactly these fields, is a marker."""
    assert read_marker(f"{line}\n{MARKER.line}\n") is None


def test_unchanged_is_a_marker() -> None:
    """The line that the cases above edit is one as it stands."""
    assert read_marker(changed()) == MARKER


def test_roots() -> None:
    """Two spellings of one folder are one root, and two folders are two."""
    assert root_of("") == root_of(".") == root_of("./")
    assert root_of("infra/") == root_of("./infra") != root_of("infra2")
    assert replace(MARKER, root=root_of("infra")).key != MARKER.key


def test_a_marker_of_any_depth() -> None:
    """A comment that was edited to hold a deep marker is none of ours, and no error."""
    deep = "[" * 30_000 + "]" * 30_000

    assert read_marker(f'<!-- reconciler {{"guards": {deep}}} -->') is None
