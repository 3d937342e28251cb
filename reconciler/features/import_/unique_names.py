"""Names and ids for converted resources, which do not depend on their order. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.errors import ExitCode
from reconciler.features.import_.conversion import Converted, named
from reconciler.features.import_.names import MARK, content_mark, plain_name
from reconciler.features.import_.records import Left

FIRST = "severity"
MOST_NAMED = 10
TWIN = "the same is in these documents twice: one manifest is made of both"
_SELECTS = re.compile(r"(.+)\[([^\[\]]+)\]", re.DOTALL)


@dataclass(slots=True)
class Naming:
    """The names of a resource: `handle` for people and `--id`, `mark` in its manifest's name.

    `remote_id` is the id that it was assigned, "" for none. A twin, or a resource with a reason in
    `why_not`, is not imported.
    """

    handle: str
    mark: str = ""
    remote_id: str = ""
    why_not: str = ""
    is_twin: bool = False


@dataclass(frozen=True, slots=True)
class UniqueNames:
    """The names of each resource, the names `met` that `--id` accepts, and the ids `left` over."""

    each: Sequence[Naming]
    met: set[str]
    left: list[Left]


def with_unique_names(made: Sequence[Converted], ids: Mapping[str, str]) -> UniqueNames:
    """Return the names of each resource, with its own id of `ids`.

    Resources of one name are distinguished by severity, else by the first different label in
    alphabetical order, else by digits of their digests.
    """
    given = [Naming(resource.name) for resource in made]
    firsts = _without_twins(made, given)
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for nth in firsts:
        alike[made[nth].kind.name, plain_name(made[nth].name)].append(nth)
    for group in alike.values():
        if len(group) > 1:
            for nth, mark in zip(group, marks_of([made[nth] for nth in group]), strict=True):
                given[nth].handle = f"{made[nth].name}[{mark}]"
                given[nth].mark = "" if made[nth].labels is None else mark
    result = UniqueNames(given, set(), [])
    for nth in firsts if ids else ():
        result.met.update((made[nth].name, given[nth].handle))
    _hand_out(made, firsts, ids, result)
    return result


def _without_twins(made: Sequence[Converted], given: Sequence[Naming]) -> list[int]:
    """Return the indices of all resources without repetitions; a resource without labels stays."""
    seen: set[tuple[str, str, str]] = set()
    firsts: list[int] = []
    for nth, resource in enumerate(made):
        key = (resource.kind.name, resource.name, resource.digest)
        if resource.labels is not None and key in seen:
            given[nth].why_not, given[nth].is_twin = TWIN, True
        else:
            firsts.append(nth)
            seen.add(key)
    return firsts


def marks_of(made: Sequence[Converted]) -> list[str]:
    """Return a mark for each of the resources of one name, all unique."""
    holders: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for nth, resource in enumerate(made):
        for name, value in (resource.labels or {}).items():
            holders[name].append((nth, value))
    marks = [""] * len(made)
    for name in sorted(holders, key=lambda name: (name != FIRST, name)):
        count = Counter(plain_name(value) for _, value in holders[name])
        for nth, value in holders[name]:
            if not marks[nth] and "{{" not in value and count[plain_name(value)] == 1:
                marks[nth] = value if plain_name(value) else ""
    count = Counter(map(plain_name, marks))
    digests = [resource.digest or content_mark(resource.spec) for resource in made]
    return [
        mark if count[plain_name(mark)] == 1 and mark else digest[:MARK]
        for mark, digest in zip(marks, digests, strict=True)
    ]


def _hand_out(
    made: Sequence[Converted], firsts: Sequence[int], ids: Mapping[str, str], result: UniqueNames
) -> None:
    """Assign each id to its resource; an id that fits several resources of a kind is left."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for nth in firsts if ids else ():
        by_name[made[nth].name].append(nth)
    owners: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, remote_id in ids.items():
        found = by_name.get(key) or _selected(key, made, by_name, result.each)
        if found:
            result.met.add(key)
        of_kind: dict[str, list[int]] = defaultdict(list)
        for nth in found:
            of_kind[made[nth].kind.name].append(nth)
        for kind, nths in of_kind.items():
            if len(nths) > 1:
                result.left.append(_ambiguous(key, kind, [result.each[nth] for nth in nths]))
                continue
            owners[kind, remote_id.lower()].append(nths[0])
            result.each[nths[0]].remote_id = remote_id
    _refuse_shared(made, owners, result.each)


def _selected(
    key: str,
    made: Sequence[Converted],
    by_name: Mapping[str, Sequence[int]],
    given: Sequence[Naming],
) -> list[int]:
    """Return the indices for `NAME[LABEL]`: a mark, the value of a label, or `label=value`."""
    found = _SELECTS.fullmatch(key)
    nths = by_name.get(found[1], ()) if found is not None else ()
    for nth in nths:
        if given[nth].handle == key:
            return [nth]
    wanted = found[2] if found is not None else ""
    return [nth for nth in nths if wanted in _describe(made[nth].labels or {})]


def _describe(labels: Mapping[str, str]) -> Iterable[str]:
    for name, value in labels.items():
        yield value
        yield f"{name}={value}"


def _ambiguous(key: str, kind: str, namings: Sequence[Naming]) -> Left:
    shown = ", ".join(f"`{named(naming.handle)}`" for naming in namings[:MOST_NAMED])
    more = f" and {len(namings) - MOST_NAMED} more" if len(namings) > MOST_NAMED else ""
    reason = f"{len(namings)} of {kind} are called so: name one of {shown}{more}"
    return Left(f"--id `{named(key)}`", reason, ExitCode.INVALID)


def _refuse_shared(
    made: Sequence[Converted],
    owners: Mapping[tuple[str, str], Sequence[int]],
    given: Sequence[Naming],
) -> None:
    """Refuse resources that share an id, and resources with several ids."""
    id_counts: Counter[int] = Counter(nth for nths in owners.values() for nth in {*nths})
    for (_, remote_id), nths in owners.items():
        if len({*nths}) > 1:
            for nth in nths:
                others = (named(given[number].handle) for number in nths if number != nth)
                reason = f"its id {named(remote_id)} is given to `{next(others)}` too"
                given[nth].why_not = reason
    for nth, count in id_counts.items():
        if count > 1:
            given[nth].why_not = f"--id gives it {count} ids: {named(made[nth].name)} has one"
