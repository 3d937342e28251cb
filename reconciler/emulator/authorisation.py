"""Who may call: the key in the `Authorization` header, bare or as a bearer token."""

import hmac

from reconciler.emulator.errors import UnauthorisedError


def check_key(header: str | None, api_key: str | None) -> None:
    """Refuse a missing key, and one that is not `api_key`; without one any key will do."""
    if header is None:
        raise UnauthorisedError("the Authorization header is missing")
    sent = header.strip()
    if sent.lower() == "bearer" or not sent:
        raise UnauthorisedError("the Authorization header is empty")
    if api_key is None:
        return
    scheme, _, token = sent.partition(" ")
    candidates = (sent, token.strip() if scheme.lower() == "bearer" else sent)
    if not any(_same(candidate, api_key) for candidate in candidates):
        raise UnauthorisedError("the API key is not valid")


def _same(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode(), expected.encode())
