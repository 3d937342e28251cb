"""What a newcomer writes on the first day, and all that is printed of it.

Each folder of `wrong/` is a project with one mistake in it, and `told.txt`: the whole of what
`validate` says. `WRITE_GOLDEN=1` writes those texts anew; read each as somebody who is tired
and does not know the tool, before you keep it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from harness.workspaces import Workspace

HERE = Path(__file__).parent / "wrong"
MISTAKES = sorted(folder.name for folder in HERE.iterdir())
TOLD = "told.txt"
ONLY_IN_PLANS = {"unset-secret"}
"""What `validate` cannot see: it is run where nobody has the secrets."""

OUTSIDE = "exports/checkout.json"
PROJECT = """\
manifests: [.]
defaultEnvironment: local
checks: {L302: off}
environments:
  local:
    emulator: {data: .reconciler/local.db}
    variables: {team: payments, threshold: 5}
  production:
    baseUrl: https://api.example.com
    variables: {team: payments, threshold: 5}
"""


def answers_to(mistake: str, root: Path) -> str:
    """Give what `validate` prints of a mistake, which it must refuse or warn of."""
    outside = root / OUTSIDE
    outside.parent.mkdir()
    outside.write_text("{}", encoding="utf-8")
    root /= "shop"
    root.mkdir()
    made = Workspace(root)
    made.settle(PROJECT)
    shutil.copytree(HERE / mistake, root, dirs_exist_ok=True)
    (root / TOLD).unlink(missing_ok=True)

    command = "plan" if mistake in ONLY_IN_PLANS else "validate"
    ran = made.run(command)

    assert ran.code in {0, 4}, ran.err
    told = (ran.out + ran.err).replace(str(root), "PROJECT").rstrip()
    return f"$ reconciler {command}    # exit {ran.code}\n{told}\n"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_told_of_a_mistake(mistake: str, tmp_path: Path) -> None:
    """All that is printed of a mistake is, to the letter, what was read and kept."""
    told = answers_to(mistake, tmp_path)

    golden = HERE / mistake / TOLD
    if os.environ.get("WRITE_GOLDEN"):
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")
