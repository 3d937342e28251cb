"""How everything is read that a person writes into the project file."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict

STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
"""No field that is not known, and no value of another type.

A model is built when it first reads something: those that stand inside others never do.
"""
