"""Addresses of services, and the API key, which only this module reads from the environment."""

import ipaddress
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

KEY_VARIABLE = "RECONCILER_API_KEY"
_INPUT = "INPUT_API_KEY"


def key_in(environ: Mapping[str, str]) -> str:
    """Return the key that a command sends, "" for none."""
    return environ.get(KEY_VARIABLE, "")


def key_of_job(environ: Mapping[str, str]) -> str:
    """Return the key that a job sends, "" for none: its input comes before the variable."""
    return environ.get(_INPUT, "") or key_in(environ)


def keys_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return every key that a process was given, by its variable, to hide or withhold it."""
    found = {name: environ.get(name, "").strip() for name in (KEY_VARIABLE, _INPUT)}
    return {name: key for name, key in found.items() if key}


def is_key(name: str) -> bool:
    """Return whether a variable may hold a key."""
    return name in {KEY_VARIABLE, _INPUT}


_STEPS = (".", "..")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its own name, without asking a network.

    `host` is as in a URL, with or without the brackets of an IPv6 address.
    """
    name = host.strip("[]").rstrip(".").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def steps_in(path: str) -> Iterator[str]:
    """Yield the parts of a URL's path that lead to another place.

    They are `.` and `..` in every accepted spelling: a server or a client on the way removes them,
    and then requests something else.
    """
    for part in path.replace("\\", "/").split("/"):
        if part.lower().replace("%2e", ".") in _STEPS:
            yield part


_THIS_MACHINE = "localhost,.localhost,127.0.0.0/8,127.0.0.1,::1"


def proxies_beyond(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep requests to this machine away from a proxy.

    They are for clients that read the environment themselves; existing exceptions stay.
    """
    known = environ.get("no_proxy") or environ.get("NO_PROXY")
    return dict.fromkeys(
        ("no_proxy", "NO_PROXY"), f"{known},{_THIS_MACHINE}" if known else _THIS_MACHINE
    )


@contextmanager
def with_variables(given: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process until the end of the block."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


_LONGEST_PART = 1024


def is_part(text: str) -> bool:
    """Return whether a text can be an id: a single part of a path for every reader of a URL."""
    return 0 < len(text) <= _LONGEST_PART and text.isprintable() and not any(steps_in(text))
