"""Every field of every kind, of the envelope and of the project file, from its model."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from reconciler.document import Json
from reconciler.kinds import BY_NAME, KINDS, field_traits
from reconciler.kinds.field_traits import MANIFEST, MANIFEST_KEYS, METADATA, EnvelopeField
from reconciler.kinds.json_schema import Schema
from reconciler.kinds.kind import UUID, Endpoint
from reconciler.model.assumptions import descriptions_of
from reconciler.project.settings import ProjectFile

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
    """Return the field of a JSON Schema, with the fields of its mappings below it."""
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
        example=_filled(example, shown, 12 if form.counted else uuid_or_short),
        fields=fields,
    )


def _filled(example: Json, kind: str, remote_id: Json) -> Json:
    """Return an example with the name of a kind and one of its ids in place of placeholders."""
    if isinstance(example, dict):
        return {key: _filled(value, kind, remote_id) for key, value in example.items()}
    if example == "ID":
        return remote_id
    return kind if example == "KIND" else example


def _fields(model: type[BaseModel], root: str, path: tuple[str, ...]) -> tuple[Field, ...]:
    descriptions = descriptions_of(model)
    fields = []
    for name, info in model.model_fields.items():
        key = info.alias or name
        fields.append(_field(model, key, info, descriptions[key], root=root, path=(*path, key)))
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
        """The markers of the type and of its elements."""
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
        read_only=_first(markers, field_traits.ReadOnly),
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
