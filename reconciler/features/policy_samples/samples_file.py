"""Samples of logs in a file of their own: reading with positions, and findings about them.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path as File
from typing import Any, Final

from reconciler.document import Json, Path, stored_name, value_at
from reconciler.features.policy_samples.policy_impact import PolicySample, PolicySamples, Samples
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import EACH, places
from reconciler.project import ProjectFile
from reconciler.records.listings import POLICY_SEVERITIES
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Severity, warning
from reconciler.syntax.files import display_name
from reconciler.syntax.parsed_text import Document, DocumentText, Reading, complaints_of_text
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.build import Loader, SideFiles

MALFORMED = "M406"
MOST_SAMPLES = 1_000
"""Limit of samples in a file: each plan sends all of them to the service, 100 in a request."""

LONGEST = 1_024
"""Limit of characters in one value."""

LONGEST_KIND = 60

FIELDS = ("application", "subsystem", "severity", "policy")
_NEEDED = FIELDS[:3]
_WHOLE = re.compile(f"{POLICY_SEVERITIES.prefix}[A-Z0-9_]+")


def _read_of(loader: Loader, settings: ProjectFile, setting: PolicySamples) -> Samples:
    """Read the samples of the loader's environment, and report all errors in them."""
    file = loader.root / setting.file
    name = display_name(file, loader.root)
    reading = loader.sources.read(file, name, is_json=file.suffix == ".json")
    if isinstance(reading, Complaint):
        loader.keep(_at_setting(reading, settings.written, loader.scope.environment, setting))
        return Samples((), setting.on_mismatch)
    found: list[PolicySample | Complaint] = [*complaints_of_text(name, reading)]
    if not reading.has_errors:
        found.extend(_rows(reading, name, None if loader.unusable else _policies(loader)))
    all(loader.keep(complaint) for complaint in found if isinstance(complaint, Complaint))
    rows = tuple(row for row in found if isinstance(row, PolicySample))
    return Samples(rows, setting.on_mismatch)


def _at_setting(
    complaint: Complaint, text: DocumentText | None, environment: str, setting: PolicySamples
) -> Complaint:
    """Return a complaint about the whole file where the project file names it, if it has a text.

    Others keep their own place.
    """
    if text is None or complaint.line:
        return complaint
    path: Path = ("environments", environment, "policySamples")
    value = value_at(text.document.value, path)
    path = (*path, "file") if isinstance(value, dict) else path
    message = f"`policySamples` names `{complaint.file}`: {complaint.message}"
    near = complaint.suggestion and str(File(setting.file).parent / complaint.suggestion)
    return text.complaint(Finding(complaint.code, path, message, suggestion=near))


_WAY = Advice("begin it with `- {application: shop, subsystem: checkout, severity: error}`")


def _no_list(documents: Sequence[Document], name: str) -> Complaint:
    message = "a file of samples holds one list of {application, subsystem, severity, policy}"
    if not documents:
        return Complaint(
            name, 1, 1, code=MALFORMED, message=f"{message}, and this one is empty", suggestion=_WAY
        )
    if len(documents) > 1:
        message = f"{message}, and this one has {len(documents)} documents"
        finding = Finding(MALFORMED, (), message, suggestion=Advice("keep one list in it"))
        return DocumentText(name, documents[1]).complaint(finding)
    value = documents[0].value
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str):
        message = f"{message}, and this one a `{kind[:LONGEST_KIND]}`"
    return DocumentText(name, documents[0]).complaint(
        Finding(MALFORMED, (), message, suggestion=_WAY)
    )


def _policies(loader: Loader) -> set[str] | None:
    """Return the names of all policies after the run, or None if no manifest declares the list."""
    manifests = [declared.manifest for declared in loader.declared]
    lists = [manifest for manifest in manifests if BY_NAME[manifest.ref.kind].singleton]
    steps = ("policies", EACH, "policy", "name")
    names = (name for manifest in lists for _, name in places(manifest.spec, *steps))
    return {stored_name(name) for name in names if isinstance(name, str)} if lists else None


def _rows(
    reading: Reading, name: str, declared: Collection[str] | None
) -> Iterator[PolicySample | Complaint]:
    """Yield the rows, and complaints in place of the wrong rows."""
    documents = [document for document in reading.documents if document.value is not None]
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, list) or not value:
        yield _no_list(documents, name)
        return
    place = DocumentText(name, documents[0])
    if len(value) > MOST_SAMPLES:
        message = f"there are {len(value):,} samples, and at most {MOST_SAMPLES:,} can be asked for"
        yield place.complaint(Finding(MALFORMED, (MOST_SAMPLES,), message))
        return
    for index, row in enumerate(value):
        findings = [*_findings(row, index)]
        if declared is not None and not findings:
            findings = [*_undeclared(row, index, declared)]
        yield from (place.complaint(finding) for finding in findings)
        if isinstance(row, dict) and not any(
            finding.severity is Severity.ERROR for finding in findings
        ):
            yield _sample(row)


def _findings(row: Json, index: int) -> Iterator[Finding]:
    if not isinstance(row, dict):
        message = "a sample is a mapping of application, subsystem, severity and perhaps policy"
        yield Finding(MALFORMED, (index,), message)
        return
    for name in row:
        if name not in FIELDS:
            message = f"unknown field `{name}` (known: {', '.join(FIELDS)})"
            near = nearest(name, FIELDS)
            yield Finding(MALFORMED, (index, name), message, suggestion=near, at_key=True)
    for name in _NEEDED:
        if name not in row:
            yield Finding(MALFORMED, (index,), f"`{name}` is required")
    for name in FIELDS:
        if name in row and (name != "policy" or row[name] is not None):
            yield from _value_findings(row[name], name, (index, name))


def _undeclared(row: Json, index: int, declared: Collection[str]) -> Iterator[Finding]:
    """Yield a warning if the sample must fail because the list has no such policy."""
    expected = row.get("policy") if isinstance(row, dict) else None
    if not isinstance(expected, str) or not expected.strip():
        return
    folded = {text.casefold() for text in declared}
    if expected.strip().casefold() not in folded:
        near = shortened(expected, declared)
        message = f"no policy of the list that is declared is called `{expected}`"
        yield warning(MALFORMED, (index, "policy"), message, near)


def _value_findings(value: Json, name: str, path: Path) -> Iterator[Finding]:
    if not isinstance(value, str):
        or_none = ", or null for no policy" if name == "policy" else ""
        yield Finding(MALFORMED, path, f"`{name}` must be text{or_none}")
    elif len(value) > LONGEST:
        message = f"`{name}` has {len(value):,} characters, and may have {LONGEST:,}"
        yield Finding(MALFORMED, path, message)
    elif name == "severity" and not _severity(value):
        listed = ", ".join(POLICY_SEVERITIES.known).lower()
        message = f"`{value}` is no severity (known: {listed}, or a name of the API whole)"
        near = nearest(value.strip().upper(), POLICY_SEVERITIES.known).lower()
        yield Finding(MALFORMED, path, message, suggestion=near)


def _severity(value: str) -> str:
    """Return a severity as the API names it, or "" if there is none."""
    spelled = value.strip().upper()
    if spelled in POLICY_SEVERITIES.known:
        return POLICY_SEVERITIES.prefix + spelled
    return spelled if _WHOLE.fullmatch(spelled) else ""


def _sample(row: Mapping[str, Json]) -> PolicySample:
    return PolicySample(
        application=str(row["application"]),
        subsystem=str(row["subsystem"]),
        severity=_severity(str(row["severity"])),
        policy=str(row.get("policy") or "").strip(),
        expects="policy" in row,
    )


def _unpacked(held: Any) -> Samples:
    rows, on_mismatch = held
    return Samples(tuple(PolicySample(*row) for row in rows), on_mismatch)


SIDE_FILES: Final = SideFiles(
    names=lambda setting: (setting.file,),
    read=_read_of,
    packed=lambda samples: [[[*astuple(row)] for row in samples.rows], samples.on_mismatch],
    unpacked=_unpacked,
)
