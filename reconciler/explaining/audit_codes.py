"""What is said of each check of an audit: its own words, and the manifests that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reconciler.explaining.explanation import MANIFEST, Explanation, Sample
from reconciler.kinds import KINDS


def _explained() -> Iterator[Explanation]:
    for one in sorted((one for kind in KINDS for one in kind.hygiene()), key=lambda one: one.code):
        yield Explanation(
            code=one.code,
            title=one.title,
            means=f"{one.title[:1].upper()}{one.title[1:]}.",
            why=one.why,
            wrong=Sample(files={MANIFEST: one.wrong}, says=one.wrong_where),
            right=Sample(files={MANIFEST: one.right}, says=one.right_where),
            command="",
            page="evidence",
        )


AUDIT_CODES: Final = tuple(_explained())
