"""Look-up of a typed text: a field, a code, or candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reconciler.features.explain.field_reference import MANIFESTS, PROJECT, Field, all_fields, roots
from reconciler.project.levels import with_figures
from reconciler.report.explanations.pages import Explanation, codes, explanation, spelled
from reconciler.syntax.suggestions import nearest

_FILE = "reconciler.yaml"


@dataclass(frozen=True, slots=True)
class Several:
    """A short path that ends several fields."""

    typed: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A text without a match; `near` is the nearest name, "" where none is near."""

    typed: str
    near: str


Subject: TypeAlias = Field | Explanation | Several | Nothing


def look_up(typed: str) -> Subject:
    """Return what a text names: a code, a value, the path of a field, or the end of a path.

    Case is ignored, and lists need no index. An exact match takes precedence over a prefix.
    """
    explained = explanation(spelled().get(typed.casefold(), ""))
    if explained is not None:
        return explained
    steps = _steps(typed)
    # The name of a kind is also a value of `kind`.
    exactly = tuple(_matching(steps, _is_present))
    valued = tuple(field for field in all_fields() if typed.upper() in field.values)
    if valued and not exactly:
        return valued[0] if len(valued) == 1 else _general(valued) or Several(typed, valued)
    for rule in (_is_present, _ends_so, _begins_so):
        found = tuple(_matching(steps, rule))
        if found:
            return found[0] if len(found) == 1 else _general(found) or Several(typed, found)
    return Nothing(typed, _near(typed, steps))


def _general(found: Sequence[Field]) -> Field | None:
    """Return the field of all manifests where kinds have it at one path; None where they do not."""
    alike = {field.path for field in found}
    return next((field for field in found if field.root == MANIFESTS and len(alike) == 1), None)


def addresses() -> Iterator[str]:
    """Yield the name of everything that can be explained."""
    yield from codes()
    for field in all_fields():
        yield field.address


def _steps(typed: str) -> list[str]:
    """Return the steps of a path, without `spec` and indices."""
    if typed == _FILE or typed.startswith((f"{_FILE}.", f"{_FILE}:")):
        typed = PROJECT + typed.removeprefix(_FILE).replace(":", ".", 1)
    bare = typed.replace("[", ".").replace("]", "")
    steps = [step for step in bare.casefold().split(".") if step and step not in {"*", "spec"}]
    return [step for step in steps if not step.isdecimal()] or [typed.casefold()]


MatchRule: TypeAlias = Callable[[Sequence[str], Sequence[str]], bool]


def _matching(steps: Sequence[str], rule: MatchRule) -> Iterator[Field]:
    for field in all_fields():
        if rule(steps, [step.casefold() for step in (field.root, *field.path)]):
            yield field


def _is_present(steps: Sequence[str], own: Sequence[str]) -> bool:
    return list(steps) == list(own)


def _ends_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether a path ends in the last typed step and contains the others in order."""
    return steps[-1] == own[-1] and _leads(steps, own)


def _begins_so(steps: Sequence[str], own: Sequence[str]) -> bool:
    return own[-1].startswith(steps[-1]) and _leads(steps[:-1], own[:-1])


def _leads(steps: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether a path contains the steps in order; a kind must be its root."""
    if steps and steps[0] in _ROOTS and steps[0] != own[0]:
        return False
    rest = iter(own)
    return all(step in rest for step in steps)


_ROOTS = frozenset(name.casefold() for name in roots())


def _near(typed: str, steps: Sequence[str]) -> str:
    """Return the nearest code or path, with each step of the path matched alone."""
    code = spelled().get(with_figures(typed).casefold()) or nearest(typed, codes())
    if code:
        return code
    values = {value for field in all_fields() for value in field.values}
    value = nearest(typed, values) if "_" in typed else ""
    if value:
        return value
    known = {step.casefold(): step for field in all_fields() for step in (field.root, *field.path)}
    meant = [step if step in known else nearest(step, known) for step in steps]
    if not all(meant) or list(meant) == list(steps):
        return ""
    for rule in (_is_present, _ends_so, _begins_so):
        found = next(_matching(meant, rule), None)
        if found is not None:
            exact = rule is _is_present
            return found.address if exact else ".".join(known.get(text, text) for text in meant)
    return ""
