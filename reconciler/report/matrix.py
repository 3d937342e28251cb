"""The matrix of a CI job: environments and shards, for `strategy.matrix`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.project import Shard


@with_config(ConfigDict(extra="forbid"))
class MatrixJobDocument(TypedDict):
    """A job of the matrix."""

    environment: Annotated[str, Field(description="An environment of the project file.")]
    shard: NotRequired[
        Annotated[str, Field(description="As `shard:` of --select; left out where all are one.")]
    ]


@with_config(ConfigDict(extra="forbid"))
class MatrixDocument(TypedDict):
    """The matrix, for `strategy.matrix`."""

    include: Annotated[list[MatrixJobDocument], Field(description="The jobs.")]


def matrix_json(environments: Iterable[str], count: int) -> str:
    """Return one line: a job for each of `count` shards of each environment."""
    jobs: list[MatrixJobDocument] = []
    for name in environments:
        if count == 1:
            jobs.append({"environment": name})
            continue
        shards = (Shard(number, count) for number in range(1, count + 1))
        jobs.extend({"environment": name, "shard": str(shard)} for shard in shards)
    document: MatrixDocument = {"include": jobs}
    return json.dumps(document)
