"""A server that stores what it is sent, and renders it in its own way (docs/plan.md)."""

from __future__ import annotations

from hypothesis import strategies as st

from reconciler.document import Json, Shape, is_zero


def _reordered(draw: st.DrawFn, items: list[Json]) -> list[Json]:
    return draw(st.permutations(items))


@st.composite
def stored(draw: st.DrawFn, document: Json, shape: Shape, *, adds: bool = True) -> Json:
    """Give what a read answers after `document` was written; `adds` allows fields of its own."""
    if isinstance(document, dict):
        return _object(draw, document, shape, adds=adds)
    if isinstance(document, list):
        items: list[Json] = [draw(stored(item, shape.item, adds=adds)) for item in document]
        return _reordered(draw, items) if shape.unordered else items
    if shape.numeric_text and isinstance(document, int) and not isinstance(document, bool):
        return draw(st.sampled_from(_as_int64(document)))
    if isinstance(document, int | float) and not isinstance(document, bool):
        return draw(st.sampled_from(_spellings(document)))
    return document


ADDED: tuple[Json, ...] = ("now", 3, {"deep": [1]}, True)
RENDERED_ZEROS: tuple[Json, ...] = (None, "", 0, 0.0, False, [])


def _as_int64(number: int) -> list[Json]:
    return [number, str(number)]


def _spellings(number: float) -> list[Json]:
    return [number, float(number)] if float(number).is_integer() else [number]


def _object(draw: st.DrawFn, document: dict[str, Json], shape: Shape, *, adds: bool) -> Json:
    kept = {
        key: draw(stored(value, shape.at(key), adds=adds))
        for key, value in document.items()
        if not is_zero(value, shape.at(key).enumeration) or not draw(st.booleans())
    }
    for key in sorted(shape.fields.keys() - document.keys() - shape.ousted_by(document)):
        if draw(st.booleans()):
            named = [f"{one}UNSPECIFIED" for one in (shape.at(key).enumeration,) if one]
            kept[key] = draw(st.sampled_from([*RENDERED_ZEROS, *named]))
    if adds and draw(st.booleans()):
        kept["addedByTheServer"] = draw(st.sampled_from(ADDED))
    return dict(draw(st.permutations(sorted(kept.items(), key=lambda pair: pair[0]))))
