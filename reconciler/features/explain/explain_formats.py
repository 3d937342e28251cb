"""Explanations of fields and codes, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, NotRequired, assert_never

from pydantic import Field as Said
from typing_extensions import TypedDict

from reconciler.features.explain.field_reference import Field, Need, Several, chosen_of, document_of
from reconciler.kinds.field_traits import ValueCoverage
from reconciler.report.explanations.pages import Explanation, Sample, code_lines
from reconciler.report.safe import columns, json_text, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.tidy import yaml_text

MOST_CANDIDATES = 40
_WIDEST_NAME = 34
MARKS = "* needed, - set by the service"


class ExplainedFieldDocument(TypedDict):
    """A field, as `explain FIELD --format json` prints it."""

    address: Annotated[str, Said(description="How `explain` calls it, as SLO.grouping.labels.")]
    type: Annotated[str, Said(description="What it takes, in words.")]
    description: str
    need: Annotated[str, Said(description="Whether it must be there, in words.")]
    documented: Annotated[bool, Said(description="Whether the API document shows it.")]
    readOnly: Annotated[str, Said(description="Why it cannot be declared; empty where it can.")]
    instead: Annotated[str, Said(description="What to declare instead of a read-only field.")]
    bounds: Annotated[list[str], Said(description="Bounds that a value must keep.")]
    limits: Annotated[list[str], Said(description="Bounds that services are known to have.")]
    values: Annotated[list[str], Said(description="The values of an enumeration.")]
    closed: Annotated[bool, Said(description="Whether there are no other values.")]
    default: str
    unit: str
    identity: Annotated[list[str], Said(description="What identifies the items of a list.")]
    unordered: Annotated[bool, Said(description="Whether the order of a list means nothing.")]
    refersTo: Annotated[str, Said(description="The kind of the id that it holds; empty for none.")]
    excludes: Annotated[list[str], Said(description="Fields that must not be present with it.")]
    endpoints: Annotated[list[str], Said(description="The requests that carry it.")]
    example: Annotated[str, Said(description="An example at its place, as YAML.")]
    fields: Annotated[list[str], Said(description="The fields right below it.")]


class ExampleDocument(TypedDict):
    """An example of a code: files of a workspace, typed commands, or words."""

    files: dict[str, str]
    typed: list[str]
    environment: dict[str, str]
    says: str


class ExplanationDocument(TypedDict):
    """The explanation of a code, as `explain CODE --format json` prints it."""

    code: str
    title: str
    about: str
    means: str
    why: str
    wrong: ExampleDocument
    right: ExampleDocument
    page: Annotated[str, Said(description="The page of the documentation that says more.")]


class ExplainedDocument(TypedDict):
    """Output of `explain --format json`."""

    field: NotRequired[ExplainedFieldDocument]
    below: NotRequired[
        Annotated[
            list[ExplainedFieldDocument], Said(description="With --recursive: every field below.")
        ]
    ]
    code: NotRequired[ExplanationDocument]
    candidates: NotRequired[
        Annotated[list[str], Said(description="The fields that a short path may mean.")]
    ]


def explained_json(subject: Field | Explanation | Several, *, recursive: bool) -> str:
    """Return the explanation of a subject as one JSON document."""
    match subject:
        case Field():
            document = ExplainedDocument(field=_field_document(subject))
            if recursive:
                document["below"] = [_field_document(field) for field in subject.inside()]
        case Explanation():
            document = ExplainedDocument(
                code={
                    "code": subject.code,
                    "title": subject.title,
                    "about": subject.family.about,
                    "means": subject.means,
                    "why": subject.why,
                    "wrong": _sample_document(subject.wrong),
                    "right": _sample_document(subject.right),
                    "page": f"docs/{subject.page}.md",
                }
            )
        case Several(fields=fields):
            document = ExplainedDocument(candidates=[field.address for field in fields])
        case _:
            assert_never(subject)
    return json_text(document)


def explained_text(subject: Field | Explanation | Several, style: Style, *, recursive: bool) -> str:
    """Return the explanation of a subject for a terminal, ending in a line break."""
    match subject:
        case Field():
            shown = _tree_lines if recursive else _field_lines
            lines = shown(subject, style)
        case Explanation():
            lines = code_lines(subject, style)
        case Several():
            lines = _several_lines(subject, style)
        case _:
            assert_never(subject)
    return "".join(f"{line}\n" for line in lines)


def facts_of(field: Field) -> Iterator[tuple[str, str]]:
    """Yield the facts of a field, without its description, each with its label."""
    if field.path:
        yield "type", field.form
        yield "needed", "no" if field.need is Need.OPTIONAL else field.need.value
    if field.read_only is not None:
        instead = safe(field.read_only.instead)
        yield "read-only", f"it {field.read_only.why}; instead: {instead}"
    yield from (fact for fact in _facts(field) if fact[1])


def _facts(field: Field) -> Iterator[tuple[str, str]]:
    yield "bounds", "; ".join(field.bounds)
    limits = "; ".join(filter(None, field.limits))
    yield "limits", f"services are known to want {limits}" if limits else ""
    others = _OTHER_VALUES.get(field.listing, "")
    yield "values", f"{', '.join(field.values)}{others}" if field.values else ""
    yield "default", field.default
    yield "unit", field.unit.value if field.unit is not None else ""
    yield "items", f"identified by `{'.'.join(field.identity)}`" if field.identity else ""
    yield "order", "means nothing: the list is a set" if field.unordered else ""
    refers = f"{expression(ExpressionKind.REFERENCE, f'{field.refers}/name')}, or the id itself"
    yield "refers to", refers if field.refers else ""
    yield "excludes", ", ".join(field.excludes)
    chosen = chosen_of(field.model)
    yield "inside", f"of fields that exclude each other, {chosen}" if chosen else ""
    seen = "seen of services; the API document does not show it"
    yield "source", seen if field.observed else ""
    requests = (f"{endpoint.number} {endpoint.shown}" for endpoint in field.endpoints)
    yield "carried by", ", ".join(requests)


_OTHER_VALUES: Final[Mapping[ValueCoverage | None, str]] = {
    ValueCoverage.CLOSED: "; there are no others",
    ValueCoverage.EXAMPLES: "; others begin with the same prefix",
}


def _field_lines(field: Field, style: Style) -> Iterator[str]:
    yield style.paint(field.address, Colour.BOLD)
    yield ""
    yield fitted(f"  {safe(field.said)}", style)
    yield ""
    facts = list(facts_of(field))
    widest = max((len(word) for word, _ in facts), default=0)
    for word, fact in facts:
        yield fitted(f"  {style.paint(word.ljust(widest), Colour.DIM)}  {safe(fact)}", style)
    if field.read_only is None:
        yield ""
        yield style.paint("example", Colour.DIM)
        yield from (f"  {line}" for line in yaml_text(document_of(field)).splitlines())
    if field.fields:
        yield ""
        yield style.paint(f"fields below ({MARKS})", Colour.DIM)
        widest = max(columns(child.name) + 3 for child in field.fields)
        yield from (_line(child, "  ", widest, style) for child in field.fields)


def _tree_lines(field: Field, style: Style) -> Iterator[str]:
    yield f"{style.paint(field.address, Colour.BOLD)} ({MARKS})"
    inside = [("  " * (len(child.path) - len(field.path)), child) for child in field.inside()]
    widths = (len(margin) + columns(child.name) + 1 for margin, child in inside)
    widest = min(_WIDEST_NAME, max(widths, default=0))
    yield from (_line(child, margin, widest, style) for margin, child in inside)


def _line(field: Field, margin: str, widest: int, style: Style) -> str:
    """Return name, need, type and description; `*` is needed, `-` is read-only."""
    mark = "*" if field.need is not Need.OPTIONAL else "-" if field.read_only is not None else " "
    name = f"{margin}{field.name}{mark}".ljust(widest + 1)
    description = f"{style.paint(f'<{field.form}>', Colour.DIM)} {safe(field.said)}"
    return fitted(f"{name} {description}", style)


def _several_lines(several: Several, style: Style) -> Iterator[str]:
    count = len(several.fields)
    yield fitted(f"`{safe(several.typed)}` may mean any of {count} fields:", style)
    shown = several.fields if style.verbose else several.fields[:MOST_CANDIDATES]
    for field in shown:
        yield fitted(f"  {field.address}  {safe(field.said)}", style)
    if len(shown) < count:
        yield f"  and {count - len(shown)} more (-v shows them)"


def _field_document(field: Field) -> ExplainedFieldDocument:
    unread = field.read_only
    return ExplainedFieldDocument(
        address=field.address,
        type=field.form,
        description=field.said,
        need=field.need.value,
        documented=not field.observed,
        readOnly=unread.why if unread is not None else "",
        instead=unread.instead if unread is not None else "",
        bounds=list(field.bounds),
        limits=[limit for limit in field.limits if limit],
        values=list(field.values),
        closed=field.listing is ValueCoverage.CLOSED,
        default=field.default,
        unit=field.unit.value if field.unit is not None else "",
        identity=list(field.identity),
        unordered=field.unordered,
        refersTo=field.refers,
        excludes=list(field.excludes),
        endpoints=[endpoint.shown for endpoint in field.endpoints],
        example="" if unread is not None else yaml_text(document_of(field)),
        fields=[child.name for child in field.fields],
    )


def _sample_document(sample: Sample) -> ExampleDocument:
    return ExampleDocument(
        files=dict(sample.files),
        typed=list(sample.typed),
        environment=dict(sample.environ),
        says=sample.says,
    )
