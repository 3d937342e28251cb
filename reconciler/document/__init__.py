"""Merge, differences and digests of JSON documents. Pure.

The service renders zero values nobody sent and may drop declared ones, so
wherever a declared document meets a live one, `""`, `0`, `false`, `[]`, `null`
and `*UNSPECIFIED` equal absent; an empty object does not (api-facts.md, 6.2-3).
Numbers are equal by value, booleans are never numbers.
"""

from reconciler.document.comparing import Difference, Operation, differences, same
from reconciler.document.merging import covers, merge, overlay
from reconciler.document.shape import ANY, Shape, by_identity
from reconciler.document.values import (
    ABSENT,
    Json,
    Missing,
    Path,
    canonical_text,
    digest,
    identical,
    is_zero,
    same_value,
    value_at,
)

__all__ = [
    "ABSENT",
    "ANY",
    "Difference",
    "Json",
    "Missing",
    "Operation",
    "Path",
    "Shape",
    "by_identity",
    "canonical_text",
    "covers",
    "differences",
    "digest",
    "identical",
    "is_zero",
    "merge",
    "overlay",
    "same",
    "same_value",
    "value_at",
]
