"""What a job may read or run for a secret: nothing that an unreviewed change has a say in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.ci.checkout import places_allowed
from reconciler.ci.trust import Event, OverBase, Whole
from reconciler.operations.secret_sources import Allowed
from reconciler.project import Project, ProjectFile, nothing_known, with_settings_of

PROJECT = Project(Path("/nowhere"))
REVIEWED = Whole(project=PROJECT, anywhere=True)
UNTOLD = Whole(project=PROJECT, anywhere=False)
CHANGE = OverBase(project=PROJECT, commit="c", why="w", postponed=())
OWN = Event(name="pull_request")
FORK = replace(OWN, is_fork=True)


@pytest.mark.parametrize(
    ("use", "event", "allowed"),
    [
        (REVIEWED, Event(name="push"), Allowed.ALL),
        (CHANGE, OWN, Allowed.OUTSIDE),
        (CHANGE, FORK, Allowed.NOTHING),
        (CHANGE, replace(FORK, name="pull_request_target"), Allowed.NOTHING),
        (CHANGE, replace(OWN, is_bot=True), Allowed.NOTHING),
        (UNTOLD, Event(), Allowed.NOTHING),
    ],
)
def test_places(use: Whole | OverBase, event: Event, allowed: Allowed) -> None:
    """A reviewed commit may use all, a change what is outside of it, a fork variables alone."""
    assert places_allowed(use, event) is allowed


def test_the_settings_of_a_change_name_no_place() -> None:
    """Of a change's `secrets:`, at the top or in an environment, nothing is taken."""
    theirs = {"TOKEN": {"command": ["theirs"]}}
    own = ProjectFile.model_validate(
        {"secrets": theirs, "environments": {"a": {"secrets": theirs}, "b": {"secrets": theirs}}}
    )
    base = ProjectFile.model_validate(
        {"secrets": {"TOKEN": {"file": "/run/secrets/x"}}, "environments": {"a": {}}}
    )

    merged = with_settings_of(base, own)

    assert merged.secrets == base.secrets
    assert all(not environment.secrets for environment in merged.environments.values())


def test_a_change_does_not_loosen_what_is_read() -> None:
    """Of a change's `limits:` nothing is taken, whether the base branch says some or none."""
    own = ProjectFile.model_validate({"limits": {"files": 10**9, "megabytes": 10**9}})
    for said in ({}, {"limits": {"files": 7}}):
        base = ProjectFile.model_validate(said)

        assert with_settings_of(base, own).limits == base.limits
    assert with_settings_of(nothing_known(own), own).limits == ProjectFile().limits
