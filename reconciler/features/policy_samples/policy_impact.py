"""Samples of logs, and the effect of a plan on them. Values only.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from reconciler.model.assumptions import FileSection
from reconciler.model.quoting import quoted_pair


class PolicySamples(FileSection):
    """The file of the samples, and the reaction to results other than predicted."""

    file: Annotated[
        str,
        Field(
            min_length=1,
            description="The file, relative to this one: YAML or JSON, a list of {application, "
            "subsystem, severity, policy}.",
        ),
    ]
    on_mismatch: Annotated[
        Literal["rollback", "report"],
        Field(
            alias="onMismatch",
            description="What an apply does where the service answers otherwise for the samples "
            "after an overwrite than the plan predicted: put the old list back, or report it.",
        ),
    ] = "report"


def _spelled_out(setting: object) -> object:
    return {"file": setting} if isinstance(setting, str) else setting


_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "minLength": 1}, PolicySamples.model_json_schema()],
}

POLICY_SAMPLES: Final = Annotated[
    Annotated[PolicySamples, BeforeValidator(_spelled_out), WithJsonSchema(_SCHEMA)] | None,
    Field(
        default=None,
        description="Logs that a plan is checked with: which policy takes each of them today "
        "and tomorrow. The file, or `{file, onMismatch}`: docs/policy-impact.md.",
    ),
]


OnMismatch: TypeAlias = Literal["report", "rollback"]
"""The action of an apply if the service's result for samples differs from the prediction."""


@dataclass(frozen=True, slots=True)
class PolicySample:
    """A log of the samples file, by the fields that policies match; `severity` as the API names it.

    `expects` says whether the row names a policy; `policy` is that policy, "" for no policy.
    """

    application: str
    subsystem: str
    severity: str
    policy: str = ""
    expects: bool = False

    @property
    def severity_word(self) -> str:
        """The severity as people write it."""
        return self.severity.removeprefix("SEVERITY_").lower()

    @property
    def log(self) -> str:
        """The log, for a sentence."""
        return f"{quoted_pair(self.application, self.subsystem)} {self.severity_word}"


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of an environment, and what to do if their result is another."""

    rows: tuple[PolicySample, ...]
    on_mismatch: OnMismatch = "report"


@dataclass(frozen=True, slots=True)
class Met:
    """The policy that takes a log, and the priority that it gives; both "" for no policy."""

    policy: str = ""
    priority: str = ""

    @property
    def priority_word(self) -> str:
        """The priority as people write it, "" for none."""
        return self.priority.removeprefix("PRIORITY_TYPE_").lower()


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """The result for one sample before and after the change; None if it is unknown."""

    sample: PolicySample
    before: Met | None
    after: Met | None

    @property
    def turns(self) -> bool:
        """Return whether its policy or priority changes; False if one side is unknown."""
        return None not in (self.before, self.after) and self.before != self.after

    @property
    def fails(self) -> bool:
        """Return whether it expects another policy than it will have."""
        return (
            self.sample.expects
            and self.after is not None
            and self.after.policy != self.sample.policy
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyImpact:
    """The effect of a plan on the samples.

    `before` is reported by the service, and `after` is what the evaluator computes for the list
    that would be live. `agreement` is the share of the samples for which the evaluator agrees with
    the service about the live list; None if the service could not be asked, and `unasked` says why.
    `recalled` are policies with severities from the journal; `unknown` are policies with unknown
    severities. `writes` is whether an apply would overwrite the list. `of_base` says that a
    revision was used instead of the live service.
    """

    formats: ClassVar[str] = "reconciler.features.policy_samples.policy_impact_formats:FORMATS"
    answers: tuple[SampleAnswer, ...]
    agreement: float | None = None
    shadowed: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unasked: str = ""
    on_mismatch: OnMismatch = "report"
    writes: bool = True
    of_base: bool = False
    disagreeing: tuple[SampleAnswer, ...] = field(default=())
    """Samples for which service (`before`) and evaluator (`after`) differ about the live list."""

    @property
    def asked(self) -> str:
        """The name of what gave `before`: the service, or the emulator for a revision."""
        return "emulator" if self.of_base else "service"

    @property
    def sides(self) -> tuple[str, str]:
        """The names of before and after: today and tomorrow, or the revision and this."""
        return ("revision", "this") if self.of_base else ("today", "tomorrow")

    @property
    def changes(self) -> Sequence[SampleAnswer]:
        """The samples that change policy or priority."""
        return [answer for answer in self.answers if answer.turns]

    @property
    def failures(self) -> Sequence[SampleAnswer]:
        """The samples that will not have the policy that they expect."""
        return [answer for answer in self.answers if answer.fails]

    @property
    def is_quiet(self) -> bool:
        """Return whether the list stays and each sample is as expected: there is nothing to say.

        A sample that already meets another policy than it expects is shown in every plan.
        """
        return not (self.writes or self.failures or self.unasked or self.disagreeing)
