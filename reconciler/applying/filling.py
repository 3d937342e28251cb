"""From a document with open references to the one that is journaled, and the one that is sent."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.document import Json
from reconciler.kinds.kind import Sending
from reconciler.resource import Change, Ref, RemoteId
from reconciler.template import resolve, reveal


def filled(document: dict[str, Json], ids: Mapping[Ref, RemoteId]) -> dict[str, Json]:
    """Fill in the ids that are known by now; secrets stay sealed."""
    result = resolve(document, ids)
    assert isinstance(result, dict)  # noqa: S101 - filling keeps the form
    return result


def sending_of(change: Change, ids: Mapping[Ref, RemoteId]) -> Sending:
    """Fill in references and secrets, as late as possible.

    Raises ValueError where a reference is still open.
    """
    document = reveal(filled(change.body, ids))
    assert isinstance(document, dict)  # noqa: S101 - filling keeps the form
    return Sending(change, document)
