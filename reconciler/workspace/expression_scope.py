"""Scope of expressions, the values in it, and the secrets that a manifest never sends.

These are the API key, credentials of the CI system, and their values. `interpolate.py` walks a
document and fills in the values. Source: docs/manifests.md, docs/security.md.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Final

from reconciler.document import Json, Path, texts_at, texts_in
from reconciler.kinds.checks import name_of
from reconciler.model import Member, Ref
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import SecretHole, Template, named_values, seal
from reconciler.runtime.connection import KEY_VARIABLES, keys_in
from reconciler.syntax.diagnostic import REMOVE, Advice, Complaint, Finding
from reconciler.syntax.expressions import ExpressionKind, Spot, expression
from reconciler.syntax.parsed_text import DocumentText, Graft
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.selection import EVERYTHING, Selection

# A variable that each system sets, and the prefixes of the names of all its variables.
_SYSTEMS = {
    "GITHUB_ACTIONS": ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"),
    "GITLAB_CI": ("CI_", "GITLAB_"),
    "CIRCLECI": ("CIRCLE_",),
    "BUILDKITE": ("BUILDKITE_",),
    "BITBUCKET_BUILD_NUMBER": ("BITBUCKET_",),
    "TF_BUILD": ("SYSTEM_", "BUILD_", "AGENT_"),
    "JENKINS_URL": ("JENKINS_", "BUILD_", "HUDSON_"),
}

# Refused everywhere, so that a manifest refused in a job is not valid on a desk.
_CREDENTIALS = frozenset(
    (
        *("INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
        *("CI_JOB_TOKEN", "CI_JOB_JWT", "CI_JOB_JWT_V1", "CI_JOB_JWT_V2", "CI_REPOSITORY_URL"),
        *("CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD"),
        *("CIRCLE_OIDC_TOKEN", "CIRCLE_OIDC_TOKEN_V2", "BUILDKITE_AGENT_ACCESS_TOKEN"),
        *("BITBUCKET_STEP_OIDC_TOKEN", "SYSTEM_ACCESSTOKEN"),
    )
)
_SECRET_WORDS = ("TOKEN", "PASSWORD", "SECRET", "JWT", "KEY", "CREDENTIAL")

SHORTEST_FOUND_INSIDE = 8
WITHHELD = "M505"


@dataclass(frozen=True)
class Withheld:
    """Secrets that no manifest may send to the service: prefixes of names, and values by name.

    A value shorter than eight characters is not searched for inside other texts. Texts derived from
    the values are kept here, so that none is in memory after the run.
    """

    prefixes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    _asked: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _forms(self) -> Mapping[str, tuple[str, ...]]:
        """Return the forms of each long value, by its name."""
        return {name: _forms(value) for name, value in self.values.items() if _is_long(value)}

    def why(self, name: str, value: str) -> str:
        """Return why `${secret:NAME}` is refused, or "" if it is not.

        `value` is "" where no secrets are read.
        """
        if name in KEY_VARIABLES:
            return "is the API key, which must never be in what the service stores and shows"
        if name in _CREDENTIALS or name.startswith(self.prefixes):
            return "is a credential of the CI system, and must not be sent to the service"
        return self.why_text(value) or self._why_equal(value)

    def why_text(self, text: str) -> str:
        """Return why a text that would be sent is refused, or "" if it is not."""
        for name, forms in self._forms.items():
            if any(form in text for form in forms):
                return f"holds the value of {name}, which must not be sent to the service in a body"
        return ""

    def _why_equal(self, value: str) -> str:
        for name, secret in self.values.items():
            if value == secret:
                return f"has the value of {name}, which must not be sent to the service in a body"
        return ""

    def lies_in(self, text: str) -> bool:
        """Return whether one of the values is in the text of a whole file."""
        if text not in self._asked:
            # A file is checked once for each document in it and each item that makes one.
            self._asked.clear()
            self._asked[text] = bool(self.why_text(text))
        return self._asked[text]

    def findings(self, document: Json, path: Path = ()) -> Iterator[Finding]:
        """Yield the texts of a document that would send such a value, whatever its origin."""
        # Most documents hold none, and are not walked with their places.
        if self._forms and self.why_text("\n".join(map(_sent, texts_in(document)))):
            for place, text in texts_at(document, path):
                if why := self.why_text(_sent(text)):
                    yield Finding(WITHHELD, place, f"{name_of(place)} {why}", suggestion=REMOVE)


def _forms(secret: str) -> tuple[str, ...]:
    """Return a secret and its base64 forms at every position in an encoded text."""
    forms = [secret]
    content = secret.encode("utf-8", "surrogateescape")
    for before in range(3):
        # The first and the last letters also encode bits of the neighbouring text.
        bits = 8 * (before + len(content))
        letters = b64encode(bytes(before) + content).decode()[(8 * before + 5) // 6 : bits // 6]
        if _is_long(letters):
            forms += [letters, letters.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(forms))


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_FOUND_INSIDE


def _sent(text: str) -> str:
    """Return the text that will be sent, without references."""
    if not isinstance(text, Template):
        return text
    values = (part.value if isinstance(part, SecretHole) else part for part in text.parts)
    return "".join(value for value in values if isinstance(value, str))


def withheld_from(environ: Mapping[str, str]) -> Withheld:
    """Return what is withheld in a process with these variables."""
    systems = (prefixes for marker, prefixes in _SYSTEMS.items() if environ.get(marker))
    prefixes = tuple(prefix for group in systems for prefix in group)
    names = [
        name
        for name in sorted(environ)
        if name in _CREDENTIALS
        or (name.startswith(prefixes) and any(word in name for word in _SECRET_WORDS))
    ]
    found = {**keys_in(environ), **{name: environ.get(name, "").strip() for name in names}}
    return Withheld(prefixes, {name: value for name, value in found.items() if value})


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
