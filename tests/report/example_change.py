"""The examples as they are, on a service that holds what they were before one change.

The change is one that has something to show in each report: widgets that come,
go, move, grow and are edited, policies in another order, and a lower target.
"""

from __future__ import annotations

import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from reconciler.cli.root import run

ROOT = Path(__file__).parent.parent.parent
BEFORE = Path(__file__).parent / "before"
FILES = {
    "dashboard.yaml": "shop/dashboard.yaml",
    "log-policies.yaml": "shop/log-policies.yaml",
}
TEXTS = {
    "checkout/slo.yaml": (
        ("targetThresholdPercentage: 99.5", "targetThresholdPercentage: 99.9"),
        ("SLO_TIME_FRAME_28_DAYS", "SLO_TIME_FRAME_7_DAYS"),
    ),
    "checkout/alerts.yaml": (
        ("priority: ALERT_DEF_PRIORITY_P3", "priority: ALERT_DEF_PRIORITY_P2"),
        ('AND NOT reason:"card_declined"', 'AND NOT reason:("card_declined" OR "card_expired")'),
    ),
    "checkout/dashboard.yaml": (("relativeTimeFrame: 21600s", "relativeTimeFrame: 3600s"),),
}


INLINE = re.compile(r"<(style|script)>.+?</\1>", re.DOTALL)
HASH = re.compile(r"sha256-[0-9A-Za-z+/]{43}=")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
SUFFIXES = {"text": ".txt", "markdown": ".md", "html": ".html"}
MADE = re.compile(r'(?<=<p class="made">).*?(?=</p>)')
ONE_MADE = (
    'made <time datetime="2026-11-22T09:30:00Z">2026-11-22 09:30 UTC</time> from commit '
    "<code>0123456789ab</code> by <strong>ada@example.com</strong>"
)
ONE_DIGEST = "sha256:" + 64 * "0"


def example_reports(folder: Path) -> dict[str, str]:
    """Plan the change in a folder of its own; give each format."""
    shop = folder / "shop"
    # Whoever played with the examples left data and a journal in them.
    ignored = shutil.ignore_patterns(".reconciler")
    shutil.copytree(ROOT / "examples", shop, ignore=ignored)
    _go_back(shop)
    _run("apply", str(shop), "--yes")
    shutil.copytree(ROOT / "examples", shop, ignore=ignored, dirs_exist_ok=True)
    return {form: same_always(_run("plan", str(shop), "--format", form)) for form in SUFFIXES}


def same_always(report: str) -> str:
    """Put in a report what differs from run to run: the digest, and when and by whom it was made.

    The digest covers ids that the emulator makes up.
    """
    return MADE.sub(ONE_MADE, DIGEST.sub(ONE_DIGEST, report))


def without_inline(page: str) -> str:
    """Leave out a page's style and script, and their hashes: they are the same on every page."""
    return HASH.sub("sha256-…", INLINE.sub(r"<\1>…</\1>", page))


def _go_back(shop: Path) -> None:
    """Make the examples what they were before the change."""
    for name, place in FILES.items():
        shutil.copy(BEFORE / name, shop / place)
    for place, replacements in TEXTS.items():
        text = (shop / place).read_text(encoding="utf-8")
        for now, before in replacements:
            assert now in text, (place, now)
            text = text.replace(now, before, 1)
        (shop / place).write_text(text, encoding="utf-8")


def _run(*arguments: str) -> str:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    assert code == 0, (arguments, code, err.getvalue())
    return out.getvalue()
