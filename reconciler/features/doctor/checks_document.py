"""JSON documents of `doctor` and `conformance`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict


@with_config(ConfigDict(extra="forbid"))
class CheckDocument(TypedDict):
    """A check of `doctor`."""

    check: str
    state: Literal["ok", "warning", "failed"]
    detail: str


DoctorDocument: TypeAlias = Annotated[
    list[CheckDocument], Field(description="What `doctor --format json` prints.")
]


@with_config(ConfigDict(extra="forbid"))
class AnswerDocument(TypedDict):
    """A question that `conformance` asked the service."""

    endpoint: int
    question: str
    verdict: Literal["agrees", "differs", "untold"]
    detail: str


ConformanceDocument: TypeAlias = Annotated[
    list[AnswerDocument], Field(description="What `conformance --format json` prints.")
]
