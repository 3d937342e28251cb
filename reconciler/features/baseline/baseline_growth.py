"""Additions of a change to the baseline, for the comment under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from reconciler.features.baseline.baseline import accepted_in, name_of, read_baseline
from reconciler.project import Project
from reconciler.report.markdown import LONGEST_NAME, code
from reconciler.report.words import first_few, plural

MOST_NAMED = 5


def growth(project: Project, text_before: Callable[[str], str | None]) -> str:
    """Return a line on the complaints that a change accepts in addition, as Markdown; "" for none.

    `text_before` returns the text of a file of the project before the change: "" where there was
    none, and None where that is unknown.
    """
    before = text_before(name_of(project))
    if before is None:
        return ""
    accepted, _ = read_baseline(project)
    added = Counter(accepted)
    added.subtract(accepted_in(before))
    names = Counter({entry: count for entry, count in added.items() if count > 0})
    if not names:
        return ""
    listed = [*dict.fromkeys(f"{entry.code} {entry.resource}" for entry in sorted(names))]
    shown = first_few(listed, MOST_NAMED, lambda name: code(name, LONGEST_NAME))
    return f"The baseline grows by {plural(names.total(), 'complaint')}: {shown}."
