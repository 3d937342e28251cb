"""Foreign text in a workflow command, `::error file=…,title=…::data`, of a CI runner. Pure."""

from __future__ import annotations

from reconciler.report.safe.terminal import safe

_DATA = str.maketrans({"%": "%25", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def for_workflow_data(text: str) -> str:
    """Give the text for what follows the second `::`; its line breaks are kept, as `%0A`."""
    return "\n".join(safe(line) for line in text.split("\n")).translate(_DATA)


def for_workflow_property(text: str) -> str:
    """Give the text, on one line, for the value of a property."""
    return safe(text).translate(_PROPERTY)
