"""`adopt` and the files of a tree: bytes stay, links stay, and nobody's later work is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.workspaces import Workspace, project_at
from test_adopt import BOARD, VARIABLES, adopt, edit_live, rename

from reconciler.features.adopt import adopt_live
from reconciler.workspace.write_files import (
    BEGINS,
    ENDS,
    remove_left,
    replace_text,
    write_new_files,
)


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """Give a workspace whose dashboard was renamed live."""
    made = project_at(tmp_path.resolve(), VARIABLES, board=BOARD)
    assert made.apply().code == 0
    edit_live(made, rename)
    return made


CRLF = BOARD.replace("\n", "\r\n")
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    "text",
    [
        CRLF.encode(),
        MARK + BOARD.encode(),
        BOARD.rstrip("\n").encode(),
        MARK + CRLF.rstrip().encode(),
        BOARD.replace("\n", "\r\n", 3).encode(),
    ],
)
def test_bytes_stay(shop: Workspace, text: bytes) -> None:
    """Line breaks, a byte-order mark and the end of a file stay as they are."""
    (shop.root / "board.yaml").write_bytes(text)

    assert adopt(shop, "--all").code == 0

    assert (shop.root / "board.yaml").read_bytes() == text.replace(b"'Checkout'", b"'Live'")


def test_links(shop: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link inside of the project stays one; what lies outside of it is not written."""
    file, real = shop.root / "board.yaml", shop.root / "real.txt"
    outside = tmp_path_factory.mktemp("outside") / "board.yaml"
    outside.write_text(BOARD, encoding="utf-8")
    file.unlink()
    file.symlink_to(outside)

    assert adopt(shop, "--all").code != 0
    assert outside.read_text(encoding="utf-8") == BOARD

    real.write_text(BOARD, encoding="utf-8")
    file.unlink()
    file.symlink_to(real.name)
    assert adopt(shop, "--all").code == 0
    assert file.is_symlink()
    assert "'Live'" in real.read_text(encoding="utf-8")


@pytest.mark.parametrize("is_gone", [False, True])
def test_edited_meanwhile(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch, *, is_gone: bool
) -> None:
    """What somebody did to a file since it was read stays, and adopt says so."""
    replace, file = replace_text, shop.root / "board.yaml"

    def late(path: Path, name: str, roots: tuple[Path, ...], *, before: str, after: str) -> None:
        if is_gone:
            file.unlink()
        else:
            file.write_text(BOARD + "# mine\n", encoding="utf-8")
        replace(path, name, roots, before=before, after=after)

    monkeypatch.setattr(adopt_live, "replace_text", late)
    ran = adopt(shop, "--all")

    assert ran.code == 4
    assert file.exists() is not is_gone
    assert is_gone or file.read_text(encoding="utf-8") == BOARD + "# mine\n"


def test_what_a_dead_run_left(shop: Workspace) -> None:
    """What a killed run began is removed by the next one, and what a living one began stays."""
    left = shop.root / f"{BEGINS}abc{ENDS}"
    left.write_text("half", encoding="utf-8")

    ran = adopt(shop, "--all")

    assert ran.code == 0
    assert not left.exists()
    assert "killed run" in ran.err

    seen: list[int] = []
    file = shop.root / "new.txt"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "reconciler.workspace.write_files.reached",
            lambda _: seen.append(remove_left([shop.root])),
        )
        write_new_files([(file, b"whole")])
    assert (sum(seen), file.read_bytes()) == (0, b"whole")
    assert seen
