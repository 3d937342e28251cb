"""The HTTP client of one door: whom the key is for, and what is not done. Source: N1, N4, N6."""

from __future__ import annotations

from collections.abc import Generator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Literal

import httpx

from reconciler import __version__
from reconciler.api.secret import Secret
from reconciler.api.transport import cannot_open, make_transport
from reconciler.api.unpacking import ACCEPTED
from reconciler.errors import UsageError

Authorization = Literal["raw", "bearer"]
CONNECT_SECONDS = 10.0


class KeyForOneOrigin(httpx.Auth):
    """Puts the key into a request as it leaves, and only if it goes where the key belongs.

    The client's own headers never hold it, so nobody who prints them prints it.
    """

    def __init__(self, key: Secret, authorization: Authorization, base_url: str) -> None:
        self._key = key
        self._prefix = "Bearer " if authorization == "bearer" else ""
        self._origin = origin_of(httpx.URL(base_url))

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the key. Raises RuntimeError, which is a bug of ours, for another origin."""
        if origin_of(request.url) != self._origin:
            raise RuntimeError("a request would leave for an origin that the key is not for")
        request.headers["Authorization"] = self._prefix + self._key.reveal()
        yield request


def origin_of(url: httpx.URL) -> tuple[str, str, int | None]:
    """Give scheme, host and port; the default port counts as none."""
    return (url.scheme, url.host, url.port)


def open_client(
    base_url: str,
    key: Secret,
    authorization: Authorization,
    transport: httpx.AsyncBaseTransport | None,
    deadline: float,
) -> httpx.AsyncClient:
    """Prepare the connections to one service; nothing is sent yet.

    No redirect is followed, no cookie kept, no `.netrc` read. Raises UsageError
    where the environment names a proxy or certificates that cannot be used.
    """
    timeout = httpx.Timeout(
        deadline,
        # Shorter, so that a host that does not answer is known not to have heard us.
        connect=min(CONNECT_SECONDS, deadline / 2),
        pool=None,
    )
    try:
        return httpx.AsyncClient(
            transport=transport or make_transport(base_url),
            auth=KeyForOneOrigin(key, authorization, base_url),
            headers={
                "User-Agent": f"reconciler/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": ACCEPTED,
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            timeout=timeout,
        )
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        raise UsageError(cannot_open(error)) from error
