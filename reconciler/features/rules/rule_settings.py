"""`rules:` of the project file: requirements of a team on its manifests and plans, in CEL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from reconciler.document import day_of
from reconciler.model.assumptions import STRICT, must
from reconciler.model.guards import OWN_RULE

if TYPE_CHECKING:
    from reconciler.project import ProjectFile

LONGEST_EXPRESSION = 4_000
MOST_RULES = 500
RESOURCE, CHANGE = "resource", "change"


_NAMED = must(
    "rule_name",
    "must be 1 to 63 of a-z, 0-9, `.`, `_`, `-`, and begin with a letter or digit",
    re.compile(r"[a-z0-9][a-z0-9._-]{0,62}").fullmatch,
)
_TEXT = must("rule_text", "must not be empty", str.strip)
Expression = Annotated[str, Field(min_length=1, max_length=LONGEST_EXPRESSION), _TEXT]
Example = dict[str, Any]


class _Strict(BaseModel):
    model_config = STRICT


class Examples(_Strict):
    """Examples that `reconciler rules test` checks a rule with."""

    passing: Annotated[
        list[Example],
        Field(
            alias="pass",
            description="Parts of manifests, or of changes, that the rule has nothing against.",
        ),
    ] = []
    fail: Annotated[list[Example], Field(description="Those that it must complain of.")] = []


class Rule(_Strict):
    """A rule of a team."""

    name: Annotated[
        str,
        Field(description="Unique among the rules; a finding has the code R/NAME."),
        _NAMED,
    ]
    kinds: Annotated[
        list[str], Field(description="The kinds that it is about; left out, all of them.")
    ] = []
    on: Annotated[
        Literal["resource", "plan"],
        Field(
            description="resource: each manifest is judged by `validate` and all that reads "
            "manifests; plan: each change that an apply would write."
        ),
    ] = "resource"
    when: Annotated[
        Expression | None,
        Field(description="A CEL expression; where it is false, the rule says nothing."),
    ] = None
    check: Annotated[Expression, Field(description="A CEL expression that must be true.")]
    message: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="What is said where it is not: what is wrong, and what to do. Plain text.",
        ),
        _TEXT,
    ]
    severity: Annotated[
        Literal["error", "warning"],
        Field(description="An error stops a run; of a plan it is a guard, which needs consent."),
    ] = "error"
    level: Annotated[
        Literal["review", "explicit"],
        Field(
            description="Who may consent, of a plan: review: whoever reviewed a plan that lists "
            "it; explicit: only --override-guard."
        ),
    ] = "review"
    until: Annotated[
        Annotated[str, must("rule_until", "must be a day, as 2027-03-31", day_of)] | None,
        Field(description="The last day on which it holds, as 2027-03-31, in UTC."),
    ] = None
    at: Annotated[
        str | None,
        Field(
            description="Where in `spec` a finding is: steps joined by dots, as slo.target. "
            "Left out, it is at the field that the check reads, or at the resource's name."
        ),
    ] = None
    examples: Annotated[
        Examples, Field(description="What `reconciler rules test` tests the rule with.")
    ] = Examples()

    @property
    def code(self) -> str:
        """The code of its findings and guards."""
        return f"{OWN_RULE}{self.name}"

    @property
    def is_error(self) -> bool:
        """Return whether a finding stops a run."""
        return self.severity == "error"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that its expressions may use."""
        return (CHANGE, RESOURCE) if self.on == "plan" else (RESOURCE,)

    @property
    def place(self) -> tuple[str | int, ...]:
        """The place of a finding in `spec`, if the rule names one; else empty."""
        steps = self.at.split(".") if self.at else []
        return tuple(int(step) if step.isdecimal() else step for step in steps)

    @property
    def read_fields(self) -> tuple[tuple[str, ...], ...]:
        """The paths in a manifest that the check names; the last steps may be calls."""
        return tuple(
            tuple(named.split("."))
            for named in re.findall(
                r"\bresource\.((?:metadata|spec)(?:\.[A-Za-z_]\w*)+)", self.check
            )
        )

    def holds_on(self, today: date) -> bool:
        """Return whether the rule applies on a day; `until` is its last day."""
        last = day_of(self.until)
        return last is None or today <= last

    def is_about(self, kind: str) -> bool:
        """Return whether the rule applies to a kind."""
        return not self.kinds or kind in self.kinds


RULES: Final = Annotated[
    list[Rule],
    Field(
        default=[],
        max_length=MOST_RULES,
        description="What a team asks of its manifests and plans, in CEL: docs/rules.md.",
    ),
]


def rules_of(settings: ProjectFile) -> Sequence[Rule]:
    """Return the rules of a project file."""
    return settings.setting("rules", list) or ()
