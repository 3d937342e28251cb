"""A store that is not there: journals in a folder of their own, by the store for files."""

from __future__ import annotations

from workbench import Workbench

STORES = "tests/harness/stores.py"


def store(bench: Workbench) -> None:
    """Keep journals in a folder of their own, by the store for files."""
    bench.write(
        "reconciler/journal/folder_store.py",
        '"""A journal in a file of a folder that has nothing else."""\n\n'
        "from __future__ import annotations\n\n"
        "from pathlib import Path\n\n"
        "from reconciler.journal.file_store import FileStore\n\n\n"
        "class FolderStore(FileStore):\n"
        '    """`folder:PATH`."""\n\n'
        "    def __init__(self, folder: Path, below: Path | None = None) -> None:\n"
        '        """Keep the lines below this folder."""\n'
        '        super().__init__(folder / "lines.jsonl", below)\n',
    )
    settings = "reconciler/project/settings.py"
    bench.replace(
        settings,
        "JournalPlace: TypeAlias = InFile | InGit | InObjects\n",
        "@dataclass(frozen=True, slots=True)\n"
        "class InFolder:\n"
        '    """A folder of its own."""\n\n'
        "    path: Path\n\n\n"
        "JournalPlace: TypeAlias = InFile | InGit | InObjects | InFolder\n",
    )
    bench.replace(settings, 'FORMS = "a path, ', 'FORMS = "a path, `folder:PATH`, ')
    bench.replace(
        settings,
        '    if text.startswith(("s3://"',
        '    if text.startswith("folder:"):\n'
        '        return InFolder(Path(text.removeprefix("folder:")))\n'
        '    if text.startswith(("s3://"',
    )
    chosen = "reconciler/project/project.py"
    bench.replace(chosen, "    InFile,\n    InGit,", "    InFile,\n    InFolder,\n    InGit,")
    bench.replace(
        chosen,
        "case InGit() | InObjects() as place:",
        "case InFolder() | InGit() | InObjects() as place:",
    )
    opened = "reconciler/operations/open_project.py"
    bench.replace(opened, "import InFile, InGit, ", "import InFile, InFolder, InGit, ")
    bench.replace(
        opened,
        "            return _object_store(url)\n",
        "            return _object_store(url)\n"
        "        case InFolder(path=path):\n"
        "            from reconciler.journal.folder_store import FolderStore\n\n"
        "            return FolderStore(project.root / path, project.root)\n",
    )
    bench.replace(STORES, '    return lambda: FileStore(folder / "own"', FOLDER_OPENED)
    line = "from reconciler.journal.folder_store import FolderStore"
    bench.after(STORES, "from reconciler.journal.file_store", line)
    bench.replace(STORES, '{"file": _file, ', '{"file": _file, "folder": _folder, ')
    form = '        ("folder:kept", InFolder(Path("kept"))),'
    bench.after("tests/test_project.py", '        ("gs://bucket", InObjects', form)
    bench.replace("tests/test_project.py", "import InFile, InGit", "import InFile, InFolder, InGit")
    bench.write(
        "tests/journal/test_folder_store.py",
        '"""A journal in a folder of its own."""\n\n'
        "from pathlib import Path\n\n"
        "from reconciler.project import Project\n"
        "from reconciler.operations.open_project import store_at\n\n\n"
        "def test_a_folder(tmp_path: Path) -> None:\n"
        '    """What a project file names so is a store that holds nothing at first."""\n'
        '    store = store_at(Project(root=tmp_path), "folder:kept")\n\n'
        '    assert type(store).__name__ == "FolderStore"\n'
        '    assert store.read() == b""\n',
    )
    row = "| `folder:PATH` | a file | one machine | as for a path | a millisecond | as for a path |"
    bench.after("docs/journal.md", "| nothing, or a path |", row)


FOLDER_OPENED = (
    '    return lambda: FileStore(folder / "own" / "journal.jsonl")\n\n\n'
    "def _folder(folder: Path) -> Opening:\n"
    '    return lambda: FolderStore(folder / "own"'
)
