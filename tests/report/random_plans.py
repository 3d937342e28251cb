"""Plans of any size, whose every word was written by an enemy."""

from __future__ import annotations

from dataclasses import replace

from harness.sites import manifest_of
from hypothesis import strategies as st

from reconciler.document import ABSENT, Difference, Json, Missing, Path, digest
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
)
from reconciler.features.track_record.track_records import TrackRecordDocument, TrackRecords
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import ANY_STEP, Kind
from reconciler.model import (
    Absent,
    Action,
    Change,
    Evidence,
    LastEdit,
    Manifest,
    Objected,
    Observation,
    Plan,
    PlanSection,
    Ref,
    Remembered,
    Seen,
    Source,
    Unknown,
    UnsettledCreate,
    Watchers,
)
from reconciler.planning.consequences import orphan

HOSTILE = (
    *("\x1b[31mred", "\x1b]0;title\x07", "a\rb", "line\nbreak", "\x00", "\x9b2J", "\x7f"),
    *("\u202egnp.exe", "\u2066isolated", "\u200bzero", "\ufeff", "\U000e0041tag", "\u3164"),
    *("a|b", "||", "`", "``", "```", "`````\n", "~~~", "\\|", "\\", "\\`"),
    *("@team", "#1", "owner/repo#1", "<!-- x", "-->", "<script>alert(1)</script>", "</details>"),
    *(
        "::stop-commands::x",
        "##[error]x",
        "::add-mask::",
        "%0A",
        "[a](http://e.vil)",
        "http://e.vil",
    ),
    *(
        "<b>",
        "&lt;",
        "**bold**",
        "# title",
        "- item",
        "> quote",
        "$$x$$",
        "</code>",
        "^_^",
        "![x](y)",
    ),
    *("é", "日本語", "👩\u200d👩", "x" * 300, " ", "", "  padded  ", "\ud800"),
)
MARK = "FOREIGN"

TEXTS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=5)), max_size=3).map(
    lambda parts: MARK + "".join(parts)
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=4,
)
PATHS: st.SearchStrategy[Path] = st.lists(
    st.one_of(TEXTS, st.integers(0, 9)), min_size=1, max_size=4
).map(tuple)
SIDES: st.SearchStrategy[tuple[Json | Missing, Json | Missing]] = st.one_of(
    st.tuples(VALUES, VALUES),
    st.tuples(st.just(ABSENT), VALUES),
    st.tuples(VALUES, st.just(ABSENT)),
)


@st.composite
def a_difference(draw: st.DrawFn) -> Difference:
    """Give a difference of any operation."""
    path, (before, after) = draw(PATHS), draw(SIDES)
    if before is ABSENT:
        return Difference(path, before, after, "add")
    if after is ABSENT:
        return Difference(path, before, after, "remove")
    if draw(st.booleans()):
        return Difference(path, draw(st.integers(0, 9)), draw(st.integers(0, 9)), "move")
    return Difference(path, before, after)


def _object(document: Json) -> dict[str, Json]:
    return document if isinstance(document, dict) else {"value": document}


def filled(kind: Kind, text: str) -> dict[str, Json]:
    """Give a document that says a text wherever its kind has something that matters."""
    document: dict[str, Json] = {}
    for essential in kind.essentials:
        here: Json = document
        *steps, last = (text if step == ANY_STEP else step for step in essential.path)
        for step in steps:
            # What is a text already is what another one ends in.
            here = here.setdefault(step, {}) if isinstance(here, dict) else here
        if isinstance(here, dict):
            here.setdefault(last, text)
    return document


OBSERVATIONS: st.SearchStrategy[Observation] = st.one_of(
    st.builds(Seen, TEXTS, VALUES.map(_object), edit=st.builds(LastEdit, who=TEXTS)),
    st.builds(Absent, TEXTS),
    st.builds(Remembered, TEXTS, VALUES.map(_object)),
    st.builds(Unknown, st.none(), TEXTS),
)


DECLARED = [action for action in Action if action is not Action.ORPHAN]


@st.composite
def a_change(draw: st.DrawFn) -> Change:
    """Give a change of any action."""
    ref = Ref(draw(st.sampled_from(["SLO", "Dashboard", "SavedView", MARK + "`kind"])), draw(TEXTS))
    spec = draw(VALUES.map(_object))
    kind = BY_NAME.get(ref.kind)
    if kind is not None and draw(st.booleans()):
        spec = filled(kind, draw(TEXTS))
    names = tuple(draw(st.lists(TEXTS, max_size=3)))
    return Change(
        ref=ref,
        manifest=Manifest(ref, spec, Source(draw(TEXTS), 1)),
        action=draw(st.sampled_from(DECLARED)),
        evidence=draw(st.sampled_from(Evidence)),
        observation=draw(OBSERVATIONS),
        declared=spec,
        body=spec,
        differences=tuple(draw(st.lists(a_difference(), max_size=3))),
        destroys=names,
        foreign=names[:1],
        reasons=tuple(map(Objected, tuple(draw(st.lists(TEXTS, max_size=3))))),
    )


METS = st.one_of(st.none(), st.just(Met()), st.builds(Met, TEXTS, TEXTS))
ANSWERS = st.builds(
    SampleAnswer,
    st.builds(PolicySample, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans()),
    METS,
    METS,
)
NAMES = st.lists(TEXTS, max_size=12).map(tuple)


@st.composite
def an_impact(draw: st.DrawFn) -> PolicyImpact:
    """Give what becomes of up to some hundred samples."""
    answers = tuple(draw(st.lists(ANSWERS, max_size=4)) * draw(st.sampled_from([1, 100])))
    return PolicyImpact(
        answers=answers,
        agreement=draw(st.sampled_from([None, 0.0, 0.5, 1.0])),
        shadowed=draw(NAMES),
        recalled=draw(NAMES),
        unknown=draw(NAMES),
        unasked=draw(st.one_of(st.just(""), TEXTS)),
        on_mismatch=draw(st.sampled_from(["report", "rollback"])),
        writes=draw(st.booleans()),
        disagreeing=answers[:2],
    )


@st.composite
def plans(draw: st.DrawFn, most: int = 2_000) -> Plan:
    """Give a plan: a few drawn changes, repeated under new names up to `most`."""
    drawn = draw(st.lists(a_change(), max_size=6))
    size = draw(st.one_of(st.just(len(drawn)), st.integers(0, most))) if drawn else 0
    changes = tuple(_renamed(drawn[index % len(drawn)], index) for index in range(size))
    gone = st.builds(orphan, st.builds(Ref, TEXTS, TEXTS), st.builds(Memory, remote_id=TEXTS))
    orphans = draw(st.lists(gone, max_size=2))
    lost = st.builds(UnsettledCreate, st.builds(Ref, TEXTS, TEXTS), TEXTS, TEXTS)
    times = draw(st.sampled_from([1, 1, most // 2]))
    return Plan(
        environment=draw(TEXTS),
        target=draw(TEXTS),
        digest=digest(size),
        changes=(*changes, *orphans * times),
        unsettled=tuple(draw(st.lists(lost, max_size=2)) * times),
        watchers=dict.fromkeys((change.ref for change in changes), draw(WATCHERS)),
        sections=draw(sections_beside(changes)),
    )


RECORDS = st.builds(
    TrackRecordDocument,
    days=st.integers(1, 90),
    events=st.none() | st.integers(0, 10**9),
    incidents=st.none() | st.integers(0, 10**9),
    openIncidents=st.none() | st.integers(0, 10**9),
    cases=st.none() | st.integers(0, 10**9),
    complete=st.booleans(),
    unclearEvents=st.integers(0, 9),
    byName=st.integers(0, 9),
    casesByPriority=st.dictionaries(st.sampled_from(["P1", "other"]), st.integers(1, 10**9)),
    lastAcknowledged=st.sampled_from([None, "2026-02-25T01:00:00.000Z"]),
    daily=st.lists(st.integers(0, 10**6), max_size=90),
)
WATCHERS = st.builds(
    Watchers,
    refs=st.lists(st.builds(Ref, TEXTS, TEXTS), max_size=15).map(tuple),
    others=st.lists(TEXTS, max_size=15).map(tuple),
)


@st.composite
def sections_beside(draw: st.DrawFn, changes: tuple[Change, ...]) -> tuple[PlanSection, ...]:
    """Give sections about some changes, as a hostile service tells of them."""
    if not draw(st.booleans()):
        return ()
    record = draw(RECORDS)
    records = TrackRecords({change.ref: record for change in changes if change.ref.kind in BY_NAME})
    impact = draw(st.none() | an_impact())
    return (records,) if impact is None else (records, impact)


def _renamed(change: Change, index: int) -> Change:
    ref = Ref(change.ref.kind, f"{change.ref.name}{index}")
    return replace(change, ref=ref, manifest=replace(manifest_of(change), ref=ref))
