"""Division of an edit into the parts for `spec` and for `overrides`. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.document import Edit, Gone, Json, ListItems, Put, Shape, Within, value_at
from reconciler.syntax.expressions import OPEN, ExpressionKind, expression, whole


class WovenError(Exception):
    """An edit that would change other values too; the message says where to edit by hand."""


def split(
    edit: Edit, base: Mapping[str, Json], patch: Mapping[str, Json], shape: Shape
) -> tuple[dict[str, Edit], dict[str, Edit]]:
    """Return the edits of the fields of `spec`, and of the patch that is merged into it.

    Raises WovenError for an edit that belongs to neither alone.
    """
    if not isinstance(edit, Within):
        raise KeyError("spec")
    own: dict[str, Edit] = {}
    over: dict[str, Edit] = {}
    for key, field in edit.fields.items():
        if key not in patch:
            own[key] = field
            continue
        below, above, inner = base.get(key), patch[key], shape.at(key)
        if isinstance(above, dict) and isinstance(field, Within) and _may_hold(below):
            mine, theirs = split(field, below if isinstance(below, dict) else {}, above, inner)
            own |= {key: Within(mine)} if mine else {}
            over |= {key: Within(theirs)} if theirs else {}
        elif isinstance(above, list) and isinstance(below, list) and inner.identity:
            raise WovenError(f"`{key}` is merged of `spec` and `overrides`: edit it by hand")
        elif isinstance(field, Gone) and key in base:
            over[key] = Put(None)
        else:
            over[key] = field
    return own, over


def _may_hold(below: Json) -> bool:
    """Return whether a patch is merged into this value: an object, or a text with expressions."""
    return isinstance(below, dict) or (isinstance(below, str) and OPEN in below)


def check_own(edit: Edit, written: Json, root: Json) -> None:
    """Raise WovenError for an edit of a value that comes from an expression.

    `written` is the value at the place of the edit, and `root` the whole `spec`.
    """
    match edit:
        case Within(fields=fields):
            _check_open(written, is_inside=True)
            for key, field in fields.items():
                check_own(field, value_at_key(written, key), root)
        case ListItems(items=items):
            _check_open(written, is_inside=True)
            for item in items:
                if item.origin is not None and item.edit is not None:
                    found = value_at(root, item.origin)
                    check_own(item.edit, found if isinstance(found, dict | list) else None, root)
        case Put() | Gone():
            _check_open(written, is_inside=False)


def value_at_key(written: Json, key: str) -> Json:
    """Return the value of a key, or None if there is none."""
    return written.get(key) if isinstance(written, dict) else None


def _check_open(written: Json, *, is_inside: bool) -> None:
    found = whole(written) if isinstance(written, str) else None
    if found is not None and (
        is_inside or found.word in (ExpressionKind.FILE, ExpressionKind.EACH)
    ):
        source = expression(found.word, found.name)
        raise WovenError(f"`{source}` gives what was edited, maybe elsewhere too: edit it by hand")
