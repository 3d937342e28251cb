"""Parts of an address that decide where a request ends: this machine, and steps out of a path."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

_STEPS = (".", "..")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its own name, so that no network has to be asked.

    `host` is as in a URL, the brackets of an IPv6 address taken off or not.
    """
    name = host.strip("[]").rstrip(".").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def steps_in(path: str) -> Iterator[str]:
    """Yield the parts of a URL's path that lead to another place than they stand at.

    They are `.` and `..`, in each spelling that is one: a server or a client
    between takes them off, and then asks for something else.
    """
    for part in path.replace("\\", "/").split("/"):
        if part.lower().replace("%2e", ".") in _STEPS:
            yield part


_THIS_MACHINE = "localhost,.localhost,127.0.0.0/8,127.0.0.1,::1"


def proxies_beyond(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that keep a proxy out of what is asked of this machine.

    For clients that read the environment themselves; what it excepts already stays excepted.
    """
    known = environ.get("no_proxy") or environ.get("NO_PROXY")
    return dict.fromkeys(
        ("no_proxy", "NO_PROXY"), f"{known},{_THIS_MACHINE}" if known else _THIS_MACHINE
    )


_LONGEST_PART = 1024


def is_part(text: str) -> bool:
    """Tell whether a text can be an id: one part of a path, whoever takes the address apart."""
    return 0 < len(text) <= _LONGEST_PART and text.isprintable() and not any(steps_in(text))
