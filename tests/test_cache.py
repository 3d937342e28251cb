"""The folder that runs keep things in for the next one: private, bounded, and never in the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.runtime import cache
from reconciler.runtime.cache import VARIABLE, Cache, open_cache


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def kept(folder: Path, project: Path) -> Cache:
    return open_cache({VARIABLE: str(folder)}, project)


def entry_of(folder: Path) -> Path:
    """Give the one entry of a cache."""
    (found,) = folder.glob("*.entry")
    return found


def test_what_was_kept_is_there(kept: Cache, folder: Path, project: Path) -> None:
    """A later run finds what was kept under its key, and nothing under another."""
    kept.put("a", b"content")

    again = open_cache({VARIABLE: str(folder)}, project)

    assert (again.get("a"), again.get("b")) == (b"content", None)


def test_it_is_private(kept: Cache, folder: Path) -> None:
    """Folder and files are for their owner alone, whatever the umask is."""
    kept.put("a", b"content")

    modes = {path.name[-5:]: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}


@given(at=st.integers(0, 200), value=st.integers(1, 255), cut=st.integers(0, 200))
def test_a_damaged_entry_is_none(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int, cut: int
) -> None:
    """One byte that is another, or one that is missing, and there is nothing."""
    top = tmp_path_factory.mktemp("damaged")
    kept = open_cache({VARIABLE: str(top / "cache")}, top / "project")
    kept.put("a", b"content" * 20)
    entry = entry_of(top / "cache")
    whole = entry.read_bytes()
    at = min(at, len(whole) - 1)

    entry.write_bytes(whole[:at] + bytes([whole[at] ^ value]) + whole[at + 1 :])
    assert kept.get("a") is None
    entry.touch(0o600)
    entry.write_bytes(whole[: min(cut, len(whole) - 1)])
    assert kept.get("a") is None
    assert not entry.exists()


def test_no_entry_stands_for_another(kept: Cache, folder: Path) -> None:
    """An entry in the place of another one is none, though it was signed here."""
    kept.put("a", b"of a")
    first = entry_of(folder)
    content = first.read_bytes()
    first.unlink()
    kept.put("b", b"of b")

    entry_of(folder).write_bytes(content)

    assert kept.get("b") is None


def test_others_sign_nothing(kept: Cache, folder: Path, project: Path, tmp_path: Path) -> None:
    """What another cache holds is nothing here, nor can its signs be told from here."""
    kept.put("a", b"ours")
    other = open_cache({VARIABLE: str(tmp_path / "other")}, project)
    other.put("a", b"theirs")
    theirs = entry_of(tmp_path / "other").read_bytes()

    entry_of(folder).write_bytes(theirs)

    assert kept.get("a") is None
    assert kept.sign("secret") != other.sign("secret")


def _linked(folder: Path, _: Path) -> None:
    (folder.parent / "real").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "real")


def _shared(folder: Path, _: Path) -> None:
    folder.mkdir()
    folder.chmod(0o750)


def _a_file(folder: Path, _: Path) -> None:
    folder.touch()


def _in_a_repository(_: Path, project: Path) -> None:
    (project.parent / ".git").mkdir()


@pytest.mark.parametrize("spoil", [_linked, _shared, _a_file, _in_a_repository])
def test_a_folder_of_others(
    spoil: Callable[[Path, Path], None], folder: Path, project: Path
) -> None:
    """A link, what others may read, no folder, or one in the repository: nothing is kept there."""
    spoil(folder, project)

    refused = open_cache({VARIABLE: str(folder)}, project)
    refused.put("a", b"content")

    assert not refused.is_on
    assert refused.get("a") is None
    assert str(folder) in refused.why_not


def test_files_of_others(kept: Cache, folder: Path, tmp_path: Path) -> None:
    """A link, a pipe, or what others can write, in the place of an entry is none."""
    kept.put("a", b"content")
    entry = entry_of(folder)
    entry.chmod(0o620)
    assert kept.get("a") is None

    entry.chmod(0o600)
    entry.rename(tmp_path / "moved")
    entry.symlink_to(tmp_path / "moved")
    assert kept.get("a") is None

    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert kept.get("a") is None


def test_a_spoilt_key_begins_anew(kept: Cache, folder: Path, project: Path) -> None:
    """Where the key to the signs was damaged, another is made, and what it signed is nothing."""
    kept.put("a", b"content")
    (folder / "key").write_bytes(b"short")

    again = open_cache({VARIABLE: str(folder)}, project)

    assert again.get("a") is None
    again.put("a", b"new")
    assert open_cache({VARIABLE: str(folder)}, project).get("a") == b"new"


def test_nowhere_to_keep(project: Path, tmp_path: Path) -> None:
    """Without a home, or where nothing can be written, a run goes on and says why."""
    assert not open_cache({}, project).is_on
    assert not open_cache({"HOME": "relative"}, project).is_on
    assert not open_cache({"XDG_CACHE_HOME": "relative", "HOME": str(tmp_path)}, project).is_on
    assert open_cache({"HOME": str(tmp_path / "home")}, project).is_on
    assert (tmp_path / "home" / ".cache" / "reconciler").is_dir()


@pytest.mark.parametrize("name", ["notes.txt", "key", "a.entry", ".hidden", "CACHEDIR.TAG"])
def test_a_folder_with_other_files(folder: Path, project: Path, name: str) -> None:
    """In a folder that holds anything else nothing is written, replaced or removed."""
    folder.mkdir(mode=0o700)
    (folder / name).write_text("Signature: of somebody\n")
    (folder / name).chmod(0o600)
    before = {path: path.read_bytes() for path in folder.iterdir()}

    refused = open_cache({VARIABLE: str(folder)}, project)
    refused.put("a", b"content")

    assert not refused.is_on
    assert "holds other files" in refused.why_not
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_what_others_add_stays(kept: Cache, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes into the folder later is neither counted nor removed, however full it is."""
    monkeypatch.setattr(cache, "LARGEST_CACHE", 3_000)
    for name in ("notes.txt", "image.entry", f"{'0' * 64}.entry.old"):
        (folder / name).write_bytes(bytes(5_000))
        os.utime(folder / name, (0, 0))
    kept.put("a", bytes(1_000))

    assert kept.held()[0] == 1
    assert {"notes.txt", "image.entry", f"{'0' * 64}.entry.old"} < {
        path.name for path in folder.iterdir()
    }


def test_what_a_killed_run_left_goes(
    kept: Cache, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was never finished is counted as an entry, and goes as one."""
    monkeypatch.setattr(cache, "LARGEST_CACHE", 3_000)
    left = folder / f"{'0' * 64}.entry.17.0123abcd"
    left.write_bytes(bytes(2_000))
    os.utime(left, (0, 0))
    kept.put("a", bytes(2_000))

    assert not left.exists()


def test_a_cache_of_before(kept: Cache, folder: Path, project: Path) -> None:
    """One that was made before caches were marked goes on."""
    kept.put("a", b"content")
    (folder / "CACHEDIR.TAG").unlink()

    assert open_cache({VARIABLE: str(folder)}, project).get("a") == b"content"


def test_it_stays_small(kept: Cache, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not used for longest goes first, and the newest stays."""
    monkeypatch.setattr(cache, "LARGEST_CACHE", 3_000)
    for nth in range(6):
        kept.put(str(nth), bytes(1_000))
        for path in folder.glob("*.entry"):
            status = path.stat()
            os.utime(path, (status.st_atime - 60, status.st_mtime - 60))

    found = [nth for nth in range(6) if kept.get(str(nth)) is not None]

    assert found == [4, 5]
    assert kept.held()[0] == 2


def test_many_at_once(folder: Path, project: Path) -> None:
    """Runs that begin together sign with one key, and each finds a whole entry or none."""

    def work(nth: int) -> bytes | None:
        own = open_cache({VARIABLE: str(folder)}, project)
        own.put("same", f"{nth % 4}".encode() * 10_000)
        return own.get("same")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(64)))

    whole = {f"{nth}".encode() * 10_000 for nth in range(4)}
    assert set(found) <= whole | {None}
    assert open_cache({VARIABLE: str(folder)}, project).get("same") in whole
    assert {path.suffix for path in folder.iterdir()} <= {".entry", ".TAG", ""}
