"""Merge, differences and digests of JSON documents. Pure.

The service shows zero values that were never sent, and may drop declared zero values. So where a
declared document is compared with a live one, `""`, `0`, `false`, `[]`, `null` and the
`*UNSPECIFIED` of an enumeration equal absent; an empty object does not. Two documents that we wrote
are compared `exactly`: there a zero is declared or not. Numbers are equal by value; booleans are
never numbers.
"""

from reconciler.document.compare import (
    Difference,
    Operation,
    differences,
    members_missing,
    places_before,
    same,
    shifted_in,
    turned,
)
from reconciler.document.edits import (
    Edit,
    Gone,
    ListItem,
    ListItems,
    Put,
    Within,
    followed,
    towards,
)
from reconciler.document.merge import aligned, another_choice, covers, merge, overlay
from reconciler.document.moves import ItemPosition, Key, at_home, homes_in, key_of
from reconciler.document.values import (
    ABSENT,
    ANY,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    day_of,
    digest,
    exactly,
    identical,
    is_zero,
    stored_name,
    value_at,
)

__all__ = [
    "ABSENT",
    "ANY",
    "Difference",
    "Edit",
    "Gone",
    "ItemPosition",
    "Json",
    "Key",
    "ListItem",
    "ListItems",
    "Missing",
    "Operation",
    "Path",
    "Put",
    "Shape",
    "Within",
    "aligned",
    "another_choice",
    "at_home",
    "by_identity",
    "canonical_text",
    "covers",
    "day_of",
    "differences",
    "digest",
    "exactly",
    "followed",
    "homes_in",
    "identical",
    "is_zero",
    "key_of",
    "members_missing",
    "merge",
    "overlay",
    "places_before",
    "same",
    "shifted_in",
    "stored_name",
    "towards",
    "turned",
    "value_at",
]
