"""Observing one resource, so that a bad answer about it says nothing about the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.errors import ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.journal.history import Memory
from reconciler.kinds.kind import Kind
from reconciler.resource import Manifest, Observation

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


async def observe(
    kind: Kind, api: Api, manifest: Manifest, memory: Memory
) -> Observation | ReconcilerError:
    """Give what is known of the live side, or the error that is about this one resource.

    Raises what is about the service as a whole: it is not there, or the key is refused.
    """
    try:
        return await kind.observe(api, manifest, memory)
    except (UnreadableReply, ServiceRefused) as error:
        return error
