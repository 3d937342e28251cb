"""Edits of documents as edits of their text: only changes are written, in the style around."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
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
    shifted_in,
    towards,
    value_at,
)
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.workspace.layout import (
    Editor,
    FileLayout,
    Splice,
    dash_of,
    describe_unreported,
    field_of,
    in_its_lines,
    indented,
    is_block,
    item_like,
    spliced,
)

_BLOCKS = ("|", ">")
CUT: Final = Gone()


@dataclass(frozen=True, slots=True, order=True)
class Fork:
    """An alias that was replaced by a copy, as its value now differs from that of the anchor."""

    line: int
    anchor: str


@dataclass(slots=True)
class Rewriting:
    """Writer of the edits of one document of a text, as splices; `value` is the parsed document.

    `parents` has the parent of each node, and the index in it. `arrived` are the items that come
    from another list. Text in `chunks` moves elsewhere with its comments. With `by_itself`, moved
    nodes share no anchor with nodes that stay, as an anchor may end up after its alias.
    """

    where: WrittenText
    layout: FileLayout
    root: SyntaxNode
    value: Json
    by_itself: bool = False
    splices: list[Splice] = field(default_factory=list)
    parents: dict[int, tuple[SyntaxNode, int]] = field(default_factory=dict)
    chunks: list[tuple[int, int]] = field(default_factory=list)
    arrived: set[Path] = field(default_factory=set)
    forks: list[Fork] = field(default_factory=list)
    aliases: dict[int, list[tuple[SyntaxNode, Path]]] = field(default_factory=dict)
    edits: dict[int, Edit] = field(default_factory=dict)
    movers: set[int] = field(default_factory=set)

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
                for key, value in zip(node.keys, node.values, strict=True):
                    if key.text in fields:
                        self._mark(value, fields[key.text], (*path, key.text))
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
            mover = self._mover(target)
            parted = {id(row[0]) for row in left if self.by_itself and self._mover(row[0]) != mover}
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

    def _mover(self, node: SyntaxNode) -> int:
        """Return the id of the moving item around a node, or 0 if none moves."""
        while id(node) in self.parents:
            if id(node) in self.movers:
                return id(node)
            node = self.parents[id(node)][0]
        return 0

    def _without_anchor(self, target: SyntaxNode) -> Splice:
        start, end = target.opening, self._anchor_end(target)
        if self.where.text[start - 1] == " ":
            return Splice(start - 1, end, "")
        rest = self.where.text[end : self.where.line_end(end)]
        return Splice(start, end + len(rest) - len(rest.lstrip(" ")), "")

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

    def _within(self, node: SyntaxNode, fields: Mapping[str, Edit], path: Path) -> None:
        names = [key.text for key in node.keys]
        gone = {name for name, edit in fields.items() if isinstance(edit, Gone)} & set(names)
        new = {name: edit for name, edit in fields.items() if name not in names}
        if new and gone == set(names):
            self._replace(node, followed({}, Within(new), self.value), node)
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
        entries = (
            self.layout.entry(name, value, self._cousin(node, name), node.keys[0])
            for name, value in added.items()
        )
        end = self.where.line_end(self._member_end(node, last))
        lines = indented(chain.from_iterable(entries), column)
        self._write(end, end, "".join(self.layout.newline + line for line in lines))

    def _cousin(self, node: SyntaxNode, name: str) -> SyntaxNode | None:
        """Return the node under the same name in another item of the list."""
        holder, _ = self.parents.get(id(node), (node, 0))
        for other in holder.values if holder is not node and not holder.keys else ():
            if (found := field_of(other, name)) is not None:
                return found
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
            self._write(place, place, between.join((*texts, "")))
            return
        place = self._member_end(node, after)
        end = self.where.line_end(place)
        rest = self.where.text[place:end].strip()
        if margin is not None and rest.lstrip(",").strip().startswith("#"):
            has_comma = rest.startswith(",")
            ending = "," if has_comma else ""
            if not has_comma:
                self._write(place, place, ",")
            lead = f"{self.layout.newline}{margin}"
            self._write(end, end, lead + between.join(texts) + ending)
            return
        self._write(place, place, between + between.join(texts))

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
        self._members_in_flow(node, gone, texts, [nth for nth in gone if (*path, nth) in kept])

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
            chunk or self._new_item(node, item, column)
            for item, chunk in zip(items, chunks, strict=True)
        ]
        before = self.where.text[self.where.line_start(node.start) : node.start]
        start = node.start - len(before) + len(before.rstrip(" "))
        self._write(start, node.end, "")
        end = self.where.line_end(node.end)
        self._write(end, end, "".join(self.layout.newline + text for text in texts))
        return True

    def _flow_item(self, node: SyntaxNode, item: ListItem, margin: str | None) -> str:
        if item.origin is not None and item.origin[:-1] and self._is_in(node, item.origin):
            child = self._at(item.origin)
            return self._apart(child, item, child.opening, child.end)
        value = self._edited_item(item)
        return self.layout.flow(value, item_like(node, value), margin)

    def _edited_item(self, item: ListItem) -> Json:
        items = followed([], ListItems((item,)), self.value)
        assert isinstance(items, list)  # noqa: S101 - of one item
        return items[0]

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
        self._write(start, end, kept)

    def _block_items(self, node: SyntaxNode, items: Sequence[ListItem], path: Path) -> None:
        stays = staying(items, path)
        in_place = len(stays) == len(items) == len(node.values)
        opens = self.where.opens_line(node.start)
        if not in_place and (not items or not (opens or stays)):
            self._replace(node, followed([], ListItems(tuple(items)), self.value), node)
            return
        self._edit_staying(node, path, stays)
        column = self.where.column(node.start)
        for after, new in _runs(items, path, stays).items():
            texts = [
                self._chunk(list_item, column) or self._new_item(node, list_item, column)
                for list_item in new
            ]
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
        self._write(start, end, "".join(comment + margin for comment in comments))

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
            self._write(end, end, "".join(newline + text for text in texts))
            return
        if not self.where.opens_line(node.start):
            margin = " " * self.where.column(node.start)
            inserted = "".join(text.removeprefix(margin) + newline + margin for text in texts)
            self._write(node.start, node.start, inserted)
            return
        start = self._chunk_start(node, min(stays, default=0))
        self._write(start, start, "".join(text + newline for text in texts))

    def _new_item(self, node: SyntaxNode, item: ListItem, column: int) -> str:
        value = self._edited_item(item)
        lines = self.layout.item(value, item_like(node, value), self._blanks_after_dash(node))
        if item.untold and self.where.opens_line(node.start):
            lines = [f"# {describe_unreported(item.untold)}", *lines]
        return self.layout.newline.join(indented(lines, column))

    def _chunk(self, item: ListItem, column: int) -> str | None:
        """Return the lines of an item from another place, or None if it has no lines of its own."""
        if item.origin is None:
            return None
        child = self._at(item.origin)
        holder, nth = self.parents[id(child)]
        if holder.is_flow or holder.keys or child.means is not None:
            return None
        start, end = self._extent(child)
        text = " " * self.where.column(start) + self._apart(child, item, start, end)
        less = self.where.column(dash_of(self.where, holder, nth)) - column
        if less <= 0:
            return re.sub(r"^(?=.*\S)", " " * -less, text, flags=re.MULTILINE)
        return re.sub(rf"^ {{1,{less}}}", "", text, flags=re.MULTILINE)

    def _apart(self, child: SyntaxNode, item: ListItem, start: int, end: int) -> str:
        """Return the text of an item that moves elsewhere, with the splices inside made."""
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
        moved = [
            Splice(splice.start - start, splice.end - start, splice.text)
            for splice in (*made, *inside)
        ]
        return spliced(self.where.text[start:end], moved)

    def _cut_lines(self, node: SyntaxNode, nth: int, *, moved: bool) -> None:
        """Remove the lines of an item; its comments stay unless they moved with it."""
        dash = dash_of(self.where, node, nth)
        start = self._chunk_start(node, nth) if moved else self.where.line_start(dash)
        end = self.where.line_end(max(node.values[nth].end, dash))
        comments = [] if moved else self._left_comments(dash, end)
        margin = " " * self.where.column(dash)
        newline = self.layout.newline
        after = self.where.text.find("\n", end)
        after = len(self.where.text) if after < 0 else after + 1
        self._write(start, after, "".join(f"{margin}{comment}{newline}" for comment in comments))

    def _at(self, path: Path) -> SyntaxNode:
        """Return the node at a path; an alias at its end is not followed."""
        holder = self.root.at(path[:-1])
        last = path[-1]
        return holder.values[last if isinstance(last, int) else holder.place_of(last)]

    def _margin(self, node: SyntaxNode) -> str | None:
        """Return the indentation of the members of a flow node, or None if they share a line."""
        first = (node.keys or node.values)[0].opening
        before = self.where.text[self.where.line_start(first) : first]
        return before if not before.strip() else None

    def _member_end(self, node: SyntaxNode, nth: int) -> int:
        return max(node.values[nth].end, node.keys[nth].end if node.keys else 0)

    def _extent(self, child: SyntaxNode) -> tuple[int, int]:
        """Return the start and end of an item with its comments, as it moves elsewhere."""
        holder, nth = self.parents[id(child)]
        if holder.is_flow or holder.keys:
            return child.opening, child.end
        dash = dash_of(self.where, holder, nth)
        start = self._chunk_start(holder, nth) if self.where.opens_line(dash) else dash
        return start, self.where.line_end(child.end)

    def _left_comments(
        self, start: int, end: int, moved: Sequence[tuple[int, int]] = ()
    ) -> list[str]:
        """Return the comments between two places, without those that move with an item."""
        away = [*self.chunks, *moved]
        return [
            self.where.text[begin:after]
            for begin, after in self.where.comment_spans(start, end)
            if not any(pair[0] <= begin and after <= pair[1] for pair in away)
        ]

    def _chunk_start(self, node: SyntaxNode, nth: int) -> int:
        """Return the start of the lines of an item, including the comments right above it."""
        start = self.where.line_start(dash_of(self.where, node, nth))
        before = node.values[nth - 1].end if nth > 0 else self._list_head(node)
        while (above := self.where.line_start(start - 1)) > before:
            if not self.where.text[above:start].lstrip().startswith("#"):
                break
            start = above
        return start

    def _list_head(self, node: SyntaxNode) -> int:
        """Return the end of the key or dash above a list."""
        if id(node) not in self.parents:
            return node.start
        return self._head(*self.parents[id(node)])

    def _blanks_after_dash(self, node: SyntaxNode) -> int:
        dash = node.start
        first = node.values[0].opening if node.values else dash
        is_there = self.where.line_start(first) == self.where.line_start(dash)
        return max(1, first - dash - 1) if is_there else 1

    def _write(self, start: int, end: int, text: str) -> None:
        self.splices.append(Splice(start, end, text))

    @staticmethod
    def _anchor_end(node: SyntaxNode) -> int:
        return node.opening + len(node.anchor) + 1

    def _replace(
        self, node: SyntaxNode, value: Json, like: SyntaxNode | None, anchor: str = ""
    ) -> None:
        if id(node) not in self.parents:
            raise KeyError("the whole document")
        holder, nth = self.parents[id(node)]
        if holder.is_flow or self.layout.is_json:
            margin = self._flow_margin(node, like)
            text = self._with_comments(node, self.layout.flow(value, like, margin))
            self._write(node.start, node.end, anchor + text)
            return
        head = self._head(holder, nth)
        first, *rest = self._laid(node, holder, nth, value, like)
        self._lay(node, head, (anchor + first).strip(" "), rest)

    def _with_comments(self, node: SyntaxNode, text: str) -> str:
        """Return the text that replaces a flow node, with the comments of that node."""
        comments = self._left_comments(node.start, node.end) if node.means is None else []
        margin = self._margin(node) if node.is_flow and node.values else None
        if not comments or margin is None or text[0] not in "[{":
            return text
        lead = f"{self.layout.newline}{margin}"
        kept = "".join(lead + comment for comment in comments)
        rest = text[1:] if text[1:].startswith(self.layout.newline) else lead + text[1:]
        return f"{text[0]}{kept}{rest}"

    def _flow_margin(self, node: SyntaxNode, like: SyntaxNode | None) -> str | None:
        for candidate in (like, node):
            is_open = candidate is not None and candidate.is_flow and candidate.values
            if candidate is not None and is_open and self._margin(candidate) is not None:
                return self._line_margin(candidate.start)
        holder, _ = self.parents[id(node)]
        if like is not None and like.is_flow and like.values:
            return None
        return self._margin(holder) if holder.is_flow else None

    def _line_margin(self, place: int) -> str:
        line = self.where.text[self.where.line_start(place) : place]
        return line[: len(line) - len(line.lstrip())]

    def _head(self, holder: SyntaxNode, nth: int) -> int:
        """Return the end of the colon or dash before a value."""
        if holder.keys:
            return self.where.text.index(":", holder.keys[nth].end) + 1
        return dash_of(self.where, holder, nth) + 1

    def _laid(
        self, node: SyntaxNode, holder: SyntaxNode, nth: int, value: Json, like: SyntaxNode | None
    ) -> list[str]:
        """Return the text of a value on the line of its key or dash, and the lines below."""
        layout, where = self.layout, self.where
        column = where.column(holder.keys[nth].start if holder.keys else holder.start)
        by = len(layout.step) if holder.keys else self._blanks_after_dash(holder) + 1
        if is_block(value, like):
            lines = layout.block(value, like)
            if holder.keys:
                by = layout.offset if isinstance(value, list) else by
                lines = ["", *lines]
        else:
            source = where.text[node.start : node.end].replace("\r\n", "\n").split("\n")
            if isinstance(value, str) and len(source) > 1:
                kept = in_its_lines(node, source, value, column)
                if kept is not None:
                    return kept
            lines = layout.scalar(value, like)
        return [lines[0], *indented(lines[1:], column + by)]

    def _lay(self, node: SyntaxNode, head: int, first: str, rest: Sequence[str]) -> None:
        """Write a first line after a key or dash, and the rest below, in place of a node."""
        where, newline = self.where, self.layout.newline
        head_end = where.line_end(head)
        is_below = node.start > head_end
        end_of_head = self._anchor_end(node) if node.anchor else head
        on_head = is_below or node.start == node.end or not first
        start = end_of_head if on_head else node.start
        opening = f" {first}" if first and on_head else first
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
        lines = [*rest, *(margin + comment for comment in comments)]
        self._write(start, header_end, opening)
        self._write(below, stop, "".join(newline + line for line in lines))


def staying(items: Sequence[ListItem], path: Path) -> dict[int, ListItem]:
    """Return the items that keep their place in a list, by index: as many as possible."""
    placed = [
        (int(item.origin[-1]), item)
        for item in items
        if item.origin is not None and item.origin[:-1] == path
    ]
    shifted = shifted_in([nth for nth, _ in placed])
    return {nth: item for nth, item in placed if nth not in shifted}


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
