"""What expressions are read in, what each becomes, and what no manifest may have.

`filling.py` walks a document and fills it in; here stand the scope, variables, secrets and references.

Source: docs/manifests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from reconciler.api.secret import API_KEY
from reconciler.document import Json, Path
from reconciler.expressions import (
    Expression,
    Spot,
    Word,
    expression,
)
from reconciler.kinds.type_errors import name_of
from reconciler.manifests.inserting import Inside, along
from reconciler.manifests.selection import EVERYTHING, Selection
from reconciler.project import Variable
from reconciler.resource import Ref
from reconciler.sealed import SecretHole, Template, named_values, seal
from reconciler.slips import nearest
from reconciler.source.diagnostic import REMOVE, Advice, Finding
from reconciler.source.parsed import Graft

_KEYS = (API_KEY, "INPUT_API_KEY")

# By a variable that each system sets: how the names of all that it sets begin.
_SYSTEMS = {
    "GITHUB_ACTIONS": ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"),
    "GITLAB_CI": ("CI_", "GITLAB_"),
    "CIRCLECI": ("CIRCLE_",),
    "BUILDKITE": ("BUILDKITE_",),
    "BITBUCKET_BUILD_NUMBER": ("BITBUCKET_",),
    "TF_BUILD": ("SYSTEM_", "BUILD_", "AGENT_"),
    "JENKINS_URL": ("JENKINS_", "BUILD_", "HUDSON_"),
}

# Refused everywhere, so that a manifest which a job would refuse is not good on a desk.
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


@dataclass(frozen=True, slots=True)
class Withheld:
    """What is withheld in one process: names, how names begin, and values by their names.

    A value that is shorter than eight characters is not looked for inside others.
    """

    prefixes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def why(self, name: str, value: str) -> str:
        """Say why `${secret:NAME}` is refused, "" where it is not.

        `value` is "" where no secrets are read.
        """
        if name in _KEYS:
            return "is the API key, which must never stand in what the service stores and shows"
        if name in _CREDENTIALS or name.startswith(self.prefixes):
            return "belongs to the CI system, whose credentials must not be sent to the service"
        return self.why_text(value) or self._why_equal(value)

    def why_text(self, text: str) -> str:
        """Say why a text that would be sent is refused, "" where it is not."""
        for name, secret in self.values.items():
            if _is_long(secret) and secret in text:
                return f"holds the value of {name}, which must not be sent to the service in a body"
        return ""

    def _why_equal(self, value: str) -> str:
        for name, secret in self.values.items():
            if value == secret:
                return f"has the value of {name}, which must not be sent to the service in a body"
        return ""

    def stands_in(self, text: str) -> bool:
        """Tell whether one of the values stands in the text of a whole file."""
        return bool(self.why_text(text))

    def findings(self, document: Json, path: Path = ()) -> Iterator[Finding]:
        """Yield the texts of a document that would send such a value, however they came by it."""
        if any(map(_is_long, self.values.values())) and self._may_hold(document):
            yield from self._found(document, path)

    def _may_hold(self, document: Json) -> bool:
        """Look through a whole document without keeping track of places, which is what costs."""
        rest, texts = [document], list[str]()
        while rest:
            value = rest.pop()
            if isinstance(value, str):
                texts.append(_sent(value))
            elif isinstance(value, dict):
                rest.extend(value.values())
            elif isinstance(value, list):
                rest.extend(value)
        return self.stands_in("\n".join(texts))

    def _found(self, document: Json, path: Path) -> Iterator[Finding]:
        match document:
            case str():
                if why := self.why_text(_sent(document)):
                    yield Finding(WITHHELD, path, f"{name_of(path)} {why}", suggestion=REMOVE)
            case dict():
                for key, value in document.items():
                    yield from self._found(value, (*path, key))
            case list():
                for index, item in enumerate(document):
                    yield from self._found(item, (*path, index))
            case _:
                return


def _is_long(value: str) -> bool:
    """Tell a value that is looked for inside others."""
    return len(value) >= SHORTEST_FOUND_INSIDE


def _sent(text: str) -> str:
    """Give what will be sent of a text, references aside."""
    if not isinstance(text, Template):
        return text
    values = (part.value if isinstance(part, SecretHole) else part for part in text.parts)
    return "".join(value for value in values if isinstance(value, str))


def withheld_from(environ: Mapping[str, str]) -> Withheld:
    """Give what is withheld in a process with these variables."""
    systems = (prefixes for marker, prefixes in _SYSTEMS.items() if environ.get(marker))
    prefixes = tuple(prefix for some in systems for prefix in some)
    names = [
        name
        for name in sorted(environ)
        if name in _CREDENTIALS
        or (name.startswith(prefixes) and any(word in name for word in _SECRET_WORDS))
    ]
    found = {name: environ.get(name, "").strip() for name in (*_KEYS, *names)}
    return Withheld(prefixes, {name: value for name, value in found.items() if value})


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
    variables: Mapping[str, Variable] = field(default_factory=dict)
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
    """A document after its expressions were read."""

    document: Json
    findings: list[Finding] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    grafts: dict[Path, Graft] = field(default_factory=dict)
    inside: Inside | None = None


def variable_of(part: Expression, scope: Scope, path: Path, filled: Filled) -> Json:
    """Give what a variable stands for, or the expression itself where there is none."""
    name = part.name
    found = along(scope.variables, name)
    if found is not None:
        return found[1]
    near = nearest(name, scope.variables)
    known = f" (it has {', '.join(sorted(scope.variables))})" if scope.variables else ""
    said = f"environment `{scope.environment}` has no variable `{name}`{known}"
    if not scope.variables:
        said += f": declare it in reconciler.yaml, environments.{scope.environment}.variables"
    meant = near and expression(Word.VARIABLE, near)
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
    # A mapping that looks values up is empty to whoever counts, and still has them.
    secrets = {} if scope.secrets is None or name in scope.unread else scope.secrets
    value = "" if scope.withheld.why(name, "") else secrets.get(name, "")
    if why := scope.withheld.why(name, value):
        said = f"`{part.spot.written}` {why}"
        repair = Advice("remove it, or name a secret of your own")
        filled.findings.append(Finding(WITHHELD, path, said, suggestion=repair, spot=part.spot))
        return SecretHole(name, "", "withheld")
    if scope.secrets is None or name in scope.unread:
        return SecretHole(name, "", "not read")
    if value == "" and scope.may_lack:
        value = f"{NOT_SET}{name}"
    if value == "":
        why = scope.why_unset(name) or f"needs the environment variable {name}, which is not set"
        said = f"`{part.spot.written}` {why}"
        repair = Advice(f"set it, or say under `secrets:` in the project file where {name} is")
        filled.findings.append(Finding("M502", path, said, suggestion=repair, spot=part.spot))
    return SecretHole(name, value, seal(value, name, scope.salt()) if value else "not set")


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
        said = f"there is no `{ref}` in this workspace"
        meant = near and expression(Word.REFERENCE, near)
        yield Finding("M503", path, said, suggestion=meant, spot=spot)
