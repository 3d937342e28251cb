"""What a command ends with, code by code. Source: docs/exit-codes.md."""

from __future__ import annotations

from typing import Final

from reconciler.errors import EXIT_CODES as TITLES
from reconciler.errors import ExitCode
from reconciler.explaining.explanation import Explanation, Sample
from reconciler.keys import KEY_VARIABLE

PREFIX: Final = "exit-"


def _exit(code: ExitCode, means: str, why: str, before: Sample, way_out: Sample) -> Explanation:
    return Explanation(
        code=f"{PREFIX}{code.value}",
        title=TITLES[code],
        means=means,
        why=why,
        wrong=before,
        right=way_out,
        command="",
        page="exit-codes",
    )


def _says(says: str, *typed: str) -> Sample:
    return Sample(says=says, typed=typed)


_NOTHING = _says("There is nothing to do about it.")
_AGAIN = _says("Plan again, and look before you apply again.", "reconciler plan")
_SIGNAL = (
    "A signal stopped the run. The first one ends it in good order: what was sent is journaled, "
    "and nothing more is sent. The second one ends it at once."
)
_SIGNAL_WHY = (
    "Signals come before every other code, as the run did not do all that it was asked for."
)

EXIT_CODES: Final = (
    _exit(
        ExitCode.DONE,
        "The command did what it was asked for, or there was nothing to do. `plan` ends with it "
        "whether there are changes or not, unless `--exit-code` is given.",
        "A script may go on.",
        _says("", "reconciler plan"),
        _says("To tell by the code whether there are changes:", "reconciler plan --exit-code"),
    ),
    _exit(
        ExitCode.INTERNAL,
        "Something failed that should not be able to: a bug of reconciler.",
        "What was sent until then stands in the journal.",
        _says("", "reconciler apply --yes"),
        _says("See what was written, and report the bug.", "reconciler journal show"),
    ),
    _exit(
        ExitCode.DIFFERENT,
        "Something differs: `plan --exit-code` has changes, `drift` found drift, `conformance` a "
        "service that is not as documented, `audit --fail-on` a finding.",
        "It is an answer and no failure: a job may act on it.",
        _says("", "reconciler drift"),
        _says("Take live edits into the manifests, or apply.", "reconciler adopt --all"),
    ),
    _exit(
        ExitCode.PARTIAL,
        "Some resources were written, and others were refused, skipped or are unconfirmed. The "
        "output says which, and why.",
        "The service holds a mixture of old and new until the rest is applied.",
        _says("", "reconciler apply --yes"),
        _says("Repair what was refused; what is written is not sent again.", "reconciler plan"),
    ),
    _exit(
        ExitCode.INVALID,
        "A manifest, the project file, a plan file or a file that one of them names cannot be "
        "used.",
        "Nothing was sent.",
        _says("", "reconciler plan"),
        _says("Every complaint, with its place and repair:", "reconciler validate"),
    ),
    _exit(
        ExitCode.LOCKED,
        "Another run holds the journal of this environment.",
        "Two applies at once would overwrite each other.",
        _says("", "reconciler apply --yes"),
        _says(
            "Wait for the other run. A lock of a shared store whose run is dead is taken away by "
            "hand.",
            "reconciler apply --yes --lock-timeout 5m",
            "reconciler journal unlock",
        ),
    ),
    _exit(
        ExitCode.STALE,
        "Live or the manifests changed since the plan that was reviewed, so that the digest is "
        "another. The output names what changed.",
        "What would be applied is not what was agreed to.",
        _says("", "reconciler apply --plan plan.json"),
        _says("Plan again, review, apply that.", "reconciler plan --out plan.json"),
    ),
    _exit(
        ExitCode.IN_DOUBT,
        "The answer to an earlier create was lost, so nobody knows whether it happened. Nothing is "
        "applied until somebody says.",
        "Sending it again could make a second one, which the API cannot delete.",
        _says("", "reconciler apply --yes"),
        _says(
            "Look in the web interface, and say what became of it.",
            "reconciler journal settle SavedView/errors --id 12",
            "reconciler journal settle SavedView/errors --never-happened",
        ),
    ),
    _exit(
        ExitCode.JOURNAL,
        "The journal could not be read or written, or is damaged.",
        "Without it nobody could tell what was written, so nothing more is sent.",
        _says("", "reconciler apply --yes"),
        _says("What is wrong with it, and what can be done:", "reconciler journal verify"),
    ),
    _exit(
        ExitCode.UNAVAILABLE,
        "The service was not reached, answered with an error to the end, limited the rate, "
        "redirected, or gave an answer that cannot be read.",
        "Reads changed nothing. After an apply the output says what was sent.",
        _says("", "reconciler plan"),
        _says("What of the connection works and what does not:", "reconciler doctor"),
    ),
    _exit(
        ExitCode.NOT_AUTHORISED,
        "There is no API key, the service refuses it, or it lacks a permission.",
        f"The key is taken from `{KEY_VARIABLE}` alone, and never from a flag.",
        _says("", "reconciler plan"),
        _says(
            "Set the key. Some services want `authorization: bearer` in the environment.",
            "reconciler doctor",
        ),
    ),
    _exit(
        ExitCode.GUARDED,
        "The plan does something that needs consent, and nothing was sent. The output names the "
        "code of the guard and the ways out.",
        "What is hard to take back should be meant: see the code of the guard.",
        _says("", "reconciler apply --yes"),
        _says("For each code that is named:", "reconciler explain too-many-changes"),
    ),
    _exit(
        ExitCode.USAGE,
        "The command line asks for what there is not: an unknown option, no environment, no "
        "target, a terminal that is missing.",
        "Nothing was done.",
        _says("", "reconciler plan --enviroment production"),
        _says("", "reconciler plan --environment production"),
    ),
    _exit(
        ExitCode.OUTPUT_LOST,
        "Stdout took not all of what was printed, as on a full disk. An apply went on to its end.",
        "What reads the output would read half of it.",
        _says("", "reconciler plan --format json > /dev/full"),
        _says("Make room, and run it again.", "reconciler plan --format json > plan.json"),
    ),
    _exit(ExitCode.HUNG_UP, _SIGNAL, _SIGNAL_WHY, _says("The terminal was closed."), _AGAIN),
    _exit(ExitCode.INTERRUPTED, _SIGNAL, _SIGNAL_WHY, _says("Somebody pressed Ctrl-C."), _AGAIN),
    _exit(
        ExitCode.PIPE_CLOSED,
        "What read the output has left, as `head` does. An apply went on to its end.",
        "It is what every command of a pipe ends with.",
        _says("", "reconciler plan | head -1"),
        _NOTHING,
    ),
    _exit(
        ExitCode.TERMINATED,
        _SIGNAL,
        _SIGNAL_WHY,
        _says("The CI system cancelled the job."),
        _AGAIN,
    ),
)
