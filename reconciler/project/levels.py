"""How severe each kind of complaint is: `checks:` in the project file. Source: docs/practice.md."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from reconciler.suggestions import nearest
from reconciler.syntax.diagnostic import AUDITED, CODES, Finding

RULE = "R/"
"""What the code of a rule of one's own begins with."""

PRACTICE = "L"
"""What the codes of checks of practice and of queries begin with."""

AUDIT = "A"
"""What the codes of `audit` begin with."""

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
"""The codes that some complaints bear as a warning; as an error each of them stays one."""

ABOUT_SECRETS = frozenset(("M313",))
"""What is looked at one by one, and never for a whole project."""


def codes_with_levels() -> Iterator[str]:
    """Yield the built-in codes of which complaints can be warnings."""
    yield from (code for code in CODES if code in WARNED_OF or code.startswith(PRACTICE))
    yield from AUDITED


def has_a_level(code: str, rules: Collection[str] = ()) -> bool:
    """Tell a code whose complaints may be ignored or exempted; `rules` are names."""
    if code.startswith(RULE):
        return code.removeprefix(RULE) in rules
    return code in WARNED_OF or code in AUDITED or (code.startswith(PRACTICE) and code in CODES)


def why_no_level(code: str, rules: Collection[str] = ()) -> tuple[str, str]:
    """Say what is wrong with a code that has no level, and which one was likely meant."""
    if code in CODES:
        said = f"`{code}` ({CODES[code]}) is an error wherever it is told, as nothing good follows"
        return f"{said} from going on: mend what it tells", ""
    if code.startswith(RULE):
        listed = sorted(f"{RULE}{name}" for name in rules)
        return f"there is no rule `{code}` (known: {', '.join(listed) or 'none'})", nearest(
            code, listed
        )
    said = f"there is no code `{code}`: docs/errors.md lists those of complaints"
    return f"{said}, and rules of your own are called {RULE}NAME", _meant(code)


def _meant(code: str) -> str:
    """Give the code that was likely meant: a letter for a figure, or two figures in turn.

    Any other slip leads to a code that is as good as the next one.
    """
    figures = with_figures(code)
    known = [*codes_with_levels()]
    near = (text for text in known if sorted(text) == sorted(figures))
    return figures if figures in known else next(near, "")


def with_figures(code: str) -> str:
    """Give a code in capitals, with figures where letters that look like them were typed."""
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
    """Yield what is wrong with `checks:` of a project file; `rules` are names."""
    for code, level in checks.items():
        path = ("checks", code)
        if not has_a_level(code, rules):
            said, near = why_no_level(code, rules)
            yield Finding("P101", path, said, suggestion=near, at_key=True)
        elif level == "off" and code in ABOUT_SECRETS:
            said = (
                f"`{code}` cannot be off: a key in git is a key that is known. Ignore a text that "
                f"is none where it stands: # reconciler: ignore[{code}] REASON"
            )
            yield Finding("P101", path, said)


def is_on(code: str, checks: Mapping[str, Level], *, only_asked: bool = False) -> bool:
    """Tell whether a check is made; `only_asked` is one that has to be asked for."""
    return checks.get(code, "off" if only_asked else "warning") != "off"
