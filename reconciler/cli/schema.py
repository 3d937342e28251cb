"""`reconciler schema`: schemas for editors to complete and check manifests."""

import json
from typing import Any, Final

import click
from pydantic import TypeAdapter

from reconciler.cli import options
from reconciler.cli.console import data
from reconciler.cli.overview import in_order
from reconciler.errors import UsageError
from reconciler.kinds import KINDS
from reconciler.kinds.json_schema import DIALECT, Schema, schema_of, workspace_schema
from reconciler.model.assumptions import PublishedSchema
from reconciler.operations.init_project import InitDocument
from reconciler.project.settings import project_schema
from reconciler.report import applied_formats, ci_documents, drift_formats, journal_formats
from reconciler.report.complaints.document import ComplaintDocument, ComplaintsDocument
from reconciler.report.plan.document import line_shape, plan_shape
from reconciler.runtime.rows import Rows
from reconciler.syntax.suggestions import nearest

DOCUMENTS: Final = Rows[Any]("schemas")
"""Types of what features print, by the names of their schemas. The words of a row are its title."""

# The order of the list of names. A name may be here without its schema; others come last.
_ORDER = (
    "manifest",
    "project",
    "plan",
    "plan-line",
    "complaints",
    "complaint",
    "rule-tests",
    "graph",
    "applied",
    "applied-line",
    "imported",
    "drift",
    "adopted",
    "audited",
    "journal-entries",
    "journal-history",
    "journal-verified",
    "journal-stats",
    "explained",
    "watched",
    "matrix",
    "init",
    "doctor",
    "conformance",
)


def schemas() -> dict[str, Schema]:
    """Return every schema by its name; `schemas/NAME.schema.json` has the same content."""
    kinds = {kind.name: schema_of(kind) for kind in KINDS}
    own = {
        **kinds,
        "manifest": workspace_schema(kinds.values()),
        "project": project_schema(),
        "plan": _of(plan_shape(), "A plan"),
        "plan-line": _of(line_shape(), "A line of a plan"),
        "complaints": _of(ComplaintsDocument, "What validate found"),
        "complaint": _of(ComplaintDocument, "A line of what validate found"),
        "applied": _of(applied_formats.AppliedDocument, "What an apply did"),
        "applied-line": _of(applied_formats.AppliedLine, "A line of what an apply does"),
        "drift": _of(drift_formats.DriftDocument, "What drifted"),
        "journal-entries": _of(journal_formats.EntriesDocument, "What a journal holds"),
        "journal-history": _of(journal_formats.HistoryDocument, "The runs of a journal"),
        "journal-verified": _of(journal_formats.VerifiedDocument, "What is to know of a journal"),
        "matrix": _of(ci_documents.MatrixDocument, "The matrix of ci matrix"),
        "init": _of(InitDocument, "What init wrote"),
    }
    rows = {name: _of(DOCUMENTS.load(name), DOCUMENTS.words(name)) for name in DOCUMENTS}
    known = {**own, **rows}
    return {name: known[name] for name in in_order(list(known), (*kinds, *_ORDER))}


def _of(shape: Any, title: str) -> Schema:
    written = TypeAdapter(shape).json_schema(mode="serialization", schema_generator=PublishedSchema)
    return {"$schema": DIALECT, **written, "title": title}


@click.command
@click.argument("name", required=False, metavar="[NAME]")
@options.verbose
@options.quiet
def schema(name: str | None, *, verbose: bool, quiet: bool) -> None:
    """Print a JSON Schema: of a kind, `manifest` (any kind), `project`, or what a command prints.

    Without NAME, list the names.
    """
    del verbose, quiet
    known = schemas()
    if name is None:
        data("".join(f"{text}\n" for text in known))
        return
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean `{near}`?" if near else ""
        raise UsageError(f"there is no schema `{name}`{hint} (known: {', '.join(known)})")
    data(json.dumps(known[name], indent=2) + "\n")
