"""Which addresses a key may be sent to. Source: failure-cases.md, N2."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from reconciler.addresses import steps_in

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def unsafe_base_url(url: str) -> str:
    """Say why a base URL is refused, or give "" for a good one (failure-cases.md, N2)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("https", "http"):
        return "must begin with https://"
    if not host or port == 0 or any(not "!" <= character <= "~" for character in url):
        return "is not a URL: it needs a host, and only ASCII characters that are no blanks"
    return _unsafe_part(url, parts) or _unsafe_host(host, parts.scheme)


def _unsafe_part(url: str, parts: SplitResult) -> str:
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or a password"
    if "?" in url or "#" in url:
        return "must not hold a query or a fragment"
    step = next(steps_in(parts.path), "")
    return f"must not hold the part `{step}`: write the path that it leads to" if step else ""


_HOST = re.compile(r"(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")


def _unsafe_host(host: str, scheme: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # The system's resolver takes 2852039166 and 0xa9.254.43518 for addresses.
        if _NUMBER.fullmatch(host) or not _HOST.fullmatch(host):
            return "is not a URL: its host is neither a name nor a plain address"
        return "" if scheme == "https" or host == "localhost" else "must begin with https://"
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return ""
    if any(map(_is_nobodys, (address, *_wrapped_in(address)))):
        return f"leads to {host}, which no service should have"
    return "" if scheme == "https" else "must begin with https://"


def _is_nobodys(address: _Address) -> bool:
    odd = address.is_link_local or address.is_multicast or address.is_unspecified
    return odd or (isinstance(address, ipaddress.IPv4Address) and address.is_reserved)


# Address translation, and two older forms that end in an IPv4 address.
_WRAPPERS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))


def _wrapped_in(address: _Address) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses to which a gateway would translate an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if any(address in wrapper for wrapper in _WRAPPERS):
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.sixtofour is not None:
            yield address.sixtofour
        yield from address.teredo or ()


def shown_url(url: str) -> str:
    """Give a URL without the user name and password it may hold."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
