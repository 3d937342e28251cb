"""Documents for CI systems: JUnit XML, and the matrix of jobs for `strategy.matrix`. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.project import Shard
from reconciler.report.safe import for_html


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """A resource or a file. `details` are lines; a passed case may have some too."""

    group: str
    name: str
    state: Literal["passed", "failure", "error", "skipped"] = "passed"
    message: str = ""
    details: tuple[str, ...] = ()
    file: str = ""


def junit(suite: str, cases: Sequence[JUnitCase]) -> str:
    """Return the XML of one suite, ending in a line break."""
    counts = f'tests="{len(cases)}"' + "".join(
        f' {name}="{sum(case.state == state for case in cases)}"'
        for name, state in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'  <testsuite name="{for_html(suite)}" {counts}>',
        *(line for case in cases for line in _case(case)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(case: JUnitCase) -> Iterator[str]:
    place = f' file="{for_html(case.file)}"' if case.file else ""
    head = f'classname="{for_html(case.group)}" name="{for_html(case.name)}"{place}'
    details = "\n".join(map(for_html, case.details))
    if case.state == "passed" and not details:
        yield f"    <testcase {head}/>"
        return
    yield f"    <testcase {head}>"
    if case.state == "passed":
        yield f"      <system-out>{details}</system-out>"
    else:
        attribute = f'message="{for_html(case.message)}"'
        yield f"      <{case.state} {attribute}>{details}</{case.state}>"
    yield "    </testcase>"


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
