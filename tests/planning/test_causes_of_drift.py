"""Why something is not as it was applied, and which differences the project file expects."""

from __future__ import annotations

import re
import struct
from pathlib import Path as Folder

import pytest
from harness.sites import ALERT_ID, ALERT_SPEC, SALT, Meddler, Site, answer_with, manifest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.journal.entries import Drifted, Forgotten, LastWrite, Renamed
from reconciler.journal.history import History, Memory
from reconciler.model import Drift, DriftReport, Ref
from reconciler.model.assumptions import Assumptions
from reconciler.planning.find_drift import _is_restated, find_drift, remembered
from reconciler.project.settings import DriftIgnore

AT = "2025-01-31T09:00:00Z"
LATER = "2025-02-01T09:00:00Z"
SLO = Ref("SLO", "checkout")
ONE = manifest(str(SLO), {"name": "Checkout", "targetThresholdPercentage": 99.9})


def stored(revision: int = 0, **fields: Json) -> Meddler:
    """Answer with an SLO of these fields."""
    told: dict[str, Json] = {"revision": {"revision": revision}} if revision else {}
    slo: Json = {"id": "id", "name": "Checkout", "targetThresholdPercentage": 99.9, **fields}
    return answer_with(200, {"slo": {**slo, **told}})  # type: ignore[dict-item]  # an object


def history(revision: str = "", **fields: Json) -> History:
    """Give a journal by which the SLO was applied."""
    declared: dict[str, Json] = {**ONE.spec, **fields}
    last = LastWrite(remote_id="id", at=AT, declared=declared, rewritten=(), revision=revision)
    return History({SLO: Memory(remote_id="id", last=last, exists=True)}, begun=True)


def look(site: Site, known: History, answer: Meddler, *rules: DriftIgnore) -> DriftReport:
    """Compare the SLO with what the service answers."""
    site.meddle("GET", "*", answer)
    return site.ask(lambda api: find_drift(api, (ONE,), known, SALT, ignore=rules))


def found(site: Site, known: History, answer: Meddler, *rules: DriftIgnore) -> Drift:
    """Give what became of the SLO."""
    (drift,) = look(site, known, answer, *rules).found
    return drift


@pytest.mark.parametrize(
    ("before", "live", "cause"),
    [
        ({}, stored(3, name="Theirs"), "edited"),
        ({}, stored(2, name="Theirs"), "rewritten"),
        ({}, stored(name="Theirs"), "edited"),
        ({}, stored(3, targetThresholdPercentage=99.9000015), "rewritten"),
        ({}, stored(3, targetThresholdPercentage=99.91), "edited"),
        ({"description": " a "}, stored(3, description="a"), "rewritten"),
        ({"description": "e\u0301"}, stored(3, description="\u00e9"), "rewritten"),
        ({"description": "a"}, stored(3, description="b"), "edited"),
        ({"odd": True}, stored(3, odd=1), "edited"),
        (
            {"description": " a "},
            stored(3, description="a", targetThresholdPercentage=1),
            "edited",
        ),
        ({}, answer_with(404, {"code": 404, "message": "none"}), "gone"),
        ({}, stored(), None),
    ],
)
def test_causes(site: Site, before: dict[str, Json], live: Meddler, cause: str | None) -> None:
    """Only a sure sign tells the service's own work: nobody wrote, or it is the same in form."""
    assert found(site, history("2", **before), live).cause == cause


@given(st.floats(1e-30, 1e30) | st.integers(1, 2**53))
def test_thirty_two_bits(number: float) -> None:
    """Whatever 32 bits hold of a number is that number in another form, and nobody's edit."""
    kept = struct.unpack("f", struct.pack("f", number))[0]
    assert _is_restated(number, kept)
    assert not _is_restated(number, number * 2)


def rule(path: str | list[str], kind: str = "*", name: str = "*") -> DriftIgnore:
    """Give a rule."""
    return DriftIgnore(kind=kind, name=name, path=path, reason="so it is")


@pytest.mark.parametrize(
    ("path", "silent", "left"),
    [
        ("labels", 2, 0),
        ("labels.a", 1, 1),
        ("labels.*", 2, 0),
        ("**.b", 1, 1),
        ("name", 0, 2),
        ("label", 0, 2),
        (["labels", "a"], 1, 1),
    ],
)
def test_expected_fields(site: Site, path: str, silent: int, left: int) -> None:
    """A rule silences its field and what is inside, and nothing beside it."""
    known, live = history(labels={"a": "1", "b": "1"}), stored(labels={"a": "2", "b": "2"})

    drift = found(site, known, live, rule(path))

    assert (len(drift.ignored), len(drift.differences)) == (silent, left)
    assert drift.state == ("drifted" if left else "same")


def test_expected_object(site: Site) -> None:
    """An object that came is expected where all that it holds is, and no part of it alone."""
    live = stored(labels={"a": "2", "b": "2"})

    assert found(site, history(labels={"a": "2", "b": "2"}), stored(), rule("labels.a")).drifted
    both = rule("labels.a"), rule("labels.*")
    assert not found(site, history(labels={"a": "3", "b": "3"}), live, *both).drifted


steps = st.lists(st.sampled_from("ab"), min_size=1, max_size=5)


@given(st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=5), steps)
def test_globs_of_places(globs: list[str], path: list[str]) -> None:
    """A glob of a place means what a pattern over its written form means."""
    words = {"*": "[ab]/", "**": "([ab]/)*", "a": "a/", "b": "b/"}
    pattern = "".join(words[glob] for glob in globs)

    meant = re.match(pattern, "".join(f"{text}/" for text in path)) is not None
    assert rule(globs).covers(path) == meant


def test_many_globs_end() -> None:
    """No pattern takes long, however many ways through it there are."""
    assert not rule(["**", "x"] * 40).covers(["x"] * 39)


def test_rules_that_do_nothing(site: Site) -> None:
    """What silenced nothing is told apart from what is about nothing that is declared."""
    rules = rule("name"), rule("labels", kind="Dash*"), rule("name", name="other")

    told = look(site, history(), stored(), *rules)

    assert told.idle == ("*/* name",)
    assert told.aimless == ("Dash*/* labels", "*/other name")


def test_ways_of_what_cannot_be_made(tmp_path: Folder) -> None:
    """Of what nobody can create through the API, the way back says what to do first."""
    reads = {"AlertDefinition": {"path": "/v3/a/{id}"}, "SavedView": {"path": "/v3/v/{id}"}}
    site = Site(tmp_path)
    alert = manifest("AlertDefinition/a", ALERT_SPEC, ALERT_ID)
    view = manifest("SavedView/v", {"name": "v", "timeSelection": {}}, 7)
    memories = {
        one.ref: Memory(
            remote_id=one.remote_id,
            last=LastWrite(remote_id=one.remote_id, at=AT, declared=one.spec, rewritten=()),
            exists=True,
        )
        for one in (alert, view)
    }
    gone = answer_with(404, {"code": 404, "message": "none"})
    site.meddle("GET", "/v3/*", gone, gone)

    async def ask(api: object) -> DriftReport:
        api.assumptions = Assumptions.model_validate({"reads": reads})  # type: ignore[attr-defined]  # an Api
        return await find_drift(api, (alert, view), History(memories), SALT)  # type: ignore[arg-type]  # an Api

    first, second = site.ask(ask).found

    assert (first.state, second.state) == ("gone", "gone")
    assert first.remedies[0].before.startswith("make one in the web interface")
    assert second.remedies[0].before.startswith("take its id out of the manifest")
    assert {drift.remedies[1].command for drift in (first, second)} == {
        "reconciler journal forget AlertDefinition/a",
        "reconciler journal forget SavedView/v",
    }


def seen_again(known: History, seen: DriftReport, at: str = LATER) -> History:
    """Remember a look."""
    known.add([remembered(seen, known, at)])
    return known


def test_age(site: Site) -> None:
    """A finding is new since the last look, then known since it was first remembered."""
    known = history()
    unheard = found(site, known, stored(name="Theirs"))
    seen_again(known, look(site, known, stored()), AT)
    fresh = look(site, known, stored(name="Theirs"))
    seen_again(known, fresh)
    same = found(site, known, stored(name="Theirs"))
    other = found(site, known, stored(name="Others"))

    assert (unheard.is_new, unheard.since) == (None, "")
    assert (fresh.found[0].is_new, fresh.found[0].since, fresh.new) == (True, AT, 1)
    assert (same.is_new, same.since) == (False, LATER)
    assert (other.is_new, other.since) == (True, LATER)


def test_over(site: Site) -> None:
    """What drifted no more is over, unless it was not examined; a name takes its drift along."""
    known = seen_again(history(), look(site, history(), stored(name="Theirs")))
    calm = look(site, known, stored())

    assert remembered(calm, known, AT) == Drifted(at=AT, over=(SLO,))
    assert remembered(DriftReport(()), known, AT) == Drifted(at=AT)
    other = Ref("SLO", "other")
    known.add([Renamed(at=AT, ref=other, was=SLO)])
    assert (set(known.drifts), known.drifts[other].ref) == ({other}, other)
    known.add([Forgotten(at=AT, ref=other)])
    assert not known.drifts


def test_ignored_is_no_news(site: Site) -> None:
    """What is expected is not remembered as drift."""
    seen = look(site, history(), stored(name="Theirs"), rule("name"))

    assert remembered(seen, history(), AT) == Drifted(at=AT)
