"""Broken queries in every style of YAML and in JSON: the line and column of the mistake.

The mistake is marked by a character in the text of the file, which is taken out before it is
read: so its place is known without any rule of YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from harness.broken_queries import MARK, drawn

from reconciler.queries import Language
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspace

SCOPE = Scope("local", {"pre": "metric_of_a", "n": 5})
HEAD = {
    Language.PROMQL: (
        "apiVersion: reconciler/v1\nkind: SLO\nmetadata: {name: %s}\n",
        ("requestBasedMetricSli", "totalEvents", "query"),
        "  name: A\n  targetThresholdPercentage: 99\n  sloTimeFrame: SLO_TIME_FRAME_7_DAYS\n",
    ),
    Language.LUCENE: (
        "apiVersion: reconciler/v1\nkind: SavedView\nmetadata: {name: %s}\n",
        ("searchQuery", "query"),
        "  name: A\n  timeSelection: {quickSelection: {seconds: 60}}\n",
    ),
}
Style: TypeAlias = Callable[[str, int, Random], str]


def folded_at(text: str, indent: int, random: Random) -> str:
    """Break a text at some of its blanks, as whoever folds it does; none in quotes."""
    parts = re.split(r'("(?:[^"\\]|\\.)*"?)', " ".join(text.split()))
    lines = [
        re.sub(" ", lambda _: "\n" + " " * indent if random.random() < 0.4 else " ", part)
        if not part.startswith('"')
        else part
        for part in parts
    ]
    return "".join(lines)


def plain(text: str, indent: int, random: Random) -> str:
    written = folded_at(text, indent, random)
    unmarked = written.replace(MARK, "")
    # A line may begin with nothing that means something else there.
    is_plain = re.match(r"[A-Za-z(]", unmarked) and not re.search(r":\s|\s#|:$", unmarked)
    is_plain = is_plain and not re.search(r"\n\s*[-\[{&*!|>'\"%@`#?,\]}]", unmarked)
    return written if is_plain else single(text, indent, random)


def single(text: str, indent: int, random: Random) -> str:
    return "'" + folded_at(text, indent, random).replace("'", "''") + "'"


def double(text: str, indent: int, random: Random) -> str:
    written = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    written = written.replace("é", "\\u00e9")
    if random.random() < 0.5:
        # Outside of what is quoted inside, a line may go on with a backslash.
        first, *rest = written.split(" ")
        gaps = [random.choice([" ", " ", f" \\\n{' ' * indent}"]) for _ in rest]
        written = first + "".join(gap + one for gap, one in zip(gaps, rest, strict=True))
    return f'"{written}"'


def literal(text: str, indent: int, random: Random) -> str:
    explicit = random.random() < 0.3
    more = 2 if not explicit else random.randint(2, 5)
    header = "|" + (str(more) if explicit else "") + random.choice(["", "-", "+"])
    lines = "\n".join(" " * (indent - 2 + more) + line for line in text.split("\n"))
    return header + random.choice(["", "  # said"]) + "\n" + lines


def folded(text: str, indent: int, random: Random) -> str:
    header = ">" + random.choice(["", "-", "+", "2", "2-", "-2"])
    return header + "\n" + " " * indent + folded_at(text, indent, random)


STYLES: tuple[Style, ...] = (plain, single, double, literal, folded)


def manifest(query: str, language: Language, name: str, random: Random) -> str:
    """Write a manifest with a query, marked, in a random style and place."""
    head, path, rest = HEAD[language]
    style = random.choice(STYLES)
    *outer, last = path
    kind = random.random()
    if kind < 0.15:
        # In a flow mapping nothing is literal.
        flow = random.choice((single, double))(query, 6, random)
        inner = f"{{{last}: {flow}}}"
        for step in reversed(outer[1:]):
            inner = f"{{{step}: {inner}}}"
        return head % name + f"spec:\n{rest}  {outer[0]}: {inner}\n"
    if kind < 0.3:
        anchored = style(query, 4, random)
        steps = "".join(f"{'  ' * (1 + nth)}{step}:\n" for nth, step in enumerate(outer))
        alias = f"{'  ' * (1 + len(outer))}{last}: *query\n"
        return head % name + f"spec:\n  description: &query {anchored}\n{rest}{steps}{alias}"
    steps = "".join(f"{'  ' * (1 + nth)}{step}:\n" for nth, step in enumerate(outer))
    depth = 1 + len(outer)
    written = style(query, 2 * depth + 2, random)
    return head % name + f"spec:\n{rest}{steps}{'  ' * depth}{last}: {written}\n"


def in_json(query: str, language: Language, name: str, random: Random) -> str:
    """Write the same in JSON."""
    head, path, _ = HEAD[language]
    inner: object = query
    for step in reversed(path[1:]):
        inner = {step: inner}
    kind = "SLO" if "SLO" in head else "SavedView"
    extra: dict[str, object] = (
        {"targetThresholdPercentage": 99, "sloTimeFrame": "SLO_TIME_FRAME_7_DAYS"}
        if kind == "SLO"
        else {"timeSelection": {"quickSelection": {"seconds": 60}}}
    )
    document = {
        "apiVersion": "reconciler/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"name": "A \U0001f600", **extra, path[0]: inner},
    }
    text = json.dumps(document, indent=random.choice([None, 2]))
    return text.replace(json.dumps(MARK)[1:-1], MARK)


def export(query: str, language: Language) -> str:
    """Write a dashboard as exports are, with the query in a widget."""
    field = "promqlQuery" if language is Language.PROMQL else "luceneQuery"
    widget = {
        "title": "W",
        "definition": {"gauge": {"query": {"metrics": {field: {"value": query}}}}},
    }
    layout = {"sections": [{"rows": [{"appearance": {"height": 5}, "widgets": [widget]}]}]}
    text = json.dumps({"name": "A", "layout": layout}, indent=2)
    return text.replace(json.dumps(MARK)[1:-1], MARK)


def with_expression(query: str, random: Random) -> str:
    """Put an expression before the mistake, whose value is longer or shorter."""
    front = random.choice(["${var:pre} + ", 'a{b="$${x}"} + ', "${var:n} + "])
    return front + query


@pytest.mark.parametrize("seed", range(4))
def test_line_and_column(seed: int, tmp_path: Path) -> None:
    """Each of five hundred broken queries is told once, at the line and column of its mistake."""
    random = Random(seed)  # noqa: S311 - repeatable
    wanted: dict[str, tuple[int, int, str]] = {}
    for nth in range(500):
        one = drawn(random)
        query = one.text[: one.start] + MARK + one.text[one.start :]
        if one.language is Language.PROMQL and random.random() < 0.3:
            query = with_expression(query, random)
        name, form = f"r{nth}", random.random()
        if form < 0.15:
            file, text = f"{name}.json", in_json(query, one.language, name, random)
        elif form < 0.3:
            (tmp_path / f"{name}.yaml").write_text(
                "apiVersion: reconciler/v1\nkind: Dashboard\n"
                f"metadata: {{name: {name}}}\nspec: {{file: {name}.board.json}}\n"
            )
            file, text = f"{name}.board.json", export(query, one.language)
        else:
            file, text = f"{name}.yaml", manifest(query, one.language, name, random)
            if random.random() < 0.2:
                text = text.replace("\n", "\r\n")
        before = text[: text.index(MARK)]
        code = "L901" if one.language is Language.PROMQL else "L902"
        wanted[file] = before.count("\n") + 1, len(before) - before.rfind("\n"), code
        (tmp_path / file).write_bytes(text.replace(MARK, "").encode())

    workspace = load_workspace([tmp_path], tmp_path, SCOPE)

    found = {
        complaint.file: (complaint.line, complaint.column, complaint.code)
        for complaint in workspace.complaints
        if complaint.code.startswith("L9")
    }
    assert not workspace.errors, workspace.errors[:3]
    assert sum(complaint.code.startswith("L9") for complaint in workspace.complaints) == len(found)
    missed = {file: (place, found.get(file)) for file, place in wanted.items()}
    assert not {file: both for file, both in missed.items() if both[0] != both[1]}
