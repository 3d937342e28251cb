"""Complaints for CI: SARIF for code scanning, JUnit, and annotations of a runner. Pure."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import cast
from urllib.parse import quote

from reconciler import __version__
from reconciler.document import Json
from reconciler.model import Manifest, Ref, Selected
from reconciler.project.levels import PRACTICE, WARNED_OF, is_off_by_default
from reconciler.report.changes.document import selection_document
from reconciler.report.ci_documents import JUnitCase, junit
from reconciler.report.complaints.document import (
    field_path,
    file_in_repository,
    message,
    worst_first,
)
from reconciler.report.explanations.pages import code_markdown, code_text, explanation
from reconciler.report.markdown import SHOWN_ANNOTATIONS, SHOWN_SARIF_RESULTS
from reconciler.report.safe import for_workflow_data, for_workflow_property, json_text, safe
from reconciler.report.words import first_lines
from reconciler.syntax.diagnostic import AUDITED, CODES, USUAL_EXCERPT, Complaint, Severity

OWN_RULE = "R/ is a rule of the project file: docs/rules.md"

FINGERPRINT = "reconcilerComplaint/v1"
# The only name that the forge's code scanning reads.
FORGE_FINGERPRINT = "primaryLocationLineHash"
_DIGITS = 32
_BEGINS = b'{\n  "version": "2.1.0",\n  "runs": [\n'


@dataclass(frozen=True, slots=True)
class Tool:
    """The tool of a log: its possible `codes`, the command that shows all, and its category.

    `notes` are remarks on the run besides its results.
    """

    codes: Mapping[str, str]
    command: str
    category: str = ""
    tag: str = "manifests"
    notes: Sequence[str] = ()


VALIDATE = Tool(CODES, "reconciler validate -v")


def complaints_sarif(
    complaints: Sequence[Complaint],
    folder: str = "",
    environment: str = "",
    ignored: int = 0,
    tool: Tool = VALIDATE,
    *,
    selected: Selected | None = None,
) -> str:
    """Return a SARIF log of one run, ending in a line break: at most 5,000 results, worst first.

    `folder` is the project's folder in its repository ("" for its root). Runs of different
    environments are distinguished by their `environment`, and runs of a selection by the selection,
    so that code scanning does not count what it left out as fixed. `ignored` complaints are counted
    but are no results: code scanning shows a result with a suppression as open.
    """
    ordered = worst_first(complaints)
    left_out = len(ordered) - SHOWN_SARIF_RESULTS
    rules = rules_of(ordered, tool.codes)
    part = f"selection-{_digest_of(selected)}" if selected is not None else ""
    named = "/".join(("reconciler", *filter(None, (tool.category, environment, part)), ""))
    limited = {} if selected is None else {"selection": selection_document(selected)}
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": "reconciler",
                "semanticVersion": __version__,
                "rules": [_rule(code, words, tool.tag) for code, words in rules.items()],
            }
        },
        "automationDetails": {"id": named},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(left_out, tool)],
        "properties": cast("Json", {"ignored": ignored, **limited}),
        "results": list(_results(ordered[:SHOWN_SARIF_RESULTS], folder, [*rules])),
    }
    log: dict[str, Json] = {"version": "2.1.0", "runs": [run]}
    return json_text(log)


def _digest_of(selected: Selected) -> str:
    terms = json.dumps([selected.select, selected.exclude])
    return sha256(terms.encode()).hexdigest()[:8]


def begins_sarif(head: bytes) -> bool:
    """Return whether `complaints_sarif` made a text, by its first bytes."""
    return head.startswith(_BEGINS)


def rules_of(complaints: Sequence[Complaint], codes: Mapping[str, str] = CODES) -> dict[str, str]:
    """Return the descriptions of all codes: the built-in codes, and own rules that have complaints.

    The complaints of an own rule mostly share one message, so the first message describes it.
    """
    own: dict[str, str] = {}
    for complaint in complaints:
        if complaint.code not in codes:
            own.setdefault(complaint.code, safe(complaint.message))
    return {**codes, **dict(sorted(own.items()))}


def _rule(code: str, description: str, tag: str) -> dict[str, Json]:
    is_practice = code.startswith(PRACTICE)
    is_warned_of = is_practice or code in WARNED_OF or code in AUDITED
    return {
        "id": code,
        "shortDescription": {"text": description},
        **_explained(code, description),
        "defaultConfiguration": {
            "enabled": not is_off_by_default(code),
            "level": "warning" if is_warned_of else "error",
        },
        "properties": {"tags": ["practice" if is_practice else tag]},
    }


def _explained(code: str, description: str) -> dict[str, Json]:
    explained = explanation(code)
    text = markdown = f"{code}: {description}. {OWN_RULE}."
    if explained is not None:
        description = explained.means
        text, markdown = code_text(explained), code_markdown(explained)
    return {"fullDescription": {"text": description}, "help": {"text": text, "markdown": markdown}}


def _invocation(left_out: int, tool: Tool) -> dict[str, Json]:
    """Return a successful invocation with notes: complaints are results, not failures."""
    invocation: dict[str, Json] = {"executionSuccessful": True}
    texts = [safe(note) for note in tool.notes]
    if left_out > 0:
        texts.append(f"{left_out:,} more complaints are left out: `{tool.command}` shows all")
    if texts:
        invocation["toolExecutionNotifications"] = [
            {"level": "warning", "message": {"text": text}} for text in texts
        ]
    return invocation


def _results(
    complaints: Sequence[Complaint], folder: str, codes: Sequence[str]
) -> Iterator[dict[str, Json]]:
    indices = {code: index for index, code in enumerate(codes)}
    met: Counter[str] = Counter()
    for complaint in complaints:
        fingerprint = _fingerprint(complaint)
        met[fingerprint] += 1
        numbered = f"{fingerprint}:{met[fingerprint]}"
        yield {
            "ruleId": complaint.code,
            "ruleIndex": indices[complaint.code],
            "level": complaint.severity.value,
            "message": {"text": safe(message(complaint))},
            "locations": [_location(complaint, folder)],
            "partialFingerprints": {FINGERPRINT: numbered, FORGE_FINGERPRINT: numbered},
        }


def _fingerprint(complaint: Complaint) -> str:
    """Return a fingerprint that stays the same when lines move: rule, resource and field.

    Where the text itself is wrong there is no field: the file and the words of the line are used
    instead.
    """
    parts: list[Json] = [complaint.code, complaint.ref, list(complaint.path)]
    if not complaint.ref:
        excerpt = complaint.excerpt
        # The excerpt's width is fixed: fingerprints must not change with what is shown.
        words = excerpt.within(USUAL_EXCERPT).lines[-1][1].strip() if excerpt else ""
        parts += [complaint.file, words]
    return sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]


def _location(complaint: Complaint, folder: str) -> dict[str, Json]:
    file = file_in_repository(complaint.file, folder)
    # A complaint about the whole file is on its first line: a result without a line is not shown.
    region: dict[str, Json] = {"startLine": max(1, complaint.line)}
    if complaint.line:
        region["startColumn"] = complaint.column
        if complaint.excerpt is not None:
            region["endColumn"] = complaint.column + complaint.excerpt.width
    location: dict[str, Json] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file.encode("utf-8", "surrogatepass"))},
            "region": region,
        }
    }
    if complaint.ref:
        place = [complaint.ref, *map(str, field_path(complaint))]
        location["logicalLocations"] = [{"fullyQualifiedName": safe(" ".join(place))}]
    return location


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

    def line(complaint: Complaint) -> str:
        said = for_workflow_data(message(complaint))
        return f"::{level.value} {_properties(complaint, folder)}::{said}"

    rest = f"::{level.value}::and {{}} more, which `reconciler validate -v` shows"
    yield from first_lines(ordered, line, SHOWN_ANNOTATIONS, rest)


def _properties(complaint: Complaint, folder: str) -> str:
    values: dict[str, str] = {"file": file_in_repository(complaint.file, folder)}
    if complaint.line:
        values |= {"line": str(complaint.line), "col": str(complaint.column)}
    about = f" in {complaint.ref}" if complaint.ref else ""
    values["title"] = f"{complaint.code}{about}: {CODES.get(complaint.code, '')}"
    return ",".join(f"{name}={for_workflow_property(value)}" for name, value in values.items())
