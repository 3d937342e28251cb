"""The severity of each kind of complaint: `checks:` in the project file.

Source: docs/practice.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from reconciler.model.guards import OWN_RULE
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import AUDITED, CODES, Finding
from reconciler.syntax.suggestions import nearest

PRACTICE = "L"
"""The prefix of the codes of checks of practice and of queries."""
QUERIES: Final = "L9"
"""The beginning of codes about queries: checks of practice that the core itself makes."""

AUDIT = "A"
"""The prefix of the codes of `audit`."""

WARNED_OF = frozenset(
    (
        "M113",
        "M114",
        "M117",
        "M209",
        "M211",
        "M213",
        "M214",
        "M302",
        "M304",
        "M306",
        "M307",
        "M310",
        "M312",
        "M313",
        "M314",
        "M504",
    )
)
"""Codes with some complaints that are warnings. Their other complaints stay errors."""

ABOUT_SECRETS = frozenset(("M313",))
"""Codes that cannot be off for a whole project, but can be ignored place by place."""


OFF_BY_DEFAULT: Final = Rows[Callable[[], frozenset[str]]]("codes-off-by-default")
"""The codes that are off unless `checks:` names them; the key is their first letter."""


def has_a_level(code: str, rules: Collection[str] = ()) -> bool:
    """Return whether complaints of a code may be ignored or exempted; `rules` are names."""
    if code.startswith(OWN_RULE):
        return code.removeprefix(OWN_RULE) in rules
    return code in WARNED_OF or code in AUDITED or (code.startswith(PRACTICE) and code in CODES)


def why_no_level(code: str, rules: Collection[str] = ()) -> tuple[str, str]:
    """Return why a code has no level, and the code that was likely meant."""
    if code in CODES:
        reason = (
            f"`{code}` ({CODES[code]}) is an error wherever it is found, as nothing good follows"
        )
        return f"{reason} from going on: fix what it reports", ""
    if code.startswith(OWN_RULE):
        listed = sorted(f"{OWN_RULE}{name}" for name in rules)
        return f"there is no rule `{code}` (known: {', '.join(listed) or 'none'})", nearest(
            code, listed
        )
    reason = f"there is no code `{code}`: docs/errors.md lists those of complaints"
    return f"{reason}, and rules of your own are called {OWN_RULE}NAME", _meant(code)


def _meant(code: str) -> str:
    """Return the code that was likely meant: a letter for a digit, or two digits swapped.

    Any other typing error could mean several codes equally well.
    """
    figures = with_figures(code)
    known = [*filter(has_a_level, (*CODES, *AUDITED))]
    near = (text for text in known if sorted(text) == sorted(figures))
    return figures if figures in known else next(near, "")


def with_figures(code: str) -> str:
    """Return a code in capitals, with digits for the letters that look like them."""
    return code[:1].upper() + code[1:].upper().translate(str.maketrans("OIZSB", "01258"))


Level: TypeAlias = Literal["error", "warning", "off"]

Checks: TypeAlias = Annotated[
    dict[str, Level],
    Field(
        description="How severe built-in complaints are, by their codes, as L201: error, warning "
        "or off. Of codes that bear errors too, only the warnings are meant."
    ),
]


def level_findings(checks: Mapping[str, Level], rules: Collection[str] = ()) -> Iterator[Finding]:
    """Yield findings on `checks:` of a project file; `rules` are names."""
    for code, level in checks.items():
        path = ("checks", code)
        if not has_a_level(code, rules):
            message, near = why_no_level(code, rules)
            yield Finding("P101", path, message, suggestion=near, at_key=True)
        elif level == "off" and code in ABOUT_SECRETS:
            message = (
                f"`{code}` cannot be off: a key in git is a key that is known. Ignore a text that "
                f"is no key at its place: # reconciler: ignore[{code}] REASON"
            )
            yield Finding("P101", path, message)


def is_off_by_default(code: str) -> bool:
    """Return whether the check of a code is made only if `checks:` names the code."""
    letter = code[:1]
    return letter in OFF_BY_DEFAULT and code in OFF_BY_DEFAULT.load(letter)()


def is_on(code: str, checks: Mapping[str, Level], *, only_asked: bool = False) -> bool:
    """Return whether a check is made; an `only_asked` check is off unless it has a level."""
    return checks.get(code, "off" if only_asked else "warning") != "off"
