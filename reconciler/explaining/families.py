"""Everything that has a code, and what is said of it.

A further family of codes is one more row of `FAMILIES`: its title, the page that tells of it, and
its explanations. `explain`, the pages of docs/diagnostics/, completion and the rules of SARIF
take it from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from reconciler.explaining.audit_codes import AUDIT_CODES
from reconciler.explaining.envelope_codes import ENVELOPE_CODES
from reconciler.explaining.exit_codes import EXIT_CODES
from reconciler.explaining.explanation import Explanation
from reconciler.explaining.guard_codes import GUARD_CODES
from reconciler.explaining.practice_codes import PRACTICE_CODES
from reconciler.explaining.project_codes import PROJECT_CODES
from reconciler.explaining.query_codes import QUERY_CODES
from reconciler.explaining.reason_codes import REASON_CODES
from reconciler.explaining.remark_codes import REMARK_CODES
from reconciler.explaining.reuse_codes import REUSE_CODES
from reconciler.explaining.spec_codes import SPEC_CODES
from reconciler.explaining.text_codes import TEXT_CODES
from reconciler.explaining.workspace_codes import WORKSPACE_CODES


@dataclass(frozen=True, slots=True)
class Family:
    """Codes of one sort. `noun` is what one of them is, `about` completes "they are about"."""

    noun: str
    about: str
    explanations: tuple[Explanation, ...]
    prefix: str = ""
    """What may be left out of a code where somebody types it."""


FAMILIES: Final = (
    Family("a complaint", "the text of a file", TEXT_CODES),
    Family("a complaint", "what stands around `spec`", ENVELOPE_CODES),
    Family("a complaint", "what stands under `spec`", SPEC_CODES),
    Family("a complaint", "the workspace as a whole, and expressions", WORKSPACE_CODES),
    Family("a complaint", "what is said once for many", REUSE_CODES),
    Family("a complaint", "practice", PRACTICE_CODES),
    Family("a complaint", "queries", QUERY_CODES),
    Family("a finding", "what is declared against what happened", AUDIT_CODES),
    Family("a complaint", "the project file", PROJECT_CODES),
    Family("a guard", "what an apply refuses without consent", GUARD_CODES),
    Family("a reason", "why a change of a plan is as it is", REASON_CODES),
    Family("a remark", "what a plan says of itself", REMARK_CODES),
    Family("an exit code", "what a command ends with", EXIT_CODES, "exit-"),
)


@cache
def explanations() -> Mapping[str, Explanation]:
    """Give every explanation by its code."""
    return MappingProxyType({one.code: one for family in FAMILIES for one in family.explanations})


def family_of(code: str) -> Family:
    """Give the family of a known code."""
    return next(one for one in FAMILIES if any(said.code == code for said in one.explanations))


@cache
def spelled() -> Mapping[str, str]:
    """Give every code by each way in which it may be typed, in small letters."""
    typed = {code.casefold(): code for code in explanations()}
    for family in FAMILIES:
        for one in family.explanations:
            typed.setdefault(one.code.removeprefix(family.prefix).casefold(), one.code)
    return MappingProxyType(typed)
