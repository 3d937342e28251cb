"""Sections of a plan: what features know of it. They decide nothing, and no digest has them."""

from __future__ import annotations

from typing import ClassVar, Protocol


class PlanSection(Protocol):
    """Plain data of a feature about a plan.

    `formats` is the `module:name` of its `SectionFormats`, which is imported when a report is made.
    """

    formats: ClassVar[str]
