"""Complaints as commands that a CI runner shows beside the lines of a change.

Source: pr-experience.md, parts 2 and 6.
"""

from collections.abc import Iterator, Sequence

from reconciler.complaint import Complaint
from reconciler.finding import CODES, Severity
from reconciler.report.complaints.order import file_in_repository, message, worst_first
from reconciler.report.limits import SHOWN_ANNOTATIONS
from reconciler.report.safe import for_workflow_data, for_workflow_property


def annotation_lines(
    complaints: Sequence[Complaint], most: int = SHOWN_ANNOTATIONS, folder: str = ""
) -> list[str]:
    """Give one line for each of the worst complaints, `most` of each level, and one for the rest.

    `folder` is where the project stands in its repository, as the runner wants
    files relative to that; "" is its root.
    """
    return [line for level in Severity for line in _of_level(complaints, level, most, folder)]


def _of_level(
    complaints: Sequence[Complaint], level: Severity, most: int, folder: str
) -> Iterator[str]:
    ordered = worst_first(one for one in complaints if one.severity is level)
    for complaint in ordered[:most]:
        yield f"::{level.value} {_properties(complaint, folder)}::{_said(complaint)}"
    rest = len(ordered) - most
    if rest > 0:
        yield f"::{level.value}::and {rest:,} more, which `reconciler validate -v` shows"


def _said(complaint: Complaint) -> str:
    return for_workflow_data(message(complaint))


def _properties(complaint: Complaint, folder: str) -> str:
    values: dict[str, str] = {"file": file_in_repository(complaint.file, folder)}
    if complaint.line:
        values |= {"line": str(complaint.line), "col": str(complaint.column)}
    about = f" in {complaint.ref}" if complaint.ref else ""
    values["title"] = f"{complaint.code}{about}: {CODES.get(complaint.code, '')}"
    return ",".join(f"{name}={for_workflow_property(value)}" for name, value in values.items())
