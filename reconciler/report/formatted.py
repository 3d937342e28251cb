"""How much `fmt` changed, in words."""

from __future__ import annotations

from reconciler.report.words import plural


def format_summary(changed: int, files: int, *, is_done: bool) -> str:
    """Say how many of the files that were looked at changed, or would."""
    said = "formatted" if is_done else "would format"
    rest = files - changed
    left = (
        f"{plural(rest, 'file')} left as it is" if rest == 1 else f"{rest:,} files left as they are"
    )
    if not changed:
        return left
    return f"{said} {plural(changed, 'file')}, {left}"
