"""Foreign text at each sink, judged by what reads that sink: nothing escapes.

`FOREIGN_TEXTS=1000000` makes the long run of it.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import pytest
from harness.unsafe_text import unsafe_in
from markdown_it import MarkdownIt

from reconciler.ci.runner import read_inputs
from reconciler.errors import UsageError
from reconciler.report.markdown import code, element, fenced, table_row
from reconciler.report.safe import (
    for_html,
    for_workflow_data,
    for_workflow_property,
    safe,
    safe_json,
)

TEXTS = int(os.environ.get("FOREIGN_TEXTS", "3000"))
SEED = int(os.environ.get("FOREIGN_SEED", "1"))
PACKAGE = Path(__file__).parents[2] / "reconciler"
PARTS = (
    *(
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\x9b2J",
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\x00",
        "\x08",
        "\x7f",
        "\x85",
    ),
    *("\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\ufeff", "\u2028", "\U000e0041", "\u3164"),
    *(
        "::stop-commands::x",
        "::error file=a::b",
        "::",
        " ::add-mask::",
        "##[error]",
        "##[",
        "##x[y]",
    ),
    *(
        "%0A",
        "%25",
        "%",
        ",",
        ":",
        "line=1,",
        "-->",
        "<!--",
        "]]>",
        "<script>",
        "</summary>",
        "<",
        ">",
    ),
    *(
        "&lt;",
        "&",
        '"',
        "'",
        "`",
        "``",
        "```",
        "````",
        "~~~",
        "|",
        "\\|",
        "\\",
        "\\`",
        "*",
        "_",
        "#",
    ),
    *("@team", "#1", "![x](y)", "[x](javascript:y)", "http://e.vil", "www.e.vil", "$$", "- ", "> "),
    *(
        "../",
        "..",
        "/",
        ".",
        "CON",
        "nul.txt",
        "a",
        "B",
        "é",
        "日本",
        "👩",
        "\u0301",
        " ",
        "x" * 200,
    ),
    *("\ud800", "\udfff", "[link=x]", "{{", "${{ x }}", "$(id)", "=cmd|x", "; rm", "a" * 65_536),
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def texts() -> Iterator[str]:
    """Yield hostile texts, the same for a seed."""
    rng = Random(SEED)  # noqa: S311 - repeatable, not secret
    # The longest one is slow to judge, and one among hundreds is enough.
    weights = [0.02 if len(part) > 1_000 else 1.0 for part in PARTS]
    for _ in range(TEXTS):
        parts = rng.choices(PARTS, weights, k=rng.randint(1, 5))
        parts += [chr(rng.randrange(0x110000)) for _ in range(rng.choice((0, 1, 3)))]
        rng.shuffle(parts)
        yield "".join(parts)


def holds_in_a_terminal(text: str) -> bool:
    """Judge a line of a log: nothing moves, hides or commands; also behind a cut."""
    return not unsafe_in(safe(text)) and not unsafe_in(safe(text, 20)) and len(safe(text, 20)) <= 20


def holds_in_json(text: str) -> bool:
    """Judge a document that is printed: safe to see, and read back as it was."""
    printed = safe_json(json.dumps({"a": text}, ensure_ascii=False, indent=2))
    return not unsafe_in(printed) and json.loads(printed) == {"a": text}


class Page(HTMLParser):
    """Notes what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.said.append(data)


def holds_in_html(text: str) -> bool:
    """Judge a page: one element with its one attribute, and the text as text."""
    page = Page()
    page.feed(f"<p title=\"{for_html(text)}\" lang='{for_html(text)}'>{for_html(text)}</p>")
    page.close()
    attributes: list[tuple[str, str | None]] = [("title", safe(text)), ("lang", safe(text))]
    return page.tags == [("p", attributes)] and "".join(page.said) == safe(text)


def holds_in_a_command(text: str) -> bool:
    """Judge a workflow command as the runner reads it: one line, one property, the data whole."""
    value, data = for_workflow_property(text), for_workflow_data(text)
    line = f"::error title={value}::{data}"
    found = re.fullmatch(r"::error title=([^:,\r\n]*)::([^\r\n]*)", line)
    if found is None or unsafe_in(value + data):
        return False
    said = found[2].replace("%0A", "\n").replace("%25", "%")
    return found[1].replace("%3A", ":").replace("%2C", ",").replace("%25", "%") == safe(
        text
    ) and said.split("\n") == [safe(part) for part in text.split("\n")]


def holds_in_markdown(text: str) -> bool:
    """Judge a comment: the text is one code span in one cell, and nothing of it is spoken."""
    if len(text) > 1_000:
        return True
    tokens = [
        child
        for token in MARKDOWN.parse(
            f"| a |\n|---|\n{table_row(code(text))}\n\n{fenced('', [safe(text)])}"
        )
        for child in (token, *(token.children or ()))
    ]
    kinds = [
        token.type for token in tokens if token.type in ("code_inline", "fence", "html_inline")
    ]
    spoken = "".join(token.content for token in tokens if token.type == "text").strip()
    return kinds == ["code_inline", "fence"] and spoken == "a"


def holds_in_an_element(text: str) -> bool:
    """Judge an element inside a comment: all that could mean anything is a reference."""
    return re.fullmatch(r"<b>(?:[\w ./-]|&#\d+;)*</b>", element("b", text)) is not None


def holds_as_a_file_name(text: str) -> bool:
    """Judge the one file that is named after foreign text: a plain part of a path, or refused."""
    try:
        file = read_inputs({"INPUT_ENVIRONMENT": text}, "plan").plan_file
    except UsageError:
        return True
    plain = re.fullmatch(r"plan-[\w.-]+\.json", file.name, re.ASCII)
    return plain is not None and file.parent == Path.cwd()


SINKS: list[Callable[[str], bool]] = [
    *(holds_in_a_terminal, holds_in_json, holds_in_html, holds_in_a_command),
    *(holds_in_markdown, holds_in_an_element, holds_as_a_file_name),
]


@pytest.mark.parametrize("holds", SINKS)
def test_no_text_escapes(holds: Callable[[str], bool]) -> None:
    """Whatever a text holds, what reads the sink finds the text in it, and nothing else."""
    escaped = [text for text in texts() if not holds(text)]

    assert [text[:200] for text in escaped[:5]] == []


ESCAPING = {("html", "escape"), ("shlex", "quote"), ("saxutils", "escape"), ("re", "escape")}
# What else looks like it, and why it is not.
ALLOWED = {
    "reconciler/api/secret.py": "patterns of the redaction",
    "reconciler/ci/runner.py": "a mask must be the very text that it hides",
    "reconciler/kinds/assumed_reads.py": "an id as one part of a path",
    "reconciler/features/lint/dashboard.py": "a pattern of a variable's name",
    "reconciler/kinds/dashboard/remote.py": "an id or slug as one part of a path",
    "reconciler/kinds/slo/remote.py": "an id as one part of a path",
    "reconciler/report/complaints/for_ci.py": "a path as a relative URI",
    "reconciler/operations/init_project.py": "a pattern of the address in its own templates",
    "reconciler/operations/open_project.py": "a path in a command to type",
    "reconciler/runtime/advice.py": "a name in a command to type",
    "reconciler/report/counts.py": "a file in a command to type",
    "reconciler/workspace/completion_names.py": "a pattern of a key in a text",
    "reconciler/syntax/scalars.py": "a pattern of expressions",
    "reconciler/operations/open_session.py": "a pattern of names in manifests",
    "reconciler/features/import_/records.py": "a pattern of secrets",
    "reconciler/ci/job.py": "a pattern of paths",
    "reconciler/ci/result.py": "a commit and a path in a link to the forge",
    "reconciler/features/approvals/remedies_in_job.py": "a file in a command to type",
    "reconciler/features/rollback/write_back.py": "a pattern of a name in a broken text",
    "reconciler/ci/forge.py": "a branch as one part of a path",
    "reconciler/workspace/workspace_checks.py": "a pattern of what expressions give",
    "reconciler/features/alert_tests/query_match.py": "a pattern of a query's words",
    "reconciler/features/adopt/adoption_formats.py": "a name in a command to type",
    "reconciler/operations/plan_and_drift.py": "a revision in a command to type",
    "reconciler/workspace/fixes.py": "a pattern of the text that is wrong",
    "reconciler/syntax/parsed_text.py": "a pattern of an expression as it is written",
}


def escaping_calls(file: Path) -> set[str]:
    """Name the functions of the library that a module escapes text with by itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in ESCAPING
    }
    imported = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in ("escape", "quote", "quoteattr", "quote_plus")
    }
    marks = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"&(?:lt|gt|amp|quot|#\d+);|%0[AaDd]|%25|%3A", node.value)
        and not node.value.isspace()
    }
    return found | imported | {f"writes {mark[:20]!r}" for mark in marks}


def test_only_the_gate_escapes() -> None:
    """No module makes foreign text safe by itself: that is done in safe and markdown."""
    gate = {PACKAGE / "report" / "markdown.py", PACKAGE / "report" / "safe.py"}
    by_itself = {
        str(file.relative_to(PACKAGE.parent)): calls
        for file in PACKAGE.rglob("*.py")
        if file not in gate and "emulator" not in file.parts and (calls := escaping_calls(file))
    }

    assert by_itself.keys() == ALLOWED.keys(), by_itself
