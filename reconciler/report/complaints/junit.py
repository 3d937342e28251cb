"""Complaints as JUnit XML: one test for each manifest, one for each file with a wrong text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from reconciler.complaint import Complaint
from reconciler.report.complaints.order import message, worst_first
from reconciler.report.junit import Case, junit
from reconciler.resource import Manifest, Ref

_SUITE = "reconciler validate"
_ELSEWHERE = "limited to other environments by its metadata.environments"


def complaints_junit(
    complaints: Sequence[Complaint], manifests: Sequence[Manifest], elsewhere: Sequence[Ref]
) -> str:
    """Give the XML: a manifest with an error has failed, one with warnings only has passed.

    `elsewhere` are the manifests that are not of this environment: skipped.
    """
    cases = {str(one.ref): _passed(one) for one in manifests}
    for subject, about in groupby(sorted(complaints, key=_subject), _subject):
        cases[subject] = _complained(subject, worst_first(about))
    for ref in elsewhere:
        cases.setdefault(str(ref), Case(ref.kind, ref.name, "skipped", _ELSEWHERE))
    return junit(_SUITE, list(cases.values()))


def _subject(complaint: Complaint) -> str:
    return complaint.ref or complaint.file


def _passed(manifest: Manifest) -> Case:
    return Case(manifest.ref.kind, manifest.ref.name, file=manifest.source.file)


def _complained(subject: str, complaints: Sequence[Complaint]) -> Case:
    first = complaints[0]
    ref = Ref.parse(first.ref)
    return Case(
        ref.kind if ref is not None else "file",
        ref.name if ref is not None else subject,
        "failure" if first.is_error else "passed",
        f"{first.code}: {first.message}",
        tuple(_lines(complaints)),
        first.file,
    )


def _lines(complaints: Sequence[Complaint]) -> Iterator[str]:
    for one in complaints:
        place = f"{one.file}:{one.line}:{one.column}" if one.line else one.file
        yield f"{place}: {one.severity.value}[{one.code}]: {message(one)}"
