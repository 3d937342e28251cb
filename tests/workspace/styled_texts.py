"""Random documents with a style of their own in YAML and JSON, and edits of them.

A document is a model that renders to its text. An edit is made in the model, so that what it
renders to then is the text that a careful person would have made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, TypeAlias

from reconciler.document import Edit, Gone, ListItem, ListItems, Path, Put, Within, towards

WORDS = [
    "errors",
    "of",
    "checkout",
    "by",
    "region",
    "and",
    "status",
    "where",
    "latency",
    "is",
    "above",
    "a",
    "tenth",
    "second",
]
ODD = [
    "yes",
    "null",
    "12",
    "1e3",
    "- a",
    "a: b",
    "x # y",
    "*star",
    "${var:team}",
    "# no",
    "é ü",
    "'",
    '"',
    " a",
    "{a}",
]
LITERALS = ("|", ">")
_uids = count()


@dataclass
class Node:
    """A part of a model, told apart by its number."""

    uid: int = field(default_factory=lambda: next(_uids), kw_only=True)
    anchor: str = field(default="", kw_only=True)


@dataclass
class Scalar(Node):
    """A value and how it is quoted."""

    value: Any
    style: str = ""


@dataclass
class Member:
    """A node in its holder, with the comments above and behind it."""

    node: Any
    key: str = ""
    above: tuple[str, ...] = ()
    behind: str = ""


@dataclass
class Mapping(Node):
    """Named members; `flow` is `one` line or `multi`, or nothing for a block."""

    members: list[Member]
    flow: str = ""


@dataclass
class Sequence(Node):
    """Members in their order, laid out as those of a mapping."""

    members: list[Member]
    flow: str = ""


@dataclass
class Alias(Node):
    """A part that stands elsewhere already."""

    target: Node


Any_: TypeAlias = Scalar | Mapping | Sequence | Alias


def value_of(node: Any) -> Any:
    match node:
        case Scalar(value=value):
            return value
        case Mapping(members=members):
            return {member.key: value_of(member.node) for member in members}
        case Sequence(members=members):
            return [value_of(member.node) for member in members]
        case _:
            return value_of(node.target)


PLAIN = re.compile(r"(?!yes$|no$|null$|true$|false$)[A-Za-z][\w ./-]*(?<! )")


def is_plain(value: str) -> bool:
    """Tell whether a text needs no quotes, whatever stands around it."""
    return PLAIN.fullmatch(value) is not None


@dataclass
class Style:
    """How one file is laid out, and what draws it."""

    random: Random
    is_json: bool = False
    comments: list[str] = field(default_factory=list)
    step: int = 2
    offset: int = 2
    gap: int = 1
    newline: str = "\n"
    anchored: list[Node] = field(default_factory=list)
    indent: Any = 2

    def maybe(self, share: float) -> bool:
        """Say yes to a share of all questions."""
        return self.random.random() < share

    def comment(self) -> str:
        """Give a comment that no other is like."""
        said = f"# comment {len(self.comments)}"
        self.comments.append(said)
        return said

    # making

    def words(self) -> str:
        """Give a few words."""
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 5)))

    def value(self) -> Any:
        """Give a value, odd ones among them."""
        kind = self.random.random()
        if kind < 0.5:
            return self.words()
        if kind < 0.6:
            return self.random.choice(ODD)
        if kind < 0.7:
            return "\n".join(
                self.words() for _ in range(self.random.randint(2, 4))
            ) + self.random.choice(["", "\n"])
        return self.random.choice([0, 7, 99.5, True, False, None, -3, "1000", ""])

    def scalar(self, value: Any, *, in_flow: bool) -> Scalar:
        """Give a value in a style that can hold it."""
        if not isinstance(value, str):
            return Scalar(value)
        styles = ["'", '"'] if "\n" not in value else ['"']
        if is_plain(value):
            styles += ["", "", "", ""]
        if not in_flow and value.strip() and value[0].isalpha():
            styles += ["|", "|"]
            if "\n" not in value.rstrip("\n"):
                styles += [">"]
        if "\n" in value and not in_flow and "|" in styles:
            styles = ["|", "|", "|", '"']
        return Scalar(value, self.random.choice(styles))

    def node(self, depth: int, in_flow: str = "") -> Any:
        """Give a part, with parts in it down to some depth."""
        kind = self.random.random()
        if not self.is_json and not in_flow and self.anchored and self.maybe(0.12):
            return Alias(self.random.choice(self.anchored))
        if depth <= 0 or kind < 0.4:
            made: Any = self.scalar(self.value(), in_flow=bool(in_flow))
        else:
            flow = (
                ""
                if not in_flow and self.maybe(0.75)
                else ("multi" if not in_flow and self.maybe(0.4) else "one")
            )
            if in_flow == "multi" and self.maybe(0.5):
                flow = "multi"
            size = self.random.randint(1, 4)
            nodes = [self.node(depth - 1, flow) for _ in range(size)]
            if kind < 0.7:
                names = self.random.sample("abcdefghij", size)
                made = Mapping(
                    [Member(node, name) for node, name in zip(nodes, names, strict=True)], flow
                )
            else:
                made = Sequence([Member(node) for node in nodes], flow)
            for member in made.members:
                self.decorate(member, flow)
        if (
            not in_flow
            and not self.is_json
            and self.maybe(0.06)
            and not (isinstance(made, Scalar) and made.style in LITERALS)
        ):
            made.anchor = f"n{len(self.anchored)}"
            self.anchored.append(made)
        return made

    def decorate(self, member: Member, flow: str) -> None:
        """Put comments around a member."""
        if self.is_json or flow == "one":
            return
        if self.maybe(0.15):
            member.above = tuple(self.comment() for _ in range(self.random.randint(1, 2)))
        node = member.node
        inline = (
            isinstance(node, Alias)
            or (isinstance(node, Scalar) and node.style not in LITERALS)
            or (not isinstance(node, Scalar) and node.flow == "one")
        )
        if inline and self.maybe(0.2):
            member.behind = self.comment()

    # rendering

    def token(self, node: Scalar) -> str:
        """Give a value on one line."""
        value = node.value
        if not isinstance(value, str) or self.is_json:
            return json.dumps(value, ensure_ascii=False)
        if node.style == "'" and "\n" not in value:
            return "'" + value.replace("'", "''") + "'"
        if node.style == "" and is_plain(value):
            return value
        return json.dumps(value, ensure_ascii=False)

    def lead(self, node: Any) -> str:
        """Give what stands before an anchored part."""
        return f"&{node.anchor} " if node.anchor else ""

    def flow_text(self, node: Any, margin: str) -> str:
        """Give a part between braces or brackets."""
        if isinstance(node, Alias):
            return f"*{node.target.anchor} "
        if isinstance(node, Scalar):
            return self.token(node)
        is_map = isinstance(node, Mapping)
        opening, closing = "{}" if is_map else "[]"
        if not node.members:
            return opening + closing
        inner = margin + " " * self.step
        if node.flow == "multi":
            lines = []
            for nth, member in enumerate(node.members):
                lines += [inner + said for said in member.above]
                text = (f"{member.key}: " if is_map else "") + self.flow_text(member.node, inner)
                comma = "," if nth + 1 < len(node.members) else ""
                lines.append(inner + text + comma + (f" {member.behind}" if member.behind else ""))
            return "\n".join([opening, *lines, margin + closing])
        parts = [
            (f"{member.key}: " if is_map else "") + self.flow_text(member.node, margin)
            for member in node.members
        ]
        return opening + ", ".join(parts) + closing

    def block_lines(self, value: str, style: str) -> list[str]:
        """Give the lines of a block text."""
        ended = value.endswith("\n")
        body = value[:-1] if ended else value
        lines = body.split("\n") if style == "|" else self.folded(body)
        return [style + ("" if ended else "-"), *lines]

    def folded(self, body: str) -> list[str]:
        """Give the lines of a paragraph."""
        words = body.split(" ")
        return [" ".join(words[nth : nth + 3]) for nth in range(0, len(words), 3)]

    def after_head(  # noqa: PLR0911 - a table of forms
        self, head: str, node: Any, margin: str, below: int, behind: str
    ) -> list[str]:
        """Give the lines of a key or dash with its value, lines under it `below` blanks further."""
        tail = f" {behind}" if behind else ""
        if isinstance(node, Alias):
            return [f"{margin}{head} *{node.target.anchor}{tail}"]
        lead = self.lead(node)
        if isinstance(node, Scalar):
            if (
                node.style in LITERALS
                and isinstance(node.value, str)
                and self.may_block(node.value, node.style)
            ):
                first, *rest = self.block_lines(node.value, node.style)
                inner = margin + " " * (self.step if head != "-" else below)
                return [
                    f"{margin}{head} {lead}{first}{tail}",
                    *(inner + text if text else text for text in rest),
                ]
            return [f"{margin}{head} {lead}{self.token(node)}{tail}"]
        if node.flow or not node.members:
            return f"{margin}{head} {lead}{self.flow_text(node, margin)}{tail}".split("\n")
        if head != "-":
            by = self.offset if isinstance(node, Sequence) else self.step
            first = f"{margin}{head}" + (f" {lead.rstrip()}" if lead else "") + tail
            return [first, *self.block(node, margin + " " * by)]
        lines = self.block(node, margin + " " * below)
        if lead or node.members[0].above:
            return [f"{margin}-" + (f" {lead.rstrip()}" if lead else ""), *lines]
        return [f"{margin}-" + " " * (below - 1) + lines[0].lstrip(" "), *lines[1:]]

    def may_block(self, value: str, style: str) -> bool:
        """Tell whether a text can be a block text."""
        body = value.rstrip("\n")
        return (
            bool(body.strip())
            and body[0].isalpha()
            and not value.endswith("\n\n")
            and (style == "|" or "\n" not in body)
        )

    def block(self, node: Any, margin: str) -> list[str]:
        """Give the lines of a block."""
        lines = []
        for member in node.members:
            lines += [margin + said for said in member.above]
            head = f"{member.key}:" if isinstance(node, Mapping) else "-"
            lines += self.after_head(head, member.node, margin, 1 + self.gap, member.behind)
        return lines

    def text(self, roots: list[Any]) -> str:
        """Give the whole text of some documents."""
        if self.is_json:
            return json.dumps(value_of(roots[0]), indent=self.indent, ensure_ascii=False) + "\n"
        documents = ["\n".join(self.block(root, "")) + "\n" for root in roots]
        return "---\n".join(documents).replace("\n", self.newline)


def style_of(random: Random) -> Style:
    made = Style(random, is_json=random.random() < 0.15)
    made.step = random.choice([2, 2, 4])
    made.offset = random.choice([0, made.step])
    made.gap = random.choice([1, 1, 1, 3])
    made.indent = random.choice([None, 2, 2, 4, "\t"])
    made.newline = random.choice(["\n", "\n", "\n", "\r\n"])
    return made


def root_of(style: Style) -> Mapping:
    style.anchored = []
    names = style.random.sample("klmnopqrst", style.random.randint(2, 6))
    made = Mapping([Member(style.node(3), name) for name in names])
    for member in made.members:
        style.decorate(member, "")
    return made


# edits


def copied(node: Any) -> Any:
    match node:
        case Alias(target=target):
            return Alias(target, uid=node.uid)
        case Scalar(value=value, style=style):
            return Scalar(value, style, uid=node.uid, anchor=node.anchor)
        case _:
            members = [
                Member(copied(member.node), member.key, member.above, member.behind)
                for member in node.members
            ]
            return type(node)(members, node.flow, uid=node.uid, anchor=node.anchor)


def relinked(root: Any) -> Any:
    """Give a copy in which aliases mean nodes of the copy."""
    made = copied(root)
    by_uid = {value.uid: value for value in walk(made)}
    for value in walk(made):
        if isinstance(value, Alias):
            value.target = by_uid[value.target.uid]
    return made


def walk(node: Any) -> Iterator[Any]:
    yield node
    for member in getattr(node, "members", ()):
        yield from walk(member.node)


def holds_names(node: Any) -> bool:
    return any(isinstance(value, Alias) or value.anchor for value in walk(node))


@dataclass
class Editing:
    """Random edits of one model; `kept` are comments whose lines went."""

    style: Style
    root: Any

    @property
    def random(self) -> Random:
        """The source of chance."""
        return self.style.random

    def targets(self) -> set[int]:
        """Give the parts that are repeated somewhere."""
        return {one.target.uid for one in walk(self.root) if isinstance(one, Alias)}

    def guarded(self) -> set[int]:
        """Give the nodes in what is repeated elsewhere, which have edits of their own."""
        targets = self.targets()
        return {
            inner.uid for value in walk(self.root) if value.uid in targets for inner in walk(value)
        }

    def edit(self) -> None:
        """Make one edit, somewhere."""
        guarded = self.guarded()
        holders = [
            one
            for one in walk(self.root)
            if isinstance(one, Mapping | Sequence) and one.uid not in guarded
        ]
        holder = self.random.choice(holders)
        acts = [self.change, self.change, self.remove, self.add, self.move]
        self.random.choice(acts)(holder, guarded)

    def change(self, holder: Any, guarded: set[int]) -> None:
        """Change a value."""
        member = self.random.choice(holder.members) if holder.members else None
        if member is None:
            return
        node = member.node
        if isinstance(node, Scalar) and node.uid not in guarded:
            old = node.value
            if isinstance(old, str) and " " in old and self.random.random() < 0.7:
                words = old.split(" ")
                words[self.random.randrange(len(words))] = "changed"
                node.value = " ".join(words)
            elif isinstance(old, str):
                node.value = self.random.choice(["changed", "no: \"colon'", "two\nlines", "12"])
                if node.value == "two\nlines" and node.style not in LITERALS:
                    node.style = "|" if not holder.flow and not self.style.is_json else '"'
            else:
                node.value = self.random.choice([1, 2.5, True, "text", 1000])
        elif isinstance(node, Alias) and isinstance(node.target, Scalar):
            member.node = Scalar(
                "other", "" if node.target.style in LITERALS else node.target.style
            )

    def remove(self, holder: Any, guarded: set[int]) -> None:
        """Take a member away; its comments stay."""
        if len(holder.members) < (3 if holder is self.root else 2):
            return
        nth = self.random.randrange(len(holder.members))
        gone = holder.members[nth]
        if any(value.uid in guarded or value.anchor for value in walk(gone.node)):
            return
        rest = [*gone.above, *comments_in(gone.node), *([gone.behind] if gone.behind else [])]
        if rest and nth + 1 < len(holder.members):
            after = holder.members[nth + 1]
            after.above = (*rest, *after.above)
        elif rest:
            return
        del holder.members[nth]

    def add(self, holder: Any, guarded: set[int]) -> None:
        """Add a member."""
        del guarded
        value: Any = self.random.choice(
            ["new", 5, {"x": 1, "y": "z"}, ["p", "q"], "several\nlines\n"]
        )
        node = self.fresh(value, holder.flow)
        if isinstance(holder, Mapping):
            if all(member.key != "new" for member in holder.members):
                holder.members.append(Member(node, "new"))
        else:
            holder.members.insert(self.random.randint(0, len(holder.members)), Member(node))

    def fresh(self, value: Any, flow: str) -> Any:
        """Give a new part, laid out as its holder."""
        if isinstance(value, dict):
            return Mapping(
                [Member(self.fresh(member, flow), key) for key, member in value.items()], flow
            )
        if isinstance(value, list):
            return Sequence([Member(self.fresh(element, flow)) for element in value], flow)
        return Scalar(value, "|" if isinstance(value, str) and "\n" in value and not flow else "")

    def move(self, holder: Any, guarded: set[int]) -> None:
        """Move an item in its list."""
        del guarded
        if not isinstance(holder, Sequence) or len(holder.members) < 2 or holds_names(holder):
            return
        member = holder.members.pop(self.random.randrange(len(holder.members)))
        holder.members.insert(self.random.randint(0, len(holder.members)), member)


def comments_in(node: Any) -> list[str]:
    found = []
    for member in getattr(node, "members", ()):
        found += [
            *member.above,
            *comments_in(member.node),
            *([member.behind] if member.behind else []),
        ]
    return found


def edit_between(old: Any, new: Any, path: Path = ()) -> Edit | None:
    """Give the edit that makes the value of one model that of another, nodes told by their uid."""
    before, after = value_of(old), value_of(new)
    if isinstance(old, Mapping) and isinstance(new, Mapping) and old.uid == new.uid:
        theirs = {member.key: member.node for member in old.members}
        mine = {member.key: member.node for member in new.members}
        fields: dict[str, Edit] = {key: Gone() for key in theirs if key not in mine}
        for key, node in mine.items():
            if key not in theirs:
                fields[key] = Put(value_of(node))
            elif (edit := edit_between(theirs[key], node, (*path, key))) is not None:
                fields[key] = edit
        return Within(fields) if fields else None
    if isinstance(old, Sequence) and isinstance(new, Sequence) and old.uid == new.uid:
        places = {member.node.uid: nth for nth, member in enumerate(old.members)}
        items = []
        for member in new.members:
            nth = places.get(member.node.uid)
            if nth is None:
                items.append(ListItem(None, Put(value_of(member.node))))
            else:
                edit = edit_between(old.members[nth].node, member.node, (*path, nth))
                items.append(ListItem((*path, nth), edit))
        same = [ListItem((*path, nth)) for nth in range(len(old.members))]
        return None if items == same else ListItems(tuple(items))
    return towards(before, after, path)


def changed_lines(before: str, after: str) -> int:
    """Count the lines that go and come, as the best possible diff would."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for nth, other in enumerate(new):
            row.append(above[nth] + 1 if line == other else max(above[nth + 1], row[-1]))
    return len(old) + len(new) - 2 * row[-1]
