"""Run mutants, each in a fork of one pytest that has collected the tests already.

    python scripts/forked_mutants.py NAMES RESULTS CHILDREN

NAMES is a file with a mutant a line; of each, RESULTS gets a line with what became of
it. Works in the folder that mutmut has filled: there lie the mutated code, the tests and
what mutmut noted of them. A pytest of its own for each mutant would cost more than
most of the tests.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.utils.format_utils import mangled_name_from_mutant_name

NO_TESTS = "untested"
SURVIVED = "survived"
NOTICED = "noticed"
TIMEOUT = "timeout"

# Of the processor, for each test: a loaded machine is no fault of a mutant.
SPARE_SECONDS = 2
TIMES = 10
# For one that waits and does nothing.
LONGEST_WAIT = 30


@dataclass
class Forks:
    """A plugin that runs mutants where pytest would run its tests."""

    names: Sequence[str]
    children: int
    tests: Mapping[str, Sequence[str]]
    seconds: Mapping[str, float]
    results: TextIO

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run each mutant's tests, the fastest first, until one of them fails."""
        # What is never collected is never written to, so that forks share it.
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        running = {self._forked(session, "", session.items): ""}
        self._wait(running)
        for name in self.names:
            reaching = self.tests.get(mangled_name_from_mutant_name(name), ())
            chosen = sorted(
                (text for text in reaching if text in items), key=self.seconds.__getitem__
            )
            if not chosen:
                self._tell(name, NO_TESTS)
                continue
            if len(running) >= self.children:
                self._wait(running)
            pid = self._forked(session, name, [items[text] for text in chosen])
            running[pid] = name
        while running:
            self._wait(running)
        return True

    def _forked(self, session: pytest.Session, name: str, items: list[pytest.Item]) -> int:
        pid = os.fork()
        if pid == 0:
            os._exit(self._failed(session, name, items))
        return pid

    def _wait(self, running: dict[int, str]) -> None:
        pid, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        results = {0: SURVIVED, -signal.SIGPROF: TIMEOUT, -signal.SIGALRM: TIMEOUT}
        name, result = running.pop(pid), results.get(code, NOTICED)
        if name:
            self._tell(name, result)
        elif result != SURVIVED:
            pytest.exit("the tests fail in a fork without any mutant")

    def _failed(self, session: pytest.Session, name: str, items: list[pytest.Item]) -> int:
        """Give 1 if any test fails with the mutant in place, else 0; only ever called in a fork."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.dup2(nowhere, sys.stderr.fileno())
        set_mutant_under_test(name)
        try:
            for item, following in zip(items, [*items[1:], None], strict=True):
                limit = SPARE_SECONDS + TIMES * self.seconds[item.nodeid]
                signal.setitimer(signal.ITIMER_PROF, limit)
                signal.alarm(LONGEST_WAIT)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    return 1
        except BaseException:  # noqa: BLE001 - whatever it is, it was noticed
            return 1
        return 0

    def _tell(self, name: str, result: str) -> None:
        self.results.write(f"{name} {result}\n")
        self.results.flush()


def main() -> None:
    """Run the mutants of a list, and write what became of each."""
    names, results, children = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    settings = tomllib.loads(Path("../pyproject.toml").read_text())["tool"]["mutmut"]
    stats = json.loads(Path("mutmut-stats.json").read_text())
    # Else the installed package would come first, which is not mutated.
    sys.path.insert(0, str(Path.cwd()))
    set_mutant_under_test("")
    with results.open("w") as stream:
        forks = Forks(
            names.read_text().split(),
            children,
            stats["tests_by_mangled_function_name"],
            stats["duration_by_test"],
            stream,
        )
        arguments = [
            # Nobody reads how a test fails, and explaining that takes longer than the test.
            *("-q", "--rootdir=.", "--tb=native", "--assert=plain", "-p", "no:randomly"),
            *settings["pytest_add_cli_args"],
            *settings["pytest_add_cli_args_test_selection"],
        ]
        code = pytest.main(arguments, plugins=[forks])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"pytest ended with {code!r}")


if __name__ == "__main__":
    main()
