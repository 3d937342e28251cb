"""How reports show the sections of a plan, without knowing the features. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from reconciler.model import Change, Plan, PlanSection, Ref
from reconciler.report.table import Style


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning. `words` are ours; `refs`, `said` and `names` are foreign text, not yet safe.

    `said` follows the name in `refs`, if there is one. `title` names the problem in a word or
    two, `ways` are its remedies. Reports group notices by `title`. `code` is the code of a guard.
    """

    title: str
    words: str = ""
    refs: tuple[Ref, ...] = ()
    said: str = ""
    names: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    code: str = ""


Section = TypeVar("Section", bound=PlanSection)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFormats(Generic[Section]):
    """The formats of one class of sections; what is left out shows nothing.

    `members` and `change_members` are of the JSON of a plan and of a change. `lines` and
    `change_lines` are for a terminal. In a comment, `changes_markdown` and `markdown` come next to
    the table, `owners_markdown` is a list of the owners of changes, and `end_markdown` comes last,
    within a number of bytes. `html` and `change_html` are markup. `notices` are what a reviewer
    must not miss. `stale` is what may be another than reviewed where only the digest shows it.
    """

    members: Callable[[Section], Mapping[str, Any]] = lambda *_: {}
    change_members: Callable[[Section, Change], Mapping[str, Any]] = lambda *_: {}
    lines: Callable[[Section, Style], Iterable[str]] = lambda *_: ()
    change_lines: Callable[[Section, Change, Style], Iterable[str]] = lambda *_: ()
    markdown: Callable[[Section], Iterable[str]] = lambda *_: ()
    changes_markdown: Callable[[Section, Sequence[Change]], Iterable[str]] = lambda *_: ()
    owners_markdown: Callable[[Section, Sequence[Change]], Iterable[str]] = lambda *_: ()
    end_markdown: Callable[[Section, int], str] = lambda *_: ""
    html: Callable[[Section], str] = lambda *_: ""
    change_html: Callable[[Section, Change], str] = lambda *_: ""
    notices: Callable[[Section], Iterable[Notice]] = lambda *_: ()
    stale: str = ""


def shown_sections(plan: Plan) -> Iterator[tuple[PlanSection, SectionFormats[Any]]]:
    """Yield each section of a plan with its formats."""
    for section in plan.sections:
        yield section, _formats_of(section.formats)


@cache
def _formats_of(name: str) -> SectionFormats[Any]:
    module, _, attribute = name.partition(":")
    return cast("SectionFormats[Any]", getattr(import_module(module), attribute))
