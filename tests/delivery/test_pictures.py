"""Pictures of the site: drawn from the fences that GitHub draws, or refused."""

from __future__ import annotations

import re
from pathlib import Path

import docs_hooks
import pytest
from draw_pictures import MOST_WIDE, PictureError, draw
from markdown import markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

FLOW = """\
flowchart TD
    accTitle: What a plan compares
    declared[Declared<br>manifests in git] --> merge((three-way merge))
    live[Live<br>service] -- read --> merge
"""
SEQUENCE = """\
sequenceDiagram
    accTitle: A create
    participant R as reconciler
    participant S as service
    R->>S: POST
    S-->>R: 201, id
    Note over R,S: answer lost
"""
LONG = "flowchart LR\n accTitle: Far\n " + " --> ".join(f"n{n}[number {n}]" for n in range(12))
WIDE = "flowchart TD\n accTitle: Far\n a --> " + " & ".join(f"n{n}[number {n}]" for n in range(12))


@pytest.mark.slow
@pytest.mark.parametrize(("source", "words"), [(FLOW, "Declared Live"), (SEQUENCE, "POST lost")])
def test_what_is_drawn(source: str, words: str, tmp_path: Path) -> None:
    """A picture has the words and the title, no colour, no script, and ids of its own."""
    text = draw(source, tmp_path)
    other = draw(source.replace("accTitle: ", "accTitle: Not "), tmp_path)
    ids, others = (set(re.findall(r'\bid="([^"]+)"', drawn)) for drawn in (text, other))

    assert all(word in text for word in words.split())
    assert re.search(r'role="img" aria-label="(What a plan compares|A create)"', text)
    assert not re.search(r"<style|<script|<foreignObject|#[0-9a-f]{6}\b|\n", text)
    assert ids
    assert not ids & others
    assert set(re.findall(r"url\(#([^)]+)", text)) <= ids


@pytest.mark.slow
def test_a_long_flow_is_turned(tmp_path: Path) -> None:
    """A flow from left to right that is too wide for a phone is drawn from top to bottom."""
    wide, high = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', draw(LONG, tmp_path))[0]

    assert float(wide) < MOST_WIDE < float(high)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "said"),
    [
        (FLOW.replace("]", "", 1), "mermaid cannot draw"),
        ("flowchrt TD\n accTitle: Slip\n a --> b", "mermaid cannot draw"),
        (re.sub(" *accTitle.*\n", "", FLOW), "accTitle"),
        (WIDE, str(MOST_WIDE)),
    ],
    ids=["broken", "unknown", "untitled", "wide"],
)
def test_what_cannot_be_drawn(source: str, said: str, tmp_path: Path) -> None:
    """A fence that is no mermaid, that has no title or is too wide, is refused and not kept."""
    with pytest.raises(PictureError, match=said):
        draw(source, tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_picture_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fence that has not changed is not drawn again."""
    first = draw(FLOW, tmp_path)
    monkeypatch.setattr("draw_pictures.DRAWER", ("false",))

    assert draw(FLOW, tmp_path) == first


@pytest.mark.parametrize("indent", ["", "    "], ids=["page", "list"])
def test_a_fence_stops_the_build(indent: str) -> None:
    """A fence that cannot be drawn stops the build, in a list too."""
    config = MkDocsConfig()
    config.load_dict({"mdx_configs": {}})
    docs_hooks.on_config(config)
    page = "- item\n\n```mermaid\nflowchart TD\n a --> b\n```\n".replace("\n", f"\n{indent}")

    with pytest.raises(PluginError, match="accTitle"):
        markdown(page, extensions=["pymdownx.superfences"], extension_configs=config.mdx_configs)
