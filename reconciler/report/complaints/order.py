"""Which complaints come first where not all of them fit, and what they say there. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.complaint import CUT, LONGEST_NAME, Complaint

_SENTENCES = ("remove ", "leave ", "write ")


def worst_first(complaints: Iterable[Complaint]) -> list[Complaint]:
    """Give errors before warnings, each by file and line."""
    return sorted(complaints, key=lambda one: (not one.is_error, one))


def advice(complaint: Complaint) -> str:
    """Give what to write instead as a sentence; "" where that is not known."""
    said = complaint.suggestion
    return said if not said or said.startswith(_SENTENCES) else f"write {said}"


def message(complaint: Complaint) -> str:
    """Give on one line what is wrong and what to write instead."""
    said = advice(complaint)
    return f"{complaint.message}: {said}" if said else complaint.message


def file_in_repository(file: str, folder: str) -> str:
    """Give a complaint's file relative to the repository; `folder` is where the project stands."""
    return file if not folder or file.startswith("/") else f"{folder}/{file}"


def field_path(complaint: Complaint) -> list[str | int]:
    """Give the path of the field; a key of any length becomes readable."""
    return [
        step[: LONGEST_NAME - 1] + CUT
        if isinstance(step, str) and len(step) > LONGEST_NAME
        else step
        for step in complaint.path
    ]
