"""Filling in `${var:}`, `${secret:}` and `${ref:}` in manifests. Source: docs/manifests.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from reconciler.document import Json, Path
from reconciler.expressions import (
    LITERAL,
    OPEN,
    Expression,
    Malformed,
    NearMiss,
    Word,
    expression,
    form_of,
    parts_of,
)
from reconciler.finding import Finding, Severity, Spot, nearest
from reconciler.manifests.withheld import WITHHELD, Withheld
from reconciler.project import Variable
from reconciler.resource import Ref
from reconciler.template import RefHole, SecretHole, Template, seal


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions may name in one environment.

    `secrets` is None where none are needed, as in `validate`: then any name
    will do and stands for itself. `salt` gives that of their seals. `withheld` is
    what may be no secret of a manifest.
    """

    environment: str
    variables: Mapping[str, Variable] = field(default_factory=dict)
    secrets: Mapping[str, str] | None = None
    salt: Callable[[], str] = lambda: ""
    withheld: Withheld = field(default_factory=Withheld)


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
            return _spelled(_variable(part, scope, path, filled))
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


def _spelled(value: Variable) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _secret(part: Expression, scope: Scope, path: Path, filled: Filled) -> SecretHole:
    name = part.name
    value = scope.secrets.get(name, "") if scope.secrets is not None else ""
    if why := scope.withheld.why(name, value):
        said = f"`{part.spot.written}` {why}"
        repair = "remove it, or name a secret of your own"
        filled.findings.append(Finding(WITHHELD, path, said, suggestion=repair, spot=part.spot))
        return SecretHole(name, "", "withheld")
    if scope.secrets is None:
        return SecretHole(name, "", "not read")
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
