# ruff: noqa: E501 - a table reads best with one case a line
"""What works and is unwise, by the checks' own examples, and comments that ignore. docs/practice.md."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from harness.explained import explained, manifest_of
from wrong import FILE, PROJECT, Wrong, alert, text

from reconciler.project.levels import PRACTICE, QUERIES
from reconciler.syntax.diagnostic import CODES

GOLDEN = Path(__file__).parent / "golden"


def _of(code: str) -> Wrong:
    """Return the wrong sample of a check, in a project that has it on.

    Its golden text has where it is wrong, why, and what to write. A new check has none yet.
    """
    files = {
        FILE: manifest_of(explained(code).wrong),
        "reconciler.yaml": f"{PROJECT}checks: {{{code}: warning}}\n",
    }
    golden = GOLDEN / f"{code}.txt"
    text = golden.read_text(encoding="utf-8") if golden.exists() else ""
    says = text.partition("]: ")[2].partition("\n")[0]
    at = text.partition("--> ")[2].partition("\n")[0]
    # A number to write is printed with its verb.
    suggests = re.search(r"\^ (?:write (?=\d+$))?(.+)$", text, re.MULTILINE)
    fix = suggests[1] if suggests else ""
    return Wrong(f"practice {code}", code, at, says, files, fix, exits=0)


def _comment(name: str, code: str, says: str, comment: str, suggests: str = "") -> Wrong:
    content = alert(f"description: A  # reconciler: ignore{comment}")
    case = text(name, code, "10:19", says, content, suggests)
    return replace(case, exits=0 if code == "M117" else 4)


PRACTICES = [
    *(_of(code) for code in CODES if code.startswith(PRACTICE) and not code.startswith(QUERIES)),
    _comment("an ignore without codes", "M116", "needs the codes", " because"),
    _comment("an ignore without a reason", "M116", "needs a reason", "[M304]"),
    _comment("an ignore of a near code", "M116", "there is no code `M3O4`", "[M3O4] because", "M304"),
    _comment("an ignore of an error", "M116", "is an error wherever", "[M401] because"),
    _comment("an ignore of nothing", "M117", "line 10 has no complaint M304", "[M304] because", "remove it"),
]  # fmt: skip
