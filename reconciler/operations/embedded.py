"""The embedded emulator of an environment, which runs in this process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reconciler.document import Json
from reconciler.errors import InvalidInput
from reconciler.model import Manifest
from reconciler.project import Embedded, Environment

if TYPE_CHECKING:
    import httpx


def served(
    target: Embedded, environment: Environment, manifests: Iterable[Manifest]
) -> httpx.AsyncBaseTransport:
    """Start the emulator in this process, with every declared alert.

    Raises InvalidInput where its data file cannot be used.
    """
    from httpx import ASGITransport  # noqa: PLC0415 - brings the HTTP client

    from reconciler.emulator import (  # noqa: PLC0415 - brings the server
        UnreadableDataError,
        create_app,
        profile_of,
    )
    from reconciler.journal.file_store import begin_folder  # noqa: PLC0415 - not for validate

    alert_ids = [
        str(manifest.remote_id)
        for manifest in manifests
        if isinstance(manifest.remote_id, str) and not _creatable(manifest.ref.kind)
    ]
    try:
        begin_folder(target.data.parent)
        extra = _reported_otherwise(environment)
        profile = profile_of(extra) if any(extra.values()) else None
        app = create_app(target.data, alert_ids=alert_ids, profile=profile)
    except UnreadableDataError as error:
        raise InvalidInput(str(error)) from error
    except OSError as error:
        raise InvalidInput(f"cannot keep data in {target.data}: {error.strerror}") from error
    return ASGITransport(app, raise_app_exceptions=False)


def _reported_otherwise(environment: Environment) -> dict[str, Json]:
    """Return a profile with the settings where the embedded emulator is not as by default."""
    lists = environment.api.reads.lists
    profile: dict[str, Json] = {
        "reads": {
            kind: read.model_dump(exclude_none=True)
            for kind, read in environment.api.reads.of_kinds.items()
        },
        "lists": {kind: listing.model_dump(exclude_none=True) for kind, listing in lists.items()},
    }
    if environment.api.policy_names == "anyCase":
        profile["policyNames"] = "any_case"
    return profile


def _creatable(kind: str) -> bool:
    from reconciler.kinds import BY_NAME  # noqa: PLC0415 - loaded already

    return not BY_NAME[kind].id_form.required
