"""What became of one resource since it was applied: every case, and all that is told of it."""

from __future__ import annotations

import pytest
from harness.sites import SALT, Meddler, Site, answer_with, manifest, policy, policy_set

from reconciler.document import ABSENT, Difference, Json
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import History, Memory
from reconciler.model import Drift, LastEdit, Manifest, Ref, Remedy
from reconciler.planning.find_drift import find_drift
from reconciler.redaction.templates import HIDDEN, SecretHole, Template, seal
from reconciler.report.reasons import look_notes

AT = "2025-01-31T09:00:00Z"
SLO = Ref("SLO", "checkout")
KEY = Template((SecretHole("KEY", "hunter2", seal("hunter2", "KEY", SALT)),))


def slo(**fields: Json) -> Manifest:
    """Give an SLO as it is declared by now."""
    return manifest(str(SLO), fields)


def shown(**fields: Json) -> dict[str, Json]:
    """Give the live document of such an SLO, which never lacks its target."""
    return {"targetThresholdPercentage": 99, **fields}


def stored(**fields: Json) -> Meddler:
    """Answer with an SLO of these fields."""
    return answer_with(200, {"slo": {"id": "id", **shown(**fields)}})


def applied(**fields: Json) -> Memory:
    """Give the memory of an SLO that was applied like this."""
    return Memory(
        remote_id="id",
        last=LastWrite(remote_id="id", declared=fields, at=AT, rewritten=()),
        exists=True,
    )


def drift_of(site: Site, one: Manifest, memory: Memory, answer: Meddler) -> Drift:
    """Compare what the service answers with what was applied."""
    site.meddle("GET", "*", answer)
    history = History({one.ref: memory})
    (found,) = site.ask(lambda api: find_drift(api, (one,), history, SALT)).found
    return found


def test_changed(site: Site) -> None:
    """Drift gives what was applied and what is live, who changed it, and the whole of live."""
    one = slo(name="Checkout")
    answer = stored(name="Theirs", more=1, updateTime=AT, revision={"revision": 3})

    assert drift_of(site, one, applied(name="Checkout"), answer) == Drift(
        ref=SLO,
        source=one.source,
        state="drifted",
        differences=(Difference(("name",), "Checkout", "Theirs"),),
        note=f"live was last changed at {AT} (revision 3)",
        live=shown(name="Theirs", more=1),
        cause="edited",
        edit=LastEdit(at=AT, revision="3"),
        remedies=(
            Remedy("put-back", "reconciler apply a.yaml"),
            Remedy("take-over", "reconciler adopt SLO/checkout"),
        ),
        applied={"name": "Checkout"},
    )


def test_unchanged(site: Site) -> None:
    """Who wrote last is not told of what is as it was applied, and nor is a nobody of the rest."""
    one = slo(name="Checkout")
    quiet = drift_of(site, one, applied(name="Checkout"), stored(name="Checkout", updateTime=AT))
    unsigned = drift_of(site, one, applied(name="Checkout"), stored(name="Theirs"))

    assert quiet == Drift(ref=SLO, source=one.source, state="same", live=shown(name="Checkout"))
    assert (unsigned.state, unsigned.note) == ("drifted", "")


def test_gone(site: Site) -> None:
    """What the service no longer has is gone, with what was asked for."""
    one = slo(name="Checkout")

    assert drift_of(site, one, applied(name="Checkout"), answer_with(404)) == Drift(
        ref=SLO,
        source=one.source,
        state="gone",
        note="the service has no SLO id",
        cause="gone",
        remedies=(
            Remedy("put-back", "reconciler apply a.yaml"),
            Remedy(
                "take-over",
                "reconciler journal forget SLO/checkout",
                before="remove its manifest, then",
            ),
        ),
    )


def test_create_in_doubt(site: Site) -> None:
    """What was created anew without an answer cannot be asked for, and is no drift."""
    one = slo(name="Checkout")
    memory = applied(name="Checkout")
    memory.pending = Started(
        run="run",
        at=AT,
        ref=SLO,
        operation="create",
        declared={},
        request_id="request",
        remote_id=None,
        seen="sha256:0",
    )

    assert drift_of(site, one, memory, answer_with(500)) == Drift(
        ref=SLO, source=one.source, state="unseen", note="it could not be asked for"
    )


def test_turned_round(site: Site) -> None:
    """What someone took away is told as removed, what they added as added, and moves as theirs."""
    declared = policy_set(policy("a", description="d"), policy("b"), policy("gone"))
    memory = Memory(
        remote_id=None,
        last=LastWrite(remote_id=None, declared=declared.spec, at=AT, rewritten=()),
        exists=True,
    )
    listed = [policy("new"), policy("b"), policy("a", description="")]
    records = [
        {**element["policy"], "order": order, "id": str(order)}
        for order, element in enumerate(listed)
        if isinstance(element["policy"], dict)
    ]

    found = drift_of(site, declared, memory, answer_with(200, {"policies": [*records]}))

    told = {
        difference.path: (difference.before, difference.after, difference.operation)
        for difference in found.differences
    }
    assert told[("policies", "a", "policy", "description")] == ("d", "", "change")
    assert told[("policies", "gone")][1:] == (ABSENT, "remove")
    assert told[("policies", "new")][0::2] == (ABSENT, "add")
    assert told[("policies", "a")] == (0, 2, "move")
    assert len(told) == 4


def test_as_the_kind_compares(site: Site) -> None:
    """The order of labels that have none is no drift, and another choice is told as one."""
    one = slo(name="Checkout")
    memory = applied(name="Checkout", grouping={"labels": ["a", "b"]}, requestBasedMetricSli={})
    regrouped = stored(
        name="Checkout", grouping={"labels": ["b", "a"]}, windowBasedMetricSli={"window": "5m"}
    )

    assert drift_of(site, one, memory, regrouped).differences == (
        Difference(("requestBasedMetricSli",), {}, ABSENT, "remove"),
        Difference(("windowBasedMetricSli",), ABSENT, {"window": "5m"}, "add"),
    )


def test_never_applied(site: Site) -> None:
    """Nobody is asked about what was never applied."""
    one = slo(name="Checkout")

    assert drift_of(site, one, Memory(remote_id="id"), stored(name="Theirs")) == Drift(
        ref=SLO, source=one.source, state="unapplied", note="the journal has no write of it"
    )
    assert site.sent == []


def test_secret_as_it_was_applied(site: Site) -> None:
    """A secret that stands live as it was applied is the same, and is not shown."""
    found = drift_of(site, slo(name=KEY), applied(name=str(KEY)), stored(name="hunter2"))

    assert (found.state, found.live) == ("same", shown(name=HIDDEN))


def test_rotated_secret(site: Site) -> None:
    """A secret that has another value by now is the same while the applied one stands live."""
    rotated = Template((SecretHole("KEY", "other", seal("other", "KEY", SALT)),))
    memory = applied(name=str(KEY), description="d")
    answer = stored(name="hunter2", description="theirs")

    found = drift_of(site, slo(name=rotated, description="d"), memory, answer)

    assert found.differences == (Difference(("description",), "d", "theirs"),)
    assert found.live == shown(name=HIDDEN, description="theirs")


def test_two_secrets_in_a_text(site: Site) -> None:
    """A text of two secrets that stands live as it was applied is the same."""
    both = Template((*KEY.parts, ":", *KEY.parts))

    found = drift_of(site, slo(name=both), applied(name=str(both)), stored(name="hunter2:hunter2"))

    assert found.state == "same"


def test_secret_of_another_type(site: Site) -> None:
    """A number in the place of a secret is not that secret, whatever it looks like."""
    five = Template((SecretHole("KEY", "5", seal("5", "KEY", SALT)),))

    assert drift_of(site, slo(name=five), applied(name=str(five)), stored(name=5)).drifted


@pytest.mark.parametrize(
    ("before", "now"), [(KEY, "plain"), ("plain", KEY)], ids=["before", "by now"]
)
def test_older_secret(site: Site, before: str, now: str) -> None:
    """What stands live where a secret belongs by now, or did, is shown nowhere."""
    memory = applied(name="Checkout", description=str(before))
    answer = stored(name="Theirs", description="older")

    found = drift_of(site, slo(name="Checkout", description=now), memory, answer)

    assert found.live == shown(name="Theirs", description=HIDDEN)
    assert [(difference.path, difference.after) for difference in found.differences] == [
        (("name",), "Theirs"),
        (("description",), HIDDEN),
    ]


def test_secret_of_one_part(site: Site) -> None:
    """Of parts whose ids are left out only that one is hidden which holds a secret by now."""

    def parts(first: str, second: str, *, ids: bool = True) -> list[Json]:
        names = {"1": first, "2": second}
        listed: list[Json] = []
        for one, name in names.items():
            known: dict[str, Json] = {"id": {"value": one}} if ids else {}
            listed.append({"name": one, "displayName": name, **known})
        return listed

    now = manifest("Dashboard/checkout", {"dashboard": {"variablesV2": parts(KEY, "B", ids=False)}})
    last = LastWrite(
        remote_id="id",
        declared={"dashboard": {"variablesV2": parts("A", "B")}},
        at=AT,
        rewritten=(),
    )
    live = answer_with(200, {"dashboard": {"variablesV2": parts("older", "theirs")}})

    found = drift_of(site, now, Memory(remote_id="id", last=last), live)

    assert [
        (difference.path[2], difference.before, difference.after)
        for difference in found.differences
    ] == [
        ("1", "A", HIDDEN),
        ("2", "B", "theirs"),
    ]
    assert found.live == {"dashboard": {"variablesV2": parts(HIDDEN, "theirs")}}


def test_secret_that_was_taken_away(site: Site) -> None:
    """Where a secret was and nothing is any more, it is told that nothing is."""
    memory = applied(name="Checkout", description=str(KEY))

    found = drift_of(site, slo(name="Checkout"), memory, stored(name="Checkout"))

    assert found.differences == (Difference(("description",), str(KEY), ABSENT, "remove"),)


def test_without_a_journal(site: Site) -> None:
    """Where nothing is remembered the report says that no drift can be seen."""
    one = slo(name="Checkout")
    lost = site.ask(lambda api: find_drift(api, (one,), History(), SALT))
    kept = site.ask(lambda api: find_drift(api, (one,), History(begun=True), SALT))

    assert any("no journal" in note for note in look_notes(lost))
    assert not [*look_notes(kept)]
