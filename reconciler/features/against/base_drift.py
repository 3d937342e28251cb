"""Plans against a commit, and drift from the base branch: two plans of one change, compared.

One plan was made against live, the other against the manifests of the base branch. Both end at the
same declaration, so where they begin differently, live has drifted from the base branch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Annotated, ClassVar, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    value_at,
)
from reconciler.errors import ReconcilerError
from reconciler.kinds import BY_NAME
from reconciler.model import Absent, Action, Change, Plan, Ref, Seen
from reconciler.model.quoting import and_more
from reconciler.operations.offline import opened_offline
from reconciler.operations.open_project import Options, lead_here, open_project
from reconciler.project import Project, choose_environment
from reconciler.redaction.templates import HIDDEN, holds_seal
from reconciler.report.counts import live_document
from reconciler.report.labels import Lists, place_in
from reconciler.report.markdown import code, table_row
from reconciler.report.safe import safe
from reconciler.report.sections import Notice, SectionFormats
from reconciler.report.table import INDENT, Colour, Style, wrapped
from reconciler.report.words import first_lines, place, plural, value
from reconciler.workspace.revision import branching_point


@with_config(ConfigDict(extra="ignore"))
class FieldBesideDocument(TypedDict):
    """A field that is not live as the base branch declares it; a side without it is left out.

    Values are safe to show.
    """

    path: list[str | int]
    base: NotRequired[JsonValue]
    live: NotRequired[JsonValue]


@with_config(ConfigDict(extra="ignore"))
class StrayedDocument(TypedDict):
    """A resource, with what the change would do to it on either side."""

    ref: str
    base: str
    live: str
    fields: list[FieldBesideDocument]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDrift:
    """The differences between live and the base branch, from two plans of one change.

    `against` is the base branch's commit; `why` is why the differences are unknown, "" if they are
    known. `places` are the labels of fields, by resource and path.
    """

    formats: ClassVar[str] = "reconciler.features.against.base_drift:FORMATS"
    against: str
    strayed: tuple[StrayedDocument, ...] = ()
    places: Mapping[tuple[str, Path], str] = field(default_factory=dict)
    why: str = ""


_SHORTEST_ID = 8


def beside_base(
    made: Plan, commit: str, planned: Callable[[], tuple[Plan, Container[Ref]]]
) -> Plan:
    """Return a plan of the service with the differences between live and the base branch.

    `planned` returns the plan against that commit, and the resources that the emulator refused. If
    it fails, the plan says why.
    """
    try:
        base, refused = planned()
    except ReconcilerError as error:
        return made.with_section(BaseDrift(against=commit, why=str(error)))
    found = strayed(made, base, refused)
    places = {(ref, path): words for ref, path, words in _places(found, made, base)}
    return made.with_section(BaseDrift(against=commit, strayed=found, places=places))


def _places(
    found: Iterable[StrayedDocument], live: Plan, base: Plan
) -> Iterator[tuple[str, Path, str]]:
    """Yield each field that differs, with the words that the changes of the plan have for it."""
    here, there = ({str(change.ref): change for change in plan.changes} for plan in (live, base))
    for difference in found:
        ref, lists = difference["ref"], Lists()
        change, other = here[ref], there[ref]
        documents = change.body, live_document(change), live_document(other)
        for differing in difference["fields"]:
            path, kind = tuple(differing["path"]), BY_NAME.get(change.ref.kind)
            yield ref, path, place_in(kind, path, *documents, lists=lists).words


def strayed(live: Plan, base: Plan, unknown: Container[Ref] = ()) -> tuple[StrayedDocument, ...]:
    """Return the resources that are different live and on the base branch, with the fields.

    Only values in the service's answer count as live. Values that only the journal has do not
    count. Of the `unknown` resources, the emulator refused the declaration of the base branch. No
    field that holds a secret is returned: the plan against the base branch knows no values of
    secrets.
    """
    there = {change.ref: change for change in base.changes if change.ref not in unknown}
    known = _names(live), _names(base)
    found: list[StrayedDocument] = []
    for change in live.changes:
        other = there.get(change.ref)
        if other is None or not isinstance(change.observation, Seen | Absent):
            continue
        here, its = change.action, other.action
        if Action.BLOCKED in (here, its):
            continue
        # A resource that is new on one side has all its fields there: that says nothing about the
        # start.
        is_new = Action.CREATE in (here, its)
        fields = [] if is_new else [*_fields(change, other, known)]
        if fields or (is_new and here is not its):
            found.append(
                StrayedDocument(ref=str(change.ref), base=its.word, live=here.word, fields=fields)
            )
    return tuple(found)


_Names = Mapping[str, str]


def _fields(
    live: Change, base: Change, known: tuple[_Names, _Names]
) -> Iterator[FieldBesideDocument]:
    """Yield the fields in which the two began differently.

    Where a plan has no difference, the field began as declared.
    """
    here, there = (
        {_key(side, found): found for found in side.differences} for side in (live, base)
    )
    for key in sorted(here.keys() | there.keys(), key=lambda steps: list(map(str, steps))):
        mine, other = here.get(key), there.get(key)
        parents = [key[:length] for length in range(1, len(key))]
        if any(parent in here or parent in there for parent in parents):
            continue
        path = mine.path if mine is not None else _path_at(live, key)
        its_path = other.path if other is not None else _path_at(base, key)
        began = _begun(live, path, other), _begun(base, its_path, mine)
        ends = [(found.before, found.after) for found in (mine, other) if found is not None]
        if any(map(_hides, chain(began, *ends))):
            continue
        returned = [_returned(value, path, live) for value in began]
        same = [_comparable(value, live, key) for value in returned]
        texts = [_named(value, names) for value, names in zip(same, known, strict=True)]
        if texts[0] != texts[1]:
            differing: FieldBesideDocument = {"path": list(path)}
            if returned[1] is not ABSENT:
                differing["base"] = returned[1]
            if returned[0] is not ABSENT:
                differing["live"] = returned[0]
            yield differing


def _key(side: Change, difference: Difference) -> Path:
    """Return the path of a difference with places in place of ids: each side has its own ids.

    Both sides declare the same items in the same order. A removed item has its former place.
    """
    is_gone = difference.operation == "remove"
    document = live_document(side) if is_gone else side.body
    shape, steps = BY_NAME[side.ref.kind].shape, list[str | int]()
    for step in difference.path:
        members = by_identity(document, shape) if isinstance(document, list) else None
        if members is not None and isinstance(step, str):
            steps.append([*members].index(step) if step in members else step)
            document, shape = members.get(step, ABSENT), shape.item
        else:
            steps.append(step)
            document = value_at(document, (step,))
            shape = shape.at(step) if isinstance(step, str) else shape.item
    return (*steps, "-") if is_gone else tuple(steps)


def _path_at(side: Change, key: Path) -> Path:
    """Return the path of a key on one side, with the ids that it has there."""
    is_gone = key[-1:] == ("-",)
    document: Json | Missing = live_document(side) if is_gone else side.body
    shape, steps = BY_NAME[side.ref.kind].shape, list[str | int]()
    for step in key[:-1] if is_gone else key:
        members = by_identity(document, shape) if isinstance(document, list) else None
        name = [*members][step] if members and isinstance(step, int) and step < len(members) else ""
        steps.append(name or step)
        document = members.get(name, ABSENT) if members and name else value_at(document, (step,))
        shape = shape.at(step) if isinstance(step, str) else shape.item
    return tuple(steps)


def _comparable(value: Json | Missing, side: Change, key: Path) -> Json | Missing:
    """Return the value at the place of a key, without nested ids: each side has its own."""
    if value is ABSENT:
        return value
    steps, shape = key[:-1] if key[-1:] == ("-",) else key, BY_NAME[side.ref.kind].shape
    around = shape.along(steps[:-1])
    return (
        _without_ids([value], around)
        if around.identity
        else _without_ids(value, shape.along(steps))
    )


def _without_ids(value: Json | Missing, shape: Shape) -> Json | Missing:
    """Return a value without the nested ids by which the items of its lists are known."""
    if isinstance(value, list):
        items = [_without_ids(item, shape.item) for item in value]
        is_id = shape.identity[:1] == ("id",)
        bare = [_without(item, shape.identity) if is_id else item for item in items]
        return [item for item in bare if not isinstance(item, Missing)]
    if isinstance(value, dict):
        inside = {key: _without_ids(inner, shape.at(key)) for key, inner in value.items()}
        return {key: inner for key, inner in inside.items() if not isinstance(inner, Missing)}
    return value


def _begun(side: Change, path: Path, other: Difference | None) -> Json | Missing:
    """Return the value that a side began with: as declared, where it has no difference there."""
    found = next((difference for difference in side.differences if difference.path == path), None)
    if found is not None:
        return found.before
    if any(difference.path[: len(path)] == path for difference in side.differences):
        shape = BY_NAME[side.ref.kind].shape
        document = side.observation.document if isinstance(side.observation, Seen) else ABSENT
        return _member_at(document if side.before is None else side.before, path, shape)
    return other.after if other is not None else ABSENT


def _member_at(document: Json | Missing, path: Path, shape: Shape) -> Json | Missing:
    """Return the value at a path that names the members of lists by identity."""
    for step in path:
        if isinstance(document, list) and isinstance(step, str):
            document = (by_identity(document, shape) or {}).get(step, ABSENT)
            shape = shape.item
        else:
            document = value_at(document, (step,))
            shape = shape.at(step) if isinstance(step, str) else shape.item
    return document


def _returned(value: Json | Missing, path: Path, live: Change) -> Json | Missing:
    """Return a value without the fields that no answer contains; ABSENT where nothing is left."""
    seen = live.observation
    if not isinstance(seen, Seen):
        return value
    for left_out in (*seen.recalled, *seen.unseen):
        if left_out[: len(path)] == path or path[: len(left_out)] == left_out:
            value = _without(value, left_out[len(path) :])
    return value


def _without(value: Json | Missing, path: Path) -> Json | Missing:
    """Return a value without the field at a path; ABSENT where that was its only field."""
    if not path:
        return ABSENT
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: inner for key, inner in value.items() if key != path[0]}
    inner = _without(value[str(path[0])], path[1:])
    kept = rest if inner is ABSENT else {**value, str(path[0]): inner}
    return kept or ABSENT


def _hides(value: Json | Missing) -> bool:
    return value is not ABSENT and (holds_seal(value) or HIDDEN in canonical_text(value))


def _names(plan: Plan) -> _Names:
    """Map the ids of a plan's resources to their names: each side has its own ids."""
    return {
        str(change.remote_id): str(change.ref)
        for change in plan.declared
        if change.remote_id is not None and len(str(change.remote_id)) >= _SHORTEST_ID
    }


def _named(value: Json | Missing, names: _Names) -> str:
    if value is ABSENT:
        return ""
    text = canonical_text(value)
    for remote_id, name in names.items():
        text = text.replace(remote_id, name)
    return text


TITLE = "Live has drifted from the base branch here"
SHOWN_DIGITS = 12
MOST_ROWS = 20
MOST_FIELDS = 5
LONGEST_VALUE = 60
LONGEST_PLACE = 120
LONGEST_WHY = 300
MORE_BYTES = 40


@with_config(ConfigDict(extra="ignore"))
class BesideBaseDocument(TypedDict):
    """Differences between live and the base branch, or why they could not be found."""

    against: Annotated[str, Field(description="The commit of the base branch.")]
    why: Annotated[str, Field(description="Why they could not be found; else empty.")]
    resources: list[StrayedDocument]


BesideBase: TypeAlias = Annotated[
    BesideBaseDocument | None,
    Field(
        default=None,
        description="Where live is not as the base branch declares it; null where that was not "
        "asked for.",
    ),
]


def base_document(found: BaseDrift) -> BesideBaseDocument:
    """Return the JSON form."""
    return {
        "against": found.against,
        "why": found.why,
        "resources": list(found.strayed),
    }


def base_lines(found: BaseDrift, style: Style) -> Iterator[str]:
    """Yield lines for a terminal; none where live is as the base branch declares it."""
    if found.why:
        reason = f"Not compared with the base branch: {' '.join(found.why.split())}"
        shown_reason = safe(reason, LONGEST_WHY)
        yield from wrapped(shown_reason, style, Colour.YELLOW, margin="", hang="  ")
        yield ""
    if not found.strayed:
        return
    yield style.paint(f"{TITLE} ({found.against[:SHOWN_DIGITS]})", Colour.YELLOW, Colour.BOLD)
    shown = found.strayed if style.verbose else found.strayed[:MOST_ROWS]
    for difference in shown:
        text = f"{difference['ref']}: {standing(difference)}"
        yield from wrapped(text, style, margin="  ", hang="  ")
        whole = difference["fields"]
        fields = whole if style.verbose else whole[:MOST_FIELDS]
        for differing in fields:
            path, base, live = _cells(found, difference, differing)
            text = f"{path}: base {base}, live {live}"
            yield from wrapped(text, style, Colour.DIM, margin=INDENT, hang="  ")
        if rest := len(whole) - len(fields):
            yield style.paint(f"{INDENT}and {plural(rest, 'field')} more", Colour.DIM)
    if rest := len(found.strayed) - len(shown):
        yield style.paint(f"  and {rest:,} more (-v lists them)", Colour.DIM)
    yield ""


def standing(difference: StrayedDocument) -> str:
    """Return the state of a resource on both sides in words."""
    if difference["base"] == "create":
        return "it is live, and the base branch does not declare it"
    if difference["live"] == "create":
        return "the base branch declares it, and it is not live"
    return f"{plural(len(difference['fields']), 'field')} not live as the base branch has them"


def base_markdown(found: BaseDrift, room: int) -> str:
    """Return a fold for a comment, "" for none, within `room` bytes; other rows are counted."""
    if found.why:
        line = f"\n<sub>Not compared with the base branch: {code(found.why, LONGEST_WHY)}</sub>\n"
        return line if len(line.encode()) <= room else ""
    if not found.strayed:
        return ""
    count = plural(len(found.strayed), "resource")
    head = (
        f"\n<details><summary>{TITLE} ({count})</summary>\n\nAgainst the base branch's commit "
        f"{code(found.against[:SHOWN_DIGITS])}; fields that hold secrets are left out.\n\n"
        "| resource | field | base branch | live |\n|---|---|---|---|\n"
    )
    foot = "\n</details>\n"
    left = room - len((head + foot).encode()) - MORE_BYTES
    rows = partial(_rows, found)
    more = "| and {} more | | | |"
    shown = "\n".join(first_lines(found.strayed, rows, MOST_ROWS, more, left))
    return f"{head}{shown}\n{foot}" if left > 0 else ""


def _rows(found: BaseDrift, difference: StrayedDocument) -> str:
    """Return the rows of a resource: one for each field, or one for all of it."""
    named, fields = code(difference["ref"], LONGEST_VALUE), difference["fields"]
    rows: list[Iterable[str]] = []
    rows += (map(code, _cells(found, difference, differing)) for differing in fields[:MOST_FIELDS])
    if not fields:
        rows.append((standing(difference), "", ""))
    if more := and_more(len(fields) - MOST_FIELDS, "field"):
        rows.append((more, "", ""))
    return "\n".join(table_row(named, *cells) for cells in rows)


def _cells(
    found: BaseDrift, difference: StrayedDocument, differing: FieldBesideDocument
) -> tuple[str, str, str]:
    path = tuple(differing["path"])
    words = found.places.get((difference["ref"], path)) or place(path)
    base, live = differing.get("base", ABSENT), differing.get("live", ABSENT)
    return safe(words, LONGEST_PLACE), value(base, LONGEST_VALUE), value(live, LONGEST_VALUE)


def base_notices(found: BaseDrift) -> Iterator[Notice]:
    """Yield a notice of the resources that have drifted."""
    if found.strayed:
        refs = tuple(Ref(*difference["ref"].split("/", 1)) for difference in found.strayed)
        words = "not live as the base branch declares it, so this change meets something else"
        yield Notice("drifted", words, refs)


FORMATS: Final[SectionFormats[BaseDrift]] = SectionFormats(
    members=lambda found: {"besideBase": base_document(found)},
    lines=base_lines,
    end_markdown=base_markdown,
    notices=base_notices,
)


def plan_against(options: Options, revision: str) -> tuple[Plan, Project]:
    """Plan a project against the last commit in common with a revision.

    Raises UsageError without git or for an invalid revision, and InvalidInput for wrong manifests
    on either side.
    """
    project = open_project(options)
    name, environment = choose_environment(project, options.environment)
    lead_here(options, project, name)
    common = branching_point(project.root, revision, "--against")
    with opened_offline(options, project, name, environment) as offline:
        return offline.holding(common).plan(), project
