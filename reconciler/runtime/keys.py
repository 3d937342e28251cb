"""Access to the API key. No other module reads it from the environment."""

from __future__ import annotations

from collections.abc import Mapping

KEY_VARIABLE = "RECONCILER_API_KEY"
_INPUT = "INPUT_API_KEY"


def key_in(environ: Mapping[str, str]) -> str:
    """Return the key that a command sends, "" for none."""
    return environ.get(KEY_VARIABLE, "")


def key_of_job(environ: Mapping[str, str]) -> str:
    """Return the key that a job sends, "" for none: its input comes before the variable."""
    return environ.get(_INPUT, "") or key_in(environ)


def with_key(key: str) -> dict[str, str]:
    """Return the variables by which a command gets this key."""
    return {KEY_VARIABLE: key}


def keys_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return every key that a process was given, by its variable, to hide or withhold it."""
    found = {name: environ.get(name, "").strip() for name in (KEY_VARIABLE, _INPUT)}
    return {name: key for name, key in found.items() if key}


def is_key(name: str) -> bool:
    """Return whether a variable may hold a key."""
    return name in {KEY_VARIABLE, _INPUT}
