"""Write the tables of docs/ that the program knows: commands, exit codes, complaints, guards.

They are between two comments of a page that name this script; tests/test_docs.py fails where one
is stale. Examples of commands are in scripts/command_examples.md.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args, get_type_hints

import click
from pydantic.alias_generators import to_camel

from reconciler.cli.overview import grouped
from reconciler.cli.root import cli
from reconciler.cli.schema import schemas
from reconciler.errors import PRECEDENCE, ExitCode
from reconciler.journal.entries import ENTRY_NAMES, Entry, Header
from reconciler.journal.line_fields import JournalLine, in_lines
from reconciler.kinds import BY_NAME, KINDS
from reconciler.model import Reason, Ref, Remark
from reconciler.model.guards import BREAK_GLASS, GUARDS, NOT_APPROVED, REVIEW_LEVEL
from reconciler.project.settings import ALLOWABLE
from reconciler.report.explanations.pages import EXIT, FAMILIES, Explanation, explanation
from reconciler.syntax.diagnostic import AUDITED, CODES

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
EXAMPLES: Final = ROOT / "scripts" / "command_examples.md"
BEGIN: Final = "<!-- {name}: written by scripts/write_pages.py -->\n"
END: Final = "<!-- end of {name} -->\n"
CODES_AT: Final = "../reconciler/report/explanations/codes"
SHARED: Final = 3
"""An option of so many commands is described once."""
BAR: Final = "\\|"
HINTS: Final = {"Json": object}
"""What a forward reference in the types of the journal means here: any value."""


@dataclass(frozen=True)
class Section:
    """Exit codes, notes and examples of a command, from the file of examples."""

    exits: tuple[str, ...]
    text: str


def sections() -> dict[str, Section]:
    """Return the sections of the file of examples by command, in the order in which they run."""
    found = {}
    for part in EXAMPLES.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        codes = re.search(r"^Exit codes: ([\d ]+)\n", text, re.MULTILINE)
        found[name] = Section(
            exits=tuple(codes[1].split()) if codes else (),
            text=(text.replace(codes[0], "") if codes else text).strip("\n"),
        )
    return found


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file: its own prose, with fresh tables."""
    found = {}
    for name, tables in PAGES.items():
        text = (DOCS / name).read_text(encoding="utf-8")
        for table, written in tables.items():
            begin, end = BEGIN.format(name=table), END.format(name=table)
            head, _, rest = text.partition(begin)
            text = f"{head}{begin}{written()}{end}{rest.partition(end)[2]}"
        found[name] = text
    return found


def _table(heads: str, rows: Iterable[str]) -> str:
    return "\n".join((f"| {heads} |", f"|{'---|' * (heads.count('|') + 1)}", *rows, ""))


def _overview() -> str:
    rows = (
        f"| {words.rstrip('.')} | [`{name.strip()}`](#{name.strip()}) |"
        for listed in grouped().values()
        for name, words in listed
    )
    return _table("to | command", rows)


def _shared() -> dict[str, None]:
    """Return the rows of the options that several commands have in the same words."""
    rows = [_option(option) for command in _leaves(cli) for option in _options(command)]
    return dict.fromkeys(
        row for row in rows if rows.count(row) >= SHARED and "`--format" not in row
    )


def _leaves(command: click.Command) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        for _, member in _members(command, click.Context(command)):
            yield from _leaves(member)
    else:
        yield command


def _members(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        if (member := group.get_command(context, name)) is not None:
            yield name, member


def _options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


def _option(option: click.Option) -> str:
    words, said = option.get_help_record(click.Context(cli)) or ("", "")
    # A bar would end the cell, or be shown with its backslash.
    return f"| `{words.replace('|', ',')}` | {_cell(said)} |"


def _commands() -> str:
    members = dict(_members(cli, click.Context(cli)))
    lines: list[str] = []
    for name, section in sections().items():
        lines += ["", f"## {name}", "", *_described(members[name], f"reconciler {name}")]
        if section.exits:
            codes = ", ".join(f"[{code}]({CODES_AT}/{EXIT}{code}.md)" for code in section.exits)
            lines += [f"Exit codes besides 0: {codes}.", ""]
        lines += [section.text]
        if isinstance(group := members[name], click.Group):
            for inner, command in _members(group, click.Context(group)):
                path = f"{name} {inner}"
                lines += ["", f"### {path}", "", *_described(command, f"reconciler {path}")]
    return "\n".join([*lines, ""]).replace("\n\n\n", "\n\n")


def _described(command: click.Command, path: str) -> Iterator[str]:
    """Yield the help of a command, its synopsis and its options."""
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_prose(" ".join(paragraph.split())), "")
    if isinstance(command, click.Group):
        return
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    yield from ("```text", f"{path} {usage}", "```", "")
    shared, rows = _shared(), [_option(option) for option in _options(command)]
    if own := [row for row in rows if row not in shared]:
        yield _table("option | what it does", own)
    if others := ", ".join(row.split(" | ")[0][2:] for row in rows if row in shared):
        yield from (f"Also {others}: see [above](#options-of-several-commands).", "")
    if path == "reconciler schema":
        named = ", ".join(f"`{schema}`" for schema in schemas() if schema not in BY_NAME)
        yield from (f"Schemas: one for each kind, and {named}.", "")


def _exit_codes() -> str:
    rows = []
    for code in ExitCode:
        found = _explained(f"{EXIT}{code.value}")
        typed = " or ".join(f"`{line}`" for line in found.right.typed)
        link = f"[{code.value}]({CODES_AT}/{found.code}.md)"
        rows.append(f"| {link} | {code.words} | {_cell(f'{found.right.says} {typed}'.strip())} |")
    return _table("code | meaning | what to do", rows)


def _order() -> str:
    order = ", ".join(str(code.value) for code in PRECEDENCE)
    return (
        f"When several apply to one run, the first of this order is given: {order}. So 3 means "
        "that some resources were refused or skipped, and nothing worse.\n"
    )


def _complaints() -> str:
    known, text = {**CODES, **AUDITED}, ""
    for family in FAMILIES.values():
        rows = [
            f"| [{code}]({CODES_AT}/{code}.md) | {words} |"
            for code, words in known.items()
            if _explained(code).family is family
        ]
        if rows:
            heading = f"{family.about[0].upper()}{family.about[1:]}"
            text += f"\n## {heading}\n\n{_table('code | meaning', rows)}"
    return text


def _reasons(base: type[Reason | Remark]) -> str:
    return _table("code | what it says | data", map(_reason, base.__subclasses__()))


def _reason(reason: type[Reason | Remark]) -> str:
    data = ", ".join(f"`{to_camel(field.name)}`" for field in dataclasses.fields(reason))
    link = f"[`{reason.code}`]({CODES_AT}/{reason.code}.md)"
    return f"| {link} | {_explained(reason.code).title} | {data} |"


def _guards() -> str:
    return _table("code | level | refused where | lifted by", map(_guard, GUARDS))


def _guard(code: str) -> str:
    guard, allowed = GUARDS[code], {*ALLOWABLE, *(code for kind in KINDS for code in kind.consents)}
    ways = ["a review"] if guard.level == REVIEW_LEVEL else []
    ways += ["`allow`"] if code in allowed else []
    ways += [f"`--{guard.flag or 'override-guard'}`"]
    ways += [f"`--{BREAK_GLASS}` where it is permitted"] if code == NOT_APPROVED else []
    link = f"[`{code}`]({CODES_AT}/{code}.md)"
    return f"| {link} | {guard.level} | {_explained(code).title} | {', '.join(ways)} |"


def _entries() -> str:
    rows = [f"| the first line | {_meaning(Header)} | {_fields(Header)} |"]
    rows += [
        f"| `{name}` | {_meaning(entry)} | {_fields(entry)} |"
        for name, entry in zip(ENTRY_NAMES, get_args(Entry), strict=True)
    ]
    return _table("entry | what it records | fields besides `entry`, `at` and `ref`", rows)


def _meaning(line: type[JournalLine]) -> str:
    """Return the docstring of a line of the journal, with the names that fields have in lines."""
    text = " ".join((line.__doc__ or "").split()).replace("`MovedIn`", "`arrived`")
    text = text.replace("`Moved`", "`moved`").replace("an `ImportedEntry`", "an `imported`")
    text = re.sub(r"`(\w+)`", lambda name: f"`{in_lines(name[1])}`", text)
    return _cell(text.replace(" None ", " null "))


def _fields(line: type) -> str:
    """Return the fields of a line, each with those inside it."""
    named = (
        name for name in get_type_hints(line, localns=HINTS) if name not in {"entry", "at", "ref"}
    )
    return ", ".join(_field(line, name) for name in named if not name.startswith("_"))


def _field(line: type, name: str) -> str:
    inside = ", ".join(
        _fields(part)
        for part in _parts(get_type_hints(line, localns=HINTS)[name])
        if dataclasses.is_dataclass(part)
    )
    return f"`{in_lines(name)}`" + (f" ({inside})" if inside else "")


def _parts(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and hint is not Ref:
        yield hint
    for part in get_args(hint):
        yield from _parts(part)


def _explained(code: str) -> Explanation:
    found = explanation(code)
    if found is None:
        raise SystemExit(f"{code} has no page in reconciler/report/explanations/codes/")
    return found


def _prose(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def _cell(text: str) -> str:
    return _prose(text).replace("|", BAR)


PAGES: Final[Mapping[str, Mapping[str, Callable[[], str]]]] = {
    "commands.md": {
        "overview": _overview,
        "options": lambda: _table("option | what it does", _shared()),
        "commands": _commands,
    },
    "exit-codes.md": {"exit-codes": _exit_codes, "order": _order},
    "errors.md": {"complaints": _complaints},
    "reasons.md": {"reasons": lambda: _reasons(Reason), "remarks": lambda: _reasons(Remark)},
    "guards.md": {"guards": _guards},
    "journal-entries.md": {"entries": _entries},
}
"""The tables of each page, by their names in its comments."""


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    print(f"{len(pages())} pages in docs/: {', '.join(pages())}")


if __name__ == "__main__":
    main()
