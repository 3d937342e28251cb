"""Where a path with wild cards leads in a document. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json, Path

EACH = "*"


def places(document: Json, *steps: str, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield path and value of every place that `steps` lead to; `EACH` is any item of a list.

    Whatever is absent, or is not what a step needs, leads nowhere.
    """
    if not steps:
        yield path, document
    elif steps[0] == EACH:
        if isinstance(document, list):
            for index, item in enumerate(document):
                yield from places(item, *steps[1:], path=(*path, index))
    elif isinstance(document, dict) and steps[0] in document:
        yield from places(document[steps[0]], *steps[1:], path=(*path, steps[0]))
