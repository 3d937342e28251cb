"""`baseline:` of the project file."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

SUFFIX = ".jsonl"


def _no_manifest(name: str | None) -> str | None:
    if name is not None and (not name.endswith(SUFFIX) or "\0" in name):
        said = f"must end in {SUFFIX}, so that it is no manifest"
        raise PydanticCustomError("baseline_name", "{said}", {"said": said})
    return name


BASELINE: Final = Annotated[
    str | None,
    AfterValidator(_no_manifest),
    Field(
        default=None,
        description="A file of complaints below an error that are accepted, ending in .jsonl; "
        "`reconciler validate --update-baseline` writes it.",
    ),
]
