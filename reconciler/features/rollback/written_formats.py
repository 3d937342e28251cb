"""Reports of `rollback --write`: as text, as JSON, and as the body of a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.errors import ExitCode
from reconciler.model import Ref
from reconciler.operations.added_by_features import TextEdit
from reconciler.report.complaints.document import ComplaintDocument, complaint_document, fix_diff
from reconciler.report.markdown import COMMENT_BYTES, WHOLE_ADOPTION, Fold, code, with_folds
from reconciler.report.reasons import SHORT_RUN
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted, wrapped
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint

_LONGEST_CELL = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBack:
    """The files that declare again what was declared before a run.

    `unplaced` are the resources that cannot be placed, with the reason. `broken` are errors in
    manifests, so that it is not known what they share. Nothing was written if it is `only_shown`.
    """

    environment: str
    run: str
    files: Sequence[TextEdit]
    unplaced: Sequence[tuple[Ref, str]]
    broken: Sequence[Complaint] = ()
    only_shown: bool

    @property
    def exit_code(self) -> int:
        """The exit code: 3 where something cannot be placed, or is broken."""
        return ExitCode.PARTIAL if self.unplaced or self.broken else ExitCode.DONE

    @property
    def summary(self) -> str:
        """The counts in one line."""
        would = " would be" if self.only_shown else ""
        head = f"{plural(len(self.files), 'file')}{would} edited"
        left = f"; {plural(len(self.unplaced), 'resource')} cannot be placed"
        broken = f"; {plural(len(self.broken), 'error')} in manifests"
        rest = (left if self.unplaced else "") + (broken if self.broken else "")
        return f"before the run {self.run[:SHORT_RUN]}: {head}{rest}"

    @property
    def left(self) -> Iterator[tuple[str, str]]:
        """The resources and files that are left as they are, and why."""
        yield from ((str(ref), why) for ref, why in self.unplaced)
        for error in self.broken:
            why = f"broken, and not looked at: {error.message} [{error.code}]"
            yield f"{error.file}:{error.line}", why


def written_text(made: WrittenBack, style: Style) -> str:
    """Return the diff of each file, what cannot be placed, and the counts."""
    lines = [fix_diff(file.name, file.before, file.after) for file in made.files]
    for name, why in made.left:
        lines.append(f"  {style.paint(f'x {safe(name)}', Colour.RED)}")
        lines.extend(wrapped(safe(why), style, Colour.CYAN))
    lines.append(fitted(style.paint(f"Manifests as {made.summary}.", Colour.BOLD), style))
    return "\n".join(line.removesuffix("\n") for line in lines) + "\n"


def written_markdown(made: WrittenBack) -> str:
    """Return the body of a pull request."""
    lines = [
        f"### Manifests of {code(made.environment, _LONGEST_CELL)} as {made.summary}",
        "",
        "This writes to no service. After the merge, an apply puts back what a rollback has not.",
        "",
    ]
    rows = [
        f"| {code(name, _LONGEST_CELL)} | {code(why, 4 * _LONGEST_CELL)} |"
        for name, why in made.left
    ]
    lines += ["| left as it is | why |", "|---|---|", *rows] if rows else []
    folds = [
        Fold(file.name, "edited", fix_diff(file.name, file.before, file.after).splitlines())
        for file in made.files
    ]
    return with_folds("\n".join(lines) + "\n", folds, COMMENT_BYTES, WHOLE_ADOPTION)


@with_config(ConfigDict(extra="forbid"))
class WrittenFileDocument(TypedDict):
    """A file and its changes."""

    file: str
    diff: Annotated[str, Field(description="The changes, for `patch -p1`.")]


@with_config(ConfigDict(extra="forbid"))
class UnplacedDocument(TypedDict):
    """A resource with a manifest that is left as it is."""

    ref: str
    why: str


@with_config(ConfigDict(extra="forbid"))
class WrittenBackDocument(TypedDict):
    """Output of `rollback --write --format json`."""

    formatVersion: Literal[1]
    environment: str
    run: Annotated[str, Field(description="The run that is rolled back.")]
    dryRun: bool
    files: list[WrittenFileDocument]
    unplaced: list[UnplacedDocument]
    broken: Annotated[
        list[ComplaintDocument],
        Field(description="Errors in manifests of any environment: what they share is not known."),
    ]


def written_json(made: WrittenBack) -> str:
    """Return the JSON of schemas/written-back.schema.json, ending in a line break."""
    document: WrittenBackDocument = {
        "formatVersion": 1,
        "environment": made.environment,
        "run": made.run,
        "dryRun": made.only_shown,
        "files": [
            {"file": file.name, "diff": fix_diff(file.name, file.before, file.after)}
            for file in made.files
        ],
        "unplaced": [{"ref": str(ref), "why": why} for ref, why in made.unplaced],
        "broken": [*map(complaint_document, made.broken)],
    }
    return json_text(document)
