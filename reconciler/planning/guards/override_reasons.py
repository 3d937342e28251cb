"""Guards that an apply overrides: by their codes, or by one reason for all of them. Pure.

Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from reconciler.errors import UsageError
from reconciler.model.guard_levels import GUARDS
from reconciler.model.own_rules import OWN_RULE
from reconciler.syntax.suggestions import nearest


@dataclass(frozen=True, slots=True)
class OverrideReasons:
    """The reasons for single codes; `reason` is for all guards, None where there is none."""

    codes: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None

    def check_rules(self, known: Collection[str]) -> None:
        """Raise UsageError for the code of a rule that the project does not have."""
        for code in self.codes:
            if code.startswith(OWN_RULE) and code not in known:
                raise UsageError(_unknown(code, known))


NOTHING_OVERRIDDEN = OverrideReasons()


def read_overridden(texts: Iterable[str]) -> OverrideReasons:
    """Read `CODE=REASON` and `REASON`; several reasons for the same are joined.

    The text before the first `=` is a code if it has no blank inside. Raises UsageError where no
    reason is given, and for an unknown code. Codes of rules are checked by `check_rules`.
    """
    codes: dict[str, list[str]] = {}
    reasons: list[str] = []
    for text in texts:
        code, equals, reason = (part.strip() for part in text.partition("="))
        # A code alone, also a misspelt one, is no reason for all guards.
        is_word = not code.split()[1:]
        if equals and {*code.split()} <= {*GUARDS} and not is_word:
            raise UsageError("--override-guard takes one code: repeat it for another")
        is_code = is_word and (bool(equals) or code.startswith(OWN_RULE) or _is_near(code))
        if is_code and code not in GUARDS and not code.startswith(OWN_RULE):
            raise UsageError(_unknown(code, GUARDS))
        given = (reason if is_code else text).strip()
        if not given:
            raise UsageError("--override-guard needs a reason, which is kept in the journal")
        (codes.setdefault(code, []) if is_code else reasons).append(given)
    return OverrideReasons(
        {code: "; ".join(given) for code, given in codes.items()},
        "; ".join(reasons) if reasons else None,
    )


def _is_near(word: str) -> bool:
    return bool(nearest(word.lower(), GUARDS))


def _unknown(code: str, known: Iterable[str]) -> str:
    near = nearest(code, known)
    hint = f": did you mean `{near}`?" if near else f" (known: {', '.join(known) or 'none'})"
    return f"--override-guard: there is no guard `{code}`{hint}"
