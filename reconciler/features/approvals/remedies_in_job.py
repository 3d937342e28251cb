"""How people approve the plan of a job: what they download, the command, and where the file goes.

Source: docs/approvals.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from reconciler.runtime.advice import plan_of_job


def remedies_in_job(environment: str, folders: Sequence[Path]) -> Iterator[str]:
    """Yield the steps of an approver, for the folder of the input `approvals` or for a new one."""
    plan = plan_of_job()
    folder = next(iter(folders), Path("approvals", environment))
    is_committed = not folder.is_absolute()
    out = f" --out {shlex.quote(str(folder / 'NAME.approval'))}" if is_committed else ""
    yield (
        f"who approves downloads the artifact `{plan.artifact}` of the plan job, and signs it: "
        f"`reconciler approve {shlex.quote(plan.file)}{out}`"
    )
    yield (
        "commit that file to this pull request; after the merge, to another pull request that "
        "only adds it"
        if is_committed
        else "put that file where the job takes its approvals from, and run the job again"
    )
    if not folders:
        yield f"plan and apply find it by their input `approvals: {folder}`"
