"""Terms of `--select` and `--exclude`: reading them, and matching them with manifests.

Resources joined by references, in either direction, are in one shard. The digest of the smallest
name decides the shard of a group, so that changes outside a group do not move it. Pure. Source:
docs/plan.md, docs/ci.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TypeVar

from reconciler.errors import UsageError
from reconciler.model import Manifest, Ref, Selected
from reconciler.project import Shard, read_shard
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import matches
from reconciler.syntax.suggestions import nearest

LABEL = "label."
SHARD = "shard:"
FORMS = "Kind/name, kind=KIND, label.KEY=VALUE, file=GLOB or shard:K/N"

_GLOB = re.compile(r"[*?\[]")
Node = TypeVar("Node")


class About(Enum):
    """The subject of a term; the value is the word before its `=` or `:`."""

    REF = ""
    KIND = "kind"
    LABEL = "label"
    FILE = "file"
    SHARD = "shard"


@dataclass(frozen=True, slots=True)
class Term:
    """One term: a glob and its subject; `key` is the key of a label.

    `elsewhere` are the resources of other shards. A resource in no shard, because it cannot be
    read, may belong to any shard.
    """

    about: About
    glob: str
    key: str = ""
    elsewhere: frozenset[Ref] = field(default=frozenset(), repr=False)

    def holds(self, ref: Ref, file: str, labels: Mapping[str, str]) -> bool:
        """Return whether a manifest matches."""
        match self.about:
            case About.REF:
                kind, _, name = self.glob.partition("/")
                return fnmatchcase(ref.kind, kind) and fnmatchcase(ref.name, name)
            case About.KIND:
                return fnmatchcase(ref.kind, self.glob)
            case About.LABEL:
                return self.key in labels and fnmatchcase(labels[self.key], self.glob)
            case About.FILE:
                return matches(file, self.glob)
            case About.SHARD:
                return ref not in self.elsewhere

    def at_homes(self, homes: Mapping[Ref, int]) -> Term:
        """Return the term with the resources of other shards, by the numbers from `homes_of`."""
        if self.about is not About.SHARD:
            return self
        shard = read_shard(self.glob)
        away = (ref for ref, home in homes.items() if home % shard.count != shard.number - 1)
        return replace(self, elsewhere=frozenset(away))

    @property
    def named(self) -> Ref | None:
        """Return the one resource that is named, or None if several may match."""
        if self.about is not About.REF or _GLOB.search(self.glob):
            return None
        return Ref.parse(self.glob)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Terms that must all match, and their written form."""

    terms: tuple[Term, ...]
    written: str

    def holds(self, ref: Ref, file: str, labels: Mapping[str, str]) -> bool:
        """Return whether a manifest matches."""
        return all(term.holds(ref, file, labels) for term in self.terms)

    def may_hold_in(self, file: str) -> bool:
        """Return whether a resource in a file could match, whatever the file declares."""
        return all(matches(file, term.glob) for term in self.terms if term.about is About.FILE)

    def holds_in_all_of(self, file: str) -> bool:
        """Return whether all resources in a file match, whatever the file declares."""
        return all(term.about is About.FILE and matches(file, term.glob) for term in self.terms)


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection: matches of any `select`, or all without any, except matches of `exclude`.

    `within` has the names of the files that the run is about, None if it is about all.
    """

    select: tuple[Alternative, ...] = ()
    exclude: tuple[Alternative, ...] = ()
    within: frozenset[str] | None = None

    def __bool__(self) -> bool:
        """Return whether this is less than the whole workspace."""
        return bool(self.select or self.exclude or self.within is not None)

    @property
    def shard(self) -> Shard | None:
        """Return the shard that contains the selection, or None if no shard is named."""
        shards = (term.glob for term in _terms_of(self.select) if term.about is About.SHARD)
        return next(map(read_shard, shards), None)

    @property
    def is_shard(self) -> bool:
        """Return whether this is a whole shard: its journal has nothing from outside."""
        alone = not self.exclude and all(len(alternative.terms) == 1 for alternative in self.select)
        return alone and self.shard is not None

    def at_homes(self, homes: Mapping[Ref, int]) -> Selection:
        """Return the selection with the resources of other shards, by numbers from `homes_of`."""
        return replace(
            self,
            select=tuple(
                replace(
                    alternative, terms=tuple(term.at_homes(homes) for term in alternative.terms)
                )
                for alternative in self.select
            ),
        )

    def takes(self, ref: Ref, file: str, labels: Mapping[str, str]) -> bool:
        """Return whether a manifest is selected; `file` is relative to the project."""

        def holds(alternative: Alternative) -> bool:
            return alternative.holds(ref, file, labels)

        return self.is_about(file) and self._decides(holds, holds)

    def is_about(self, file: str) -> bool:
        """Return whether a file is one of those that the run is about."""
        return self.within is None or file in self.within

    def may_take_from(self, file: str) -> bool:
        """Return whether a file that cannot be read may have selected resources."""
        return self.is_about(file) and self._decides(
            lambda alternative: alternative.may_hold_in(file),
            lambda alternative: alternative.holds_in_all_of(file),
        )

    def takes_whole(self, file: str) -> bool:
        """Return whether a file is selected whatever it declares, even if that is nothing."""

        def holds(alternative: Alternative) -> bool:
            return alternative.holds_in_all_of(file)

        return self._decides(holds, holds)

    def _decides(
        self, wanted: Callable[[Alternative], bool], unwanted: Callable[[Alternative], bool]
    ) -> bool:
        chosen = not self.select or any(map(wanted, self.select))
        return chosen and not any(map(unwanted, self.exclude))

    def check_named(self, known: Iterable[Ref]) -> None:
        """Raise UsageError if a resource is selected by name and no manifest declares it."""
        by_name = {str(ref): ref for ref in known}
        for ref in (term.named for term in _terms_of(self.select)):
            if ref is not None and ref not in by_name.values():
                near = nearest(str(ref), by_name)
                hint = f"; did you mean {near}?" if near else ""
                raise UsageError(f"--select {ref}: no manifest declares it{hint}")

    def flags(self) -> list[str]:
        """Return the command-line arguments for the same selection."""
        given = (("--select", self.select), ("--exclude", self.exclude))
        return [
            word
            for flag, alternatives in given
            for term in _written(alternatives)
            for word in (flag, term)
        ]

    def leaving_out(self, count: int) -> Selected | None:
        """Return the selection and the number left out, or None for the whole workspace."""
        if not self:
            return None
        return Selected(_written(self.select), _written(self.exclude), count)


EVERYTHING = Selection()


BETWEEN = frozenset(("M401", "M402", "M403", "M405"))
"""Findings about two manifests: they name only one, and the other may be the selected one."""


@dataclass(slots=True)
class SelectedNames:
    """Names of selected resources, and of resources left out, from reading a workspace.

    `files` and `left_files` are the exports that they name. `targets` are the resources that the
    selected ones refer to.
    """

    refs: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    left_files: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)

    def is_about(self, complaint: Complaint, selection: Selection) -> bool:
        """Return whether a complaint is, or may be, about the selection."""
        is_between = complaint.code in BETWEEN and (
            selection.within is None or complaint.ref in self.targets
        )
        if is_between or complaint.ref in self.refs:
            return True
        if complaint.is_error and selection.shard is not None:
            # A broken manifest may refer to anything, so its group is not known.
            return True
        if complaint.ref:
            return complaint.ref not in self.left
        if complaint.file in self.files:
            return True
        return complaint.file not in self.left_files and selection.may_take_from(complaint.file)


def _written(alternatives: Sequence[Alternative]) -> tuple[str, ...]:
    return tuple(sorted({alternative.written for alternative in alternatives}))


def _terms_of(alternatives: Sequence[Alternative]) -> Iterator[Term]:
    return (term for alternative in alternatives for term in alternative.terms)


def read_selection(
    select: Sequence[str], exclude: Sequence[str], kinds: Collection[str]
) -> Selection:
    """Read the values of `--select` and `--exclude`; `kinds` are the names of all kinds.

    Raises UsageError with the term, and a suggestion where there is one.
    """
    given = (("--select", select), ("--exclude", exclude))
    chosen, left = (
        tuple(_alternative(flag, text, kinds) for text in texts) for flag, texts in given
    )
    selection = Selection(chosen, left)
    _check_shards(selection)
    return selection


def _check_shards(selection: Selection) -> None:
    """Raise UsageError if the selection is not within one shard."""
    if any(term.about is About.SHARD for term in _terms_of(selection.exclude)):
        raise UsageError("--exclude takes no shard: select the one that is meant, with --select")
    shards = [
        {term.glob for term in alternative.terms if term.about is About.SHARD}
        for alternative in selection.select
    ]
    if any(shards) and (len(set().union(*shards)) > 1 or not all(shards)):
        raise UsageError(
            "a run is about one shard: name the same `shard:K/N` in each --select, joined by commas"
        )


def _alternative(flag: str, written: str, kinds: Collection[str]) -> Alternative:
    parts = [part.strip() for part in written.split(",")]
    return Alternative(tuple(_term(flag, part, kinds) for part in parts), ",".join(sorted(parts)))


def _term(flag: str, text: str, kinds: Collection[str]) -> Term:
    if text.startswith(SHARD):
        return Term(About.SHARD, str(read_shard(text.removeprefix(SHARD))))
    name, equals, value = text.partition("=")
    if not equals or name.find("/") != -1:
        return _ref_term(flag, text, kinds)
    if name.startswith(LABEL) and name != LABEL and value:
        return Term(About.LABEL, value, name.removeprefix(LABEL))
    about = {About.KIND.value: About.KIND, About.FILE.value: About.FILE}.get(name)
    if about is None or not value:
        raise UsageError(f"{flag} `{text}`: {_no_term(name, value)}")
    if about is About.KIND:
        _check_kind(flag, text, value, "kind={}", kinds)
    return Term(about, value)


def _ref_term(flag: str, text: str, kinds: Collection[str]) -> Term:
    kind, slash, name = text.partition("/")
    if slash and kind and name:
        _check_kind(flag, text, kind, f"{{}}/{name.replace('{', '{{').replace('}', '}}')}", kinds)
        return Term(About.REF, text)
    near = nearest(text, kinds) if text else ""
    meant = f"; did you mean kind={near}?" if near else ""
    if not near and text and not slash and not any(brace in text for brace in "{}"):
        meant = f"; did you mean */{text}?"
    message = "this is no term" if text else "there is no term between the commas"
    raise UsageError(f"{flag} `{text}`: {message}: a term is {FORMS}{meant}")


def _no_term(name: str, value: str) -> str:
    if not value and name in ("kind", "file"):
        return f"nothing follows the `=`: a term is {FORMS}"
    words = {"kind": "kind=", "file": "file=", "shard": SHARD, "label": LABEL, "labels": LABEL}
    stem, dot, key = name.partition(".")
    meant = words.get(nearest(stem, words), "")
    if meant == LABEL:
        meant = f"{LABEL}{key or 'KEY'}="
    hint = f"; did you mean {meant}{value or 'VALUE'}?" if meant else ""
    message = f"there is no term `{name}=`" if value or not dot else "nothing follows the `=`"
    return f"{message}: a term is {FORMS}{hint}"


def _check_kind(flag: str, text: str, glob: str, form: str, kinds: Collection[str]) -> None:
    if any(fnmatchcase(kind, glob) for kind in kinds):
        return
    near = nearest(glob, kinds)
    hint = f"; did you mean {form.format(near)}?" if near else ""
    raise UsageError(f"{flag} `{text}`: there is no kind {glob}{hint} ({', '.join(sorted(kinds))})")


def homes_of(manifests: Iterable[Manifest]) -> dict[Ref, int]:
    """Return the number that decides the shard of each resource; a group shares one number."""
    joined: dict[Ref, set[Ref]] = defaultdict(set)
    for manifest in manifests:
        joined[manifest.ref] |= manifest.references
        for other in manifest.references:
            joined[other].add(manifest.ref)
    homes: dict[Ref, int] = {}
    for ref in joined:
        if ref not in homes:
            group = reachable([ref], joined.__getitem__)
            smallest = min(map(str, group))
            homes |= dict.fromkeys(group, int.from_bytes(sha256(smallest.encode()).digest()))
    return homes


def reachable(starts: Iterable[Node], neighbours: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return the starts, their neighbours, and all neighbours of these."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        new = set(neighbours(waiting.pop())) - found
        found |= new
        waiting.extend(new)
    return found
