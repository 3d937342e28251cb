"""`make compare BASE=COMMIT`: show that the work tree does what another commit did.

Both trees run the same command lines, with the same interpreter and dependencies, one after the
other in the same folder. Compared are stdout, stderr, exit code, every file that is written (the
journal and the emulator's data too), and each request, as it leaves the HTTP client and as the
emulator logs it.

What varies by itself is pinned: time (a minute passes with each run), random bytes and with them
ids, the order of sets, folders, the emulator's port, the dates of commits. What cannot be pinned is
made equal, and that is all: ids of processes and what `--timings` has measured (`EQUAL`), and the
port of the forge. Of a database its rows are compared. The cache and what git keeps are left out.

A command without lines in compare_scenarios.py is a failure. `--allow FILE` names differences that
are meant, as `PATTERN  # REASON` a line; a pattern fits the names that are reported, with `*` for
anything. The exit code is 1 where there is another difference.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase
from itertools import islice, zip_longest
from pathlib import Path
from queue import SimpleQueue

from compare_scenarios import Scenario, scenarios
from compare_world import ROOT, Run, Tree, World

WORKERS = 2
LONGEST_DIFF = 20
NAMED = 3
EQUAL: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r'("pid": ?)\d+'), r"\1PID"),
    # What `--timings` has measured.
    (re.compile(r"^took .* s of the processor$", re.MULTILINE), "took SECONDS"),
    (re.compile(r"^ +[\d.]+ s  (?=\S)", re.MULTILINE), "  SECONDS  "),
)


@dataclass(frozen=True)
class Difference:
    """A part of a run that the trees do not share, as a unified diff."""

    name: str
    diff: str


@dataclass(frozen=True)
class Compared:
    """What came of a scenario."""

    scenario: Scenario
    runs: int
    differences: Sequence[Difference]


class Pair:
    """Both trees as one worker runs them: processes, a folder and a port of its own."""

    def __init__(self, base: Path, head: Path, folder: Path) -> None:
        self.trees = (Tree("base", base), Tree("head", head))
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    def compare(self, scenario: Scenario) -> Compared:
        """Play a scenario on both trees."""
        before, after = (self.play(tree, scenario) for tree in self.trees)
        none: Run = ("", {})
        found = [
            difference
            for number, (old, new) in enumerate(zip_longest(before, after, fillvalue=none), 1)
            for difference in differences(scenario, number, old, new)
        ]
        return Compared(scenario, max(len(before), len(after)), found)

    def play(self, tree: Tree, scenario: Scenario) -> list[Run]:
        """Return the runs of a scenario on one tree; where it breaks, the last run says so."""
        world = World(tree, self.folder / "world", self.port)
        try:
            scenario.play(world)
        except Exception as error:  # noqa: BLE001 - a scenario that cannot be played is a result
            world.runs.append(("broken", {f"broken on {tree.name}": repr(error)}))
        return world.runs

    def close(self) -> None:
        """End the processes."""
        for tree in self.trees:
            tree.close()


def differences(scenario: Scenario, number: int, old: Run, new: Run) -> Iterator[Difference]:
    """Yield the parts of a run that differ."""
    line, before, after = new[0] or old[0], old[1], new[1]
    for part in [*before, *(part for part in after if part not in before)]:
        base, head = (equalled(parts.get(part, "")) for parts in (before, after))
        if base != head:
            lines = unified_diff(
                base.splitlines(), head.splitlines(), "base", "head", n=1, lineterm=""
            )
            shown = "\n".join(islice(lines, LONGEST_DIFF)) or "only the ends of lines differ"
            yield Difference(f"{scenario.group}: {scenario.name} #{number}: {line}: {part}", shown)


def equalled(text: str) -> str:
    """Replace what cannot be pinned."""
    for pattern, replacement in EQUAL:
        text = pattern.sub(replacement, text)
    return text


def commands_of(tree: Tree, folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the formats of each command of a tree, and its groups of commands, by `--help`."""
    formats: dict[str, list[str]] = {}
    groups: list[str] = []
    asked = [""]
    while asked:
        command = asked.pop()
        shown = World(tree, folder, 0).run(f"{command} --help")["stdout"]
        names = re.findall(r"^  ([a-z]\S*)  ", shown.partition("\nOptions:\n")[2], re.MULTILINE)
        if names:
            groups.append(command)
            asked += [f"{command} {name}".strip() for name in names]
        else:
            choices = re.search(r"--format\s+\[([\w|]+)\]", shown)
            formats[command] = choices[1].split("|") if choices else []
    return formats, groups


def compare_all(pairs: Sequence[Pair], chosen: Iterable[Scenario]) -> list[Compared]:
    """Play scenarios, as many at once as there are pairs."""
    free: SimpleQueue[Pair] = SimpleQueue()
    for pair in pairs:
        free.put(pair)

    def compared(scenario: Scenario) -> Compared:
        pair = free.get()
        try:
            found = pair.compare(scenario)
        finally:
            free.put(pair)
        if found.differences:
            # All is reported at the end; this is for who waits.
            print(f"{scenario.group}: {scenario.name} differs", file=sys.stderr)
        return found

    with ThreadPoolExecutor(len(pairs)) as pool:
        return list(pool.map(compared, chosen))


def chosen_scenarios(pair: Pair, only: str) -> list[Scenario]:
    """Return the scenarios for the commands and codes of either tree whose name fits."""
    found = [commands_of(tree, pair.folder / "world") for tree in pair.trees]
    formats = {**found[0][0], **found[1][0]}
    groups = sorted({*found[0][1], *found[1][1]})
    pages = (page for tree in pair.trees for page in tree.root.glob("reconciler/**/codes/*.md"))
    every = scenarios(formats, groups, sorted({page.stem for page in pages}))
    return [one for one in every if fnmatchcase(f"{one.group}: {one.name}", only)]


def allowed_in(file: Path | None) -> dict[str, str]:
    """Read patterns and reasons. Raises ValueError for a pattern without a reason."""
    allowed = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file else ():
        pattern, _, reason = (part.strip() for part in line.partition("  # "))
        if pattern and not pattern.startswith("#"):
            if not reason:
                raise ValueError(f"{file}: no reason for {pattern!r}")
            allowed[pattern] = reason
    return allowed


def report(compared: Sequence[Compared], allowed: Mapping[str, str]) -> int:
    """Print differences, each kind of them once, and counts; return the exit code."""
    names: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for one in compared:
        for difference in one.differences:
            if not any(fnmatchcase(difference.name, pattern) for pattern in allowed):
                names.setdefault(difference.diff, []).append(difference.name)
                counts[one.scenario.group] += 1
    for diff, found in names.items():
        more = f"\n  and {len(found) - NAMED} more" if len(found) > NAMED else ""
        print("\n" + "\n".join(found[:NAMED]) + more + "\n" + diff)
    print(f"\n{'group':<10}{'scenarios':>10}{'runs':>8}{'differences':>13}")
    for group in dict.fromkeys(one.scenario.group for one in compared):
        of_group = [one for one in compared if one.scenario.group == group]
        runs = sum(one.runs for one in of_group)
        print(f"{group:<10}{len(of_group):>10}{runs:>8}{counts[group]:>13}")
    return 1 if names else 0


def main() -> int:
    """Compare the work tree with a commit; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--allow", type=Path, help="differences that are meant, with reasons")
    parser.add_argument("--only", default="*", help="scenarios, as `codes: M1*`")
    given = parser.parse_args()
    allowed, began = allowed_in(given.allow), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compare-") as name:
        folder = Path(name)
        base = folder / "base"
        base.mkdir()
        archive = subprocess.run(
            ["git", "archive", given.base],  # noqa: S607 - git of the PATH
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        subprocess.run(["tar", "-x"], cwd=base, input=archive.stdout, check=True)  # noqa: S607 - tar of the PATH
        pairs = [Pair(base, ROOT, folder / str(number)) for number in range(WORKERS)]
        try:
            compared = compare_all(pairs, chosen_scenarios(pairs[0], given.only))
        finally:
            for pair in pairs:
                pair.close()
    code = report(compared, allowed)
    runs = sum(one.runs for one in compared)
    print(f"{runs} runs on each tree in {time.monotonic() - began:.0f} s", "" if code else "alike")
    return code


if __name__ == "__main__":
    sys.exit(main())
