"""`reconciler schema`: schemas for editors to complete and check manifests."""

from __future__ import annotations

import json
from typing import Any

import click
from pydantic import TypeAdapter

from reconciler.ci.matrix import MatrixDocument
from reconciler.cli import options
from reconciler.cli.console import data
from reconciler.errors import UsageError
from reconciler.features.adopt.adoption_document import AdoptionDocument
from reconciler.features.audit.audit_formats import AuditDocument
from reconciler.features.doctor.checks_document import ConformanceDocument, DoctorDocument
from reconciler.features.explain.explain_formats import ExplainedDocument
from reconciler.features.graph.graph_formats import GraphDocument
from reconciler.features.history.stats_formats import StatsDocument
from reconciler.features.import_.import_document import ImportDocument
from reconciler.features.rules.rule_test_formats import RuleTestsDocument
from reconciler.features.watch.noise_formats import WatchedDocument
from reconciler.kinds import KINDS
from reconciler.kinds.json_schema import DIALECT, Schema, schema_of, workspace_schema
from reconciler.model.field_descriptions import PublishedSchema
from reconciler.project.settings import project_schema
from reconciler.report.applied.document import AppliedDocument, AppliedLine
from reconciler.report.complaints.document import ComplaintDocument, ComplaintsDocument
from reconciler.report.drift_formats import DriftDocument
from reconciler.report.init_formats import InitDocument
from reconciler.report.journal_formats import EntriesDocument, HistoryDocument, VerifiedDocument
from reconciler.report.plan.document import line_shape, plan_shape
from reconciler.syntax.suggestions import nearest


def schemas() -> dict[str, Schema]:
    """Return every schema by its name; `schemas/NAME.schema.json` has the same content."""
    kinds = {kind.name: schema_of(kind) for kind in KINDS}
    return {
        **kinds,
        "manifest": workspace_schema(kinds.values()),
        "project": project_schema(),
        "plan": _of(plan_shape(), "A plan"),
        "plan-line": _of(line_shape(), "A line of a plan"),
        "complaints": _of(ComplaintsDocument, "What validate found"),
        "complaint": _of(ComplaintDocument, "A line of what validate found"),
        "rule-tests": _of(RuleTestsDocument, "What rules test found"),
        "graph": _of(GraphDocument, "What refers to what"),
        "applied": _of(AppliedDocument, "What an apply did"),
        "applied-line": _of(AppliedLine, "A line of what an apply does"),
        "imported": _of(ImportDocument, "What an import wrote"),
        "drift": _of(DriftDocument, "What drifted"),
        "adopted": _of(AdoptionDocument, "What adopt did"),
        "audited": _of(AuditDocument, "What an audit found"),
        "journal-entries": _of(EntriesDocument, "What a journal holds"),
        "journal-history": _of(HistoryDocument, "The runs of a journal"),
        "journal-verified": _of(VerifiedDocument, "What is to know of a journal"),
        "journal-stats": _of(StatsDocument, "What became of what was applied"),
        "explained": _of(ExplainedDocument, "What a field or a code means"),
        "watched": _of(WatchedDocument, "Whether alerts are noisier since a run"),
        "matrix": _of(MatrixDocument, "The matrix of ci matrix"),
        "init": _of(InitDocument, "What init wrote"),
        "doctor": _of(DoctorDocument, "What doctor found"),
        "conformance": _of(ConformanceDocument, "What a service answered"),
    }


def _of(shape: Any, title: str) -> Schema:
    written = TypeAdapter(shape).json_schema(mode="serialization", schema_generator=PublishedSchema)
    return _titled(written, title)


def _titled(schema: Schema, title: str) -> Schema:
    return {"$schema": DIALECT, **schema, "title": title}


@click.command
@click.argument("name", required=False, metavar="[NAME]")
@options.verbose
@options.quiet
def schema(name: str | None, *, verbose: bool, quiet: bool) -> int:
    """Print a JSON Schema: of a kind, `manifest` (any kind), `project`, or what a command prints.

    Without NAME, list the names.
    """
    del verbose, quiet
    known = schemas()
    if name is None:
        data("".join(f"{text}\n" for text in known))
        return 0
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean `{near}`?" if near else ""
        raise UsageError(f"there is no schema `{name}`{hint} (known: {', '.join(known)})")
    data(json.dumps(known[name], indent=2) + "\n")
    return 0
