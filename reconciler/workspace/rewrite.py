"""Edits of documents as edits of their text: only changes are written, in the style around."""

from __future__ import annotations

from bisect import bisect_left
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
from reconciler.workspace.layout import FileLayout, dash_of, describe_unreported, item_like
from reconciler.workspace.text_edits import Editor, Splice, Splicing, spliced


@dataclass(slots=True)
class ListSplicing(Splicing):
    """Writer of the members of containers; `go_on` follows an edit into a member.

    `arrived` are the items that come from another list.
    """

    arrived: set[Path] = field(default_factory=set)

    def go_on(self, node: SyntaxNode, edit: Edit, path: Path) -> None:
        """Follow an edit of one member."""
        raise NotImplementedError

    def _within(self, node: SyntaxNode, fields: Mapping[str, Edit], path: Path) -> None:
        names = [key.text for key in node.keys]
        gone = {name for name, edit in fields.items() if isinstance(edit, Gone)} & set(names)
        new = {name: edit for name, edit in fields.items() if name not in names}
        if new and gone == set(names):
            whole = followed({}, Within(new), self.value)
            self._replace(node, whole, node)
            return
        for nth, name in enumerate(names):
            if name in fields and name not in gone:
                self.go_on(node.values[nth], fields[name], (*path, name))
        last = max((nth for nth, name in enumerate(names) if name not in gone), default=-1)
        added = {name: followed(None, edit, self.value) for name, edit in new.items()}
        if node.is_flow and len(gone) < max(len(names), 1):
            texts = {last: [*self._flow_entries(node, added)]} if added else {}
            self._members_in_flow(node, [names.index(name) for name in sorted(gone)], texts)
            return
        if gone:
            self.splices.extend(Editor(self.where, self.root, ()).without(node, gone))
        if added:
            self._add_lines(node, last, added)

    def _add_lines(self, node: SyntaxNode, last: int, added: Mapping[str, Json]) -> None:
        column = self.where.column(node.keys[0].start)
        lines = [
            " " * column + line if line else line
            for name, value in added.items()
            for line in self.layout.entry(name, value, self._cousin(node, name), node.keys[0])
        ]
        end = self.where.line_end(max(node.keys[last].end, node.values[last].end))
        self._insert_lines(end, lines)

    def _cousin(self, node: SyntaxNode, name: str) -> SyntaxNode | None:
        """Return the node under the same name in another item of the list."""
        holder, _ = self.parents.get(id(node), (node, 0))
        for other in holder.values if holder is not node and not holder.keys else ():
            if any(key.text == name for key in other.itself.keys):
                return other.itself.values[other.itself.place_of(name)]
        return None

    def _flow_entries(self, node: SyntaxNode, added: Mapping[str, Json]) -> Iterator[str]:
        margin = self._margin(node)
        like = node.keys[0] if node.keys else None
        for name, value in added.items():
            key_text = self.layout.key(name, like, in_flow=True)
            text = self.layout.flow(value, self._cousin(node, name), margin)
            yield f"{key_text}{self.layout.colon}{text}"

    def _members_in_flow(
        self,
        node: SyntaxNode,
        gone: Sequence[int],
        added: Mapping[int, Sequence[str]],
        moved: Sequence[int] = (),
    ) -> None:
        """Remove members of a flow node, and write others after or before those that stay.

        Members that follow the last one that stays replace the text cut after it.
        """
        left = dict(added)
        for first, last in _spans(sorted(gone)):
            nodes = [node.values[nth] for nth in range(first, last + 1) if nth in moved]
            spans = [(node.opening, node.end) for node in nodes]
            instead = left.pop(first - 1, ()) if last + 1 == len(node.values) else ()
            self._cut_in_flow(node, first, last, spans, instead)
        for after, texts in left.items():
            self._add_in_flow(node, after, texts)

    def _add_in_flow(self, node: SyntaxNode, after: int, texts: Sequence[str]) -> None:
        """Write members of a flow node after one of its own, or before all of them."""
        margin = self._margin(node)
        between = self.layout.comma if margin is None else f",{self.layout.newline}{margin}"
        if after < 0:
            place = (node.keys or node.values)[0].opening
            self.splices.append(Splice(place, place, between.join((*texts, ""))))
            return
        place = self._member_end(node, after)
        end = self.where.line_end(place)
        rest = self.where.text[place:end].strip()
        if margin is not None and rest.lstrip(",").strip().startswith("#"):
            has_comma = rest.startswith(",")
            ending = "," if has_comma else ""
            self.splices.extend([] if has_comma else [Splice(place, place, ",")])
            lead = f"{self.layout.newline}{margin}"
            self.splices.append(Splice(end, end, lead + between.join(texts) + ending))
            return
        self.splices.append(Splice(place, place, between + between.join(texts)))

    def _flow_items(self, node: SyntaxNode, items: Sequence[ListItem], path: Path) -> None:
        stays = staying(items, path)
        if not node.values and self._fill(node, items):
            return
        if not stays:
            self._replace(node, followed([], ListItems(tuple(items)), self.value), node)
            return
        self._edit_staying(node, path, stays)
        margin = self._margin(node)
        texts = {
            after: [self._flow_item(node, list_item, margin) for list_item in new]
            for after, new in _runs(items, path, stays).items()
        }
        kept = {list_item.origin for list_item in items} | self.arrived
        gone = [nth for nth in range(len(node.values)) if nth not in stays]
        moved = [nth for nth in gone if (*path, nth) in kept]
        self._members_in_flow(node, gone, texts, moved)

    def _fill(self, node: SyntaxNode, items: Sequence[ListItem]) -> bool:
        """Write items into an empty list as lines with comments; return whether that is possible.

        Only items that had their own lines before bring lines along.
        """
        holder, nth = self.parents.get(id(node), (node, 0))
        is_open = not holder.is_flow and holder.keys and not node.anchor
        if self.layout.is_json or not is_open or self.where.opens_line(node.start):
            return False
        column = self.where.column(holder.keys[nth].start) + self.layout.offset
        chunks = [self._chunk(list_item, column) for list_item in items]
        if not any(chunks):
            return False
        texts = [
            self._new_item(node, item, column) if chunk is None else chunk
            for item, chunk in zip(items, chunks, strict=True)
        ]
        before = self.where.text[self.where.line_start(node.start) : node.start]
        start = node.start - len(before) + len(before.rstrip(" "))
        self.splices.append(Splice(start, node.end, ""))
        end = self.where.line_end(node.end)
        self.splices.append(Splice(end, end, "".join(self.layout.newline + text for text in texts)))
        return True

    def _flow_item(self, node: SyntaxNode, item: ListItem, margin: str | None) -> str:
        if item.origin is not None and item.origin[:-1] and self._is_in(node, item.origin):
            child = self._at(item.origin)
            inner = self._apart(child, item)
            return spliced(
                self.where.text[child.opening : child.end], _shifted(inner, child.opening)
            )
        value = followed([], ListItems((item,)), self.value)
        assert isinstance(value, list)  # noqa: S101 - of one item
        return self.layout.flow(value[0], item_like(node, value[0]), margin)

    def _is_in(self, node: SyntaxNode, origin: Path) -> bool:
        child = self._at(origin)
        return child.means is None and self.parents[id(child)][0] is node

    def _cut_in_flow(
        self,
        node: SyntaxNode,
        first: int,
        last: int,
        moved: Sequence[tuple[int, int]],
        instead: Sequence[str],
    ) -> None:
        """Remove adjacent members of a flow node; comments stay, except those in `moved`."""
        starts = node.keys or node.values
        margin = " " * self.where.column(starts[first].opening)
        lead = f"{self.layout.newline}{margin}"
        if last + 1 < len(node.values):
            start, end = starts[first].opening, starts[last + 1].opening
            comments = self._left_comments(start, end, moved)
            kept = "".join(comment + lead for comment in comments)
        else:
            start, end = self._member_end(node, first - 1), self._member_end(node, last)
            comments = self._left_comments(start, end, moved)
            ends_line = not self.where.text[end : self.where.line_end(end)].strip()
            kept = "".join(
                f"{lead if nth else ' '}{comment}" for nth, comment in enumerate(comments)
            )
            if instead:
                step = self.layout.comma if self._margin(node) is None else f",{lead}"
                kept = f",{kept}{lead}" if comments else step
                kept += step.join(instead)
            elif kept and not ends_line:
                kept += lead
        self.splices.append(Splice(start, end, kept))

    def _block_items(self, node: SyntaxNode, items: Sequence[ListItem], path: Path) -> None:
        stays = staying(items, path)
        in_place = len(stays) == len(items) == len(node.values)
        opens = self.where.opens_line(node.start)
        if not in_place and (not items or not (opens or stays)):
            self._replace(node, followed([], ListItems(tuple(items)), self.value), node)
            return
        self._edit_staying(node, path, stays)
        for after, new in _runs(items, path, stays).items():
            texts = [self._block_item(node, list_item) for list_item in new]
            self._insert_items(node, after, texts, stays)
        moved = {list_item.origin for list_item in items} | self.arrived
        first = 0 if opens else min(stays, default=0)
        if first > 0:
            self._cut_to(node, first, [nth for nth in range(first) if (*path, nth) in moved])
        for nth in range(first, len(node.values)):
            if nth not in stays:
                self._cut_lines(node, nth, moved=(*path, nth) in moved)

    def _cut_to(self, node: SyntaxNode, first: int, moved: Sequence[int]) -> None:
        """Remove the items before an item, in a list that begins after another dash."""
        start, end = node.start, dash_of(self.where, node, first)
        margin = self.layout.newline + " " * self.where.column(start)
        chunks = [self._extent(node.values[nth]) for nth in moved]
        comments = self._left_comments(start, end, chunks)
        self.splices.append(Splice(start, end, "".join(comment + margin for comment in comments)))

    def _edit_staying(self, node: SyntaxNode, path: Path, stays: Mapping[int, ListItem]) -> None:
        for nth, item in stays.items():
            if item.edit is not None:
                self.go_on(node.values[nth], item.edit, (*path, nth))

    def _insert_items(
        self, node: SyntaxNode, after: int, texts: Sequence[str], stays: Mapping[int, ListItem]
    ) -> None:
        newline = self.layout.newline
        if after >= 0:
            end = self.where.line_end(node.values[after].end)
            self.splices.append(Splice(end, end, "".join(newline + text for text in texts)))
            return
        if not self.where.opens_line(node.start):
            margin = " " * self.where.column(node.start)
            inserted = "".join(text.removeprefix(margin) + newline + margin for text in texts)
            self.splices.append(Splice(node.start, node.start, inserted))
            return
        start = self._chunk_start(node, min(stays, default=0))
        self.splices.append(Splice(start, start, "".join(text + newline for text in texts)))

    def _block_item(self, node: SyntaxNode, item: ListItem) -> str:
        column = self.where.column(node.start)
        chunk = self._chunk(item, column)
        return self._new_item(node, item, column) if chunk is None else chunk

    def _new_item(self, node: SyntaxNode, item: ListItem, column: int) -> str:
        """Return the lines of a new item of a block list."""
        value = followed([], ListItems((item,)), self.value)
        assert isinstance(value, list)  # noqa: S101 - of one item
        gap = self._gap(node)
        lines = self.layout.item(value[0], item_like(node, value[0]), gap)
        if item.untold and self.where.opens_line(node.start):
            lines = [f"# {describe_unreported(item.untold)}", *lines]
        return self.layout.newline.join(" " * column + line if line else line for line in lines)

    def _chunk(self, item: ListItem, column: int) -> str | None:
        """Return the lines of an item from another place, or None if it has no lines of its own."""
        if item.origin is None:
            return None
        child = self._at(item.origin)
        holder, nth = self.parents[id(child)]
        dash = dash_of(self.where, holder, nth) if not holder.is_flow and not holder.keys else -1
        if dash < 0 or child.means is not None:
            return None
        opens = self.where.opens_line(dash)
        start = self._chunk_start(holder, nth) if opens else dash
        end = self.where.line_end(child.end)
        inner = self._apart(child, item)
        text = spliced(self.where.text[start:end], _shifted(inner, start))
        text = text if opens else " " * self.where.column(dash) + text
        less = self.where.column(dash) - column
        if less == 0:
            return text
        return "\n".join(_shift(line, less) for line in text.split("\n"))

    def _apart(self, child: SyntaxNode, item: ListItem) -> list[Splice]:
        """Return the splices inside an item separately, as its text moves elsewhere."""
        before, self.splices = self.splices, []
        if item.edit is not None:
            self.go_on(child, item.edit, item.origin or ())
        made, self.splices = self.splices, before
        # An alias inside may have been written out before; splices in front of it stay there.
        inside = [
            splice
            for splice in self.splices
            if child.opening <= splice.start <= child.end and splice.end > child.opening
        ]
        self.splices = [splice for splice in self.splices if splice not in inside]
        return [*made, *inside]

    def _cut_lines(self, node: SyntaxNode, nth: int, *, moved: bool) -> None:
        """Remove the lines of an item; its comments stay unless they moved with it."""
        dash = dash_of(self.where, node, nth)
        start = self._chunk_start(node, nth) if moved else self.where.line_start(dash)
        end = self.where.line_end(node.values[nth].end)
        end = max(end, self.where.line_end(dash))
        comments = [] if moved else self._left_comments(dash, end)
        margin = " " * self.where.column(dash)
        newline = self.layout.newline
        after = self.where.text.find("\n", end)
        after = len(self.where.text) if after < 0 else after + 1
        self.splices.append(
            Splice(start, after, "".join(f"{margin}{comment}{newline}" for comment in comments))
        )


def _shifted(splices: Sequence[Splice], by: int) -> list[Splice]:
    return [Splice(splice.start - by, splice.end - by, splice.text) for splice in splices]


def _shift(line: str, less: int) -> str:
    if less < 0:
        return " " * -less + line if line.strip() else line
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(less, blanks) :]


def staying(items: Sequence[ListItem], path: Path) -> dict[int, ListItem]:
    """Return the items that keep their place in a list, by index: as many as possible."""
    placed = [
        (int(item.origin[-1]), item)
        for item in items
        if item.origin is not None and item.origin[:-1] == path
    ]
    tails: list[int] = []
    chains: list[tuple[int, ...]] = []
    for nth, _ in placed:
        place = bisect_left(tails, nth)
        before = chains[place - 1] if place else ()
        tails[place : place + 1] = [nth]
        chains[place : place + 1] = [(*before, nth)]
    stay = set(chains[-1]) if chains else set()
    return {nth: item for nth, item in placed if nth in stay}


def _runs(
    items: Sequence[ListItem], path: Path, stays: Mapping[int, ListItem]
) -> dict[int, list[ListItem]]:
    """Return the items to write, by the index of the item that they follow, or -1."""
    runs: dict[int, list[ListItem]] = {}
    after = -1
    for item in items:
        here = item.origin is not None and item.origin[:-1] == path
        nth = int(item.origin[-1]) if here and item.origin is not None else -1
        if here and stays.get(nth) is item:
            after = nth
        else:
            runs.setdefault(after, []).append(item)
    return runs


def _spans(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of consecutive numbers."""
    start = 0
    for nth in range(1, len(numbers) + 1):
        if nth == len(numbers) or numbers[nth] != numbers[nth - 1] + 1:
            yield numbers[start], numbers[nth - 1]
            start = nth


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
