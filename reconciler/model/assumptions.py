"""Behaviour of a deployment that the API document leaves open: `api:` in the project file.

All other assumptions are where they are used; docs/assumptions.md lists them all. Also the base of
all models of what people write: strict validation, and descriptions of fields.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Annotated, Final, Literal, LiteralString, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from reconciler.document import Json
from reconciler.runtime.connection import steps_in

STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
"""No unknown fields, and no values of another type.

A model is built on its first use; a model that is only part of another one is never built.
"""


def must(code: LiteralString, problem: str, holds: Callable[[str], object]) -> AfterValidator:
    """Return a validator of a text; where `holds` returns false, its error says `problem`."""

    def check(text: str) -> str:
        if not holds(text):
            raise PydanticCustomError(code, "{said}", {"said": problem})
        return text

    return AfterValidator(check)


class FileSection(BaseModel):
    """A setting that names a file of the project; that file holds no manifests."""

    model_config = STRICT

    file: str


PUBLISHED: Final = MappingProxyType(
    {
        "ExampleDocument": "SampleDocument",
        "ExplainedFieldDocument": "FieldDocument",
        "MetricQuery": "Query",
        "PolicyRule": "Rule",
        "ValueSelection": "Selection",
        "ViewFilter": "Filter",
        "WatchedSpanDocument": "SpanDocument",
        "WidgetAction": "Action",
    }
)
"""The names of classes in published schemas, where the code has other names."""


@cache
def descriptions_of(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the description of each field of a model, by the field's name on the wire.

    `Field(description=...)` comes before the docstring. "" if there is no description.
    """
    below: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if parent is not BaseModel and issubclass(parent, BaseModel):
            below |= _texts_in(parent.__module__).get(parent.__qualname__, {})
    return MappingProxyType(
        {
            info.alias or name: info.description or below.get(name, "")
            for name, info in model.model_fields.items()
        }
    )


@cache
def _texts_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the field docstrings of each class of a module. Raises OSError without source."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _texts_of(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts_of(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                texts[name] = " ".join(text.split())
            case _:
                pass
    return texts


class PublishedSchema(GenerateJsonSchema):
    """Pydantic's generator, with the names of classes in published schemas."""

    def normalize_name(self, name: str) -> str:
        """Return the name of a definition."""
        return PUBLISHED.get(name, super().normalize_name(name))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        return _titled(super().model_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Return the schema of a typed dictionary."""
        return _titled(super().typed_dict_schema(schema))


def _titled(written: JsonSchemaValue) -> JsonSchemaValue:
    title: str = written["title"]
    return {**written, "title": PUBLISHED.get(title, title)}


class DescribedSchema(PublishedSchema):
    """Pydantic's generator, with the description of each field."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the descriptions of its fields."""
        written = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        descriptions = descriptions_of(model)
        for name, inside in written.get("properties", {}).items():
            if descriptions.get(name):
                inside.setdefault("description", descriptions[name])
        return written


POLICIES = "/dataplans/policies/v1"
"""The list of log policies. It always exists, so a read of it proves target and key."""

BULK_LIMIT = 100
"""Most alerts in one bulk replace: 100 were observed to pass; the document gives no limit."""

REQUESTS_AT_ONCE = 16
"""Most open requests before anything is known about the service."""

Parameters: TypeAlias = list[tuple[str, str]]


class _Settings(BaseModel):
    model_config = ConfigDict(**STRICT, alias_generator=to_camel)


Spelling: TypeAlias = Annotated[str, Field(min_length=1)]


class ParameterNames(_Settings):
    """Spellings of the query parameters that the API document does not name."""

    alert_version_ids: Spelling = "alert_ids"
    """The parameter of alert events for ids of alert versions."""
    timestamp_range: Spelling = "timestamp_range"
    """The parameter of alert events for a range of time."""
    event_labels: Spelling = "cx_event_labels"
    """The parameter of alert events for labels."""
    filter: Spelling = "filter"
    """The parameter for filters in the listings of incidents and incident events."""
    pagination: Spelling = "pagination"
    """The parameter for size and token of a page."""
    incident_ids: Spelling = "incident_ids"
    """The parameter for the incidents to close."""
    source_type: Spelling = "source_type"
    """The parameter that limits the list of policies to logs."""
    enabled_only: Spelling = "enabled_only"
    """The parameter that limits the list of policies to enabled policies; a plan never sends it."""


Parameter: TypeAlias = Literal[
    "alertVersionIds",
    "timestampRange",
    "eventLabels",
    "filter",
    "pagination",
    "incidentIds",
    "sourceType",
    "enabledOnly",
]


class RangeNames(_Settings):
    """Names of the two ends of a range of time."""

    from_: Annotated[Spelling, Field(alias="from")] = "from"
    """The name of the beginning of a range."""
    to: Spelling = "to"
    """The name of the end of a range."""


class FilterNames(_Settings):
    """Spellings of the filters of listings that the API document does not name."""

    search_query: Spelling = "searchQuery"
    """The name of the filter by text."""
    contextual_labels: Spelling = "contextualLabels"
    """The name of the filter by labels."""
    created_at_range: Spelling = "createdAtRange"
    """The name of the filter of incidents by time."""
    event_name: Spelling = "name"
    """The name of the filter of incident events by name."""
    event_time: Spelling = "timestamp"
    """The name of the filter of incident events by time."""


_OF_PATH = re.compile(r"(/(\{id\}|[A-Za-z0-9._~:-]+))+")
_PLACE = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*"
ID = "{id}"


def _checked_path(path: str, ids: int) -> str:
    """Return a path that is valid below the API root. Raises PydanticCustomError otherwise."""
    message = ""
    if not path.startswith("/") or "//" in path:
        message = "must be a path below the API root, as /v3/x: no host, and no part left empty"
    elif part := next(steps_in(path), ""):
        message = f"must hold no part `{part}`, which leads elsewhere: write the path itself"
    elif "?" in path or "#" in path:
        message = "must be a path and nothing behind it: no query, no fragment"
    elif path.count(ID) != ids:
        message = (
            f"must hold the part `{ID}` once" if ids else f"must hold no `{ID}`, as it lists all"
        )
    elif not _OF_PATH.fullmatch(path):
        message = (
            f"must consist of parts of letters, digits and `._~:-`, and `{ID}` as a whole part"
        )
    if message:
        raise PydanticCustomError("read_path", "{said}", {"said": message})
    return path


def _without_steps(base_path: str) -> str:
    """Refuse parts that would send the key to other paths of the service."""
    for part in steps_in(base_path):
        message = f"must hold no part `{part}`, which leads elsewhere: write the path itself"
        raise PydanticCustomError("base_path", "{said}", {"said": message})
    return base_path


FieldPath: TypeAlias = Annotated[
    str,
    must(
        "place",
        "must be names of fields joined by dots, as data.record",
        re.compile(_PLACE).fullmatch,
    ),
    Field(json_schema_extra={"pattern": f"^{_PLACE}$"}),
]


def steps_of(place: str | None) -> tuple[str, ...]:
    """Return the steps of a dotted path of fields; none if it is not set."""
    return tuple(place.split(".")) if place else ()


class Read(_Settings):
    """The read of one record of a kind by its id: the path, and the record in the answer."""

    path: Annotated[
        str,
        Field(
            description="Below the API root, with {id}, as /v3/x/{id}.",
            json_schema_extra={"pattern": r"^(/[A-Za-z0-9._~:-]+)*/\{id\}(/[A-Za-z0-9._~:-]+)*$"},
        ),
        AfterValidator(partial(_checked_path, ids=1)),
    ]
    record: Annotated[
        FieldPath | None,
        Field(description="Place of the record in the answer; left out, the answer is the record."),
    ] = None
    spec: Annotated[
        FieldPath | None,
        Field(
            description="Where the record holds what a manifest has under spec; left out, "
            "the record is the spec."
        ),
    ] = None

    def path_of(self, quoted_id: str) -> str:
        """Return the path of one record; the id is quoted already."""
        return self.path.replace(ID, quoted_id)


class Listing(_Settings):
    """The listing of all records of a kind: the path, and id and name in each record."""

    path: Annotated[
        str,
        Field(
            description="Below the API root, as /v3/x.",
            json_schema_extra={"pattern": "^(/[A-Za-z0-9._~:-]+)+$"},
        ),
        AfterValidator(partial(_checked_path, ids=0)),
    ]
    items: Annotated[
        FieldPath | None,
        Field(description="Place of the list in the answer; left out, the answer is the list."),
    ] = None
    id: Annotated[FieldPath, Field(description="The place of the id in an item.")] = "id"
    name: Annotated[FieldPath, Field(description="The place of the name in an item.")] = "name"


class Reads(BaseModel):
    """Reads that the API document does not show, by kind; no other such read is ever tried."""

    model_config = ConfigDict(**{**STRICT, "extra": "allow"})
    __pydantic_extra__: dict[str, Read]

    lists: Annotated[
        dict[str, Listing], Field(description="Lists of all resources of a kind, by kind.")
    ] = {}

    @property
    def of_kinds(self) -> Mapping[str, Read]:
        """Return the reads of single records, by the name of the kind."""
        return self.__pydantic_extra__


class Dashboards(_Settings):
    """Behaviour of a deployment with dashboards."""

    slugs: Annotated[
        Literal["kept", "made"],
        Field(
            description="What a dashboard that is sent without a slug gets: kept, none; made, one "
            "of the service, so that a new one is always sent with the slug of its name."
        ),
    ] = "kept"


class Assumptions(_Settings):
    """Behaviour of this deployment that the API document does not define."""

    base_path: Annotated[
        str,
        Field(
            pattern=r"^(/[A-Za-z0-9._~-]+)*$",
            json_schema_extra={"pattern": r"^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$"},
            description="What is between the base URL and every path of the API document.",
        ),
        AfterValidator(_without_steps),
    ] = "/mgmt/openapi/latest"
    query_style: Annotated[
        Literal["dotted", "brackets", "json"],
        Field(
            description="How objects travel in a query: filter.status=X, filter[status]=X, "
            'or filter={"status":"X"}.',
        ),
    ] = "dotted"
    parameter_names: Annotated[
        ParameterNames, Field(description="Other spellings of query parameters.")
    ] = ParameterNames()
    filter_names: Annotated[
        FilterNames, Field(description="Other spellings of filters of incidents and events.")
    ] = FilterNames()
    range_names: Annotated[
        RangeNames, Field(description="Other spellings of the ends of a range of time.")
    ] = RangeNames()
    text_field: Annotated[
        Spelling | None,
        Field(description="Send a text to search for in this field of an object, not as the text."),
    ] = None
    label_filters: Annotated[
        Literal["map", "pairs"],
        Field(
            description="How labels are filtered by: contextualLabels.region=eu, or a list of "
            "objects with key and value."
        ),
    ] = "map"
    case_statuses: Annotated[
        Literal["bare", "prefixed"],
        Field(
            description="The form of statuses in the filter of cases: ACKNOWLEDGED, as the API "
            "document shows, or CASE_STATUS_ACKNOWLEDGED."
        ),
    ] = "bare"
    close_body_field: Annotated[
        Spelling | None,
        Field(
            description="Send the incidents to close in this field of the body, not in the query."
        ),
    ] = None
    bulk_limit: Annotated[
        int, Field(ge=1, le=BULK_LIMIT, description="The most alerts in one bulk replace.")
    ] = BULK_LIMIT
    requests_at_once: Annotated[
        int,
        Field(
            ge=1,
            le=64,
            description="The most requests that are open at once; fewer are, where the service "
            "says that it has too many or answers slowly.",
        ),
    ] = REQUESTS_AT_ONCE
    conditional_reads: Annotated[
        bool,
        Field(
            description="Whether a document that an earlier plan read is asked for by its ETag, "
            "where the service gave it a strong one: 304 then means that no byte of it changed.",
        ),
    ] = True
    documented_sli_only: Annotated[
        bool,
        Field(
            description="Create SLOs with request-based SLIs only and replace them with "
            "window-based ones only, as the API document names them; the others are blocked.",
        ),
    ] = False

    policy_names: Annotated[
        Literal["exact", "anyCase"],
        Field(
            description="How rules of log policies compare names: exact distinguishes capitals "
            "from small letters, anyCase does not."
        ),
    ] = "exact"

    validate_slos: Annotated[
        Literal["replaced", "all", "none"],
        Field(
            description="Which SLOs the service is asked about before they are written: those "
            "that it has, as the API document says; those to create too; or none.",
        ),
    ] = "replaced"

    dashboards: Annotated[
        Dashboards, Field(description="What this deployment does with dashboards.")
    ] = Dashboards()

    reads: Annotated[
        Reads, Field(description="Reads of this deployment that the API document does not show.")
    ] = Reads()

    def range_filter(self, since: str, until: str) -> Json:
        """Return the filter for a range of time; both ends are sent, as a service may need them."""
        return {self.range_names.from_: since, self.range_names.to: until}

    def text_filter(self, text: str) -> Json:
        """Return the filter for a text; an empty text is not sent."""
        return {self.text_field: text} if self.text_field and text else text

    def label_filter(self, labels: Mapping[str, str]) -> Json:
        """Return the filter for labels that must all be present."""
        if self.label_filters == "pairs":
            return [{"key": key, "value": value} for key, value in labels.items()]
        return dict(labels)

    def parameter(self, name: Parameter, value: Json) -> Parameters:
        """Return one query parameter; objects and lists are flattened as the deployment needs.

        Empty values are not sent.
        """
        spelled = self.parameter_names.model_dump(by_alias=True)[name]
        if self.query_style == "json" and isinstance(value, dict):
            return [(spelled, json.dumps(value, separators=(",", ":")))] if value else []
        return list(self._flat(spelled, value))

    def _flat(self, prefix: str, value: Json) -> Parameters:
        if isinstance(value, dict):
            bracketed = self.query_style == "brackets"
            return [
                pair
                for key, inner in value.items()
                for pair in self._flat(
                    f"{prefix}[{key}]" if bracketed else f"{prefix}.{key}", inner
                )
            ]
        if isinstance(value, list):
            return [pair for item in value for pair in self._flat(prefix, item)]
        if isinstance(value, bool):
            return [(prefix, str(value).lower())]
        return [] if value is None else [(prefix, str(value))]
