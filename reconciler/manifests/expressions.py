"""Filling in `${var:}`, `${secret:}` and `${ref:}`, and what no manifest may have.

Source: docs/manifests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from reconciler.api.secret import API_KEY
from reconciler.document import Json, Path
from reconciler.expressions import (
    LITERAL,
    OPEN,
    Expression,
    Malformed,
    NearMiss,
    Spot,
    Word,
    expression,
    form_of,
    parts_of,
)
from reconciler.kinds.type_errors import name_of
from reconciler.project import Variable
from reconciler.resource import Ref
from reconciler.sealed import RefHole, SecretHole, Template, named_values, seal
from reconciler.slips import nearest
from reconciler.source.diagnostic import REMOVE, Advice, Finding, Severity

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
    what may be no secret of a manifest. With `may_lack`, as where nothing is sent, one that is
    not set is another value than any that is live.
    """

    environment: str
    variables: Mapping[str, Variable] = field(default_factory=dict)
    secrets: Mapping[str, str] | None = None
    salt: Callable[[], str] = lambda: ""
    withheld: Withheld = field(default_factory=Withheld)
    may_lack: bool = False


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


def fill(document: Json, scope: Scope) -> Filled:
    """Put variables in, seal secrets, and leave references open; errors at their place."""
    filled = Filled(document)
    filled.document = _walk(document, scope, (), filled)
    filled.findings.extend(scope.withheld.findings(filled.document))
    return filled


def _walk(document: Json, scope: Scope, path: Path, filled: Filled) -> Json:
    if isinstance(document, dict):
        return {key: _walk(value, scope, (*path, key), filled) for key, value in document.items()}
    if isinstance(document, list):
        return [_walk(item, scope, (*path, index), filled) for index, item in enumerate(document)]
    if isinstance(document, str) and OPEN in document:
        return _fill_text(document, scope, path, filled)
    return document


def _fill_text(text: str, scope: Scope, path: Path, filled: Filled) -> Json:
    parts: list[str | SecretHole | RefHole] = []
    for part in parts_of(text):
        match part:
            case str():
                parts.append(part)
            case Expression(word=Word.VARIABLE) if part.spot.written == text:
                return _variable(part, scope, path, filled)
            case Expression():
                parts.append(_hole(part, scope, path, filled))
            case Malformed() | NearMiss():
                filled.findings.append(_wrong(part, path))
                parts.append(part.spot.written)
            case _:
                assert_never(part)
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    return Template(tuple(part for part in parts if part != ""))


def _hole(part: Expression, scope: Scope, path: Path, filled: Filled) -> str | SecretHole | RefHole:
    match part.word:
        case Word.VARIABLE:
            return spelled(_variable(part, scope, path, filled))
        case Word.SECRET:
            return _secret(part, scope, path, filled)
        case Word.REFERENCE:
            ref = Ref(*part.name.split("/", 1))
            filled.references.append(Reference(path, ref, part.spot))
            return RefHole(ref)
        case _:
            assert_never(part.word)


def _wrong(part: Malformed | NearMiss, path: Path) -> Finding:
    written = part.spot.written
    match part:
        case Malformed(word=word):
            said = f"`{written}` is malformed: write {form_of(word)}, or {LITERAL} for a literal"
            return Finding("M504", path, said, spot=part.spot)
        case NearMiss(meant=meant, sure=sure):
            literal = f"${written}"
            said = (
                f"`{written}` is no expression, though near one: write `{literal}` for a literal"
                if sure
                else f"`{written}` is sent as text; `{literal}` says that this is meant"
            )
            severity = Severity.ERROR if sure else Severity.WARNING
            return Finding("M504", path, said, severity, meant, spot=part.spot)
        case _:
            assert_never(part)


def _variable(part: Expression, scope: Scope, path: Path, filled: Filled) -> Variable:
    name = part.name
    if name in scope.variables:
        return scope.variables[name]
    near = nearest(name, scope.variables)
    known = f" (it has {', '.join(sorted(scope.variables))})" if scope.variables else ""
    said = f"environment `{scope.environment}` has no variable `{name}`{known}"
    if not scope.variables:
        said += f": declare it in reconciler.yaml, environments.{scope.environment}.variables"
    meant = near and expression(Word.VARIABLE, near)
    filled.findings.append(Finding("M501", path, said, suggestion=meant, spot=part.spot))
    return part.spot.written


def spelled(value: Variable) -> str:
    """Give a variable as it stands inside a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NOT_SET: Final = "\0"
"""What the value of a secret begins with that is not set: no text of a service holds it."""


def lacking(document: Json) -> list[str]:
    """Give the names of the secrets in a document that are not set, where they may lack."""
    found = named_values(document)
    return sorted(name for name, value in found.items() if value.startswith(NOT_SET))


def _secret(part: Expression, scope: Scope, path: Path, filled: Filled) -> SecretHole:
    name = part.name
    value = scope.secrets.get(name, "") if scope.secrets is not None else ""
    if why := scope.withheld.why(name, value):
        said = f"`{part.spot.written}` {why}"
        repair = Advice("remove it, or name a secret of your own")
        filled.findings.append(Finding(WITHHELD, path, said, suggestion=repair, spot=part.spot))
        return SecretHole(name, "", "withheld")
    if scope.secrets is None:
        return SecretHole(name, "", "not read")
    if value == "" and scope.may_lack:
        value = f"{NOT_SET}{name}"
    if value == "":
        said = f"`{part.spot.written}` needs the environment variable {name}, which is not set"
        filled.findings.append(Finding("M502", path, said, spot=part.spot))
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
