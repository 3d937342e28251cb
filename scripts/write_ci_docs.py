"""Write the tables of docs/ci.md from action.yml: its inputs and its outputs.

They stand between two lines that name this script; tests/delivery/test_ci_docs.py
fails where the page is stale.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "ci.md"
BEGIN = "<!-- {name}: written by scripts/write_ci_docs.py from action.yml -->\n"
END = "<!-- end of {name} -->\n"


def tables() -> dict[str, str]:
    """Give the text of each table by the name of what it lists."""
    (document,) = read_text((ROOT / "action.yml").read_text(encoding="utf-8")).documents
    action: Any = document.value
    inputs = [
        f"| `{name}` | {_default(about['default'])} | {about['description']} |"
        for name, about in action["inputs"].items()
    ]
    outputs = [
        f"| `{name}` | {about['description']} |" for name, about in action["outputs"].items()
    ]
    return {
        "inputs": "\n".join(("| input | default | what it says |", "|---|---|---|", *inputs, "")),
        "outputs": "\n".join(("| output | what it is |", "|---|---|", *outputs, "")),
    }


def _default(text: str) -> str:
    return f"`{text}`" if text else ""


def written(page: str) -> str:
    """Give the page with its tables as they should be."""
    for name, table in tables().items():
        begin, end = BEGIN.format(name=name), END.format(name=name)
        between = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
        # A function, as a table may hold what means something in a replacement.
        page = between.sub(lambda _, table=table: table, page)  # type: ignore[misc]  # bound at once
    return page


if __name__ == "__main__":
    TARGET.write_text(written(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
