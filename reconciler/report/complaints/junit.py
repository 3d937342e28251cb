"""Complaints as JUnit XML and as commands of a CI runner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from reconciler.model import Manifest, Ref
from reconciler.model.quoting import and_more
from reconciler.report.complaints.document import file_in_repository, message, worst_first
from reconciler.report.junit import JUnitCase, junit
from reconciler.report.markdown import SHOWN_ANNOTATIONS
from reconciler.report.safe import for_workflow_data, for_workflow_property
from reconciler.syntax.diagnostic import CODES, Complaint, Severity

_SUITE = "reconciler validate"
_ELSEWHERE = "limited to other environments by its metadata.environments"


def complaints_junit(
    complaints: Sequence[Complaint], manifests: Sequence[Manifest], elsewhere: Sequence[Ref]
) -> str:
    """Return the XML: a manifest with an error fails, a manifest with only warnings passes.

    `elsewhere` are the manifests of other environments; they are skipped.
    """
    cases = {
        str(manifest.ref): JUnitCase(*manifest.ref, file=manifest.source.file)
        for manifest in manifests
    }
    for subject, about in groupby(sorted(complaints, key=_subject), _subject):
        cases[subject] = _complained(subject, worst_first(about))
    for ref in elsewhere:
        cases.setdefault(str(ref), JUnitCase(ref.kind, ref.name, "skipped", _ELSEWHERE))
    return junit(_SUITE, list(cases.values()))


def _subject(complaint: Complaint) -> str:
    return complaint.ref or complaint.file


def _complained(subject: str, complaints: Sequence[Complaint]) -> JUnitCase:
    first = complaints[0]
    ref = Ref.parse(first.ref)
    return JUnitCase(
        ref.kind if ref is not None else "file",
        ref.name if ref is not None else subject,
        "failure" if first.is_error else "passed",
        f"{first.code}: {first.message}",
        tuple(_lines(complaints)),
        first.file,
    )


def _lines(complaints: Sequence[Complaint]) -> Iterator[str]:
    for complaint in complaints:
        at = f":{complaint.line}:{complaint.column}" if complaint.line else ""
        level = f"{complaint.severity.value}[{complaint.code}]"
        yield f"{complaint.file}{at}: {level}: {message(complaint)}"


def annotation_lines(complaints: Sequence[Complaint], folder: str = "") -> list[str]:
    """Return a line for each of the worst complaints, a few of each level, and a line for the rest.

    `folder` is the project's folder in its repository, "" for the root: the runner wants files
    relative to the repository.
    """
    return [line for level in Severity for line in _of_level(complaints, level, folder)]


def _of_level(complaints: Sequence[Complaint], level: Severity, folder: str) -> Iterator[str]:
    ordered = worst_first(complaint for complaint in complaints if complaint.severity is level)
    for complaint in ordered[:SHOWN_ANNOTATIONS]:
        said = for_workflow_data(message(complaint))
        yield f"::{level.value} {_properties(complaint, folder)}::{said}"
    if more := and_more(len(ordered) - SHOWN_ANNOTATIONS):
        yield f"::{level.value}::{more}, which `reconciler validate -v` shows"


def _properties(complaint: Complaint, folder: str) -> str:
    values: dict[str, str] = {"file": file_in_repository(complaint.file, folder)}
    if complaint.line:
        values |= {"line": str(complaint.line), "col": str(complaint.column)}
    about = f" in {complaint.ref}" if complaint.ref else ""
    values["title"] = f"{complaint.code}{about}: {CODES.get(complaint.code, '')}"
    return ",".join(f"{name}={for_workflow_property(value)}" for name, value in values.items())
