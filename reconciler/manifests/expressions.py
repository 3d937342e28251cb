"""`${var:}`, `${secret:}` and `${ref:}` in manifests. Source: design.md, part 4.

Every other `${...}` is data: dashboards and templates use such forms themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.document import Json, Path
from reconciler.finding import Finding, nearest
from reconciler.project import Variable
from reconciler.resource import Ref
from reconciler.template import RefHole, SecretHole, Template, seal

_EXPRESSION = re.compile(r"\$\$\{|\$\{(var|secret|ref):([^}]*)(\}?)")
_NAMES = {
    "var": re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*"),
    "secret": re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    "ref": re.compile(r"[A-Za-z]+/[a-z0-9][a-z0-9._-]*"),
}
_FORMS = {"var": "${var:NAME}", "secret": "${secret:NAME}", "ref": "${ref:Kind/name}"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions may name in one environment.

    `secrets` is None where none are needed, as in `validate`: then any name
    will do and stands for itself.
    """

    environment: str
    variables: Mapping[str, Variable] = field(default_factory=dict)
    secrets: Mapping[str, str] | None = None
    salt: str = ""


@dataclass(slots=True)
class Filled:
    """A document after its expressions were read."""

    document: Json
    findings: list[Finding] = field(default_factory=list)
    references: list[tuple[Path, Ref]] = field(default_factory=list)


def fill(document: Json, scope: Scope) -> Filled:
    """Put variables in, seal secrets, and leave references open; errors at their place."""
    filled = Filled(document)
    filled.document = _walk(document, scope, (), filled)
    return filled


def _walk(document: Json, scope: Scope, path: Path, filled: Filled) -> Json:
    if isinstance(document, dict):
        return {key: _walk(value, scope, (*path, key), filled) for key, value in document.items()}
    if isinstance(document, list):
        return [_walk(item, scope, (*path, index), filled) for index, item in enumerate(document)]
    if isinstance(document, str) and "${" in document:
        return _fill_text(document, scope, path, filled)
    return document


def _fill_text(text: str, scope: Scope, path: Path, filled: Filled) -> Json:
    parts: list[str | SecretHole | RefHole] = []
    end = 0
    for match in _EXPRESSION.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        kind, name, closed = match.groups()
        if kind is None:
            parts.append("${")
            continue
        if not closed or not _NAMES[kind].fullmatch(name):
            said = f"`{match.group()}` is malformed: write {_FORMS[kind]}, or $${{ for a literal"
            filled.findings.append(Finding("M504", path, said))
            parts.append(match.group())
        elif kind == "var":
            value = _variable(name, scope, path, filled)
            if match.group() == text:
                return value
            parts.append(value if isinstance(value, str) else _spelled(value))
        elif kind == "secret":
            parts.append(_secret(name, scope, path, filled))
        else:
            parts.append(_reference(name, path, filled))
    parts.append(text[end:])
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    return Template(tuple(part for part in parts if part != ""))


def _variable(name: str, scope: Scope, path: Path, filled: Filled) -> Variable:
    if name in scope.variables:
        return scope.variables[name]
    near = nearest(name, scope.variables)
    known = f" (it has {', '.join(sorted(scope.variables))})" if scope.variables else ""
    said = f"environment `{scope.environment}` has no variable `{name}`{known}"
    if not scope.variables:
        said += f": declare it in reconciler.yaml, environments.{scope.environment}.variables"
    filled.findings.append(Finding("M501", path, said, suggestion=near and f"${{var:{near}}}"))
    return f"${{var:{name}}}"


def _spelled(value: Variable) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _secret(name: str, scope: Scope, path: Path, filled: Filled) -> SecretHole:
    if scope.secrets is None:
        return SecretHole(name, "", "not read")
    value = scope.secrets.get(name, "")
    if value == "":
        said = f"`${{secret:{name}}}` needs the environment variable {name}, which is not set"
        filled.findings.append(Finding("M502", path, said))
    return SecretHole(name, value, seal(value, name, scope.salt) if value else "not set")


def _reference(name: str, path: Path, filled: Filled) -> RefHole:
    ref = Ref(*name.split("/", 1))
    filled.references.append((path, ref))
    return RefHole(ref)


def reference_findings(
    references: Sequence[tuple[Path, Ref]], known: Mapping[Ref, bool], environment: str
) -> Iterator[Finding]:
    """Yield the references that lead nowhere. `known` tells which are in this environment."""
    for path, ref in references:
        if known.get(ref):
            continue
        if ref in known:
            said = (
                f"`{ref}` is limited to other environments than `{environment}` "
                "by its metadata.environments"
            )
            yield Finding("M503", path, said)
            continue
        near = nearest(str(ref), map(str, known))
        said = f"there is no `{ref}` in this workspace"
        yield Finding("M503", path, said, suggestion=near and f"${{ref:{near}}}")
