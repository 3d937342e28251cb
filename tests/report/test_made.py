"""When a page was made, from which commit and by whom."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from harness.repositories import begin
from harness.workspaces import VIEW, project_at
from html_reading import Reader
from hypothesis import given
from hypothesis import strategies as st
from random_plans import HOSTILE, MARK
from sample_plans import plan_of_none, plan_of_three

from reconciler.model import DriftReport
from reconciler.report.html import ReportOccasion, drift_html, plan_html

pytestmark = pytest.mark.promise("P51")

AT = datetime(2026, 11, 22, 9, 30, 59, 123_456, tzinfo=timezone(timedelta(hours=2)))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROJECT = """\
manifests: [.]
environments: {local: {emulator: {data: .reconciler/local.db}}}
"""


def head_of(page: str) -> str:
    """Give the text of a page's first part."""
    header = re.search(r"<header>.*?</header>", page, re.DOTALL)
    assert header is not None
    return "".join("".join(texts) for texts in Reader(header.group()).words.values())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (ReportOccasion(AT), "made 2026-11-22 07:30 UTC"),
        (
            ReportOccasion(AT, COMMIT, "ada"),
            "made 2026-11-22 07:30 UTC from commit 0123456789ab by ada",
        ),
        (
            ReportOccasion(AT, f"{COMMIT}-dirty"),
            "commit 0123456789ab with edits that are not committed",
        ),
        (ReportOccasion(AT, "", "ada", "17"), "made 2026-11-22 07:30 UTC by ada in run 17"),
    ],
)
def test_the_head_says_what_is_known(made: ReportOccasion, said: str) -> None:
    """The head of each page says time, commit, actor and run, as far as they are known."""
    for page in (
        plan_html(plan_of_none(), made),
        drift_html(DriftReport(()), "local", "emulator", made),
    ):
        (line,) = re.findall(r'<p class="made">(.*?)</p>', page)
        assert said in re.sub("<[^>]*>", "", line)
        assert 'datetime="2026-11-22T07:30:59Z"' in line


@given(text=st.sampled_from(HOSTILE))
def test_who_made_it_is_foreign_text(text: str) -> None:
    """Commit, actor and run are text, whatever somebody put into the environment."""
    foreign = MARK + text
    reader = Reader(plan_html(plan_of_three(), ReportOccasion(AT, foreign, foreign, foreign)))
    plain = Reader(plan_html(plan_of_three(), ReportOccasion(AT, "x", "x", "x")))

    assert reader.tags == plain.tags
    assert reader.open == []


def test_the_digest_stays_as_it_is() -> None:
    """One plan has one digest and one page, but for the line that says when it was made."""
    early, late = (
        plan_html(plan_of_three(), ReportOccasion(AT + timedelta(days=day))) for day in (0, 1)
    )
    line = re.compile(r'<p class="made">.*?</p>')

    assert early != late
    assert line.sub("", early) == line.sub("", late)
    assert plan_of_three().digest in early


def test_the_commands_hand_it_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of plan and drift say the commit of the manifests, who asked, and when."""
    for name in ("GITHUB_SHA", "GITHUB_RUN_ID", "CI_COMMIT_SHA", "CIRCLE_SHA1", "BUILDKITE_COMMIT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECONCILER_ACTOR", "grace")
    monkeypatch.setenv("CI_PIPELINE_ID", "4711")
    shop = project_at(tmp_path, PROJECT, view=VIEW)
    head = begin(tmp_path)
    before = datetime.now(UTC)

    for command in ("plan", "drift"):
        said = head_of(shop.run(command, "--format", "html").out)
        assert head[:12] in said
        assert "grace" in said
        assert "4711" in said
        (at,) = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d(?= UTC)", said)
        made = datetime.strptime(f"{at} +0000", "%Y-%m-%d %H:%M %z")
        assert before.replace(second=0, microsecond=0) <= made <= datetime.now(UTC)
