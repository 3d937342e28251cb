"""Worlds by their numbers: lived through, and cut shorter where a law does not hold.

    python tests/campaigns/world_runs.py NUMBER

lives through one world again and prints all that was done, with what was declared last.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

# As pytest does for every folder of tests: what they share stands above.
sys.path.append(str(Path(__file__).parent.parent))

from forks import environment
from stage import Stage, Tally, stage
from world_deeds import World, world
from world_life import LawBrokenError, Life
from world_service import Service

MOST_CUTS = 60
WORLDS_OF_A_SEED = 100_000


def lived(chosen: World, root: Path) -> tuple[Life, LawBrokenError | None]:
    """Live through a world in a folder of its own; gives the law it broke, if any."""
    folder = root / f"world{chosen.number}"
    folder.mkdir()
    try:
        # Nothing of the address is used but once the service has told it.
        with Service(
            folder / "service", environment(""), chosen.profile, chosen.alert_ids
        ) as service:
            life = Life(chosen, folder, service, environment(service.base_url))
            try:
                life.live()
            except LawBrokenError as broken:
                life.told += _manifests(folder)
                return life, broken
            return life, None
    finally:
        shutil.rmtree(folder)


def _manifests(folder: Path) -> list[str]:
    files = sorted(path for path in (folder / "manifests").rglob("*") if path.is_file())
    return [f"{file.relative_to(folder)}:\n{file.read_text(encoding='utf-8')}" for file in files]


def shorter(chosen: World) -> Iterator[World]:
    """Yield the world less one step, one deed, or one choice of its service."""
    for place in range(len(chosen.steps)):
        yield replace(chosen, steps=chosen.steps[:place] + chosen.steps[place + 1 :])
    for place, step in enumerate(chosen.steps):
        for at in range(len(step)):
            cut = step[:at] + step[at + 1 :]
            yield replace(chosen, steps=(*chosen.steps[:place], cut, *chosen.steps[place + 1 :]))
    for name in chosen.profile:
        rest = {key: value for key, value in chosen.profile.items() if key != name}
        yield replace(chosen, profile=rest)


def shortest(chosen: World, law: str, root: Path) -> tuple[World, Life, LawBrokenError]:
    """Cut a world that breaks a law for as long as it breaks the same."""
    life, broken = lived(chosen, root)
    assert broken is not None
    left = MOST_CUTS
    tried = shorter(chosen)
    while left > 0 and (candidate := next(tried, None)) is not None:
        left -= 1
        other, found = lived(candidate, root)
        if found is not None and found.law == law:
            chosen, life, broken = candidate, other, found
            tried = shorter(chosen)
    return chosen, life, broken


def live_worlds(made: Stage, count: int, seed: int) -> Tally:
    """Live through so many worlds; a broken law is told with its world, as short as it gets."""
    tally = Tally()
    first = seed * WORLDS_OF_A_SEED
    for number in range(first, first + count):
        life, broken = lived(world(number), made.root)
        tally.counts["cases"] += 1
        tally.counts.update({f"deeds: {what}": some for what, some in life.counts.items()})
        if broken is not None:
            tally.fail(broken.law, told(number, *shortest(world(number), broken.law, made.root)))
    return tally


def told(number: int, cut: World, life: Life, broken: LawBrokenError) -> str:
    """Say what was done until a law was broken, and how to see it again."""
    again = f"python tests/campaigns/world_runs.py {number}"
    lines = [f"world {number}: {broken}", f"service: {dict(cut.profile)}", *life.told]
    return "\n".join([*lines, f"again, uncut: {again}"])


def main(numbers: list[str]) -> int:
    """Live through the worlds of some numbers, and tell all of it."""
    faults = 0
    with stage() as made:
        for word in numbers:
            chosen = world(int(word))
            life, broken = lived(chosen, made.root)
            faults += broken is not None
            head = f"world {word}: {broken or 'no law broken'}"
            lines = [head, f"service: {dict(chosen.profile)}", *life.told]
            sys.stdout.write("\n".join(lines) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
