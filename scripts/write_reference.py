"""Write docs/reference/: a page for each kind, and one for what is around `spec`.

What they say is what `reconciler explain` says. A test fails when one of them is stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reconciler.features.explain.explain_formats import facts_of
from reconciler.features.explain.field_reference import MANIFESTS, PROJECT, Field, roots
from reconciler.features.explain.look_up import document_of
from reconciler.syntax.yaml_text import yaml_text

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
WRITTEN = "Written by `scripts/write_reference.py`; a test fails when it is stale."


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    fields = {_page_of(root): _fields_page(root) for root in roots().values()}
    return {"index.md": _fields_index(), **fields}


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
    return text.replace("|", "\\|").replace("*", "\\*").replace("{", "&#123;")


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
