"""Write docs/action.md from action.yml and the words of failures: inputs and outputs of the action.

tests/delivery/test_ci_docs.py fails where the page is stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reconciler.ci.result import WORDS
from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "action.md"
PAGE = """\
# Inputs and outputs of the action

What [`action.yml`](../action.yml) takes and returns. In any other CI system an input is a variable:
`INPUT_FAIL_ON_CHANGES` for `fail-on-changes`. Written by `scripts/write_ci_docs.py`; a test fails
when it is stale.

## Inputs

{inputs}
`comment: changes` makes no new comment for a plan without changes, but updates an old one.
`on-error` makes one only where there is no plan. Only plan, apply and watch comment.

## Outputs

{outputs}
The step's exit code is that of the [command](exit-codes.md). Changes and drift (2) are a result and
no failure unless `fail-on-changes` is `true`. A missing plan is 11 with `plan-not-found`.

{reasons}
## Limits

A comment holds at most 60,000 bytes: whole diffs are left out, the largest first. Counts and table
stay, and the digest covers all of it. A summary holds at most 900 KiB, annotations nine of each
level, SARIF 5,000 results.
"""


def tables() -> dict[str, str]:
    """Return the text of each table by the name of what it lists."""
    (document,) = read_text((ROOT / "action.yml").read_text(encoding="utf-8")).documents
    action: Any = document.value
    inputs = [
        f"| `{name}` | {_default(about['default'])} | {about['description']} |"
        for name, about in action["inputs"].items()
    ]
    outputs = [
        f"| `{name}` | {about['description']} |" for name, about in action["outputs"].items()
    ]
    reasons = [f"| `{reason}` | {words} |" for reason, words in WORDS.items()]
    return {
        "inputs": "\n".join(("| input | default | what it says |", "|---|---|---|", *inputs, "")),
        "outputs": "\n".join(("| output | what it is |", "|---|---|", *outputs, "")),
        "reasons": "\n".join(("| `failure-reason` | what it means |", "|---|---|", *reasons, "")),
    }


def _default(text: str) -> str:
    return f"`{text}`" if text else ""


def page() -> str:
    """Return the whole page."""
    return PAGE.format(**tables())


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
