"""Elements of a page: a plain text among the children is foreign and is made safe. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from reconciler.report.safe import for_html

VOID: Final = frozenset(("meta", "input", "br", "col", "wbr"))

LINES: Final = frozenset(("details", "figure", "header", "main", "section", "summary", "tbody"))
"""What ends a line, for those who read the page as text."""


class Markup(str):
    """Text that is HTML already. Nothing foreign is ever made one but by `element`."""

    __slots__ = ()


NOTHING: Final = Markup()


def element(
    name: str, attributes: Mapping[str, str | bool] | None = None, *children: str
) -> Markup:
    """Give an element. An attribute that is False is left out, one that is True has no value."""
    opened = "".join(_attribute(key, value) for key, value in (attributes or {}).items())
    if name in VOID:
        return Markup(f"<{name}{opened}>")
    ending = "\n" if name in LINES else ""
    return Markup(f"<{name}{opened}>{joined(children)}</{name}>{ending}")


def of_class(name: str, classes: str, *children: str) -> Markup:
    """Give an element of a class, the most common of all."""
    return element(name, {"class": classes}, *children)


def joined(children: Iterable[str], between: str = "") -> Markup:
    """Give children one after the other."""
    return Markup(
        between.join(child if isinstance(child, Markup) else for_html(child) for child in children)
    )


def breakable(text: str) -> Markup:
    """Give a dotted name that may go on in the next line behind each dot."""
    return joined(text.split("."), Markup(".") + element("wbr"))


def _attribute(key: str, value: str | bool) -> str:
    if isinstance(value, Markup):
        return f' {key}="{value}"'
    if isinstance(value, str):
        return f' {key}="{for_html(value)}"'
    return f" {key}" if value else ""
