"""How files of a user are changed: in one way, and never in part."""

from __future__ import annotations

import ast
import errno
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import SLO, VIEW, Workspace, project_at

import reconciler
from reconciler.workspace.write_files import BEGINS, KEPT, replace_file

pytestmark = pytest.mark.promise("S26")

ROOT = Path(reconciler.__file__).parent
OWNERS = {
    "workspace/write_files.py": "files of users: manifests and project files, new and changed",
    "runtime/cache.py": "the cache",
    "ci/checkout.py": "a copy of a checkout, in a folder of its own",
    "ci/runner.py": "the outputs of a job, whose file the runner names",
    "emulator/database.py": "the data of the emulator, and its log",
    "journal/content.py": "a journal's lines in the temporary folder",
    "journal/file_store.py": "the journal",
    "journal/store.py": "what this machine last saw of a journal in git",
    "workspace/revision.py": "an older revision, in a folder of its own",
    "operations/plan_and_drift.py": "plan files",
    "features/approvals/ssh_signatures.py": "what is signed, in the temporary folder",
    "features/approvals/default_branch.py": "a project file, in the temporary folder",
}
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
ALWAYS = {"write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "rename", "truncate"}
OF_SHUTIL = {"copy", "copy2", "copyfile", "move"}


def test_one_way_to_write() -> None:
    """No code of ours opens a file for writing but that which is named here."""
    writers = {
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*.py")
        if any(writes_in(ast.parse(file.read_text(encoding="utf-8"))))
    }

    assert writers == set(OWNERS)


def writes_in(tree: ast.Module) -> Iterator[bool]:
    """Yield a truth for each call that may write a file."""
    flags = {
        target.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and flags_in(one.value)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            yield is_write(call, flags)


def is_write(call: ast.Call, flags: set[str]) -> bool:
    """Tell a call that opens a file for writing, or takes the place of one."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = function.value if isinstance(function, ast.Attribute) else None
    module = owner.id if isinstance(owner, ast.Name) else ""
    if name in ALWAYS or (module == "shutil" and name in OF_SHUTIL):
        return True
    if module == "os" and name == "open":
        return any(flags_in(argument, flags) for argument in call.args[1:])
    if name == "open":
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        modes = [one.value for one in given if isinstance(one, ast.Constant)]
        return any(isinstance(mode, str) and mode[:1] in tuple("wax") for mode in modes) or any(
            isinstance(mode, str) and len(mode) <= 3 and "+" in mode for mode in modes
        )
    # A path is replaced by one argument, a text by two, and a value by keywords.
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    is_path = isinstance(function, ast.Attribute) and len(call.args) == 1 and not call.keywords
    return name == "replace" and (module == "os" or is_path)


def flags_in(node: ast.expr, known: set[str] = frozenset()) -> bool:  # type: ignore[assignment]  # never added to
    """Tell flags of `os.open` that let write."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr in WRITING_FLAGS)
        or (isinstance(one, ast.Name) and one.id in known)
        for one in ast.walk(node)
    )


def failing_at(most: int) -> Callable[[int, bytes], int]:
    """Return what writes so many bytes in all, as on a disk that is full then."""
    real, left = os.write, [most]

    def write(descriptor: int, content: bytes) -> int:
        if left[0] <= 0:
            left[0] = 1 << 20
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = real(descriptor, bytes(content)[: left[0]])
        left[0] -= count
        return count

    return write


@pytest.mark.parametrize("names", [1, 2])
def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: int) -> None:
    """A disk that is full at any byte leaves a file as it was, and nothing next to it."""
    file, after = tmp_path / "a.yaml", b"after: 1 # more\n"
    for most in range(len(after)):
        file.unlink(missing_ok=True)
        (tmp_path / "b.yaml").unlink(missing_ok=True)
        file.write_bytes(b"before: 1\n")
        if names > 1:
            os.link(file, tmp_path / "b.yaml")
        monkeypatch.setattr(os, "write", failing_at(most))

        with pytest.raises(OSError, match="No space"):
            replace_file(file, after)

        monkeypatch.undo()
        assert file.read_bytes() == b"before: 1\n"
        assert len(list(tmp_path.iterdir())) == names


@pytest.mark.parametrize("names", [1, 2])
@pytest.mark.parametrize("steps", range(8))
def test_killed(tmp_path: Path, names: int, steps: int) -> None:
    """A kill before any call on a file leaves the text before or after it, whole, in the folder."""
    file, before, after = tmp_path / "a.yaml", b"before: 1\n", b"after: 1 # more\n"
    file.write_bytes(before)
    if names > 1:
        os.link(file, tmp_path / "b.yaml")
    child = os.fork()
    if not child:
        left = [steps]
        for name in ("write", "ftruncate", "fsync", "replace", "unlink", "fchmod"):
            setattr(os, name, dying(getattr(os, name), left))
        replace_file(file, after)
        os._exit(0)
    os.waitpid(child, 0)

    texts = {path.read_bytes() for path in tmp_path.iterdir() if not path.name.startswith(BEGINS)}
    assert file.read_bytes() in (before, after) or before in texts
    kept = [path for path in tmp_path.iterdir() if path.name.endswith(KEPT)]
    assert names > 1 or (file.read_bytes() in (before, after) and not kept)


def dying(call: Callable[..., object], left: list[int]) -> Callable[..., object]:
    """Return a call before which the process dies, once so many were made."""

    def made(*arguments: object, **named: object) -> object:
        if left[0] == 0:
            os._exit(1)
        left[0] -= 1
        return call(*arguments, **named)

    return made


def test_ids_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`journal write-ids` on a full disk is an error that leaves the manifest as it was."""
    shop, text = applied(tmp_path)
    monkeypatch.setattr(os, "write", failing_at(10))

    ran = shop.run("journal write-ids")

    monkeypatch.undo()
    assert ran.code == 4
    assert (shop.root / "all.yaml").read_bytes() == text


def test_what_ids_keep(tmp_path: Path) -> None:
    """`journal write-ids` keeps mode, byte-order mark, line ends, links, comments and anchors."""
    shop, text = applied(tmp_path)
    file = shop.root / "all.yaml"
    file.chmod(0o640)

    assert shop.run("journal write-ids").out == "2 ids written\n"

    now = file.read_bytes()
    lines = [part for part in now.split(b"\r\n") if not part.lstrip().startswith(b"id:")]
    assert b"\r\n".join(lines) == text
    assert file.stat().st_mode & 0o777 == 0o640
    assert typed("validate", str(shop.root)).code == 0


def applied(tmp_path: Path) -> tuple[Workspace, bytes]:
    """Return a project that was applied, and its manifest with a style of its own."""
    shop = project_at(tmp_path)
    slo = SLO.replace("{name: checkout}", "&m\n  name:   checkout # ours")
    slo = slo.replace("goodEvents: {query: good}", "goodEvents: {\n    query: good, # why\n    }")
    text = (
        BOM_UTF8
        + f"{slo}---\n{VIEW}".replace("{name: errors}", "\n  name: errors")
        .replace("\n", "\r\n")
        .encode()
    )
    (shop.root / "all.yaml").write_bytes(text)
    ran = shop.apply("--new-journal")
    assert ran.code == 0, ran.err
    return shop, text
