"""A model of the whole: random edits, crashes, lost answers and rivals, for as long as it takes.

After every apply that says it is done, nothing is left to do, and I1 to I6 hold all the time.
`--hypothesis-profile=long` runs many lives.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from harness.profiles import WAITING, profiles
from harness.routes import DASHBOARDS, OVERWRITE, SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Meddler,
    Site,
    assert_settled,
    lost_after,
    lost_before,
    manifest,
    policy,
    policy_set,
    unreachable,
)
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.journal.entries import Settled
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.redaction.templates import RefHole, Template
from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

LIVES = max(8, settings().max_examples // 8)
LONGEST_LIFE = 25
TABLES = {"SLO": "slos", "Dashboard": "dashboards", "SavedView": "saved_views"}
REFS = tuple(
    Ref(kind, name)
    for kind, names in {
        "SLO": "ab",
        "AlertDefinition": "ab",
        "Dashboard": "ab",
        "SavedView": "ab",
        "LogPolicySet": ("all",),
    }.items()
    for name in names
)
UNLISTED = ("AlertDefinition", "LogPolicySet")
"""Kinds whose answers are nothing but lists."""
ALERT_IDS = {"a": ALERT_ID, "b": ALERT_ID[:-1] + "2"}

versions = st.integers(0, 3)


class Death(BaseException):
    """The process dies: nothing after it runs but what the system does."""


@contextlib.contextmanager
def dying_at(number: int) -> Iterator[None]:
    """Let the process die at the n-th point, and stay dead."""
    passed = 0

    def watcher(_: Point) -> None:
        nonlocal passed
        passed += 1
        if passed >= number:
            raise Death

    with mock.patch.object(failpoints, "_watchers", [watcher]), contextlib.suppress(Death):
        try:
            yield
        except BaseExceptionGroup as group:
            if group.subgroup(Death) is None:
                raise


def declared(ref: Ref, version: int, slos: set[str]) -> Manifest:
    """Give one manifest of a version; an alert of version 3 watches an SLO where there is one."""
    said = f"{ref.name} {version}"
    match ref.kind:
        case "SLO":
            return manifest(str(ref), {**SLO_SPEC, "name": said, "description": f"v{version}"})
        case "AlertDefinition" if version == 3 and slos:
            watching: dict[str, Json] = {
                "name": said,
                "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
                "sloThreshold": {
                    "sloDefinition": {"sloId": Template((RefHole(Ref("SLO", min(slos))),))},
                    "errorBudget": {"rules": [{"condition": {"threshold": 10}}]},
                },
            }
            return manifest(str(ref), watching, ALERT_IDS[ref.name])
        case "AlertDefinition":
            return manifest(str(ref), {**ALERT_SPEC, "name": said}, ALERT_IDS[ref.name])
        case "Dashboard":
            board: Json = {"name": said, "description": f"v{version}", "layout": {"sections": []}}
            return manifest(str(ref), {"dashboard": board})
        case "SavedView":
            compact: dict[str, Json] = {"isCompactMode": True} if version % 2 else {}
            return manifest(str(ref), {**VIEW_SPEC, "name": said, **compact})
        case _:
            return policy_set(
                *(policy(f"p{number}", description=said) for number in range(version + 1))
            )


class Lives(RuleBasedStateMachine):
    """One environment, from its first manifest on."""

    @initialize(profile=profiles(WAITING))
    def begin(self, profile: Profile) -> None:
        """Give the world its deployment, and somebody else's dashboard."""
        self.folder = tempfile.TemporaryDirectory()
        self.site = Site(
            Path(self.folder.name), create_app(alert_ids=ALERT_IDS.values(), profile=profile)
        )
        self.profile = profile
        self.wanted: dict[Ref, int] = {}
        self.forget_disk = mock.patch.object(os, "fsync", return_value=None)
        self.forget_disk.start()
        theirs: Json = {"requestId": "r", "dashboard": {"name": "theirs", "slugName": "theirs"}}
        self.site.outside("POST", DASHBOARDS, theirs)
        self.theirs = self._theirs()
        self.policies_of_others(0)

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "folder"):
            self.forget_disk.stop()
            self.folder.cleanup()

    @rule(ref=st.sampled_from(REFS), version=versions)
    def declare(self, ref: Ref, version: int) -> None:
        """Write a manifest, or another version of it, unless this service could not take it."""
        if self.profile.required_lists == "left_out" and ref.kind in UNLISTED:
            return
        # What died before it was read back shows as an edit, which such a service does not take.
        is_sealed = self.profile.slis == "documented" and self.profile.floats == "single"
        if ref.kind == "SLO" and is_sealed:
            return
        # Where an SLO is created from one SLI and replaced by the other, it stays as it is.
        still = ref.kind == "SLO" and self.profile.slis == "documented"
        if still and self.profile.floats == "single":
            # Who died before the read-back knows of no rounding: it differs, and stays so.
            return
        self.wanted[ref] = 0 if still else version

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        """Remove a manifest; what it made stays, as the service has no delete."""
        del self.wanted[data.draw(st.sampled_from(sorted(self.wanted)))]

    @rule()
    def apply(self) -> None:
        """Settle what is open, apply, and see that nothing is left (I3, I6)."""
        self._settle()
        applied = self.site.apply(*self._manifests())
        assert applied.exit_codes == set(), applied.outcomes
        assert_settled(self.site, *self._manifests())

    @rule(number=st.integers(1, 120))
    def apply_and_die(self, number: int) -> None:
        """Die somewhere in an apply."""
        self._settle()
        with dying_at(number):
            self.site.apply(*self._manifests())

    @rule(
        number=st.integers(0, 8),
        meddler=st.sampled_from([lost_after, lost_before, unreachable]),
        method=st.sampled_from(["POST", "PUT", "GET"]),
    )
    def apply_and_lose(self, number: int, meddler: Meddler, method: str) -> None:
        """Lose one answer of an apply."""
        self._settle()
        self._lose(number, meddler, method)
        self.site.apply(*self._manifests())
        self.site.wire.meddlers.clear()

    def _lose(self, number: int, meddler: Meddler, method: str) -> None:
        async def passes(request: object, inner: object) -> object:
            return await inner.handle_async_request(request)  # type: ignore[attr-defined]  # a transport

        untouched: list[Callable[..., object]] = [passes] * number
        self.site.meddle(method, "*", *untouched, meddler)  # type: ignore[arg-type]  # meddlers all

    @rule(version=versions)
    def policies_of_others(self, version: int) -> None:
        """Let somebody else write the list of policies."""
        # A service that leaves out an empty list cannot be read while there is no policy.
        least = 1 if self.profile.required_lists == "empty_left_out" else 0
        count = max(version, least)
        theirs: list[Json] = [policy(f"q{number}", description="theirs") for number in range(count)]
        self.site.outside("POST", OVERWRITE, {"policies": theirs})

    @precondition(lambda self: self.profile.slis == "either")
    @rule(data=st.data())
    def edit_of_others(self, data: st.DataObject) -> None:
        """Let somebody else edit an SLO of ours."""
        known = self._live("SLO")
        if known:
            name = data.draw(st.sampled_from(sorted(known)))
            edited: dict[str, Json] = {**SLO_SPEC, "name": f"{name} theirs", "id": known[name][0]}
            self.site.outside("PUT", SLOS, edited)

    def _manifests(self) -> list[Manifest]:
        slos = {ref.name for ref in self.wanted if ref.kind == "SLO"}
        return [declared(ref, version, slos) for ref, version in sorted(self.wanted.items())]

    def _live(self, kind: str) -> dict[str, list[RemoteId]]:
        """Give the ids of what is there, by the name that begins what people call it."""
        found: dict[str, list[RemoteId]] = {}
        query = f"SELECT id, record FROM {TABLES[kind]}"  # noqa: S608 - one of three names
        for remote_id, record in self.site.app.state.store.rows(query):
            called = record.partition('"name":"')[2][:1]
            if called in ("a", "b"):
                found.setdefault(called, []).append(remote_id)
        return found

    def _theirs(self) -> object:
        return self.site.app.state.store.row(
            "SELECT record FROM dashboards WHERE slug = ?", "theirs"
        )

    def _settle(self) -> None:
        """Say of every unsettled create what became of it, as a person who looked."""
        journal = self.site.journal
        with journal.locked():
            for ref in journal.history.unsettled():
                known = self._live(ref.kind).get(ref.name) if ref.kind in TABLES else None
                if ref.kind in ("SLO", "SavedView") or known:
                    journal.append(
                        [Settled(at=journal.now(), ref=ref, remote_id=known[0] if known else None)]
                    )

    @invariant()
    def nothing_forgotten_or_doubled(self) -> None:
        """I1, I2 and I5: what is there is known or open, and there once."""
        if not hasattr(self, "site"):
            return
        history = self.site.journal.history
        for kind in TABLES:
            for name, ids in self._live(kind).items():
                memory = history.of(Ref(kind, name))
                assert len(ids) == 1
                assert memory.remote_id == ids[0] or memory.unsettled_create is not None

    @invariant()
    def nothing_foreign_touched(self) -> None:
        """I4: what is somebody else's stays as it was."""
        if hasattr(self, "site"):
            assert self._theirs() == self.theirs


def test_lives() -> None:
    """Whatever happens to an environment, one quiet apply ends it, and the next writes nothing."""
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=LIVES,
            stateful_step_count=LONGEST_LIFE,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
