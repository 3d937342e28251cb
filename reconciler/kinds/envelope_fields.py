"""Fields of a manifest of any kind around `spec`, and their purposes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reconciler.document import Json
from reconciler.runtime.rows import Rows

if TYPE_CHECKING:
    from reconciler.syntax.diagnostic import Finding
    from reconciler.syntax.parsed_text import DocumentText


@dataclass(frozen=True, slots=True)
class EnvelopeField:
    """One field: its purpose, the form of its value in words, and an example value.

    In the example, `KIND` and `ID` are replaced by those of the kind.
    """

    said: str
    form: str
    example: Json
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestKey:
    """A key of manifests of some kinds. Its value is never sent, and is in no digest.

    `read` gets the value with its expressions filled in, and the text that places it. It returns
    findings, and what `Manifest.added` keeps: JSON.
    """

    kinds: Collection[str]
    schema: dict[str, Any]
    read: Callable[[Json, DocumentText], tuple[Sequence[Finding], Json]]


MANIFEST_KEYS: Final = Rows[ManifestKey]("manifest-keys")
"""By key; the words of a row say what the key is for."""

MANIFEST: Final[dict[str, EnvelopeField]] = {
    "apiVersion": EnvelopeField(
        "The rules by which the manifest is read: always `reconciler/v1`.",
        "text",
        "reconciler/v1",
        required=True,
    ),
    "kind": EnvelopeField("What the manifest declares.", "text", "KIND", required=True),
    "metadata": EnvelopeField(
        "What this workspace knows of the resource; none of it is sent.",
        "mapping",
        {"name": "checkout"},
        required=True,
    ),
    "spec": EnvelopeField(
        "What the service shall hold, as the API writes it.", "mapping", {}, required=True
    ),
    "overrides": EnvelopeField(
        "What differs from `spec`, by environment: null takes a field away, items of lists with "
        "names merge by name, other lists are replaced.",
        "mapping of mapping by environment",
        {},
    ),
    "forEach": EnvelopeField(
        "Makes one resource of each item. `${each:KEY}` gives a value of the item.",
        "list of mappings",
        [],
    ),
    **{
        key: EnvelopeField(MANIFEST_KEYS.words(key), "list of mappings", [])
        for key in MANIFEST_KEYS
    },
}
"""The fields of a manifest."""

METADATA: Final[dict[str, EnvelopeField]] = {
    "name": EnvelopeField(
        "What this workspace calls the resource; one name per kind.",
        "text",
        "checkout",
        required=True,
    ),
    "id": EnvelopeField(
        "What the service calls the resource, in every environment.", "id of the kind", "ID"
    ),
    "ids": EnvelopeField(
        "What the service of each environment calls the resource, by the environment's name.",
        "mapping of id of the kind by environment",
        {"production": "ID"},
    ),
    "labels": EnvelopeField(
        "Labels of the resource in this workspace, text by name; the service does not see them.",
        "mapping of text by name",
        {"team": "payments"},
    ),
    "environments": EnvelopeField(
        "The environments that the manifest is for; all where it is left out.",
        "list of text",
        ["production"],
    ),
    "protect": EnvelopeField(
        "Refuses any change of the resource, until an earlier merge lifts this.",
        "true or false",
        example=True,
    ),
    "exempt": EnvelopeField(
        "Complaints that do not hold for this resource, by their codes, each with the reason why.",
        "mapping of text by code",
        {"L203": "it is watched by hand until the move"},
    ),
}
"""The fields of `metadata`."""
