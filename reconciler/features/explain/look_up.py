"""Look-up of a typed text: a field, a code, or candidates; examples and whole manifests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from reconciler.document import Json
from reconciler.errors import UsageError
from reconciler.features.explain.field_reference import (
    EXAMPLE_SHORT_ID,
    EXAMPLE_UUID,
    FREE,
    MANIFESTS,
    PROJECT,
    Field,
    Need,
    all_fields,
    chosen_of,
    roots,
)
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.field_traits import MANIFEST, Part
from reconciler.model import API_VERSION, Manifest
from reconciler.operations.open_project import Options, open_project
from reconciler.operations.open_session import open_workspace
from reconciler.project import choose_environment
from reconciler.project.levels import with_figures
from reconciler.redaction.templates import written_out
from reconciler.report.explanations.pages import Explanation, codes, explanation, spelled
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.compose import laid_out
from reconciler.workspace.expression_scope import Scope, withheld_from

_FILE = "reconciler.yaml"


@dataclass(frozen=True, slots=True)
class Several:
    """A short path that ends several fields."""

    typed: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A text without a match; `near` is the nearest name, "" where none is near."""

    typed: str
    near: str


Subject: TypeAlias = Field | Explanation | Several | Nothing


def look_up(typed: str) -> Subject:
    """Return what a text names: a code, a value, the path of a field, or the end of a path.

    Case is ignored, and lists need no index. An exact match takes precedence over a prefix.
    """
    explained = explanation(spelled().get(typed.casefold(), ""))
    if explained is not None:
        return explained
    steps = _steps(typed)
    # The name of a kind is also a value of `kind`.
    exactly = tuple(_matching(steps, _is_present))
    valued = tuple(field for field in all_fields() if typed.upper() in field.values)
    if valued and not exactly:
        return valued[0] if len(valued) == 1 else _general(valued) or Several(typed, valued)
    for rule in (_is_present, _ends_so, _begins_so):
        found = tuple(_matching(steps, rule))
        if found:
            return found[0] if len(found) == 1 else _general(found) or Several(typed, found)
    return Nothing(typed, _near(typed, steps))


def _general(found: Sequence[Field]) -> Field | None:
    """Return the field of all manifests where kinds have it at one path; None where they do not."""
    alike = {field.path for field in found}
    return next((field for field in found if field.root == MANIFESTS and len(alike) == 1), None)


def addresses() -> Iterator[str]:
    """Yield the name of everything that can be explained."""
    yield from codes()
    for field in all_fields():
        yield field.address


def _steps(typed: str) -> list[str]:
    """Return the steps of a path, without `spec` and indices."""
    if typed == _FILE or typed.startswith((f"{_FILE}.", f"{_FILE}:")):
        typed = PROJECT + typed.removeprefix(_FILE).replace(":", ".", 1)
    bare = typed.replace("[", ".").replace("]", "")
    steps = [step for step in bare.casefold().split(".") if step and step not in {"*", "spec"}]
    return [step for step in steps if not step.isdecimal()] or [typed.casefold()]


MatchRule: TypeAlias = Callable[[Sequence[str], Sequence[str]], bool]


def _matching(steps: Sequence[str], rule: MatchRule) -> Iterator[Field]:
    for field in all_fields():
        if rule(steps, [step.casefold() for step in (field.root, *field.path)]):
            yield field


def _is_present(steps: Sequence[str], own: Sequence[str]) -> bool:
    return list(steps) == list(own)


def _ends_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether a path ends in the last typed step and contains the others in order."""
    return steps[-1] == own[-1] and _leads(steps, own)


def _begins_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    return own[-1].startswith(steps[-1]) and _leads(steps[:-1], own[:-1])


def _leads(steps: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether a path contains the steps in order; a kind must be its root."""
    if steps and steps[0] in _ROOTS and steps[0] != own[0]:
        return False
    rest = iter(own)
    return all(step in rest for step in steps)


_ROOTS = frozenset(name.casefold() for name in roots())


def _near(typed: str, steps: Sequence[str]) -> str:
    """Return the nearest code or path, with each step of the path matched alone."""
    code = spelled().get(with_figures(typed).casefold()) or nearest(typed, codes())
    if code:
        return code
    values = {value for field in all_fields() for value in field.values}
    value = nearest(typed, values) if "_" in typed else ""
    if value:
        return value
    known = {step.casefold(): step for field in all_fields() for step in (field.root, *field.path)}
    meant = [step if step in known else nearest(step, known) for step in steps]
    if not all(meant) or list(meant) == list(steps):
        return ""
    for rule in (_is_present, _ends_so, _begins_so):
        found = next(_matching(meant, rule), None)
        if found is not None:
            exact = rule is _is_present
            return found.address if exact else ".".join(known.get(text, text) for text in meant)
    return ""


_DEEPEST = 6
_FIRST_KIND: Final = next(iter(BY_NAME))

# By the last steps of the path, the longest first: values that a type alone does not imply.
WORDS: Final[Mapping[tuple[str, ...], Json]] = {
    ("dashboard", "id"): EXAMPLE_SHORT_ID,
    ("rules", "name"): "alerts-have-a-description",
    ("rules", "check"): "has(resource.spec.description)",
    ("rules", "message"): "say what is wrong",
    ("rules", "until"): "2027-03-31",
    ("examples", "pass"): [{"kind": _FIRST_KIND, "spec": {"description": "Orders are paid."}}],
    ("examples", "fail"): [{"kind": _FIRST_KIND, "spec": {"name": "Checkout"}}],
    ("relativeTimeFrame",): "900s",
    ("segments",): ["Shop"],
    ("targetThresholdPercentage",): 99.9,
    ("forOverPct",): 100,
    ("minNonNullValuesPct",): 50,
    ("hours",): 9,
    ("startTime", "minutes"): 30,
    ("endTime", "minutes"): 30,
    ("height",): 19,
    ("threshold",): 5,
    ("seconds",): 900,
    ("caption",): "Last 15 minutes",
    ("fromTime",): "2026-11-01T00:00:00Z",
    ("toTime",): "2026-11-02T00:00:00Z",
    ("absoluteTimeFrame", "from"): "2026-11-01T00:00:00Z",
    ("absoluteTimeFrame", "to"): "2026-11-02T00:00:00Z",
    ("metricTimeWindowDynamicDuration",): "1h15m",
    ("query",): 'sum(rate(http_requests_total{code!~"5.."}[5m]))',
    ("searchQuery", "query"): "severity:error AND service:checkout",
    ("promql",): 'sum(rate(http_requests_total{code=~"5.."}[5m]))',
    ("luceneQuery",): "severity:error AND service:checkout",
    ("queryLanguage", "query", "text"): "severity:error",
    ("messageTemplate",): "Deploy of {{ service }}",
    ("template",): "{{ alert.name }}",
    ("fieldName",): "channel",
    ("emails",): ["team@example.com"],
    ("description",): "Orders are paid.",
    ("name",): "Checkout",
    ("displayName",): "Team",
    ("title",): "Errors",
    ("label",): "team",
    ("metric",): "http_requests_total",
    ("grouping", "labels"): ["region"],
    ("groupByKeys",): ["service"],
    ("selectedValues",): {"checkout": True},
    ("keypath",): ["service"],
    ("key",): "http.method",
    ("file",): "exports/shop.json",
    ("markdown",): {"markdownText": "# Checkout"},
    ("gauge",): {"min": 0, "max": 100},
    ("folderId", "value"): EXAMPLE_UUID,
    ("widgetIds",): [EXAMPLE_UUID],
    ("widgetId",): EXAMPLE_UUID,
    ("repetitiveVar",): "team",
    ("manifests",): ["."],
    ("exclude",): ["charts", "**/*.tpl.yaml"],
    ("defaultEnvironment",): "production",
    ("trustedBranches",): ["release"],
    ("baseUrl",): "https://api.example.com",
    ("baseline",): "baseline.jsonl",
    ("journal",): "git:refs/reconciler/production",
    ("data",): ".reconciler/local.db",
    ("variables",): {"team": "payments"},
    ("allow",): ["slo-target-lowered"],
    ("maxChanges",): 20,
    ("windows", "cron"): "0 18 * * 5",
    ("windows", "for"): "63h",
    ("windows", "timezone"): "Europe/Berlin",
    ("windows", "reason"): "No changes over the weekend.",
    ("incidents", "severities"): ["critical", "error"],
    ("policySamples", "file"): "policy-samples.yaml",
    ("driftIgnore", "path"): "description",
    ("reason",): "The service writes it again.",
    ("driftIgnore", "kind"): _FIRST_KIND,
    ("driftIgnore", "name"): "checkout-*",
    ("reads", FREE, "path"): "/v3/alerts/{id}",
    ("lists", "path"): "/v3/alerts",
    ("record",): "data",
    ("spec",): "properties",
    ("items",): "items",
    ("lists", "name"): "name",
    ("textField",): "text",
    ("closeBodyField",): "ids",
}
_FREE_NAMES: Final = {
    "environments": "production",
    "kinds": _FIRST_KIND,
    "lists": _FIRST_KIND,
    "secrets": "CHANNEL",
    "checks": "L201",
}
_UNREADABLE: Final = next(kind.name for kind in KINDS if not kind.readable)


def value_of(field: Field, depth: int = 0) -> Json:
    """Return an example of a field's value, with the inner fields that the service needs."""
    found = _describe_by(field)
    if found is None:
        found = _inside(field, depth) if field.model is not None else _plain(field)
        if field.each == "list":
            return [found]
    if field.each == "mapping" and not isinstance(found, dict | list):
        return {_FREE_NAMES.get(field.name, "team"): found}
    if field.each == "mapping" and field.model is not None:
        return {_FREE_NAMES.get(field.name, "production"): found}
    return found


def document_of(field: Field) -> dict[str, Json]:
    """Return an example of a field at its place, from the top of a file; lists have one item."""
    if field.root == PROJECT:
        return _wrapped(field)
    if not field.path:
        needed = {name for name, known in MANIFEST.items() if known.required}
        around = {child.name: child.example for child in field.fields if child.name in needed}
        known = BY_NAME.get(field.root)
        return {**around, "spec": dict(known.example) if known is not None else {}}
    outside = field.path and field.path[0] in MANIFEST
    return _wrapped(field) if outside else {"spec": _wrapped(field)}


def _wrapped(field: Field) -> dict[str, Json]:
    """Return a field's value inside all its parents."""
    around = [roots()[field.root]]
    for step in field.path:
        around.append(next(field for field in around[-1].fields if field.name == step))
    value = value_of(field)
    if not field.path:
        assert isinstance(value, dict)  # noqa: S101 - a root is a mapping
        return value
    for outer, inner in zip(reversed(around[:-1]), reversed(around[1:]), strict=True):
        name = _UNREADABLE if inner.name == FREE else inner.name
        value = _beside(outer, inner, {name: value})
        if outer.path and outer.each == "list":
            value = [value]
        elif outer.path and outer.each == "mapping":
            value = {_FREE_NAMES[outer.name]: value}
    assert isinstance(value, dict)  # noqa: S101 - what encloses a field is a mapping
    return value


def _beside(outer: Field, inner: Field, value: dict[str, Json]) -> dict[str, Json]:
    """Return a mapping with the fields that the project file needs next to a field."""
    if outer.root != PROJECT:
        return value
    needed = (
        field for field in outer.fields if field.need is Need.REQUIRED or field.name == inner.name
    )
    return {field.name: value_of(field) for field in needed} | value


def _describe_by(field: Field) -> Json:
    if field.example is not None or field.model is not None:
        return field.example
    steps = (field.root, *field.path)
    for length in range(len(steps), 0, -1):
        if steps[-length:] in WORDS:
            return WORDS[steps[-length:]]
    return None


def _inside(field: Field, depth: int) -> dict[str, Json]:
    """Return the needed fields with values; without any, the first field that may be written."""
    writable = [child for child in field.fields if child.read_only is None]
    needed = [field for field in writable if field.need is not Need.OPTIONAL]
    model = field.model
    if model is not None and issubclass(model, Part):
        for group in model.alternatives:
            if chosen_of(model) and not any(field.name in group for field in needed):
                needed += [field for field in writable if field.name in group][:1]
    chosen = needed or writable[:1]
    if depth >= _DEEPEST:
        return {}
    return {field.name: value_of(field, depth + 1) for field in chosen}


def _plain(field: Field) -> Json:
    if field.values:
        specified = [value for value in field.values if not value.endswith("UNSPECIFIED")]
        return (specified or list(field.values))[0]
    if field.refers:
        return expression(ExpressionKind.REFERENCE, f"{field.refers}/checkout")
    if field.default:
        if field.form == "whole number":
            return int(field.default)
        return field.default == "true" if field.form == "true or false" else field.default
    forms: dict[str, Json] = {
        "text": "checkout",
        "list of text": "checkout",
        "true or false": True,
        "whole number": 10,
        "number": 10,
        "whole number, best written as text": "1000",
        "mapping": {},
        "mapping of true or false by name": True,
        "mapping of text by name": "payments",
    }
    if any("uuid" in bound for bound in field.bounds):
        return EXAMPLE_UUID
    return forms.get(field.form, "checkout")


def expanded(options: Options, name: str) -> str:
    """Return the manifest of a resource, `Kind/name`, as YAML.

    Overrides, items, variables and files are filled in. Secrets and references stay expressions, so
    the text declares the same resource and shows no secret. No secret is read. Raises UsageError
    for a resource that is not declared, and InvalidInput for a workspace with errors, after
    reporting them.
    """
    project = open_project(options)
    environment, chosen = choose_environment(project, options.environment)
    scope = Scope(environment, chosen.variables, withheld=withheld_from(os.environ))
    known = {
        str(manifest.ref): manifest
        for manifest in open_workspace(options, project, scope).manifests
    }
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"no manifest of `{environment}` declares {name}{hint}")
    made = known[name]
    comment = f"{made.source}, for {environment}"
    return laid_out(expanded_document(made), {("apiVersion",): comment})


def expanded_document(made: Manifest) -> dict[str, Json]:
    """Return a manifest as one document that declares the same, with everything filled in."""
    metadata: dict[str, Json] = {"name": made.ref.name}
    if made.remote_id is not None:
        metadata["id"] = made.remote_id
    if made.labels:
        metadata["labels"] = written_out(dict(made.labels))
    if made.protect:
        metadata["protect"] = True
    return {
        "apiVersion": API_VERSION,
        "kind": made.ref.kind,
        "metadata": metadata,
        "spec": written_out(made.spec),
    }
