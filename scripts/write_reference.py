"""Write docs/reference/: a page for each kind, for what is around `spec`, and for the emulator.

What they say of fields is what `reconciler explain` says, and of the emulator what the comments on
its settings say. A test fails when one of them is stale.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from reconciler.emulator.faults import Drip, Fault, Faults, PartialBulk, Rule
from reconciler.emulator.profile import ExtraList, ExtraRead, Profile
from reconciler.features.explain.explain_formats import facts_of
from reconciler.features.explain.field_reference import (
    MANIFESTS,
    PROJECT,
    Field,
    document_of,
    roots,
)
from reconciler.syntax.tidy import yaml_text

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
WRITTEN = "Written by `scripts/write_reference.py`; a test fails when it is stale."


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    fields = {_page_of(root): _fields_page(root) for root in roots().values()}
    return {"index.md": _fields_index(), **fields, "emulator.md": _emulator_page()}


def _page_of(root: Field) -> str:
    return f"{root.root}.md"


def _title(root: Field) -> str:
    return {PROJECT: "reconciler.yaml", MANIFESTS: "Any manifest"}.get(root.root, root.root)


def _fields_index() -> str:
    lines = [
        "# Fields",
        "",
        "Every field of every kind, of what is around `spec`, and of the project file.",
        f"`reconciler explain FIELD` says the same. {WRITTEN}",
        "",
        "| page | what it is |",
        "|---|---|",
        *(
            f"| [{_title(root)}]({_page_of(root)}) | {_cell(root.said)} |"
            for root in roots().values()
        ),
        "| [Emulator](emulator.md) | The settings of a profile and of faults. |",
    ]
    return "\n".join(lines) + "\n"


def _fields_page(root: Field) -> str:
    inside = [field for field in root.inside() if field.read_only is None]
    unread = [field for field in root.inside() if field.read_only is not None]
    lines = [
        f"# {_title(root)}",
        "",
        f"{root.said} {WRITTEN}",
        "",
        *_requests(root),
        "```yaml",
        *yaml_text(document_of(root)).splitlines(),
        "```",
        "",
        "Steps into lists are left out of paths, and `spec` is too.",
        "",
        "| field | type | what it is for |",
        "|---|---|---|",
        *(_row(field) for field in inside),
    ]
    if unread:
        lines += [
            "",
            "## Set by the service",
            "",
            "A manifest that declares one of these is refused (M305).",
            "",
            "| field | what it is |",
            "|---|---|",
            *(f"| `{'.'.join(field.path)}` | {_cell(field.said)} |" for field in unread),
        ]
    return "\n".join(lines) + "\n"


_SETTINGS = {
    Profile: (
        "Profile",
        "`emulator serve --profile FILE`, as JSON. A missing switch has its first value.",
    ),
    ExtraRead: ("A read", "A value of `reads` in a profile, by kind."),
    ExtraList: ("A list", "A value of `lists` in a profile, by kind."),
    Faults: ("Faults", "`emulator serve --faults FILE`, as JSON."),
    Rule: ("A rule", "One of `rules`. A rule without conditions strikes every request."),
    Fault: ("A fault", "`fault` of a rule: one of these, or several at once."),
    Drip: ("Drip", "`drip` of a fault."),
    PartialBulk: ("Partial", "`partial` of a fault: items of a bulk request, by their index."),
}


def _emulator_page() -> str:
    lines = ["# Emulator", "", f"The settings of the [emulator](../emulator.md). {WRITTEN}"]
    for model, (title, what) in _SETTINGS.items():
        lines += [
            "",
            f"## {title}",
            "",
            what,
            "",
            "| setting | values | meaning |",
            "|---|---|---|",
        ]
        lines += _setting_rows(model)
    return "\n".join(lines) + "\n"


def _setting_rows(model: type[Any]) -> Iterator[str]:
    """Yield a row for each setting: its name, its values, and the comment above it."""
    shapes = TypeAdapter(model).json_schema()["properties"]
    commented = re.findall(r"((?:^    # .+\n)+)    (\w+): ", inspect.getsource(model), re.MULTILINE)
    for (name, shape), (comment, field) in zip(shapes.items(), commented, strict=True):
        if name != to_camel(field):
            raise ValueError(f"{model.__name__}.{name} has no comment above it")
        meaning = " ".join(line.strip(" #") for line in comment.splitlines())
        yield f"| `{name}` | {_values(shape)} | {meaning} |"


def _values(shape: dict[str, Any]) -> str:
    """Return the values of a setting, its default first."""
    forms = [shape, *shape.get("anyOf", ())]
    values = [value for form in forms for value in form.get("enum", ())]
    values = [False, True] if shape.get("type") == "boolean" else values
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    known = shape.get("default")
    default = known if isinstance(known, str) else json.dumps(known)
    if texts:
        return ", ".join(sorted(texts, key=lambda text: text != default))
    types = [form["type"] for form in forms if form.get("type", "null") != "null"]
    shown = f", {default}" if isinstance(known, str | int | float) and known != "" else ""
    return f"{' or '.join(types) or 'object'}{shown}"


def _requests(root: Field) -> Iterator[str]:
    if root.endpoints:
        yield "| request | what it does |"
        yield "|---|---|"
        for endpoint in root.endpoints:
            yield f"| `{endpoint.shown}` | {endpoint.does} |"
        yield ""


def _row(field: Field) -> str:
    facts = {word: said for word, said in facts_of(field) if word not in {"type", "carried by"}}
    if facts.get("needed") == "no":
        del facts["needed"]
    more = "".join(f"<br>{word}: {said}" for word, said in facts.items())
    return f"| `{'.'.join(field.path)}` | {field.form} | {_cell(field.said + more)} |"


def _cell(text: str) -> str:
    # What is in backticks is shown as it is, but for the bar of a table.
    parts = text.replace("|", "\\|").split("`")
    parts[::2] = (part.replace("*", "\\*").replace("{", "&#123;") for part in parts[::2])
    return "`".join(parts)


def main() -> None:
    """Write what should be there, and remove what should not."""
    written = pages()
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(written)} pages in docs/reference/")


if __name__ == "__main__":
    main()
