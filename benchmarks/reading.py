"""Reading manifests, against the C parser's events alone and as a whole `validate`.

Reading is most of `validate`, and `validate` runs at every commit. The floor is
the bare loop over the same events: nothing that reads through them is faster.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from yaml import StreamEndEvent
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from benchmarks.manifests import write_workspace
from benchmarks.measuring import cpu_of, medians, verdict
from reconciler.syntax.read_text import read_text
from reconciler.workspace import build, workspace
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import Workspace, load_workspace

ROUNDS = 7
MB = 1e6
TARGET_MB_A_SECOND = 14.0
TARGET_OF_FLOOR = 0.6
TARGET_WORKSPACE_SECONDS = 2.0

# Where `load_workspace` spends its time: the name in this package that is timed.
STAGES = {
    "find the files": (workspace, "find_files"),
    "read the bytes": (build, "read_file"),
    "text to documents": (build, "read_text"),
    "envelope": (build, "read_envelope"),
    "check the fields": (build, "judge"),
    "across files": (workspace, "workspace_complaints"),
    "checks of features": (workspace, "complain_by_features"),
}


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        _speed(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        _whole(Path(folder))


def _speed(folder: Path) -> None:
    size = write_workspace(folder, files=310, widgets=13) / MB
    texts = [file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.yaml"))]
    took = medians(
        ROUNDS,
        {
            "bare loop": lambda: cpu_of(lambda: list(map(_bare_loop, texts))),
            "read_text": lambda: cpu_of(lambda: [read_text(text) for text in texts]),
        },
    )
    bare, ours = size / took["bare loop"], size / took["read_text"]
    share = ours / bare
    met = ours >= TARGET_MB_A_SECOND or share >= TARGET_OF_FLOOR
    print(f"reading {size:.1f} MB in {len(texts)} files")
    print(f"  floor: bare loop over the events   {bare:6.1f} MB/s")
    print(
        f"  read_text                          {ours:6.1f} MB/s   {share:.2f} of the floor "
        f"(target {TARGET_MB_A_SECOND:g} MB/s or {TARGET_OF_FLOOR:g}: "
        f"{'met' if met else 'MISSED'})"
    )


def _bare_loop(text: str) -> None:
    get_event = CParser(text).get_event
    while get_event().__class__ is not StreamEndEvent:
        pass


def _whole(folder: Path) -> None:
    size = write_workspace(folder, files=2_000, widgets=13) / MB
    scope = Scope("production", {}, {}, lambda: "salt")

    def load() -> Workspace:
        return load_workspace([folder], folder, scope)

    loaded = load()
    if loaded.complaints:
        raise SystemExit(f"the generated workspace has complaints: {loaded.complaints[0]}")
    texts = [file.read_text(encoding="utf-8") for file in folder.rglob("*.yaml")]
    took = medians(
        3,
        {
            "bare": lambda: cpu_of(lambda: list(map(_bare_loop, texts))),
            "load": lambda: cpu_of(load),
        },
    )
    seconds = took["load"]
    target = verdict(seconds, TARGET_WORKSPACE_SECONDS)
    print(
        f"validating {size:.1f} MB in {loaded.files:,} files, {len(loaded.manifests):,} manifests"
    )
    print(f"  floor: bare loop over the events   {took['bare']:6.2f} s")
    print(
        f"  load_workspace                     {seconds:6.2f} s   "
        f"{seconds / took['bare']:.2f} x the floor "
        f"(target {TARGET_WORKSPACE_SECONDS:g} s: {target})"
    )
    for name, share in _shares(load).items():
        print(f"    {name:20} {share:5.0%}")


def _shares(load: Callable[[], object]) -> dict[str, float]:
    """Give the share of each stage in one run, told by a clock around each of its calls."""
    spent = dict.fromkeys(STAGES, 0.0)

    def timed(name: str, really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            started = time.process_time()
            result = really(*arguments, **named)
            if isinstance(result, Iterator):
                result = list(result)  # what it finds costs only when it is asked for
            spent[name] += time.process_time() - started
            return result

        return call

    kept = {name: getattr(module, attribute) for name, (module, attribute) in STAGES.items()}
    for name, (module, attribute) in STAGES.items():
        setattr(module, attribute, timed(name, kept[name]))
    try:
        whole = cpu_of(load)
    finally:
        for name, (module, attribute) in STAGES.items():
            setattr(module, attribute, kept[name])
    return {name: seconds / whole for name, seconds in spent.items()} | {
        "all else": 1 - sum(spent.values()) / whole
    }
