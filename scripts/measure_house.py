"""Measure the house: how many files there are, and which of them one run goes through.

`python scripts/measure_house.py` prints the figures; with `--write` they stand in
docs/architecture.md, and the way of a plan and of an apply with them. The emulator is left
out everywhere: it imports nothing of ours.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "reconciler"
PAGE = ROOT / "docs" / "architecture.md"
SMALL = 80
_APART = "reconciler/emulator/"

BEFORE = {
    "files of `reconciler/`, emulator apart": ("280", "310", "213"),
    "lines a file, on average and in the middle": ("95, 78", "110, 92", "173, 186"),
    "files whose functions run in one `plan` of `examples/`": ("108", "134", "96"),
    "the same for one `apply`": ("119", "137", "95"),
    f"modules of at most {SMALL} lines that one other alone imports": ("45", "41", "3"),
    "modules imported by an `apply`": ("194", "217", "143"),
    "biggest file": ("295", "362", "396"),
}
"""What this script measured at db1069e, right before the moves (b47190d) and right after them."""

# Runs one command line and leaves the files whose functions ran, in the order of their first
# call, and the modules that were imported.
_PROFILED = """
import json, os, sys, threading
from pathlib import Path
root, report = sys.argv[1], sys.argv[2]
sys.argv = ["reconciler", *sys.argv[3:]]
seen = {}
def note(frame, event, argument):
    code = frame.f_code
    # What runs on import says nothing of the way that a run takes.
    is_function = event == "call" and code.co_flags & 1 and code.co_name != "<module>"
    if is_function and code.co_filename.startswith(root):
        seen.setdefault(code.co_filename, len(seen))
sys.setprofile(note)
threading.setprofile(note)
try:
    from reconciler.__main__ import main
    main()
finally:
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.split(".")[0] == "reconciler"]
    Path(report).write_text(json.dumps({"files": list(seen), "modules": modules}))
"""


def files() -> list[Path]:
    """Give all modules but those of the emulator."""
    found = sorted(HOUSE.rglob("*.py"))
    return [path for path in found if not name_of(path).startswith(_APART)]


def name_of(file: Path) -> str:
    """Give a file as seen from the root of the repository."""
    return file.relative_to(ROOT).as_posix()


def flow_of(*words: str) -> tuple[list[str], list[str]]:
    """Run one command on a copy of `examples/`, and give the files and modules it took.

    The files are those whose functions ran, in the order of their first call.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        work = folder / "work"
        subprocess.run(["cp", "-r", str(ROOT / "examples"), str(work)], check=True)  # noqa: S607 - of the PATH
        report = folder / "report.json"
        kept = ("PATH", "HOME", "LANG", "SYSTEMROOT")
        environment = {text: os.environ[text] for text in kept if text in os.environ}
        done = subprocess.run(
            [sys.executable, "-c", _PROFILED, str(HOUSE), str(report), *words],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise SystemExit(f"{' '.join(words)} left no profile: {done.stderr}")
        found = json.loads(report.read_text())
        names = [name_of(Path(file)) for file in found["files"]]
        modules = [
            module for module in found["modules"] if not module.startswith("reconciler.emulator")
        ]
        return [name for name in names if not name.startswith(_APART)], modules


PLAN = ("plan",)
APPLY = ("apply", "--yes", "--new-journal")


def imports_of(file: Path) -> Iterator[str]:
    """Yield the modules of ours that a file imports, those for types only too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reconciler"):
            for name in node.names:
                yield f"{node.module}.{name.name}"
            yield str(node.module)


def slivers() -> list[str]:
    """Give the small modules that one other module alone imports, those of a pattern too."""
    by_module = {
        name_of(file).removesuffix(".py").replace("/", "."): file
        for file in files()
        if file.name not in ("__init__.py", "__main__.py")
    }
    users: Counter[str] = Counter()
    for file in files():
        users.update(set(imports_of(file)) & by_module.keys())
    return [
        name_of(file)
        for module, file in by_module.items()
        if users[module] == 1 and len(file.read_text("utf-8").splitlines()) <= SMALL
    ]


def rows() -> list[tuple[str, str]]:
    """Give each figure with its words."""
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in files()}
    biggest = max(lines, key=lambda one: lines[one])
    planned, _ = flow_of(*PLAN)
    applied, modules = flow_of(*APPLY)
    few = slivers()
    return [
        ("files of `reconciler/`, emulator apart", str(len(lines))),
        (
            "lines a file, on average and in the middle",
            f"{mean(lines.values()):.0f}, {median(lines.values()):.0f}",
        ),
        ("files whose functions run in one `plan` of `examples/`", str(len(planned))),
        ("the same for one `apply`", str(len(applied))),
        (f"modules of at most {SMALL} lines that one other alone imports", str(len(few))),
        ("modules imported by an `apply`", str(len(modules))),
        ("biggest file", f"{lines[biggest]} (`{name_of(biggest)}`)"),
    ]


def about(name: str) -> str:
    """Give the first sentence of what a file says of itself."""
    said = ast.get_docstring(ast.parse((ROOT / name).read_text("utf-8"))) or ""
    return said.split("\n\n")[0].replace("\n", " ").removesuffix(" Pure.")


def way_of(*words: str) -> str:
    """Give the files that a command goes through, in the order of their first call."""
    names, _ = flow_of(*words)
    return "".join(
        f"{number}. `{name.removeprefix('reconciler/')}`: {about(name)}\n"
        for number, name in enumerate(names, 1)
    )


def between(text: str, mark: str, fresh: str) -> str:
    """Put `fresh` between the marks of that name."""
    head, _, rest = text.partition(f"<!-- {mark} -->\n")
    _, _, tail = rest.partition(f"<!-- /{mark} -->\n")
    return f"{head}<!-- {mark} -->\n{fresh}<!-- /{mark} -->\n{tail}"


def main() -> None:
    """Print the figures, or put them into the page."""
    table = "".join(
        f"| {words} | {' | '.join(BEFORE[words])} | {figure} |\n" for words, figure in rows()
    )
    if "--write" not in sys.argv:
        print(table, end="")
        return
    text = PAGE.read_text("utf-8")
    head = "| | db1069e | b47190d | c25e2b0 | now |\n|---|---|---|---|---|\n"
    text = between(text, "figures", head + table)
    text = between(text, "plan", way_of(*PLAN))
    text = between(text, "apply", way_of(*APPLY))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
