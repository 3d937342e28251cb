"""What to do about a resource that an update found gone, as by a person in the web interface."""

from __future__ import annotations

from reconciler.resource import Manifest


def to_begin_anew(manifest: Manifest) -> tuple[str, ...]:
    """Give the ways out for what the API can create."""
    forget = f"`reconciler journal forget {manifest.ref}`"
    drop = "" if manifest.remote_id is None else "take its id out of the manifest, "
    return (
        f"if it was deleted and is wanted: {drop}run {forget}, and the next plan creates it",
        f"if it was deleted for good: remove its manifest, and run {forget}",
        "if it is there under another id: declare that as `metadata.id`",
    )


def to_be_made_by_hand(manifest: Manifest) -> tuple[str, ...]:
    """Give the ways out for what only a person can create."""
    again = "make one in the web interface, and declare its id as `metadata.id`"
    forget = f"remove its manifest, and run `reconciler journal forget {manifest.ref}`"
    return (
        f"if it was deleted and is wanted: {again}",
        f"if it was deleted for good: {forget}",
    )
