"""Edits of documents as edits of their text: only what changes is written, as its like is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from reconciler.document import (
    Edit,
    Gone,
    Item,
    Items,
    Json,
    Path,
    Put,
    Within,
    followed,
    towards,
    value_at,
)
from reconciler.manifests.editing import Edit as Splice
from reconciler.manifests.editing import Editor
from reconciler.manifests.layout import (
    Layout,
    block_text,
    dash_of,
    is_block,
    item_like,
    rewrapped,
)
from reconciler.resource import Fork
from reconciler.source.written import Node, Written

CUT: Final = Gone()
_BLOCKS = ("|", ">")


@dataclass(slots=True)
class Rewriting:
    """Makes the edits of one document of a text; `value` is what that was read as.

    With `by_itself`, what moves shares no anchor with what does not: it may come to stand
    behind an alias of it.
    """

    where: Written
    layout: Layout
    root: Node
    value: Json
    splices: list[Splice] = field(default_factory=list)
    forks: list[Fork] = field(default_factory=list)
    parents: dict[int, tuple[Node, int]] = field(default_factory=dict)
    aliases: dict[int, list[tuple[Node, Path]]] = field(default_factory=dict)
    edits: dict[int, Edit] = field(default_factory=dict)
    arrived: set[Path] = field(default_factory=set)
    chunks: list[tuple[int, int]] = field(default_factory=list)
    movers: set[int] = field(default_factory=set)
    by_itself: bool = False

    def follow(self, edit: Edit) -> None:
        """Note the splices and forks that an edit of the whole document takes."""
        edit = _refined(edit, self.value, self.value, ())
        self._survey(self.root, ())
        self._mark(self.root, edit, ())
        self.chunks = [self._extent(self._at(origin)) for origin in self.arrived]
        self._fork()
        self._follow(self.root, edit, ())

    def _survey(self, node: Node, path: Path) -> None:
        """Note what holds each node, and which aliases repeat it."""
        for nth, value in enumerate(node.values):
            self.parents[id(value)] = node, nth
            here = (*path, node.keys[nth].text if node.keys else nth)
            if value.means is not None:
                self.aliases.setdefault(id(value.means), []).append((value, here))
            else:
                self._survey(value, here)

    def _mark(self, node: Node, edit: Edit, path: Path) -> None:
        """Note the edits of aliases and of what they repeat, each by its node."""
        self.edits[id(node)] = edit
        if node.means is not None:
            return
        match edit:
            case Put() | Gone():
                self.edits.update((id(one), CUT) for one in _inside(node))
            case Within(fields=fields):
                named = zip([key.text for key in node.keys], node.values, strict=True)
                for name, value in [one for one in named if one[0] in fields]:
                    self._mark(value, fields[name], (*path, name))
            case Items(items=items):
                self._mark_items(node, items, path)
            case _:
                assert_never(edit)

    def _mark_items(self, node: Node, items: Sequence[Item], path: Path) -> None:
        kept = {item.origin for item in items}
        stays = _staying(items, path)
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

    def _at(self, path: Path) -> Node:
        """Give the node at a path, an alias at its end not followed."""
        holder = self.root.at(path[:-1])
        last = path[-1]
        return holder.values[last if isinstance(last, int) else holder.place_of(last)]

    def _fork(self) -> None:
        """Write out each alias that is to differ from what it repeats."""
        for uses in self.aliases.values():
            target = uses[0][0].itself
            own = self.edits.get(id(target))
            left = [one for one in uses if self.edits.get(id(one[0])) != CUT]
            parted = {id(one[0]) for one in left if self._parted(one[0], target)}
            apart = [
                one for one in left if self.edits.get(id(one[0])) != own or id(one[0]) in parted
            ]
            staying = len(apart) < len(left) or parted
            together = len({repr(self.edits.get(id(one[0]))) for one in apart}) == 1
            if apart and together and not staying:
                self._write_out(*apart[0], anchor=f"&{target.anchor} ")
                if own != CUT:
                    self.splices.append(self._without_anchor(target))
                continue
            for one in apart:
                self._write_out(*one)

    def _parted(self, alias: Node, target: Node) -> bool:
        return self.by_itself and self._mover(alias) != self._mover(target)

    def _mover(self, node: Node) -> int:
        """Give the item around a node that moves, 0 where none does."""
        while id(node) in self.parents:
            if id(node) in self.movers:
                return id(node)
            node = self.parents[id(node)][0]
        return 0

    def _without_anchor(self, target: Node) -> Splice:
        end = self._anchor_end(target)
        if end == self.where.line_end(end) and target.start > end:
            return Splice(target.opening - 1, end, "")
        after = end + len(self.where.text[end : target.start].split("\n")[0])
        return Splice(target.opening, after, "")

    @staticmethod
    def _anchor_end(node: Node) -> int:
        return node.opening + len(node.anchor) + 1

    def _write_out(self, alias: Node, path: Path, anchor: str = "") -> None:
        before = value_at(self.value, path)
        edit = self.edits.get(id(alias))
        after = before if edit is None else followed(before, edit, self.value)  # type: ignore[arg-type]  # an alias stands for a value
        line = self.where.text.count("\n", 0, alias.start) + 1
        self.forks.append(Fork(line, alias.itself.anchor))
        self._replace(alias, after, alias.itself, anchor)  # type: ignore[arg-type]  # as above

    def _follow(self, node: Node, edit: Edit, path: Path) -> None:
        if node.means is not None:
            return
        match edit:
            case Put(value=value):
                self._replace(node, value, node)
            case Within(fields=fields):
                self._within(node, fields, path)
            case Items(items=items) if node.is_flow:
                self._flow_items(node, items, path)
            case Items(items=items):
                self._block_items(node, items, path)
            case Gone():
                raise KeyError(*path)
            case _:
                assert_never(edit)

    def _within(self, node: Node, fields: Mapping[str, Edit], path: Path) -> None:
        names = [key.text for key in node.keys]
        gone = {name for name, one in fields.items() if isinstance(one, Gone)} & set(names)
        new = {name: one for name, one in fields.items() if name not in names}
        if new and gone == set(names):
            whole = followed({}, Within(new), self.value)
            self._replace(node, whole, node)
            return
        for nth, name in enumerate(names):
            if name in fields and name not in gone:
                self._follow(node.values[nth], fields[name], (*path, name))
        self._cut_fields(node, names, gone)
        last = max((nth for nth, name in enumerate(names) if name not in gone), default=-1)
        added = {name: followed(None, one, self.value) for name, one in new.items()}
        if added and node.is_flow:
            self._add_in_flow(node, last, [*self._flow_entries(node, added)])
        elif added:
            self._add_lines(node, last, added)

    def _cut_fields(self, node: Node, names: Sequence[str], gone: set[str]) -> None:
        if gone and node.is_flow and len(gone) < len(names):
            for first, final in _spans([nth for nth, name in enumerate(names) if name in gone]):
                self._cut_in_flow(node, first, final)
        elif gone:
            self.splices.extend(Editor(self.where, self.root, ()).without(node, gone))

    def _add_lines(self, node: Node, last: int, added: Mapping[str, Json]) -> None:
        column = self.where.column(node.keys[0].start)
        lines = [
            " " * column + line if line else line
            for name, value in added.items()
            for line in self.layout.entry(name, value, self._cousin(node, name), node.keys[0])
        ]
        end = self.where.line_end(max(node.keys[last].end, node.values[last].end))
        self._insert_lines(end, lines)

    def _cousin(self, node: Node, name: str) -> Node | None:
        """Give what stands under the same name in an item beside the one that a node is."""
        holder, _ = self.parents.get(id(node), (node, 0))
        for other in holder.values if holder is not node and not holder.keys else ():
            if any(key.text == name for key in other.itself.keys):
                return other.itself.values[other.itself.place_of(name)]
        return None

    def _insert_lines(self, place: int, lines: Sequence[str]) -> None:
        newline = self.layout.newline
        self.splices.append(Splice(place, place, "".join(newline + line for line in lines)))

    def _flow_entries(self, node: Node, added: Mapping[str, Json]) -> Iterator[str]:
        margin = self._margin(node)
        like = node.keys[0] if node.keys else None
        for name, value in added.items():
            said = self.layout.key(name, like, in_flow=True)
            text = self.layout.flow(value, self._cousin(node, name), margin)
            yield f"{said}{self.layout.colon}{text}"

    def _margin(self, node: Node) -> str | None:
        """Give what stands before the members of a node in flow that have lines of their own."""
        first = (node.keys or node.values)[0].opening
        before = self.where.text[self.where.line_start(first) : first]
        return before if not before.strip() else None

    def _add_in_flow(self, node: Node, after: int, texts: Sequence[str]) -> None:
        """Write members of a node in flow after one of its own, or before all of them."""
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

    def _member_end(self, node: Node, nth: int) -> int:
        return max(node.values[nth].end, node.keys[nth].end if node.keys else 0)

    def _flow_items(self, node: Node, items: Sequence[Item], path: Path) -> None:
        stays = _staying(items, path)
        if not stays:
            self._replace(node, followed([], Items(tuple(items)), self.value), node)
            return
        self._edit_staying(node, path, stays)
        runs = _runs(items, path, stays)
        margin = self._margin(node)
        for after, new in runs.items():
            self._add_in_flow(node, after, [self._flow_item(node, one, margin) for one in new])
        gone = [nth for nth in range(len(node.values)) if nth not in stays]
        moved = {one.origin for one in items} | self.arrived
        for first, last in _spans(gone):
            nodes = [node.values[nth] for nth in range(first, last + 1) if (*path, nth) in moved]
            self._cut_in_flow(node, first, last, [(one.opening, one.end) for one in nodes])

    def _flow_item(self, node: Node, item: Item, margin: str | None) -> str:
        if item.origin is not None and item.origin[:-1] and self._is_in(node, item.origin):
            child = self._at(item.origin)
            inner = self._apart(child, item)
            return spliced(
                self.where.text[child.opening : child.end], _shifted(inner, child.opening)
            )
        value = followed([], Items((item,)), self.value)
        assert isinstance(value, list)  # noqa: S101 - of one item
        return self.layout.flow(value[0], item_like(node, value[0]), margin)

    def _is_in(self, node: Node, origin: Path) -> bool:
        child = self._at(origin)
        return child.means is None and self.parents[id(child)][0] is node

    def _cut_in_flow(
        self, node: Node, first: int, last: int, moved: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Take neighbours out of a node in flow; comments stay, each on its line, or `moved`."""
        starts = node.keys or node.values
        margin = " " * self.where.column(starts[first].opening)
        lead = f"{self.layout.newline}{margin}"
        if last + 1 < len(node.values):
            start, end = starts[first].opening, starts[last + 1].opening
            comments = self._left_comments(start, end, moved)
            kept = "".join(one + lead for one in comments)
        else:
            start, end = self._member_end(node, first - 1), self._member_end(node, last)
            comments = self._left_comments(start, end, moved)
            ends_line = not self.where.text[end : self.where.line_end(end)].strip()
            kept = "".join(f"{lead if nth else ' '}{one}" for nth, one in enumerate(comments))
            kept += lead if kept and not ends_line else ""
        self.splices.append(Splice(start, end, kept))

    def _block_items(self, node: Node, items: Sequence[Item], path: Path) -> None:
        stays = _staying(items, path)
        in_place = len(stays) == len(items) == len(node.values)
        opens = self.where.opens_line(node.start)
        if not in_place and (not items or not (opens or stays)):
            self._replace(node, followed([], Items(tuple(items)), self.value), node)
            return
        self._edit_staying(node, path, stays)
        for after, new in _runs(items, path, stays).items():
            texts = [self._block_item(node, one) for one in new]
            self._insert_items(node, after, texts, stays)
        moved = {one.origin for one in items} | self.arrived
        first = 0 if opens else min(stays, default=0)
        if first > 0:
            self._cut_to(node, first, [nth for nth in range(first) if (*path, nth) in moved])
        for nth in range(first, len(node.values)):
            if nth not in stays:
                self._cut_lines(node, nth, moved=(*path, nth) in moved)

    def _extent(self, child: Node) -> tuple[int, int]:
        """Give from where to where an item stands with its comments, as it moves elsewhere."""
        holder, nth = self.parents[id(child)]
        if holder.is_flow or holder.keys:
            return child.opening, child.end
        dash = dash_of(self.where, holder, nth)
        start = self._chunk_start(holder, nth) if self.where.opens_line(dash) else dash
        return start, self.where.line_end(child.end)

    def _cut_to(self, node: Node, first: int, moved: Sequence[int]) -> None:
        """Take away what stands before an item, in a list that begins behind another dash."""
        start, end = node.start, dash_of(self.where, node, first)
        margin = self.layout.newline + " " * self.where.column(start)
        chunks = [self._extent(node.values[nth]) for nth in moved]
        comments = self._left_comments(start, end, chunks)
        self.splices.append(Splice(start, end, "".join(one + margin for one in comments)))

    def _left_comments(
        self, start: int, end: int, moved: Sequence[tuple[int, int]] = ()
    ) -> list[str]:
        """Give the comments between two places, without those that moved along with an item."""
        away = [*self.chunks, *moved]
        return [
            self.where.text[begin:after]
            for begin, after in self.where.comment_spans(start, end)
            if not any(one[0] <= begin and after <= one[1] for one in away)
        ]

    def _edit_staying(self, node: Node, path: Path, stays: Mapping[int, Item]) -> None:
        for nth, item in stays.items():
            if item.edit is not None:
                self._follow(node.values[nth], item.edit, (*path, nth))

    def _insert_items(
        self, node: Node, after: int, texts: Sequence[str], stays: Mapping[int, Item]
    ) -> None:
        newline = self.layout.newline
        if after >= 0:
            end = self.where.line_end(node.values[after].end)
            self.splices.append(Splice(end, end, "".join(newline + text for text in texts)))
            return
        if not self.where.opens_line(node.start):
            margin = " " * self.where.column(node.start)
            said = "".join(text.removeprefix(margin) + newline + margin for text in texts)
            self.splices.append(Splice(node.start, node.start, said))
            return
        start = self._chunk_start(node, min(stays, default=0))
        self.splices.append(Splice(start, start, "".join(text + newline for text in texts)))

    def _chunk_start(self, node: Node, nth: int) -> int:
        """Give where the lines of an item begin, the comments right above it among them."""
        start = self.where.line_start(dash_of(self.where, node, nth))
        first = self.where.line_start(node.start)
        while start > first:
            above = self.where.line_start(start - 1)
            if not self.where.text[above:start].lstrip().startswith("#"):
                break
            if nth > 0 and above <= node.values[nth - 1].end:
                break
            start = above
        return start

    def _block_item(self, node: Node, item: Item) -> str:
        column = self.where.column(node.start)
        chunk = self._chunk(item, column)
        if chunk is not None:
            return chunk
        value = followed([], Items((item,)), self.value)
        assert isinstance(value, list)  # noqa: S101 - of one item
        gap = self._gap(node)
        lines = self.layout.item(value[0], item_like(node, value[0]), gap)
        return self.layout.newline.join(" " * column + line if line else line for line in lines)

    def _gap(self, node: Node) -> int:
        """Give how many blanks stand between the dash of a list's first item and the item."""
        dash = node.start
        first = node.values[0].opening if node.values else dash
        is_there = self.where.line_start(first) == self.where.line_start(dash)
        return max(1, first - dash - 1) if is_there else 1

    def _chunk(self, item: Item, column: int) -> str | None:
        """Give the lines of an item that stands elsewhere; None where it has none of its own."""
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

    def _apart(self, child: Node, item: Item) -> list[Splice]:
        """Give the splices of an item by themselves, as its text goes elsewhere."""
        before, self.splices = self.splices, []
        if item.edit is not None:
            self._follow(child, item.edit, item.origin or ())
        made, self.splices = self.splices, before
        # An alias inside may have been written out before.
        inside = [one for one in self.splices if child.opening <= one.start <= child.end]
        self.splices = [one for one in self.splices if one not in inside]
        return [*made, *inside]

    def _cut_lines(self, node: Node, nth: int, *, moved: bool) -> None:
        """Take the lines of an item away; its comments stay unless they moved along."""
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
            Splice(start, after, "".join(f"{margin}{one}{newline}" for one in comments))
        )

    def _replace(self, node: Node, value: Json, like: Node | None, anchor: str = "") -> None:
        """Write another value in the place of a node."""
        if id(node) not in self.parents:
            raise KeyError("the whole document")
        holder, nth = self.parents[id(node)]
        if holder.is_flow or self.layout.is_json:
            margin = self._flow_margin(node, like)
            text = anchor + self.layout.flow(value, like, margin)
            self.splices.append(Splice(node.start, node.end, text))
            return
        head = self._head(holder, nth)
        first, rest = self._laid(node, holder, nth, value, like)
        self._lay(node, head, (anchor + first).strip(), rest)

    def _flow_margin(self, node: Node, like: Node | None) -> str | None:
        for one in (like, node):
            is_open = one is not None and one.is_flow and one.values
            if one is not None and is_open and self._margin(one) is not None:
                return self._line_margin(one.start)
        holder, _ = self.parents[id(node)]
        if like is not None and like.is_flow and like.values:
            return None
        return self._margin(holder) if holder.is_flow else None

    def _line_margin(self, place: int) -> str:
        line = self.where.text[self.where.line_start(place) : place]
        return line[: len(line) - len(line.lstrip())]

    def _head(self, holder: Node, nth: int) -> int:
        """Give where the colon or the dash before a value ends."""
        if holder.keys:
            return self.where.text.index(":", holder.keys[nth].end) + 1
        return dash_of(self.where, holder, nth) + 1

    def _laid(
        self, node: Node, holder: Node, nth: int, value: Json, like: Node | None
    ) -> tuple[str, list[str]]:
        """Give what of a value stands on the line of its key or dash, and the lines below that."""
        layout, where = self.layout, self.where
        column = where.column(holder.keys[nth].start if holder.keys else holder.start)
        if is_block(value, like):
            lines = layout.block(value, like)
            if holder.keys:
                by = layout.offset if isinstance(value, list) else len(layout.step)
                return "", [" " * (column + by) + one if one else one for one in lines]
            by = self._gap(holder) + 1
            return lines[0], [" " * (column + by) + one if one else one for one in lines[1:]]
        kept = self._in_its_lines(node, value) if isinstance(value, str) else None
        if kept is not None:
            return kept
        lines = layout.scalar(value, like)
        by = len(layout.step) if holder.keys else self._gap(holder) + 1
        return lines[0], [" " * (column + by) + one if one else one for one in lines[1:]]

    def _in_its_lines(self, node: Node, value: str) -> tuple[str, list[str]] | None:
        """Give a text laid out over lines as the one that it replaces; None where it cannot be."""
        source = self.where.text[node.start : node.end].replace("\r\n", "\n").split("\n")
        if len(source) < 2:  # noqa: PLR2004 - of one line
            return None
        below = next((one for one in source[1:] if one.strip()), source[-1])
        margin = below[: len(below) - len(below.lstrip(" "))]
        if node.style == "|":
            lines = block_text(value) or _one_line_block(value)
        elif node.style == ">":
            lines = _folded(source[1:], node.text, value)
        else:
            return _wrapped(node, source, value, margin)
        if not lines:
            return None
        return lines[0], [margin + one if one else one for one in lines[1:]]

    def _lay(self, node: Node, head: int, first: str, rest: Sequence[str]) -> None:
        """Put a first line behind a key or dash, and the rest below, in place of a node."""
        where, newline = self.where, self.layout.newline
        head_end = where.line_end(head)
        is_below = node.start > head_end
        end_of_head = self._anchor_end(node) if node.anchor else head
        on_head = is_below or node.start == node.end or not first
        start = end_of_head if on_head else node.start
        said = f" {first}" if first and on_head else first
        if node.style in _BLOCKS and node.means is None:
            header_end = start + len(where.text[start:head_end].split("#")[0].rstrip())
            below, stop = head_end, max(node.end, head_end)
            comments: list[str] = []
        elif is_below:
            header_end, below, stop = start, head_end, where.line_end(node.end)
            comments = self._left_comments(below, stop)
        else:
            header_end = max(node.end, start)
            below = stop = where.line_end(header_end)
            comments = self._left_comments(start, header_end)
        margin = self._line_margin(head - 1)
        lines = [*rest, *(margin + one for one in comments)]
        self.splices.append(Splice(start, header_end, said))
        self.splices.append(Splice(below, stop, "".join(newline + line for line in lines)))


def _one_line_block(value: str) -> list[str] | None:
    """Give a text of one line as a block text all the same, as the one before it was."""
    if not value.strip() or value[:1] in (" ", "\t") or "\n" in value.rstrip("\n"):
        return None
    lines = block_text(value if value.endswith("\n") else value + "\n")
    if lines is None or value.endswith("\n\n"):
        return None
    return ["|" if value.endswith("\n") else "|-", *lines[1:]]


def _folded(source: Sequence[str], before: str, value: str) -> list[str] | None:
    """Give the lines of a folded text, of which only one paragraph is known how to fold."""
    body = value.rstrip("\n")
    ended = len(value) - len(body)
    if "\n" in before.rstrip("\n") or ended > 1:
        return None
    lines = rewrapped([one for one in source if one.strip()], body)
    return lines and [">" if ended else ">-", *lines]


def _wrapped(
    node: Node, source: Sequence[str], value: str, margin: str
) -> tuple[str, list[str]] | None:
    """Give a plain or quoted text over several lines."""
    quote = node.style
    if quote not in ("", "'", '"') or "\n" in node.text or set("'\"\\#:") & set(value):
        return None
    bare = [one.strip() for one in source]
    bare[0], bare[-1] = bare[0].removeprefix(quote), bare[-1].removesuffix(quote)
    if " ".join(bare) != node.text:
        return None
    lines = rewrapped(bare, value)
    if not lines or (not quote and not value[:1].isalpha()):
        return None
    lines = [quote + lines[0], *lines[1:]]
    lines[-1] += quote
    return lines[0], [margin + one for one in lines[1:]]


def _shifted(splices: Sequence[Splice], by: int) -> list[Splice]:
    return [Splice(one.start - by, one.end - by, one.text) for one in splices]


def _shift(line: str, less: int) -> str:
    if less < 0:
        return " " * -less + line if line.strip() else line
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(less, blanks) :]


def _inside(node: Node) -> Iterator[Node]:
    """Yield all nodes in a node, aliases not followed."""
    for value in node.values:
        yield value
        if value.means is None:
            yield from _inside(value)


def _refined(edit: Edit, document: Json, whole: Json, path: Path) -> Edit:
    """Give an edit in which what is put over a container changes only what differs in it."""
    match edit:
        case Put(value=value):
            return towards(document, value, path) or Put(value)
        case Within(fields=fields) if isinstance(document, dict):
            return Within(
                {
                    key: _refined(one, document[key], whole, (*path, key))
                    if key in document
                    else one
                    for key, one in fields.items()
                }
            )
        case Items(items=items):
            return Items(tuple(_refined_item(one, whole) for one in items))
        case _:
            return edit


def _refined_item(item: Item, whole: Json) -> Item:
    if item.origin is None or item.edit is None:
        return item
    document = value_at(whole, item.origin)
    edit = _refined(item.edit, document, whole, item.origin)  # type: ignore[arg-type]  # it is there
    return Item(item.origin, edit)


def _staying(items: Sequence[Item], path: Path) -> dict[int, Item]:
    """Give the items that stay where they are in a list, by their index: as many as can be."""
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


def _runs(items: Sequence[Item], path: Path, stays: Mapping[int, Item]) -> dict[int, list[Item]]:
    """Give the items that have to be written, by the index of that which they come after, or -1."""
    runs: dict[int, list[Item]] = {}
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
    """Yield first and last of each run of numbers that follow on each other."""
    start = 0
    for nth in range(1, len(numbers) + 1):
        if nth == len(numbers) or numbers[nth] != numbers[nth - 1] + 1:
            yield numbers[start], numbers[nth - 1]
            start = nth


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """Give a text with splices made, those of one place in the order in which they were noted.

    Lines that are put behind what is cut come in its place. Of two others that overlap, the
    later is left out.
    """
    parts: list[str] = []
    place = 0
    for one in sorted(splices, key=lambda each: (each.start, each.end)):
        if one.start >= place:
            parts.extend((text[place : one.start], one.text))
            place = one.end
        elif one.start == one.end:
            newline = one.text[: len(one.text) - len(one.text.lstrip("\r\n"))]
            ended = text[:place].endswith("\n")
            parts.append(one.text.removeprefix(newline) + newline if ended else one.text)
    return "".join((*parts, text[place:]))


def rewritten(
    text: str,
    changes: Mapping[int, Edit],
    values: Sequence[Json],
    where: Written,
    *,
    is_json: bool,
    by_itself: bool = False,
) -> tuple[str, list[Fork]]:
    """Give a text in which documents were edited, and the aliases that were written out for it.

    `changes` are by the document's number in the text from 0, and `values` what all of them were
    read as. Raises KeyError, IndexError or StopIteration for an edit that does not fit.
    """
    layout = Layout.of(where, is_json=is_json)
    splices: list[Splice] = []
    forks: list[Fork] = []
    for nth, edit in changes.items():
        made = Rewriting(where, layout, where.documents[nth], values[nth], by_itself=by_itself)
        made.follow(edit)
        splices.extend(made.splices)
        forks.extend(made.forks)
    return spliced(text, splices), sorted(forks)
