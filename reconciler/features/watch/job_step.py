"""`reconciler ci watch`: check in a job whether the alerts of the last apply are noisier since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Final

from reconciler.cli.console import data, stdout_style, words
from reconciler.errors import UsageError
from reconciler.features.watch.noise import NoiseWatch
from reconciler.features.watch.noise_formats import watched_markdown, watched_text, with_watch
from reconciler.features.watch.watch_alerts import ToWatch, describe_way_back, watch_now, way_back
from reconciler.journal.before import LAST
from reconciler.operations.durations import read_duration
from reconciler.operations.job_steps import JobStep, StepReport
from reconciler.operations.open_session import Session
from reconciler.report.plan.text import plan_text


def read_wait(text: str) -> timedelta | None:
    """Return the duration of the input `watch-for`; None for "". Raises UsageError."""
    found = read_duration(text)
    if text and found is None:
        raise UsageError(f"`watch-for` is a duration up to 7d, as 90m or 2h, not `{text}`")
    return found


def _run(session: Session, given: Mapping[str, str], *, remember: bool) -> Iterator[StepReport]:
    wanted = ToWatch(run=LAST, wait=read_wait(given["watch-for"]), remember=remember)
    found = watch_now(session, wanted)
    yield _report(found, session.name)
    data(watched_text(found, stdout_style(verbose=False)))
    if (made := way_back(session, found)) is not None:
        remedy = describe_way_back(found)
        yield _report(found, session.name, remedy)
        data(plan_text(made, stdout_style(verbose=False)))
        words(remedy)


def _report(found: NoiseWatch, environment: str, back: str = "") -> StepReport:
    shown = (watched_markdown(found, environment), f"{back}\n" if back else "")
    return StepReport(
        differs=bool(found.noisier),
        summary="\n".join(shown),
        commit=found.commit,
        added_to=partial(with_watch, found=found, environment=environment, back=back),
    )


WATCH: Final = JobStep(run=_run, deed="noise is remembered")
