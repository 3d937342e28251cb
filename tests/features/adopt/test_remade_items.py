"""A widget that held a secret is deleted and made anew by hand: no text of it is told or kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.doors import lines_with_formats, typed
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json, Shape, differences
from reconciler.emulator import create_app
from reconciler.features.adopt.adoption import Side
from reconciler.features.adopt.merge_fields import MergeInputs, MergeOptions, merged
from reconciler.kinds import BY_NAME
from reconciler.redaction.redact import resealed, shown, veiled
from reconciler.redaction.templates import SecretHole, Template, seal

pytestmark = pytest.mark.promise("P14")

ROOT = "/mgmt/openapi/latest"
ROTATED = "ROTATED-zzzz-9999"
PROJECT = "environments: {local: {emulator: {data: .reconciler/local.db}}}\n"
MANIFEST = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: board}
spec:
  dashboard:
    name: Board
    layout:
      sections:
        - rows:
            - appearance: {height: 19}
              widgets:
                # first
                - title: A
                  definition: {markdown: {markdownText: plain}}
                # of B
                - title: B
                  definition: {markdown: {markdownText: "key=${secret:TOK}"}}
                # of C
                - title: C
                  definition: {markdown: {markdownText: c}}
"""
LINES = [
    *(line for line in lines_with_formats() if line.split()[0] in ("plan", "drift")),
    *(
        f"adopt --all --format {form}{side}"
        for form in ("text", "json", "markdown")
        for side in ("", " --theirs", " --ours")
    ),
    "apply --yes",
]
PLACES = ["the same place", "the end", "a new row", "a new section"]


def remade(board: Any, place: str, title: str) -> None:
    """Delete the widget with the secret, and make it anew with another one."""
    sections = board["layout"]["sections"]
    rows = sections[0]["rows"]
    widgets = rows[0]["widgets"]
    new = widgets.pop(1)
    new |= {"id": {"value": "11111111-2222-4333-8444-555555555555"}, "title": title}
    new["definition"]["markdown"]["markdownText"] = f"key={ROTATED}"
    row_id, section_id = ({"value": f"{one}1111111-2222-4333-8444-555555555555"} for one in (2, 3))
    row = {"id": row_id, "appearance": {"height": 19}, "widgets": [new]}
    match place:
        case "the same place":
            widgets.insert(1, new)
        case "the end":
            widgets.append(new)
        case "a new row":
            rows.append(row)
        case _:
            sections.append({"id": section_id, "rows": [row]})


async def edit_live(data: Path, place: str, title: str) -> None:
    """Let somebody edit the dashboard live."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(create_app(data)),
        base_url="http://emulator",
        headers={"Authorization": "someone"},
    ) as client:
        board = (await client.get(f"{ROOT}/v1/dashboards/by-slug/board")).json()["dashboard"]
        remade(board, place, title)
        body = {"dashboard": board, "requestId": "theirs"}
        assert (await client.put(f"{ROOT}/v1/dashboards/dashboards", json=body)).is_success


@pytest.mark.parametrize("title", ["B", "Z"])
@pytest.mark.parametrize("place", PLACES)
def test_no_command_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, title: str
) -> None:
    """Wherever and however it is called, no output, manifest or journal holds the live text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOK", "first-secret-value")
    Path("reconciler.yaml").write_text(PROJECT, encoding="utf-8")
    Path("board.yaml").write_text(MANIFEST, encoding="utf-8")
    assert typed("apply", "--new-journal", "--yes", "-q").code == 0
    asyncio.run(edit_live(Path(".reconciler/local.db").resolve(), place, title))

    for line in LINES:
        ran = typed(*line.split())
        assert ROTATED not in ran.out + ran.err, line
        if line.startswith("adopt"):
            assert ran.code == (0 if "--ours" in line else 3), (line, ran.out, ran.err)
    manifest = Path("board.yaml").read_text(encoding="utf-8")
    assert "# of B\n                - title: B\n" in manifest
    assert "${secret:TOK}" in manifest
    for file in tmp_path.rglob("*"):
        if file.is_file() and "local.db" not in file.name:
            assert ROTATED.encode() not in file.read_bytes(), file


SHAPE: Shape = BY_NAME["Dashboard"].shape
SECRET = Template(("key=", SecretHole("TOK", "old-value", seal("old-value", "TOK", "salt"))))


def board_of(sections: list[list[list[tuple[str, Json]]]], tag: str) -> dict[str, Json]:
    """Give a dashboard of sections of rows of widgets, each by its id and its text."""
    return {
        "dashboard": {
            "name": "Board",
            "layout": {
                "sections": [
                    {
                        "id": {"value": f"{tag}s{s}"},
                        "rows": [
                            {
                                "id": {"value": f"{tag}r{s}{r}"},
                                "widgets": [
                                    {
                                        "id": {"value": name},
                                        "title": name[-1],
                                        "definition": {"markdown": {"markdownText": text}},
                                    }
                                    for name, text in row
                                ],
                            }
                            for r, row in enumerate(rows)
                        ],
                    }
                    for s, rows in enumerate(sections)
                ]
            },
        }
    }


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Json, Json]:
    """Give a dashboard, and what it is live: widgets moved anywhere, those with secrets anew."""
    names = [f"w{number}" for number in range(draw(st.integers(1, 5)))]
    secrets = draw(st.sets(st.sampled_from(names), min_size=1))
    widgets: list[tuple[str, Json]] = [
        (name, SECRET if name in secrets else name) for name in names
    ]
    again = draw(st.sets(st.sampled_from(sorted(secrets))))
    live: list[tuple[str, Json]] = [
        (f"new-{name}" if name in again else name, f"key={ROTATED}" if name in secrets else name)
        for name in names
    ]

    def placed(items: list[tuple[str, Json]]) -> list[list[list[tuple[str, Json]]]]:
        sections: list[list[list[tuple[str, Json]]]] = [[[], []], [[]]]
        places = [sections[0][0], sections[0][1], sections[1][0]]
        for row in items:
            draw(st.sampled_from(places)).append(row)
        return sections

    tag = draw(st.sampled_from(["a", "b"]))
    return board_of(placed(widgets), "a"), board_of(placed(draw(st.permutations(live))), tag)


@given(scenes(), st.sampled_from([None, *Side]))
def test_no_form_of_it_holds_it(scene: tuple[Json, Json], side: Side | None) -> None:
    """What is shown, kept, or merged of live holds the text of no secret, remade or moved."""
    declared, live = scene

    hidden = veiled(live, [declared], SHAPE)
    told = [*shown(differences(live, declared, SHAPE), live, [declared], SHAPE)]
    kept = resealed(live, [declared], SHAPE, "salt")
    sides = MergeInputs(written=declared, ours=declared, base=declared, live=live, shown=hidden)
    found = merged(sides, SHAPE, MergeOptions(side=side))

    assert ROTATED not in repr((hidden, told, kept))
    assert ROTATED not in repr((found.adopted, found.conflicts))
    assert found.open or ROTATED not in repr(found.edit)
