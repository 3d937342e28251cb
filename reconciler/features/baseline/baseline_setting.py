"""`baseline:` of the project file."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from reconciler.model.assumptions import must

SUFFIX = ".jsonl"


BASELINE: Final = Annotated[
    Annotated[
        str,
        must(
            "baseline_name",
            f"must end in {SUFFIX}, so that it is no manifest",
            lambda name: name.endswith(SUFFIX) and "\0" not in name,
        ),
    ]
    | None,
    Field(
        default=None,
        description="A file of complaints below an error that are accepted, ending in .jsonl; "
        "`reconciler validate --update-baseline` writes it.",
    ),
]
