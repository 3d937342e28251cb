"""Options of an apply in an environment that is frozen."""

from __future__ import annotations

from typing import Final

from reconciler.operations.added_options import AddedOption

BROKEN_GLASS: Final = AddedOption(
    help="Apply in an emergency though it is frozen; it lifts nothing else.",
    in_job="With apply: the input break-glass, to apply in an emergency though it is frozen.",
    excludes=("wait-freeze",),
)
FREEZE_WAIT: Final = AddedOption(
    help="How long to wait for the end of a freeze, as 30m or 2h; else not at all.",
    in_job="With apply: the input wait-freeze, to wait for the end of a freeze, as 30m or 2h.",
)
