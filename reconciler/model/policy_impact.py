"""What a new list of log policies would do to samples of logs. Values only.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

OnMismatch: TypeAlias = Literal["report", "rollback"]
"""What an apply does where the service tells otherwise of samples than was predicted."""


@dataclass(frozen=True, slots=True)
class PolicySample:
    """A log of the samples file, by what policies ask about; `severity` as the API names it.

    `expects` says whether the row names a policy, and `policy` is that one, "" for none at all.
    """

    application: str
    subsystem: str
    severity: str
    policy: str = ""
    expects: bool = False


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of an environment, and what is done where they come out otherwise."""

    rows: tuple[PolicySample, ...]
    on_mismatch: OnMismatch = "report"


@dataclass(frozen=True, slots=True)
class Met:
    """The policy that takes a log, and the priority it gives; both "" where none takes it."""

    policy: str = ""
    priority: str = ""


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """What becomes of one sample today and tomorrow, None where nobody can tell."""

    sample: PolicySample
    before: Met | None
    after: Met | None

    @property
    def turns(self) -> bool:
        """Whether policy or priority of it change, as far as both are known."""
        return None not in (self.before, self.after) and self.before != self.after

    @property
    def fails(self) -> bool:
        """Whether it expects another policy than it will have."""
        return (
            self.sample.expects
            and self.after is not None
            and self.after.policy != self.sample.policy
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyImpact:
    """What a plan does to the samples.

    `before` was told by the service, and `after` is what the evaluator says of the list that
    would be live. `agreement` is the share of the samples for which it says of the list that is
    live what the service tells, None where the service could not be asked, which `unasked`
    explains. `recalled` are policies whose severities are those of the journal, and `unknown` those
    of whose severities nobody knows. `writes` is whether an apply would overwrite the list, and
    `of_base` says that nothing live was asked, and a revision stood for it.
    """

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
    """Where service (`before`) and evaluator (`after`) differ about the list that is live."""

    @property
    def changes(self) -> Sequence[SampleAnswer]:
        """The samples that change policy or priority."""
        return [answer for answer in self.answers if answer.turns]

    @property
    def failures(self) -> Sequence[SampleAnswer]:
        """The samples that will not have the policy that they expect."""
        return [answer for answer in self.answers if answer.fails]
