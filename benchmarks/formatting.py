"""Formatting manifests, against reading the same texts.

`fmt --check` runs at every commit. The floor is `read_text`, which it begins with; where the
layout changes, what was written is read again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.manifests import write_workspace
from benchmarks.measuring import cpu_of, medians, verdict
from reconciler.syntax.read_text import read_text
from reconciler.workspace.layout import tidied

ROUNDS = 7
MB = 1e6
TARGET_SHARE = 0.2


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        size = write_workspace(Path(folder), files=310, widgets=13) / MB
        tidy = [file.read_text(encoding="utf-8") for file in sorted(Path(folder).rglob("*.yaml"))]
    # Blanks behind every key of a block: nearly all files change.
    untidy = [text.replace(":\n", ":  \n") for text in tidy]
    took = medians(
        ROUNDS,
        {
            "read": lambda: cpu_of(lambda: [read_text(text) for text in tidy]),
            "tidy": lambda: cpu_of(lambda: _format(tidy)),
            "untidy": lambda: cpu_of(lambda: _format(untidy)),
        },
    )
    print(f"formatting {size:.1f} MB in {len(tidy)} files")
    print(f"  floor: read_text                   {size / took['read']:6.1f} MB/s")
    for name, words in (("tidy", "as they are"), ("untidy", "all of them changed")):
        share = took["read"] / took[name]
        print(
            f"  fmt, {words:20}          {size / took[name]:6.1f} MB/s   {share:.2f} of the floor "
            f"(target {TARGET_SHARE:g}: {verdict(share, TARGET_SHARE, at_least=True)})"
        )


def _format(texts: list[str]) -> list[str | None]:
    return [tidied(read_text(text), is_json=False) for text in texts]
