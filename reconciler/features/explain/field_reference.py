"""Every field of every kind, of the envelope and of the project file, from its model.

A field is found by what people type, and has an example at its place.
"""

from __future__ import annotations

import json
import os
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from reconciler.document import Json, each_text
from reconciler.errors import UsageError
from reconciler.kinds import BY_NAME, KINDS, field_traits
from reconciler.kinds.field_traits import MANIFEST, MANIFEST_KEYS, METADATA, EnvelopeField, Part
from reconciler.kinds.json_schema import Schema
from reconciler.kinds.kind import UUID, Endpoint
from reconciler.model import API_VERSION, Manifest
from reconciler.model.assumptions import descriptions_of
from reconciler.operations.open_project import Options, open_project
from reconciler.operations.open_session import open_workspace
from reconciler.project import choose_environment
from reconciler.project.levels import with_figures
from reconciler.project.settings import ProjectFile
from reconciler.redaction.templates import written_out
from reconciler.report.explanations.pages import Explanation, codes, explanation, spelled
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.compose import laid_out
from reconciler.workspace.expression_scope import Scope, withheld_from

PROJECT: Final = "project"
"""The root of the path of a setting of the project file."""


EXAMPLE_UUID: Final = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
EXAMPLE_SHORT_ID: Final = "aB3dEfGhIjKlMnOpQrStU"
MANIFESTS: Final = "manifest"
"""The root of the path of a field that manifests of all kinds have."""

FREE: Final = "KIND"
"""The placeholder in a path for the name of a kind."""


class Need(Enum):
    """The degree to which a manifest needs a field."""

    REQUIRED = "required"
    EXPECTED = "services are known to need it"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field: its place, its type, and its purpose.

    Steps into lists and into mappings of free names are not part of `path`. Neither is `spec`,
    since all fields of the service are below it. `form` is the type in words. `bounds` are from the
    API document; `limits` are only observed. `each` is the container of the value: "list",
    "mapping" or "" for none.
    """

    root: str
    path: tuple[str, ...]
    said: str
    form: str
    need: Need = Need.OPTIONAL
    bounds: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    listing: field_traits.ValueCoverage | None = None
    read_only: field_traits.ReadOnly | None = None
    identity: tuple[str, ...] = ()
    unordered: bool = False
    unit: field_traits.Unit | None = None
    refers: str = ""
    excludes: tuple[str, ...] = ()
    observed: bool = False
    default: str = ""
    each: str = ""
    example: Json = None
    model: type[BaseModel] | None = None
    fields: tuple[Field, ...] = ()

    @property
    def name(self) -> str:
        """The field's own name."""
        return self.path[-1] if self.path else self.root

    @property
    def address(self) -> str:
        """The name for `explain`, as `SLO.grouping.labels`."""
        return ".".join((self.root, *self.path))

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The requests that carry the field; none for a field that only the workspace has."""
        if self.root not in BY_NAME or (self.path and self.path[0] in MANIFEST):
            return ()
        of_kind = BY_NAME[self.root].endpoints
        sent = self.read_only is None
        return tuple(
            endpoint for endpoint in of_kind if endpoint.tells or (sent and endpoint.sends)
        )

    def inside(self) -> Iterator[Field]:
        """Yield every field below, each before its children."""
        for field in self.fields:
            yield field
            yield from field.inside()


@cache
def roots() -> Mapping[str, Field]:
    """Return the tree of each kind and of the project file, by the root of its paths."""
    of_kinds = [(kind, _tree(kind.spec, kind.name, ())) for kind in KINDS]
    trees = [
        replace(
            tree,
            said=f"{tree.said} {kind.limits}",
            fields=(*tree.fields, *_envelope(kind.name)),
        )
        for kind, tree in of_kinds
    ]
    said = "The project file, reconciler.yaml: where manifests are, and where they are applied."
    project = replace(_tree(ProjectFile, PROJECT, ()), said=said)
    any_kind = Field(
        root=MANIFESTS,
        path=(),
        said="A manifest of any kind: one resource of a workspace.",
        form="mapping",
        fields=tuple(_envelope(MANIFESTS)),
    )
    return types.MappingProxyType({tree.root: tree for tree in (*trees, any_kind, project)})


@cache
def all_fields() -> tuple[Field, ...]:
    """Return every field, tree after tree, each before its children."""
    return tuple(field for root in roots().values() for field in (root, *root.inside()))


def _envelope(kind: str) -> Iterator[Field]:
    has_id = kind not in BY_NAME or BY_NAME[kind].id_form.schema
    metadata = tuple(
        _of_envelope(kind, ("metadata", name), envelope_field, ())
        for name, envelope_field in METADATA.items()
        if has_id or not name.startswith("id")
    )
    for name, envelope_field in MANIFEST.items():
        is_of_others = name in MANIFEST_KEYS and kind not in MANIFEST_KEYS.load(name).kinds
        if name != "spec" and not (is_of_others and kind in BY_NAME):
            below = metadata if name == "metadata" else ()
            if name in MANIFEST_KEYS:
                yield _of_schema(kind, (name,), MANIFEST_KEYS.load(name).schema)
                continue
            yield _of_envelope(kind, (name,), envelope_field, below)


_FORMS: Final = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "object": "mapping",
}


def _of_schema(
    kind: str, path: tuple[str, ...], schema: Schema, need: Need = Need.OPTIONAL
) -> Field:
    choices = schema.get("anyOf", [schema])
    mappings = [choice.get("items", choice) for choice in choices]
    return Field(
        root=kind,
        path=path,
        said=schema["description"],
        form=_form_of(schema),
        need=need,
        values=tuple(schema.get("enum", ())),
        example=schema["examples"][0],
        each="list" if any("items" in choice for choice in choices) else "",
        fields=tuple(
            _of_schema(
                kind,
                (*path, name),
                inner,
                Need.REQUIRED if name in mapping.get("required", ()) else Need.OPTIONAL,
            )
            for mapping in mappings
            for name, inner in mapping.get("properties", {}).items()
        ),
    )


def _form_of(schema: Schema) -> str:
    choices = schema.get("anyOf", [schema])
    if len(choices) > 1:
        return " or ".join(map(_form_of, choices))
    if "items" in schema:
        return f"list of {_form_of(schema['items'])}s"
    of_type = schema.get("type", "string")
    types = of_type if isinstance(of_type, list) else [of_type]
    return " or ".join(_FORMS[name] for name in types)


def _of_envelope(
    kind: str, path: tuple[str, ...], envelope_field: EnvelopeField, fields: tuple[Field, ...]
) -> Field:
    known = BY_NAME.get(kind)
    form = known.id_form if known is not None else UUID
    example = envelope_field.example
    if form.required and path == ("metadata",) and known is not None:
        example = {"name": "checkout", "id": "ID"}
    shown = kind if known is not None else next(iter(BY_NAME))
    needs_id = known is not None and form.required and path[-1] in {"id", "ids"}
    uuid_or_short = EXAMPLE_UUID if form.parse(EXAMPLE_UUID) == EXAMPLE_UUID else EXAMPLE_SHORT_ID
    placed: dict[str, Json] = {"KIND": shown, "ID": 12 if form.counted else uuid_or_short}
    return Field(
        root=kind,
        path=path,
        said=envelope_field.said,
        form=envelope_field.form.replace("id of the kind", form.words)
        if known is not None
        else envelope_field.form,
        need=Need.REQUIRED if envelope_field.required else Need.OPTIONAL,
        bounds=("one of `id` and `ids` is required",) if needs_id else (),
        values=tuple(BY_NAME) if path == ("kind",) and known is None else (),
        example=each_text(example, lambda text: placed.get(text, text)),
        fields=fields,
    )


def _fields(model: type[BaseModel], root: str, path: tuple[str, ...]) -> tuple[Field, ...]:
    descriptions = descriptions_of(model)
    fields = []
    for name, info in model.model_fields.items():
        key = info.alias or name
        fields.append(_field(model, key, info, descriptions[key], root=root, path=(*path, key)))
    if issubclass(model, field_traits.Part):
        for key, row in model.read_only.items():
            place = (*path, key)
            fields.append(
                Field(root=root, path=place, said=row.said, form=_SIMPLE[Any], read_only=row)
            )
    free = get_type_hints(model).get("__pydantic_extra__")
    if free is not None:
        # One field represents all fields with a kind's name.
        fields.append(_tree(get_args(free)[1], root, (*path, FREE)))
    return tuple(fields)


def _tree(model: type[BaseModel], root: str, path: tuple[str, ...]) -> Field:
    """Return a mapping of a model with all its fields, described by the model's docstring."""
    return Field(
        root=root,
        path=path,
        said=(model.__doc__ or "").strip().splitlines()[0],
        form="mapping",
        model=model,
        fields=_fields(model, root, path),
    )


@dataclass(frozen=True, slots=True)
class _Type:
    """The parts of an annotation: its bare type, its markers, and the type of its elements."""

    bare: Any
    markers: tuple[object, ...]
    inner: _Type | None = None
    each: str = ""

    @property
    def last(self) -> _Type:
        """The innermost element type of lists and mappings."""
        return self.inner.last if self.inner is not None else self

    @property
    def all_markers(self) -> tuple[object, ...]:
        return (*self.markers, *(self.inner.all_markers if self.inner is not None else ()))


def _taken_apart(annotation: Any, markers: tuple[object, ...] = ()) -> _Type:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *own = arguments
        return _taken_apart(inner, (*markers, *_spread(own)))
    if origin in {Union, types.UnionType}:
        branches = [argument for argument in arguments if argument is not type(None)]
        if len(branches) == 1:
            return _taken_apart(branches[0], markers)
        return _Type(annotation, markers)
    if origin is list:
        return _Type(annotation, markers, _taken_apart(arguments[0]), "list")
    if origin is dict and arguments[1] is not Any:
        return _Type(annotation, markers, _taken_apart(arguments[1]), "mapping")
    return _Type(annotation, markers)


def _spread(markers: list[object]) -> Iterator[object]:
    for marker in markers:
        if isinstance(marker, FieldInfo):
            yield from marker.metadata
        else:
            yield marker


def _field(
    model: type[BaseModel],
    key: str,
    info: FieldInfo,
    description: str,
    *,
    root: str,
    path: tuple[str, ...],
) -> Field:
    of = _taken_apart(info.annotation, tuple(_spread(list(info.metadata))))
    markers = of.all_markers
    known, keyed = _first(markers, field_traits.KnownValues), _first(markers, field_traits.Keyed)
    refers = _first(markers, field_traits.Refers)
    bare = of.last.bare
    part = bare if isinstance(bare, type) and issubclass(bare, BaseModel) else None
    literal = get_args(bare) if get_origin(bare) is Literal else ()
    closed = field_traits.ValueCoverage.CLOSED if literal else None
    return Field(
        root=root,
        path=path,
        said=description,
        form=_form(of),
        need=_need(info, of),
        bounds=tuple(_bounds(of)),
        limits=tuple(_limits(of)),
        values=known.values if known is not None else tuple(map(str, literal)),
        listing=closed if known is None else known.listing,
        identity=keyed.identity if keyed is not None else (),
        unordered=_first(markers, field_traits.Unordered) is not None,
        unit=_first(markers, field_traits.Unit),
        refers=refers.kind if refers is not None else "",
        excludes=_excluded(model, key),
        observed=issubclass(model, field_traits.Part)
        and not (model.documented and _first(of.markers, field_traits.Observed) is None),
        default=_default(info),
        each=of.each,
        model=part,
        fields=_fields(part, root, path) if part is not None else (),
    )


def _first(markers: tuple[object, ...], kind: type[Any]) -> Any:
    return next((marker for marker in markers if isinstance(marker, kind)), None)


def _need(info: FieldInfo, of: _Type) -> Need:
    if info.is_required():
        return Need.REQUIRED
    if any(isinstance(marker, field_traits.Needed) for marker in of.markers):
        return Need.EXPECTED
    return Need.OPTIONAL


def _excluded(model: type[BaseModel], key: str) -> tuple[str, ...]:
    groups = model.alternatives if issubclass(model, field_traits.Part) else ()
    return tuple(sorted(text for group in groups if key in group for text in group if text != key))


def chosen_of(model: type[BaseModel] | None) -> str:
    """Return in words whether one of alternatives is needed; "" where there are none."""
    if (
        model is None
        or not issubclass(model, field_traits.Part)
        or model.choosing is field_traits.Choosing.FREE
    ):
        return ""
    words: str = model.choosing.value
    return words


def _default(info: FieldInfo) -> str:
    value = info.default
    if info.is_required() or value is None or isinstance(value, BaseModel) or value in ({}, []):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


_SIMPLE: Final[Mapping[Any, str]] = {
    str: "text",
    bool: "true or false",
    int: "whole number",
    float: "number",
    Any: "any value",
}


def _form(of: _Type) -> str:
    if any(isinstance(marker, field_traits.Int64) for marker in of.markers):
        return "whole number, best written as text"
    if of.inner is not None:
        held = _form(of.inner)
        if of.each == "list":
            return f"list of {'mappings' if held == 'mapping' else held}"
        return f"mapping of {held.replace('mapping', 'mappings')} by name"
    if get_origin(of.bare) in {Union, types.UnionType}:
        forms = [_form(_taken_apart(value)) for value in get_args(of.bare)]
        return f"{', '.join(forms[:-1])} or {forms[-1]}"
    unknown = "text" if get_origin(of.bare) is Literal else "mapping"
    return _SIMPLE.get(of.bare, unknown)


def _bounds(of: _Type) -> Iterator[str]:
    """Yield the bounds of the API document, or of the project file."""
    for marker in of.all_markers:
        low, high = getattr(marker, "ge", None), getattr(marker, "le", None)
        pattern, least = getattr(marker, "pattern", None), getattr(marker, "min_length", None)
        if high == field_traits.INT32_MAX or low == -field_traits.INT32_MAX - 1:
            yield from ("32 bits",) if high is not None else ()
        elif low is not None:
            yield f"at least {low:,}"
        elif high is not None:
            yield f"at most {high:,}"
        elif least == 1:
            yield "not empty"
        elif isinstance(pattern, str) and not any(
            isinstance(mark, field_traits.Int64) for mark in of.markers
        ):
            yield field_traits.FORMS.get(pattern, f"of the form {pattern}")


def _limits(of: _Type) -> Iterator[str]:
    """Yield the limits that services are only observed to have."""
    unit = " items" if of.each == "list" else " characters" if of.bare is str else ""
    for marker in of.markers:
        if isinstance(marker, field_traits.AtMost):
            ends = [("at least", marker.low), ("at most", marker.high)]
            yield " and ".join(f"{word} {end:,}{unit}" for word, end in ends if end is not None)
        elif isinstance(marker, field_traits.Formed):
            yield marker.words.rstrip(",")


_FILE = "reconciler.yaml"


@dataclass(frozen=True, slots=True)
class Several:
    """The fields that a short path may mean, as all their paths end in it."""

    typed: str
    fields: tuple[Field, ...]


def look_up(typed: str) -> Field | Explanation | Several:
    """Return what a text names: a code, a value, the path of a field, or the end of a path.

    Case is ignored, and lists need no index. An exact match takes precedence over a prefix. Raises
    UsageError where there is no match.
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
    near = _near(typed, steps)
    hint = (
        f": did you mean `{near}`?"
        if near
        else "; `reconciler explain SLO --recursive` lists fields"
    )
    raise UsageError(f"there is no field or code `{typed}`{hint}")


def _general(found: Sequence[Field]) -> Field | None:
    """Return the field that all manifests share, if all matches have the same path; else None."""
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


def _matching(
    steps: Sequence[str], rule: Callable[[Sequence[str], Sequence[str]], bool]
) -> Iterator[Field]:
    for field in all_fields():
        if rule(steps, [step.casefold() for step in (field.root, *field.path)]):
            yield field


def _is_present(steps: Sequence[str], own: Sequence[str]) -> bool:
    return list(steps) == list(own)


def _ends_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    return steps[-1] == own[-1] and _leads(steps, own)


def _begins_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    return own[-1].startswith(steps[-1]) and _leads(steps[:-1], own[:-1])


def _leads(steps: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether the path `own` contains the steps in order; a kind can only match the root."""
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

EXAMPLES: Final[Mapping[str, Json]] = json.loads(
    files("reconciler.features.explain").joinpath("example_values.json").read_bytes()
)
"""Values that a type alone does not imply, by the last steps of the path; the longest path wins."""

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
        return _inside_parents(field)
    if not field.path:
        needed = {name for name, known in MANIFEST.items() if known.required}
        around = {child.name: child.example for child in field.fields if child.name in needed}
        known = BY_NAME.get(field.root)
        return {**around, "spec": dict(known.example) if known is not None else {}}
    outside = field.path and field.path[0] in MANIFEST
    return _inside_parents(field) if outside else {"spec": _inside_parents(field)}


def _inside_parents(field: Field) -> dict[str, Json]:
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
        if (known := ".".join(steps[-length:])) in EXAMPLES:
            return EXAMPLES[known]
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
