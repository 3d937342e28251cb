"""Summary of `fmt` in words."""

from __future__ import annotations

from reconciler.report.words import plural


def format_summary(changed: int, files: int, left_out: int = 0, *, is_done: bool) -> str:
    """Return the numbers of files that changed (or would), did not change, and were left out."""
    verb = "formatted" if is_done else "would format"
    rest = files - changed
    left = (
        f"{plural(rest, 'file')} left as it is" if rest == 1 else f"{rest:,} files left as they are"
    )
    if left_out:
        left += f"; {plural(left_out, 'file')} without a selected manifest"
    if not changed:
        return left
    return f"{verb} {plural(changed, 'file')}, {left}"
