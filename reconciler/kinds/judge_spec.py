"""All problems of a `spec`; what can be repaired is one complaint for each record. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import assert_never

from reconciler.document import Json, Path, value_at
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.checks import lint
from reconciler.kinds.field_traits import ReadOnlyReason
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import (
    Drop,
    Lift,
    MoveId,
    Negate,
    Origins,
    PasteRepair,
    Rename,
    Repair,
    Round,
    Unquote,
    Unwrap,
    Wrap,
    repaired,
)
from reconciler.kinds.shape import EACH, Facts, content_of, facts_at, members_of
from reconciler.model.quoting import and_more
from reconciler.syntax.diagnostic import Advice, Finding, Severity

BY_FIX = Advice("leave it to `reconciler validate --fix`")
MOST_NAMED = 3
MOST_FINDINGS = 10_001
"""A file can have a million mistakes."""


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The problems of a `spec`, and the `spec` repaired as far as possible."""

    findings: Sequence[Finding]
    spec: dict[str, Json]
    moves_id: bool = False


def judge(kind: Kind, spec: dict[str, Json], written: Json, *, has_id: bool) -> SpecReport:
    """Check a `spec`; `written` is the same before its expressions are filled in.

    The repaired `spec` is checked, and problems are reported where they were written.
    """
    findings = left = [*islice(lint(spec, kind.spec), MOST_FINDINGS)]
    # Most specs are valid, and are not walked again.
    rounds = PasteRepair(kind.spec, kind.id_form, has_id).rounds(written) if findings else []
    fixed = spec
    for made in rounds:
        after = repaired(fixed, made)
        fixed = after if isinstance(after, dict) else fixed
    if rounds:
        left = [*islice(lint(fixed, kind.spec), MOST_FINDINGS)]
    if not any(finding.severity is Severity.ERROR for finding in left):
        left = [*left, *kind.check(fixed)]
    origins = Origins(rounds)
    placed = [
        replace(finding, path=origins.of(finding.path)) if rounds else finding
        for finding in _with_places(left, fixed, kind)
    ]
    records = _records(fixed, kind, rounds, origins)
    moves_id = any(isinstance(repair, MoveId) for made in rounds for repair in made)
    return SpecReport(
        [*(_reported(*record, findings) for record in records.items()), *placed], fixed, moves_id
    )


def unacceptable(kind: Kind, document: dict[str, Json]) -> Iterator[Finding]:
    """Yield the errors in a whole document that no service would accept, wherever it was kept.

    A document that the service returned has fields that only the service sets, and may have fields
    that the model lacks. Neither is an error here.
    """
    fixed = judge(kind, document, document, has_id=True).spec
    for finding in judge(kind, fixed, fixed, has_id=True).findings:
        if finding.severity is Severity.ERROR and finding.code not in _OF_MANIFESTS:
            yield finding


_OF_MANIFESTS = ("M303", "M305")


def _with_places(
    findings: Sequence[Finding], spec: dict[str, Json], kind: Kind
) -> Sequence[Finding]:
    """Return the findings, with one for each list that has contradicting position fields.

    Position fields that agree with their list are repaired before. The others would move items when
    removed.
    """
    by_list: dict[Path, list[Finding]] = defaultdict(list)
    rest: list[Finding] = []
    for finding in findings:
        read_only = facts_at(kind.spec, finding.path).read_only if finding.code == "M305" else None
        if read_only is not None and read_only.fate is ReadOnlyReason.AS_LISTED:
            general = tuple(EACH if isinstance(step, int) else step for step in finding.path)
            by_list[general].append(finding)
        else:
            rest.append(finding)
    return [*rest, *(_places_finding(group, spec, kind) for group in by_list.values())]


def _places_finding(group: Sequence[Finding], spec: dict[str, Json], kind: Kind) -> Finding:
    first = group[0].path
    at = next(nth for nth, step in enumerate(first) if isinstance(step, int))
    keyed = facts_at(kind.spec, first[:at]).keyed
    numbered: list[tuple[float, str]] = []
    for finding in group:
        number = value_at(spec, finding.path)
        item = value_at(spec, finding.path[: at + 1])
        name = value_at(item, keyed.identity) if keyed is not None else None
        if isinstance(number, int | float) and isinstance(name, str):
            numbered.append((number, name))
    items = value_at(spec, first[:at])
    # If all items have a number, and no two the same, the numbers give one order.
    is_clear = isinstance(items, list) and len(items) == len(dict(numbered)) == len(group)
    wanted = ", ".join(f"`{name}`" for _, name in sorted(numbered))
    order = f"in this order first: {wanted}" if is_clear else "in the order that is meant first"
    message = f"`{first[-1]}` contradicts the places in the list, which alone count"
    remedy = Advice(f"write the items {order}; then remove `{first[-1]}`")
    return Finding(group[0].code, first, message, suggestion=remedy, at_key=True)


def _records(
    fixed: dict[str, Json], kind: Kind, rounds: Sequence[Round], origins: Origins
) -> Mapping[str, Sequence[tuple[Path, Repair]]]:
    """Return the repairs of each stored object, by its name, with the paths as written."""
    if not rounds:
        return {}
    members = {origins.of(path): name for path, name in _members(fixed, Facts(part=kind.spec), ())}
    found: dict[str, list[tuple[Path, Repair]]] = defaultdict(list)
    for nth, made in enumerate(rounds):
        before = Origins(rounds[:nth])
        for repair in made:
            path = before.of(repair.path)
            heads = (path[:length] for length in range(len(path) + 1))
            name = next((members[head] for head in heads if head in members), f"this {kind.name}")
            found[name].append((path, repair))
    return found


def _members(document: Json, facts: Facts, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield path and name of each item in a list of stored objects."""
    keyed = facts.keyed
    for member in members_of(document, facts):
        place = (*path, member.step)
        if keyed is None or not keyed.distinct:
            yield from _members(member.value, member.facts, place)
        elif isinstance(member.step, int):
            name = value_at(member.value, keyed.identity)
            shown = f" `{name}`" if isinstance(name, str) else ""
            yield place, f"item {member.step + 1}{shown}"


def _reported(
    name: str, repairs: Sequence[tuple[Path, Repair]], plain: Sequence[Finding]
) -> Finding:
    """Return the one finding of a record; if only one field is wrong, its own finding."""
    path, repair = repairs[0]
    if len(repairs) == 1 and not isinstance(repair, Unwrap | Wrap | Lift):
        own = next((finding for finding in plain if finding.path == path), None)
        if own is not None:
            return own
    ways = _ways(repairs)
    message = f"{name} is pasted as the service shows it: {'; '.join(ways.values())}"
    at = (*path, *repair.steps[:1]) if isinstance(repair, Unwrap) else path
    return Finding(next(iter(ways)), at, message, suggestion=BY_FIX, at_key=True)


def _ways(repairs: Sequence[tuple[Path, Repair]]) -> Mapping[str, str]:
    """Return in words how a record differs, by code; the worst first."""
    named: dict[type[Repair], list[str]] = defaultdict(list)
    for path, repair in repairs:
        named[type(repair)].append(_name_in(path, repair))
    read_only = [*named[MoveId], *named[Drop], *named[Negate]]
    texts = (
        ("M305", named[Unwrap], "wraps what is in spec", ""),
        ("M305", named[Wrap], "is around this in a manifest", ""),
        ("M305", named[Lift], "is next to that", ""),
        ("M305", read_only, "field is read-only", "fields are read-only"),
        ("M303", named[Rename], "field has another name", "fields have other names"),
        ("M301", named[Unquote], "number is in quotes", "numbers are in quotes"),
    )
    ways: dict[str, list[str]] = defaultdict(list)
    for code, names, text, many in texts:
        if names and many:
            ways[code].append(f"{len(names)} {text if len(names) == 1 else many} ({_named(names)})")
        elif names:
            ways[code].append(f"{_named(names)} {text}")
    return {code: "; ".join(parts) for code, parts in ways.items()}


def _name_in(path: Path, repair: Repair) -> str:
    """Return the name of the field that a repair is about."""
    match repair:
        case Unwrap():
            return str(repair.steps[0])
        case Wrap():
            return repair.name
        case Drop() | MoveId() | Negate() | Rename() | Unquote() | Lift():
            return str(path[-1])
        case _:
            assert_never(repair)


def _named(names: Sequence[str]) -> str:
    distinct = [*dict.fromkeys(names)]
    counts = {name: names.count(name) for name in distinct[:MOST_NAMED]}
    shown = ", ".join(
        f"`{name}` {count} times" if count > 1 else f"`{name}`" for name, count in counts.items()
    )
    more = sum(name not in distinct[:MOST_NAMED] for name in names)
    return " ".join(filter(None, (shown, and_more(more))))


def kind_like(record: Json) -> Kind | None:
    """Return the kind of a record; None if no kind fits, or more than one.

    The record, once repaired, has no error and nothing missing for that kind, and has a list or an
    object that only that kind has.
    """
    return _only_kind(record, _fits)


def kind_hinted(record: Json) -> Kind | None:
    """Return the only kind that a record resembles, though it has many problems; None for none.

    The record has a name, and a list or an object that only that kind has.
    """
    return _only_kind(
        record,
        lambda fixed, kind: kind.singleton or isinstance(value_at(fixed, kind.title), str),
    )


def _only_kind(record: Json, is_like: Callable[[Json, Kind], bool]) -> Kind | None:
    found: list[Kind] = []
    for kind in KINDS:
        fixed = record
        for made in PasteRepair(kind.spec, kind.id_form, has_id=True).rounds(record):
            fixed = repaired(fixed, made)
        content = fixed.get(kind.spec.bare, fixed) if isinstance(fixed, dict) else None
        parts = content.items() if isinstance(content, dict) else ()
        inside = {key for key, value in parts if isinstance(value, dict | list)}
        if inside & _parts_of_its_own(kind.name) and is_like(fixed, kind):
            found.append(kind)
    return found[0] if len(found) == 1 else None


def _fits(record: Json, kind: Kind) -> bool:
    findings = islice(lint(record, kind.spec), 1000)
    return not any(
        finding.severity is Severity.ERROR or finding.code == "M302" for finding in findings
    )


@cache
def _parts_of_its_own(name: str) -> frozenset[str]:
    """Return the names of lists and objects that no other kind has."""
    others = {field for kind in KINDS if kind.name != name for field in content_of(kind.spec)}
    return frozenset(
        field
        for field, facts in content_of(BY_NAME[name].spec).items()
        if field not in others and (facts.part is not None or facts.items is not None)
    )
