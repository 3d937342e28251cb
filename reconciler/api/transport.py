"""How requests leave the process: connections, TLS, proxies."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import httpx

from reconciler.addresses import is_loopback

if TYPE_CHECKING:
    import aiohttp

MOST_CONNECTIONS = 16

# A server that closes an idle connection makes the next request on it one whose
# outcome is unknown. Servers wait five seconds and more, so ours close first.
IDLE_SECONDS = 3.0


def make_transport(base_url: str) -> httpx.AsyncBaseTransport | None:
    """Give the transport for a target; None means httpx's own, which knows proxies.

    aiohttp's connections cost a third of the CPU time of httpx's own under load
    (docs/performance.md), and httpx keeps the interface.
    """
    if proxy_for(base_url):
        return None
    from httpx_aiohttp import AiohttpTransport  # noqa: PLC0415 - heavy, and not for the emulator

    # httpx reads SSL_CERT_FILE and SSL_CERT_DIR, so a company's own CA works.
    plain = base_url.startswith("http:")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
    return AiohttpTransport(verify=context, client=lambda: _session(context))


def _session(context: ssl.SSLContext) -> aiohttp.ClientSession:
    import aiohttp  # noqa: PLC0415 - see make_transport

    connector = aiohttp.TCPConnector(
        limit=MOST_CONNECTIONS, ssl=context, keepalive_timeout=IDLE_SECONDS
    )
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def proxy_for(base_url: str) -> str:
    """Give the proxy that the environment names for a target, credentials and all; "" for none.

    There is none for this machine: over `http://` it would be handed the key in clear text.
    """
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - imports a whole client

    url = httpx.URL(base_url)
    if is_loopback(url.host):
        return ""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all") or ""
    return "" if proxy_bypass(url.host) else proxy


def cannot_open(error: Exception) -> str:
    """Say why no connection can even be prepared; proxies are not shown, as they hold passwords."""
    if isinstance(error, OSError):
        why = error.strerror or str(error)
        return f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR name cannot be read: {why}"
    return "the proxy that the environment names cannot be used: it must be http://HOST:PORT"


# A proxy error is one of building the tunnel, so the service was not reached.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


def was_never_sent(error: Exception) -> bool:
    """Tell whether a failed request surely left no byte with the service.

    The aiohttp transport calls a connection that broke after the request a
    connect timeout too, so its own error, the cause, decides.
    """
    cause = error.__cause__
    if cause is None or not type(cause).__module__.startswith("aiohttp"):
        return isinstance(error, _NEVER_SENT)
    import aiohttp  # noqa: PLC0415 - loaded already, as its error shows

    return isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
