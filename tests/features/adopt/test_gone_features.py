"""A feature that is gone: no command, step or input of it, and no advice to use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest import mock

from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import project_at
from test_adopt import edit_live
from test_adopt_reuse import BOARD, VARIABLES, describe

from reconciler.features import FEATURES

WITHOUT = """\
import sys
from reconciler.features import FEATURES
for name in ("adopt", "history", "rollback", "watch"):
    del FEATURES[name]
from reconciler.cli.root import run
sys.exit(run(sys.argv[1:]))
"""


def without_features(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command line where the rows of four features are gone."""
    line = [sys.executable, "-c", WITHOUT, *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_steps_of_a_job(golden: Golden) -> None:
    """`ci` lists no step of such a feature, and refuses its command as any other word."""
    assert "validate|plan|apply|drift|matrix" in without_features("ci", "--help").stdout

    refused = without_features("ci", "watch")

    assert refused.returncode == 64
    golden(refused.stdout)


def test_inputs_of_a_job() -> None:
    """The inputs of such a feature are no inputs."""
    code = WITHOUT.rpartition("from")[0] + "from reconciler.ci.runner import INPUTS; print(*INPUTS)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"remember", "adopt", "watch-for"} & set(ran.stdout.split()) == {"remember"}


def test_commands_of_a_group(golden: Golden) -> None:
    """A group lists no command of such a feature, and names the others for its name."""
    assert " stats " not in without_features("journal", "--help").stdout
    golden(without_features("journal", "stats").stderr)


def test_words_of_other_tools(golden: Golden) -> None:
    """What another tool calls a command is no advice to use one that is gone."""
    assert "`reconciler rollback RUN`" in typed("undo").err
    assert "rollback" not in without_features("undo").stderr
    golden(without_features("login").stderr)


def test_drift(tmp_path: Path) -> None:
    """A live edit can be put back by an apply, and is taken over by no command."""
    made = project_at(tmp_path.resolve(), VARIABLES, board=BOARD)
    assert made.apply().code == 0
    edit_live(made, describe)
    assert "reconciler adopt" in made.run("drift").out

    # The order of the table comes back too.
    with mock.patch.dict(FEATURES):
        del FEATURES["adopt"]

        assert "adopt" not in made.run("drift").out
