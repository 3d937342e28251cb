"""Scope of expressions, and the values of variables, secrets and references in it.

`interpolate.py` walks a document and fills in the values.
Source: docs/manifests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from reconciler.document import Json, Path
from reconciler.model import Member, Ref
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import SecretHole, named_values, seal
from reconciler.syntax.diagnostic import Advice, Complaint, Finding
from reconciler.syntax.expressions import ExpressionKind, Spot, expression
from reconciler.syntax.parsed_text import DocumentText, Graft
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.secret_scan import Withheld
from reconciler.workspace.selection import EVERYTHING, Selection


def along(values: Mapping[str, Json], name: str) -> tuple[Path, Json] | None:
    """Return the value of a name and the steps to it: a key, or keys joined by dots.

    The longest key that leads on is used. Returns None if there is no value.
    """
    steps: list[str] = []
    while name not in values:
        at = name.rfind(".")
        while at > 0 and not isinstance(values.get(name[:at]), dict):
            at = name.rfind(".", 0, at)
        inner = values.get(name[:at]) if at > 0 else None
        if not isinstance(inner, dict):
            return None
        steps.append(name[:at])
        name, values = name[at + 1 :], inner
    return (*steps, name), values[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One item of a `forEach`: its values and its place.

    `keys` are the keys of all items. Keys that a manifest uses are added to `used`; `named` are the
    keys that were used before.
    """

    values: Mapping[str, Json]
    text: DocumentText
    path: Path
    member: Member
    keys: frozenset[str]
    used: set[str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that expressions may use in one environment.

    `secrets` is None where none are needed, as in `validate`: then any name is accepted and no
    value is read. `salt` returns the salt of their seals. `withheld` lists what no manifest may use
    as a secret. `today` is the date for exemptions and rules. With `ruled`, the project's own rules
    are checked. Resources outside `selection` need no secrets, and the secrets in `unread` are not
    needed. `why_unset` returns why the value of a secret is not available. With `may_lack`, where
    nothing is sent, a secret that is not set differs from every live value.
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
        """Return the same scope, in which no secret is needed."""
        return replace(self, secrets=None)


@dataclass(frozen=True, slots=True)
class Reference:
    """A `${ref:}` expression and its place."""

    path: Path
    ref: Ref
    spot: Spot


@dataclass(slots=True)
class Filled:
    """A document after its expressions were read.

    The paths in `unfilled` still hold an expression; the reason is reported at a `forEach` item.
    """

    document: Json
    findings: list[Finding] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    grafts: dict[Path, Graft] = field(default_factory=dict)
    unfilled: set[Path] = field(default_factory=set)


def spelled(value: Json) -> str:
    """Return a variable as text for use inside a longer text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NOT_SET: Final = "\0"
"""Prefix that marks a secret as not set: no text of a service holds this character."""


def lacking(document: Json) -> list[str]:
    """Return the names of the secrets in a document that are not set (see `Scope.may_lack`)."""
    found = named_values(document)
    return sorted(name for name, value in found.items() if value.startswith(NOT_SET))


UNSET: Final = "not set"
"""The seal of a secret that is not set."""


def value_of_secret(name: str, scope: Scope) -> SecretHole:
    """Return the hole of a secret with its value in this run, even if it may not be used."""
    # Test for None only: a mapping that looks values up is empty by its length.
    if scope.secrets is None or name in scope.unread:
        return SecretHole(name, "", "not read")
    value = "" if scope.withheld.why(name, "") else scope.secrets.get(name, "")
    if value == "" and scope.may_lack:
        value = f"{NOT_SET}{name}"
    return SecretHole(name, value, seal(value, name, scope.salt()) if value else UNSET)


NOT_DECLARED = Advice("declare it, or write the id of the one that the service has")
LOST_REFERENCE: Final = "M503"


def reference_findings(
    references: Sequence[Reference],
    known: Mapping[Ref, bool],
    environment: str,
    error_around: Callable[[Ref], Complaint | None],
) -> Iterator[Finding]:
    """Yield a finding for each reference without a target; `known` says which refs are here.

    `error_around` returns the error of a file that may declare a resource, and cannot be read.
    """
    for reference in references:
        path, ref, spot = reference.path, reference.ref, reference.spot
        if known.get(ref):
            continue
        if ref in known:
            message = (
                f"`{ref}` is limited to other environments than `{environment}` "
                "by its metadata.environments"
            )
            yield Finding(LOST_REFERENCE, path, message, spot=spot)
            continue
        error = error_around(ref)
        if error is not None:
            place = f"{error.file}:{error.line}" if error.line else error.file
            message = (
                f"`{ref}` may be declared in `{error.file}`, which cannot be read: {error.message}"
            )
            advice = Advice(f"correct {place} first")
            yield Finding(LOST_REFERENCE, path, message, suggestion=advice, spot=spot)
            continue
        near = nearest(str(ref), map(str, known))
        message = f"there is no `{ref}` in the manifests that were read"
        meant = expression(ExpressionKind.REFERENCE, near) if near else NOT_DECLARED
        yield Finding(LOST_REFERENCE, path, message, suggestion=meant, spot=spot)
