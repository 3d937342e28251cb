"""What is said of each check of practice: its own words, and the manifests that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reconciler.explaining.explanation import MANIFEST, PROJECT, Explanation, Sample
from reconciler.kinds import KINDS
from reconciler.kinds.practice import Practice


def _sample(one: Practice, text: str) -> Sample:
    # What is off by default has to be asked for, to be told at all.
    asked = {PROJECT: f"checks: {{{one.code}: warning}}\n"} if one.asked else {}
    return Sample(files={**asked, MANIFEST: text})


def _explained() -> Iterator[Explanation]:
    for kind in KINDS:
        for one in kind.practices():
            yield Explanation(
                code=one.code,
                title=one.title,
                means=f"{one.title[:1].upper()}{one.title[1:]}.",
                why=one.why,
                wrong=_sample(one, one.wrong),
                right=_sample(one, one.right),
                page="practice",
            )


PRACTICE_CODES: Final = tuple(_explained())
