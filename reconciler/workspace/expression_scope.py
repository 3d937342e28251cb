"""What expressions are read in, what each becomes, and what no manifest may have.

`interpolate.py` walks a document and fills it in; here stand scope, variables, secrets, references.

Source: docs/manifests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from reconciler.document import Json, Path
from reconciler.expressions import (
    Expression,
    ExpressionKind,
    Spot,
    expression,
)
from reconciler.model import Ref
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import SecretHole, named_values, seal
from reconciler.suggestions import nearest, shortened
from reconciler.syntax.diagnostic import Advice, Finding
from reconciler.syntax.parsed_text import Graft
from reconciler.workspace.inserted_values import Inside, along
from reconciler.workspace.secret_scan import WITHHELD, Withheld
from reconciler.workspace.selection import EVERYTHING, Selection


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions may name in one environment.

    `secrets` is None where none are needed, as in `validate`: then any name
    will do and stands for itself. `salt` gives that of their seals. `withheld` is
    what may be no secret of a manifest, and `today` the day that exemptions and rules must reach.
    With `ruled`, the project's own rules are asked. Of what `selection` leaves out no secret is
    needed, and none of `unread`. `why_unset` says why the value of a secret cannot be had. With
    `may_lack`, as where nothing is sent, one that is not set is another value than any that is
    live.
    """

    environment: str
    variables: Mapping[str, ProjectVariable] = field(default_factory=dict)
    secrets: Mapping[str, str] | None = None
    salt: Callable[[], str] = lambda: ""
    withheld: Withheld = field(default_factory=Withheld)
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    ruled: bool = True
    selection: Selection = EVERYTHING
    unread: frozenset[str] = frozenset()
    why_unset: Callable[[str], str] = lambda _: ""
    may_lack: bool = False

    @property
    def without_secrets(self) -> Scope:
        """The same, where no secret is needed."""
        return replace(self, secrets=None)


@dataclass(frozen=True, slots=True)
class Reference:
    """A `${ref:}` and where it stands."""

    path: Path
    ref: Ref
    spot: Spot


@dataclass(slots=True)
class Filled:
    """A document after its expressions were read.

    What is `unfilled` still holds one, and why is told of an item and not of that place.
    """

    document: Json
    findings: list[Finding] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    grafts: dict[Path, Graft] = field(default_factory=dict)
    inside: Inside | None = None
    unfilled: set[Path] = field(default_factory=set)


def variable_of(part: Expression, scope: Scope, path: Path, filled: Filled) -> Json:
    """Give what a variable stands for, or the expression itself where there is none."""
    name = part.name
    found = along(scope.variables, name)
    if found is not None:
        return found[1]
    near = shortened(name, scope.variables)
    if scope.variables:
        said = f"there is no variable `{name}`: known are {', '.join(sorted(scope.variables))}"
    else:
        said = f"environment `{scope.environment}` has no variable `{name}`"
    declare = f"declare it in reconciler.yaml, environments.{scope.environment}.variables"
    meant = expression(ExpressionKind.VARIABLE, near) if near else Advice(declare)
    filled.findings.append(Finding("M501", path, said, suggestion=meant, spot=part.spot))
    return part.spot.written


def spelled(value: float | str) -> str:
    """Give a variable as it stands inside a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NOT_SET: Final = "\0"
"""What the value of a secret begins with that is not set: no text of a service holds it."""


def lacking(document: Json) -> list[str]:
    """Give the names of the secrets in a document that are not set, where they may lack."""
    found = named_values(document)
    return sorted(name for name, value in found.items() if value.startswith(NOT_SET))


def secret_of(part: Expression, scope: Scope, path: Path, filled: Filled) -> SecretHole:
    """Give the hole of a secret; what is wrong with it is noted."""
    name = part.name
    hole = value_of_secret(name, scope)
    if why := scope.withheld.why(name, hole.value):
        said = f"`{part.spot.written}` {why}"
        repair = Advice("remove it, or name a secret of your own")
        filled.findings.append(Finding(WITHHELD, path, said, suggestion=repair, spot=part.spot))
        return SecretHole(name, "", "withheld")
    if hole.seal == _UNSET:
        why = scope.why_unset(name) or f"needs the environment variable {name}, which is not set"
        said = f"`{part.spot.written}` {why}"
        repair = Advice(f"set it, or say under `secrets:` in the project file where {name} is")
        filled.findings.append(Finding("M502", path, said, suggestion=repair, spot=part.spot))
    return hole


_UNSET: Final = "not set"


def value_of_secret(name: str, scope: Scope) -> SecretHole:
    """Give the hole of a secret as a run has it, whether it may be used or not."""
    # A mapping that looks values up is empty to whoever counts, and still has them.
    if scope.secrets is None or name in scope.unread:
        return SecretHole(name, "", "not read")
    value = "" if scope.withheld.why(name, "") else scope.secrets.get(name, "")
    if value == "" and scope.may_lack:
        value = f"{NOT_SET}{name}"
    return SecretHole(name, value, seal(value, name, scope.salt()) if value else _UNSET)


NOT_DECLARED = Advice(
    "declare it, or write the id of the one that the service has. Where a PATH was given only that "
    "was read: `--select file=PATH` in its place knows the rest too"
)


def reference_findings(
    references: Sequence[Reference], known: Mapping[Ref, bool], environment: str
) -> Iterator[Finding]:
    """Yield the references that lead nowhere. `known` tells which are in this environment."""
    for reference in references:
        path, ref, spot = reference.path, reference.ref, reference.spot
        if known.get(ref):
            continue
        if ref in known:
            said = (
                f"`{ref}` is limited to other environments than `{environment}` "
                "by its metadata.environments"
            )
            yield Finding("M503", path, said, spot=spot)
            continue
        near = nearest(str(ref), map(str, known))
        said = f"there is no `{ref}` in the manifests that were read"
        meant = expression(ExpressionKind.REFERENCE, near) if near else NOT_DECLARED
        yield Finding("M503", path, said, suggestion=meant, spot=spot)
