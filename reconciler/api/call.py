"""One request as it will be sent, and the rules that hold for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reconciler.api.rules import RULES, Phase, Request, Verdict
from reconciler.document import Json

Method = Literal["GET", "POST", "PUT"]
Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked, where, and how often it may happen. `path` is below `{api_root}`."""

    request: Request
    method: Method
    url: str
    path: str
    params: Parameters = ()
    body: Json = None

    def __str__(self) -> str:
        return f"{self.method} {self.url}"

    def after(self, phase: Phase) -> Verdict:
        """Say what follows an attempt that came this far."""
        return RULES[self.request][phase]

    @property
    def may_be_repeated(self) -> bool:
        """Whether it is sent again though it may have happened."""
        return self.after(Phase.LOST) is Verdict.RETRY
