"""The items of a `forEach`: what each is called, what is wrong with them, and what none uses.

Pure. Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.document import Json, Path, canonical_text
from reconciler.expressions import Expression, ExpressionKind, expression, parts_of
from reconciler.model import Member
from reconciler.redaction.templates import Template
from reconciler.suggestions import nearest
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, warning
from reconciler.syntax.parsed_text import DocumentText
from reconciler.workspace.expression_scope import Filled, Reference
from reconciler.workspace.inserted_values import Each, along

FOR_EACH = "forEach"
WRONG = "M213"
UNUSED = "M214"
MOST_ITEMS = 10_000
MOST_NAMED = 3
LONGEST_LABEL = 60


@dataclass(slots=True)
class ForEachItems:
    """The items of one `forEach`, their expressions filled in, and where they stand."""

    text: DocumentText
    values: list[tuple[int, dict[str, Json]]] = field(default_factory=list)
    keys: frozenset[str] = frozenset()
    total: int = 0
    references: Mapping[int, list[Reference]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def each(self, used: set[str], first: str) -> Iterator[Each]:
        """Yield the items; the key that is `first` says what each is called."""
        named = frozenset(used)
        for nth, values in self.values:
            member = Member(nth + 1, _label(values, first), self.total)
            yield Each(
                values=values,
                text=replace(self.text, item=member),
                path=(FOR_EACH, nth),
                member=member,
                keys=self.keys,
                used=used,
                named=named,
            )


def written_items(value: Json) -> Json:
    """Give what `forEach` means: `{var: NAME}` is the same as the expression."""
    if isinstance(value, dict) and value.keys() == {"var"} and isinstance(value["var"], str):
        return expression(ExpressionKind.VARIABLE, value["var"])
    return value


def items_of(filled: Filled, text: DocumentText) -> ForEachItems:
    """Take the items of a document that holds nothing but its `forEach`, filled in."""
    document = filled.document
    value = document.get(FOR_EACH) if isinstance(document, dict) else None
    items = ForEachItems(replace(text, grafts=filled.grafts), findings=filled.findings)
    if not isinstance(value, list):
        if not filled.findings:
            said = "`forEach` must be a list of mappings, {var: NAME} or ${file:PATH}"
            items.findings.append(Finding(WRONG, (FOR_EACH,), said))
        return items
    items.total = len(value)
    if not value:
        said = "`forEach` has no items, so nothing is made of this manifest"
        items.findings.append(warning(WRONG, (FOR_EACH,), said))
    if len(value) > MOST_ITEMS:
        said = f"`forEach` has {len(value):,} items, and at most {MOST_ITEMS:,} are made into any"
        advice = Advice("divide the items between several manifests")
        items.findings.append(Finding("M115", (FOR_EACH,), said, suggestion=advice))
        return items
    items.findings.extend(_take(value, items))
    items.keys = frozenset(key for _, document in items.values for key in document)
    references: dict[int, list[Reference]] = {}
    for reference in filled.references:
        nth = reference.path[1] if len(reference.path) > 1 else None
        if isinstance(nth, int):
            references.setdefault(nth, []).append(reference)
    items.references = references
    return items


def _take(value: list[Json], items: ForEachItems) -> Iterator[Finding]:
    """Take the items that can be used; yield what is wrong with the others."""
    known: dict[str, int] = {}
    for nth, item in enumerate(value):
        path = (FOR_EACH, nth)
        if not isinstance(item, dict):
            said = f"item {nth + 1} must be a mapping, whose values `${{each:KEY}}` gives"
            repair = "" if isinstance(item, list) or item is None else f"{{name: {item}}}"
            yield Finding(WRONG, path, said, suggestion=repair)
        elif not item:
            yield Finding(WRONG, path, f"item {nth + 1} is empty", suggestion=Advice("remove it"))
        elif (first := known.setdefault(canonical_text(item), nth)) != nth:
            said = f"item {nth + 1} is the same as item {first + 1}"
            yield Finding(WRONG, path, said, suggestion=Advice("remove one of them"))
        else:
            items.values.append((nth, item))


def _label(values: Mapping[str, Json], first: str) -> str:
    """Say what an item is: one of its values that is no list and no mapping, and no secret."""
    named = ([(first, values[first])] if first in values else []) + [*values.items()]
    for key, value in named:
        if isinstance(value, str | int | float) and not isinstance(value, Template):
            said = f"{key}: {value}"
            return said if len(said) <= LONGEST_LABEL else f"{said[: LONGEST_LABEL - 1]}…"
    return ""


def keys_named(document: Json) -> Iterator[str]:
    """Yield the keys of items that a document names, in their order."""
    if isinstance(document, dict):
        for value in document.values():
            yield from keys_named(value)
    elif isinstance(document, list):
        for value in document:
            yield from keys_named(value)
    elif isinstance(document, str):
        for part in parts_of(document):
            if isinstance(part, Expression) and part.word is ExpressionKind.EACH:
                yield part.name


@dataclass(slots=True)
class Uses:
    """Which keys of the items at one place are named by the manifests that are made of them."""

    items: ForEachItems
    used: set[str] = field(default_factory=set)

    def note(self, document: Json) -> str:
        """Note what a whole manifest names, also for other environments; give the first key."""
        named = list(keys_named(document))
        known = {key: value for _, values in self.items.values for key, value in values.items()}
        # A slip of a key is told as such, and not as a key that nothing names too.
        near = [nearest(name, known) for name in named if along(known, name) is None]
        self.used |= set(near)
        found = (along(known, name) for name in named)
        self.used |= {str(row[0][0]) for row in found if row is not None}
        return named[0] if named else ""

    def unused(self) -> Iterator[Complaint]:
        """Yield a warning of each key that nothing names, where it stands first."""
        told: set[str] = set()
        for nth, values in self.items.values:
            for key in values:
                if key in self.used or key in told:
                    continue
                told.add(key)
                said = f"nothing names `{key}` of these items: write ${{each:{key}}}, or remove it"
                path: Path = (FOR_EACH, nth, key)
                yield self.items.text.complaint(warning(UNUSED, path, said, at_key=True))


def uses_of(known: dict[str, Uses], items: ForEachItems, value: Json) -> Uses:
    """Give what is known of the use of items: those of one file may be used by several."""
    shared = items.text.grafts.get((FOR_EACH,))
    if shared is not None and not isinstance(value, list):
        return known.setdefault(shared.text.file, Uses(items))
    # Those of the project file are for all manifests, of which not all need be read.
    own = items if isinstance(value, list) else replace(items, values=[])
    return known.setdefault(f"{items.text.file} {len(known)}", Uses(own))


def told_once(complaints: list[Complaint]) -> Iterator[Complaint]:
    """Yield complaints, those that are the same in several items of a `forEach` as one.

    One that names what an item gave is the same as that of another item at its place: what is
    wrong is wrong in the template.
    """
    together: dict[Complaint, set[Member]] = {}
    for complaint in complaints:
        members = together.setdefault(complaint, set())
        if complaint.item is not None:
            members.add(complaint.item)
    places: dict[tuple[object, ...], list[Complaint]] = {}
    named: set[Complaint] = set()
    for complaint, members in together.items():
        if not members:
            yield complaint
            continue
        alike = places.setdefault(
            (complaint.file, complaint.line, complaint.column, complaint.code, complaint.path), []
        )
        first = next((two for two in alike if together[two].isdisjoint(members)), None)
        if first is None:
            alike.append(complaint)
        else:
            together[first] |= members
            named.add(first)
    for alike in places.values():
        for complaint in alike:
            yield _of_items(complaint, sorted(together[complaint]), names_one=complaint in named)


def _of_items(one: Complaint, members: list[Member], *, names_one: bool) -> Complaint:
    first, more = members[0], len(members) - 1
    if more and len(members) == first.total and not names_one:
        return replace(one, item=None)
    others = f" and {more:,} more" if more else ""
    return replace(one, message=f"{one.message}, in {first}{others}")
