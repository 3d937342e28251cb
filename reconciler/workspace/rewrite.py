"""Edits of documents as edits of their text: only changes are written, in the style around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from reconciler.document import (
    Edit,
    Gone,
    Json,
    ListItem,
    ListItems,
    Path,
    Put,
    Within,
    followed,
    towards,
    value_at,
)
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.workspace.layout import (
    FileLayout,
)
from reconciler.workspace.list_edits import ListSplicing, staying
from reconciler.workspace.splice import spliced
from reconciler.workspace.text_edits import Splice

CUT: Final = Gone()


@dataclass(frozen=True, slots=True, order=True)
class Fork:
    """An alias that was replaced by its text, as the part that it repeats has another value now."""

    line: int
    anchor: str


@dataclass(slots=True)
class Rewriting(ListSplicing):
    """Writer of the edits of one document of a text.

    With `by_itself`, moved nodes share no anchor with nodes that stay, as an anchor may end up
    after its alias.
    """

    forks: list[Fork] = field(default_factory=list)
    aliases: dict[int, list[tuple[SyntaxNode, Path]]] = field(default_factory=dict)
    edits: dict[int, Edit] = field(default_factory=dict)
    movers: set[int] = field(default_factory=set)
    by_itself: bool = False

    def follow(self, edit: Edit) -> None:
        """Record the splices and forks for an edit of the whole document."""
        edit = _refined(edit, self.value, self.value, ())
        self._survey(self.root, ())
        self._mark(self.root, edit, ())
        self.chunks = [self._extent(self._at(origin)) for origin in self.arrived]
        self._fork()
        self.go_on(self.root, edit, ())

    def _survey(self, node: SyntaxNode, path: Path) -> None:
        """Record the parent of each node, and the aliases that repeat it."""
        for nth, value in enumerate(node.values):
            self.parents[id(value)] = node, nth
            here = (*path, node.keys[nth].text if node.keys else nth)
            if value.means is not None:
                self.aliases.setdefault(id(value.means), []).append((value, here))
            else:
                self._survey(value, here)

    def _mark(self, node: SyntaxNode, edit: Edit, path: Path) -> None:
        """Record the edits of aliases and of the nodes that they repeat, by node."""
        self.edits[id(node)] = edit
        if node.means is not None:
            return
        match edit:
            case Put() | Gone():
                self.edits.update((id(inner), CUT) for inner in _inside(node))
            case Within(fields=fields):
                named = zip([key.text for key in node.keys], node.values, strict=True)
                for name, value in [pair for pair in named if pair[0] in fields]:
                    self._mark(value, fields[name], (*path, name))
            case ListItems(items=items):
                self._mark_items(node, items, path)
            case _:
                assert_never(edit)

    def _mark_items(self, node: SyntaxNode, items: Sequence[ListItem], path: Path) -> None:
        kept = {item.origin for item in items}
        stays = staying(items, path)
        for item in items:
            if item.origin is None:
                continue
            if item.origin[:-1] != path:
                self.arrived.add(item.origin)
            if item.origin[:-1] != path or item.origin[-1] not in stays:
                self.movers.add(id(self._at(item.origin)))
            if item.edit is not None:
                self._mark(self._at(item.origin), item.edit, item.origin)
        for nth, value in enumerate(node.values):
            if (*path, nth) not in kept | self.arrived:
                self._mark(value, CUT, (*path, nth))

    def _fork(self) -> None:
        """Write out each alias that has to differ from the node that it repeats."""
        for uses in self.aliases.values():
            target = uses[0][0].itself
            own = self.edits.get(id(target))
            left = [use for use in uses if self.edits.get(id(use[0])) != CUT]
            parted = {id(row[0]) for row in left if self._parted(row[0], target)}
            apart = [
                row for row in left if self.edits.get(id(row[0])) != own or id(row[0]) in parted
            ]
            staying = len(apart) < len(left) or parted
            together = len({repr(self.edits.get(id(row[0]))) for row in apart}) == 1
            worthwhile = len(apart) > 1 or own is not None
            if worthwhile and apart and together and not staying:
                self._write_out(*apart[0], anchor=f"&{target.anchor} ")
                if own != CUT:
                    self.splices.append(self._without_anchor(target))
                continue
            for row in apart:
                self._write_out(*row)

    def _parted(self, alias: SyntaxNode, target: SyntaxNode) -> bool:
        return self.by_itself and self._mover(alias) != self._mover(target)

    def _mover(self, node: SyntaxNode) -> int:
        """Return the id of the moving item around a node, or 0 if none moves."""
        while id(node) in self.parents:
            if id(node) in self.movers:
                return id(node)
            node = self.parents[id(node)][0]
        return 0

    def _without_anchor(self, target: SyntaxNode) -> Splice:
        end = self._anchor_end(target)
        if end == self.where.line_end(end) and target.start > end:
            return Splice(target.opening - 1, end, "")
        after = end + len(self.where.text[end : target.start].split("\n")[0])
        return Splice(target.opening, after, "")

    def _write_out(self, alias: SyntaxNode, path: Path, anchor: str = "") -> None:
        before = value_at(self.value, path)
        edit = self.edits.get(id(alias))
        after = before if edit is None else followed(before, edit, self.value)  # type: ignore[arg-type]  # an alias always has a value
        line = self.where.text.count("\n", 0, alias.start) + 1
        self.forks.append(Fork(line, alias.itself.anchor))
        self._replace(alias, after, alias.itself, anchor)  # type: ignore[arg-type]  # as above

    def go_on(self, node: SyntaxNode, edit: Edit, path: Path) -> None:
        """Record the splices of one part, and of the parts inside it."""
        if node.means is not None:
            return
        match edit:
            case Put(value=value):
                self._replace(node, value, node)
            case Within(fields=fields):
                self._within(node, fields, path)
            case ListItems(items=items) if node.is_flow:
                self._flow_items(node, items, path)
            case ListItems(items=items):
                self._block_items(node, items, path)
            case Gone():
                raise KeyError(*path)
            case _:
                assert_never(edit)


def _inside(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield all nodes inside a node; aliases are not followed."""
    for value in node.values:
        yield value
        if value.means is None:
            yield from _inside(value)


def _refined(edit: Edit, document: Json, whole: Json, path: Path) -> Edit:
    """Return an edit that replaces only the different parts of a container."""
    match edit:
        case Put(value=value):
            return towards(document, value, path) or Put(value)
        case Within(fields=fields) if isinstance(document, dict):
            return Within(
                {
                    key: _refined(edit, document[key], whole, (*path, key))
                    if key in document
                    else edit
                    for key, edit in fields.items()
                }
            )
        case ListItems(items=items):
            return ListItems(tuple(_refined_item(list_item, whole) for list_item in items))
        case _:
            return edit


def _refined_item(item: ListItem, whole: Json) -> ListItem:
    if item.origin is None or item.edit is None:
        return item
    document = value_at(whole, item.origin)
    edit = _refined(item.edit, document, whole, item.origin)  # type: ignore[arg-type]  # it is there
    return ListItem(item.origin, edit)


def rewritten(
    text: str,
    changes: Mapping[int, Edit],
    values: Sequence[Json],
    where: WrittenText,
    *,
    is_json: bool,
    by_itself: bool = False,
) -> tuple[str, list[Fork]]:
    """Return a text with its edited documents, and the aliases that were written out for it.

    The keys of `changes` are document numbers from 0; `values` are all documents as read. Raises
    KeyError, IndexError or StopIteration if an edit does not fit.
    """
    layout = FileLayout.of(where, is_json=is_json)
    splices: list[Splice] = []
    forks: list[Fork] = []
    for nth, edit in changes.items():
        made = Rewriting(where, layout, where.documents[nth], values[nth], by_itself=by_itself)
        made.follow(edit)
        splices.extend(made.splices)
        forks.extend(made.forks)
    return spliced(text, splices), sorted(forks)
