"""Evidence beside a plan keeps to a narrow terminal, with and without -v."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sample_evidence import plan_of_many_records
from sample_impacts import IMPACTS
from sample_plans import plan_of_drifted, plan_with_signals

from reconciler.features.against.base_drift import BaseDrift, base_lines
from reconciler.features.policy_samples.policy_impact_formats import policy_impact_lines
from reconciler.features.track_record.track_records import TrackRecords, track_record_lines
from reconciler.model import Plan
from reconciler.report.safe import columns
from reconciler.report.sections import watchers_lines
from reconciler.report.table import Style


def lines_of(style: Style) -> Iterator[str]:
    """Yield all that signals write into the text of plans."""
    for impact in IMPACTS.values():
        yield from policy_impact_lines(impact, style)
    plans: tuple[Plan, ...] = (plan_with_signals(), plan_of_many_records(), plan_of_drifted())
    for plan in plans:
        if (base := plan.section(BaseDrift)) is not None:
            yield from base_lines(base, style)
        records = plan.section(TrackRecords)
        for change in plan.changes:
            if records is not None:
                yield from track_record_lines(records, change, style)
            yield from watchers_lines(plan, change, style)


@pytest.mark.parametrize("verbose", [True, False])
@pytest.mark.parametrize("width", [60, 80])
def test_width(width: int, *, verbose: bool) -> None:
    """No line is longer than the terminal."""
    style = Style(width=width, verbose=verbose, terminal=True)

    assert [line for line in lines_of(style) if columns(line) > width] == []
