"""A store that is not there: journals in a folder of their own, by the store for files."""

from __future__ import annotations

from workbench import Workbench

STORES = "tests/harness/stores.py"


def store(bench: Workbench) -> None:
    """Keep journals in a folder of their own, by the store for files."""
    bench.write(
        "reconciler/journal/kept_store.py",
        '"""A journal in a file of a folder that has nothing else."""\n\n'
        "from pathlib import Path\n\n"
        "from reconciler.journal.file_store import FileStore\n"
        "from reconciler.project.settings import InKept\n\n\n"
        "class KeptStore(FileStore):\n"
        '    """`kept:PATH`."""\n\n\n'
        "def opened(place: InKept, root: Path) -> KeptStore:\n"
        '    """Return the store below a folder."""\n'
        '    return KeptStore(root / place.path / "lines.jsonl", root)\n',
    )
    settings = "reconciler/project/settings.py"
    bench.replace(
        settings,
        "JournalPlace: TypeAlias = InFile",
        "@dataclass(frozen=True, slots=True)\n"
        "class InKept:\n"
        '    """A folder of its own."""\n\n'
        '    store: ClassVar[str] = "kept_store"\n'
        "    file: ClassVar[Path | None] = None\n"
        "    is_in_repository: ClassVar[bool] = False\n"
        "    path: Path\n\n\n"
        "def _in_kept(text: str) -> InKept:\n"
        '    return InKept(Path(text.removeprefix("kept:")))\n\n\n'
        "JournalPlace: TypeAlias = InKept | InFile",
    )
    bench.replace(settings, 'FORMS = "a path, ', 'FORMS = "a path, `kept:PATH`, ')
    bench.replace(
        settings, '    "git:": _in_git,\n', '    "git:": _in_git,\n    "kept:": _in_kept,\n'
    )
    bench.replace(STORES, "STORES: dict", FOLDER_OPENED)
    line = (
        "from reconciler.journal import kept_store\nfrom reconciler.project.settings import InKept"
    )
    bench.after(STORES, "from reconciler.journal.store", line)
    bench.replace(STORES, '{"file": _file, ', '{"file": _file, "kept": _kept, ')
    bench.write(
        "tests/journal/test_kept_store.py",
        '"""A journal in a folder of its own."""\n\n'
        "from pathlib import Path\n\n"
        "from reconciler.project import Project\n"
        "from reconciler.operations.open_project import store_at\n\n\n"
        "def test_a_folder(tmp_path: Path) -> None:\n"
        '    """What a project file names so is a store that holds nothing at first."""\n'
        '    store = store_at(Project(root=tmp_path), "kept:journal")\n\n'
        '    assert store.read() == b""\n'
        '    assert "lines.jsonl" in store.place\n',
    )
    row = "| `kept:PATH` | a file | one machine | as for a path | a millisecond | as for a path |"
    bench.after("docs/journal.md", "| nothing, or a path |", row)


FOLDER_OPENED = (
    "def _kept(folder: Path) -> Opening:\n"
    '    return lambda: kept_store.opened(InKept(Path("own")), folder)\n\n\n'
    "STORES: dict"
)
