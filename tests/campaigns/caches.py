"""`cache`: whatever came before, a plan with what was kept is the plan without, byte for byte.

Between the looks manifests, secrets, journal and live side change, and the cache is damaged in the
ways of a disk and of a stranger, or used by two runs at once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from forks import Ended, command, start
from live_edits import edits_of
from stage import APPLY, Stage, Tally
from worlds import SECRET, TOKEN, drawing

from reconciler.runtime.cache import VARIABLE

LOOKS = (
    ("plan", "--format", "json"),
    ("plan", "--format", "json"),
    ("plan",),
    ("validate", "--format", "json"),
    ("drift", "--format", "json"),
)
TORN = "torn.yaml"
INVALID = 4
ROUNDS = 10
"""Looks at one world, each after a deed."""
EXTRA = {
    "apiVersion": "reconciler/v1",
    "kind": "SLO",
    "metadata": {"name": "extra"},
    "spec": {
        "name": "extra",
        "targetThresholdPercentage": 99,
        "requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "a"}},
    },
}

Deed = Callable[[Stage, Random], None]


def _nothing(_: Stage, __: Random) -> None:
    """Change nothing: what was kept has to hold."""


def _apply(stage: Stage, _: Random) -> None:
    command(stage.folder, stage.around, *APPLY)


def _another_version(stage: Stage, chance: Random) -> None:
    stage.world.write(stage.folder, chance.randrange(len(stage.world.versions)))


def _comment(stage: Stage, chance: Random) -> None:
    with (stage.folder / "all.yaml").open("a", encoding="utf-8") as file:
        file.write(f"# {chance.random()}\n")


def _touch(stage: Stage, _: Random) -> None:
    file = stage.folder / "all.yaml"
    file.write_bytes(file.read_bytes())


def _extra(stage: Stage, chance: Random) -> None:
    file = stage.folder / "extra.json"
    if file.exists():
        file.unlink()
    else:
        EXTRA["spec"]["targetThresholdPercentage"] = chance.choice((98, 99))  # type: ignore[index]  # it is a dict
        file.write_text(json.dumps(EXTRA), encoding="utf-8")


def _torn(stage: Stage, _: Random) -> None:
    (stage.folder / TORN).write_text("a: [", encoding="utf-8")


def _secret(stage: Stage, chance: Random) -> None:
    stage.more[TOKEN] = chance.choice((SECRET, f"{SECRET}-rotated"))


def _live(stage: Stage, chance: Random) -> None:
    known = edits_of(stage.world, stage.emulator.order(look=True).live)
    edit = chance.choice(known)
    stage.emulator.order(edits=[[1, [edit.request]]], look=False)
    command(stage.folder, stage.around, "drift")
    stage.emulator.order(edits=[], look=False)


def _compact(stage: Stage, _: Random) -> None:
    command(stage.folder, stage.around, "journal", "compact")


def _entries(stage: Stage) -> list[Path]:
    found = (path for path in (stage.root / "cache").rglob("*") if path.is_file())
    # Where the mark is another one, the folder is of others, and nothing more is tried.
    return sorted(path for path in found if path.name != "CACHEDIR.TAG")


def _damage(stage: Stage, chance: Random) -> None:  # noqa: C901 - a table of damages
    found = _entries(stage)
    if not found:
        return
    file = chance.choice(found)
    content = file.read_bytes()
    match chance.randrange(8):
        case 0:
            file.write_bytes(content[: chance.randrange(len(content) + 1)])
        case 1 if content:
            at = chance.randrange(len(content))
            file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        case 2:
            file.chmod(0o644)
        case 3:
            file.unlink()
        case 4:
            file.write_bytes(chance.choice(found).read_bytes())
        case 5:
            target = stage.root / f"elsewhere{chance.random()}"
            file.rename(target)
            file.symlink_to(target)
        case 6:
            file.parent.chmod(0o755)
        case _:
            file.write_bytes(b"")


def _mend(stage: Stage) -> None:
    """Let what is open to others be private again, without which nothing is kept any more."""
    folder = stage.root / "cache"
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            path.chmod(0o700 if path.is_dir() else 0o600)


def _race(stage: Stage, _: Random) -> None:
    running = [start(stage.folder, stage.around, ["plan"]) for _ in range(2)]
    first, second = (one.end() for one in running)
    if (first.code, first.out) != (second.code, second.out):
        raise AssertionError(f"{first} is not {second}")


DEEDS: dict[str, Deed] = {
    "nothing": _nothing,
    "apply": _apply,
    "another version": _another_version,
    "a comment": _comment,
    "the same bytes": _touch,
    "another manifest": _extra,
    "a broken file": _torn,
    "another secret": _secret,
    "an edit live": _live,
    "a compacted journal": _compact,
    "a damaged entry": _damage,
    "two at once": _race,
}


def keep_caches(stage: Stage, count: int, seed: int) -> Tally:
    """Look with a cache and without one after each of `count` deeds."""
    tally, chance = Tally(), drawing(seed)
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        stage.more = {VARIABLE: str(stage.root / "cache")}
        for nth in range(min(ROUNDS, count - tally.counts["cases"])):
            name = chance.choice([*DEEDS])
            # Of what is wrong nothing is kept, so that one look at it is enough.
            (stage.folder / TORN).unlink(missing_ok=True)
            _mend(stage)
            try:
                DEEDS[name](stage, chance)
                _look(stage, chance, tally, f"world {number}, look {nth} after {name}")
            except AssertionError as error:
                tally.fail("same", f"world {number}, look {nth} after {name}: {error}")
            tally.counts[name] += 1
        stage.more = {}
        shutil.rmtree(stage.root / "cache", ignore_errors=True)
        stage.clear()
        number += 1
    return tally


def _look(stage: Stage, chance: Random, tally: Tally, called: str) -> None:
    tally.counts["cases"] += 1
    words = chance.choice(LOOKS)
    bare = _reported(command(stage.folder, stage.around, *words, "--no-cache"))
    before = _kept(stage)
    for which in ("first", "second"):
        with_cache = _reported(command(stage.folder, stage.around, *words))
        if with_cache != bare:
            tally.fail("same", f"{called}: the {which} {words} told {with_cache}, not {bare}")
    tally.counts["kept"] += bare[0] != INVALID and _kept(stage) == before != {}
    if any(SECRET.encode() in path.read_bytes() for path in _entries(stage)):
        tally.fail("secret", f"{called}: a secret is in the cache")


def _reported(ended: Ended) -> tuple[int, str, str]:
    return ended.code, ended.out, ended.err


def _kept(stage: Stage) -> dict[Path, int]:
    """Give the entries and when each was written: where none is new, all were taken."""
    return {path: path.stat().st_ino for path in _entries(stage)}
