"""What is fuzzed: for each target, how an input is made of a seed, and what reads it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

from harness.unsafe_text import unsafe_in

SECRETS = {"TOKEN": "canary-token-5b1e", "EMPTY": ""}


class Target(Protocol):
    """Makes inputs, and reads one; whatever that raises is a defect."""

    def make(self, rng: Random) -> bytes:
        """Make the input that a seed stands for."""

    def read(self, content: bytes) -> None:
        """Do all that the product does with such an input."""


@dataclass
class Manifests:
    """Files of manifests, read, checked, and complained about in every format."""

    folder: Path
    notes: dict[str, int] = field(default_factory=dict)

    def make(self, rng: Random) -> bytes:
        """Make the text of a file."""
        from hostile_yaml import manifest_text  # noqa: PLC0415 - the byte fuzzer needs none

        return manifest_text(rng)

    def read(self, content: bytes) -> None:
        """Validate a folder that holds this file, once as YAML and beside an export."""
        from reconciler.project import Environment, ProjectFile  # noqa: PLC0415 - the same
        from reconciler.report.complaints import document  # noqa: PLC0415 - the same
        from reconciler.report.table import Style  # noqa: PLC0415 - the same
        from reconciler.workspace.expression_scope import Scope  # noqa: PLC0415 - after instrumenting
        from reconciler.workspace.workspace import load_workspace  # noqa: PLC0415 - the same

        (self.folder / "a.yaml").write_bytes(content)
        scope = Scope("local", {"team": "payments"}, SECRETS, lambda: "salt")
        found = load_workspace(
            [self.folder], self.folder, scope, ProjectFile(environments={"local": Environment()})
        )
        shown = document.complaints_text(found.complaints, Style(width=80, verbose=True))
        shown += document.complaints_json(found.complaints, len(found.manifests), found.files)
        told = {complaint.code for complaint in found.complaints}
        # Practice is told of what is right, too.
        for code in {code for code in told if not code.startswith("L")} or {"none"}:
            self.notes[code] = self.notes.get(code, 0) + 1
        if unsafe := unsafe_in(shown):
            raise AssertionError(f"a complaint holds {unsafe!a}")
        if SECRETS["TOKEN"] in shown:
            raise AssertionError("a complaint tells a secret")


@dataclass
class Foreign:
    """Documents of other tools, mutated: what they become is right, and what is said is safe."""

    notes: dict[str, int] = field(default_factory=dict)

    def make(self, rng: Random) -> bytes:
        """Damage a document in some places."""
        from harness.foreign_documents import DOCUMENTS  # noqa: PLC0415 - the others need none
        from hostile_documents import mutated  # noqa: PLC0415 - the same

        return json.dumps(mutated(rng.choice(DOCUMENTS), rng, rng.randint(1, 6))).encode()

    def read(self, content: bytes) -> None:
        """Convert one, and judge what it became."""
        from reconciler.features.import_.import_sources import CONVERTERS  # noqa: PLC0415 - as above
        from reconciler.features.import_.records import Beside  # noqa: PLC0415 - as above
        from reconciler.kinds.judge_spec import judge  # noqa: PLC0415 - as above
        from reconciler.syntax.diagnostic import Severity  # noqa: PLC0415 - as above

        document = json.loads(content)
        for converter in CONVERTERS:
            if not converter.recognise(document):
                continue
            done = converter.convert(document, "f", Beside([document]))
            left = [
                *done.left_behind,
                *(left_behind for converted in done.made for left_behind in converted.left_behind),
            ]
            for converted in done.made:
                self.notes[converted.kind.name] = self.notes.get(converted.kind.name, 0) + 1
                found = judge(converted.kind, converted.spec, converted.spec, has_id=True).findings
                if wrong := [
                    finding.message for finding in found if finding.severity is Severity.ERROR
                ]:
                    raise AssertionError(f"what was made is wrong: {wrong}")
            if unsafe := unsafe_in(
                "".join(f"{left_behind.what}{left_behind.why}" for left_behind in left)
            ):
                raise AssertionError(f"what was left behind is told with {unsafe!a}")


@dataclass
class Failing:
    """One input of four does what must be seen: proof that the watch is awake."""

    fail: Callable[[], object]
    read_so_far: int = 0

    def make(self, _: Random) -> bytes:
        """Make nothing in particular."""
        return b""

    def read(self, _: bytes) -> None:
        """Fail at the third input; the first is the warm-up."""
        self.read_so_far += 1
        if self.read_so_far == 3:
            self.fail()


def _hang() -> None:
    while True:
        pass


def _answers() -> Target:
    from hostile_answers import Answers  # noqa: PLC0415 - brings the emulator

    return Answers(scratch())


def scratch() -> Path:
    """Give the folder that our parent made and will remove, whatever becomes of us."""
    return Path(os.environ["FUZZ_SCRATCH"])


TARGETS: dict[str, Callable[[], Target]] = {
    "manifests": lambda: Manifests(scratch()),
    "answers": _answers,
    "foreign": Foreign,
    "raising": lambda: Failing(lambda: 1 // 0),
    "hanging": lambda: Failing(_hang),
    "crashing": lambda: Failing(lambda: os.kill(os.getpid(), signal.SIGSEGV)),
}
