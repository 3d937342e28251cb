"""Who may call, and what: the key in the `Authorization` header, bare or as a bearer token."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from reconciler.emulator.errors import ForbiddenError, UnauthorisedError


@dataclass(frozen=True)
class Keys:
    """The keys that are taken, each with its permissions; None is all of them.

    Without any key, every key that is not empty is taken and may do all.
    """

    permissions: Mapping[str, frozenset[str] | None]
    scheme: Literal["either", "bare", "bearer"] = "either"

    def check(self, header: str | None, permission: str) -> None:
        """Refuse a missing or unknown key with 401, one without the permission with 403."""
        sent = _sent(header, self.scheme)
        if not self.permissions:
            return
        held = [permissions for key, permissions in self.permissions.items() if _same(sent, key)]
        if not held:
            raise UnauthorisedError("the API key is not valid")
        if permission and not any(one is None or permission in one for one in held):
            raise ForbiddenError(f"the API key lacks the permission {permission}")


def _sent(header: str | None, scheme: str) -> str:
    if header is None:
        raise UnauthorisedError("the Authorization header is missing")
    text = header.strip()
    first, _, rest = text.partition(" ")
    is_bearer = first.lower() == "bearer"
    key = rest.strip() if is_bearer else text
    if not key:
        raise UnauthorisedError("the Authorization header is empty")
    if (scheme == "bare" and is_bearer) or (scheme == "bearer" and not is_bearer):
        raise UnauthorisedError(f"the Authorization header is not in the {scheme} form")
    return key


def _same(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode(), expected.encode())
