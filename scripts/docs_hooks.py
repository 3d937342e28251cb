"""Add to the site of docs/: pages from elsewhere, plain Markdown, an index, pictures.

MkDocs calls these functions while it builds (mkdocs.yml).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from draw_pictures import draw
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure import StructureItem
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from reconciler.errors import ExitCode
from reconciler.model import Reason, Remark
from reconciler.model.guards import GUARDS
from reconciler.report.explanations.pages import (
    EXIT,
    FAMILIES,
    Explanation,
    code_markdown,
    codes,
    explanation,
)
from reconciler.syntax.diagnostic import AUDITED, CODES

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "build" / "pictures"
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "examples/workflows/README.md": "workflows.md",
}
"""Pages of the site that are elsewhere in the repository."""

DIAGNOSTICS = "diagnostics"
EXPLAINED = "reconciler/report/explanations/codes"
OF_CODES = {
    EXPLAINED: f"{DIAGNOSTICS}/index.md",
    **{f"{EXPLAINED}/{code}.md": f"{DIAGNOSTICS}/{code}.md" for code in codes()},
}
"""Pages of the site that are made of the pages of codes, and their index."""

LOOKED_UP = {
    DIAGNOSTICS,
    "action.md",
    "assumptions.md",
    "changelog.md",
    "contributing.md",
    "evidence",
    "journal-entries.md",
    "reasons.md",
    "reference",
}
"""Pages that are looked up by name: the search shows them after pages about a task."""

BOOST_OF_LOOKED_UP = 0.3

FENCED = re.compile(r"(^ *```.*?^ *```[ \t]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
SUMMARY = 160
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
PART = re.compile(
    r'aria-labelledby="__nav_\w+_label"( [^>]*>\s*<label class="md-nav__title"[^>]*>(.*?)</label>)',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]+>")
CARDS_FROM = 3
"""Columns of the tables that are too wide for a phone."""

ROLES = {
    "table": 'role="table"',
    "thead": 'role="rowgroup"',
    "tbody": 'role="rowgroup"',
    "tr": 'role="row"',
    "th": 'role="columnheader"',
    "td": 'role="cell"',
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write out the folders that the navigation names as a whole; let fences become pictures."""
    drawn = {"name": "mermaid", "class": "picture", "format": _picture}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [drawn]}
    config.nav = [_expanded(value, Path(config.docs_dir)) for value in config.nav or []]
    return config


def _picture(source: str, *_: object, **__: object) -> str:
    return draw(source, PICTURES)


def _expanded(entry: object, docs: Path) -> object:
    if isinstance(entry, dict):
        return {name: _expanded(value, docs) for name, value in entry.items()}
    if isinstance(entry, list):
        return [_expanded(value, docs) for value in entry]
    if entry == f"{DIAGNOSTICS}/*":
        return [*OF_CODES.values()]
    if not (isinstance(entry, str) and entry.endswith("/*")):
        return entry
    files = sorted(docs.glob(f"{entry[:-2]}/*.md"), key=lambda file: (file.stem != "index", file))
    return [file.relative_to(docs).as_posix() for file in files]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from elsewhere, and every other file that a page links to."""
    for source, name in ELSEWHERE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for name in OF_CODES.values():
        files.append(File.generated(config, name, content=_text(name)))
    linked = {
        target
        for file in files.documentation_pages()
        for target in _linked(_text(file.src_uri), file)
    }
    for target in sorted(linked):
        content = (ROOT / target).read_bytes()
        files.append(File.generated(config, _copy_of(target), content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where things are in the site, and the search find tasks first."""
    del config, files
    if PurePosixPath(page.file.src_uri).parts[0] in LOOKED_UP:
        page.meta["search"] = {"boost": BOOST_OF_LOOKED_UP}
    return _rewritten(markdown, page.file.src_uri)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Name the cells of wide tables, whose rows are cards on a phone."""
    del page, config, files
    # A heading without words is none.
    return re.sub(r"<th\b[^>]*></th>", "<td></td>", TABLE.sub(_table, html))


def _table(match: re.Match[str]) -> str:
    columns = [TAG.sub("", said) for said in re.findall(r"<th\b[^>]*>(.*?)</th>", match[0])]
    if len(columns) < CARDS_FROM:
        return match[0]
    names = itertools.cycle(columns)
    text = re.sub(r"<td\b", lambda _: f'<td data-of="{next(names)}"', match[0])
    text = text.replace("<table", f'<table data-cards="{len(columns)}"', 1)
    # A part that is laid out as a block has no role of its own.
    return re.sub(
        r"<(table|thead|tbody|tr|th|td)\b", lambda part: f"{part[0]} {ROLES[part[1]]}", text
    )


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Link to the page as plain Markdown, and name the search for a screen reader."""
    del config
    name = PurePosixPath(page.file.src_uri).name
    # The theme takes `rel=alternate`, without the space, for a translation, and asks for its map.
    head = f'<link rel="alternate " type="text/markdown" href="{name}"></head>'
    foot = f'<p class="as-markdown"><a href="{name}">This page as plain Markdown</a></p></article>'
    return _named(output.replace("</head>", head, 1).replace("</article>", foot, 1))


def on_post_template(output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
    """Name the search of the page for what is not found, too."""
    del config
    return _named(output_content) if template_name == "404.html" else output_content


def _named(output: str) -> str:
    """Name the search and each part of the navigation, whose own label may have no words."""
    output = PART.sub(
        lambda nav: f'aria-label="{" ".join(TAG.sub("", nav[2]).split())}"{nav[1]}', output
    )
    return output.replace(' role="dialog"', ' role="dialog" aria-label="Search"', 1)


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the navigation for the index."""
    del files
    config.extra["navigation"] = nav
    return nav


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write each page as Markdown too, and an index of them for programs."""
    site = Path(config.site_dir)
    nav: Navigation = config.extra["navigation"]
    for page in nav.pages:
        target = site / page.file.src_uri
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_plain(page), encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(_index(nav, config)) + "\n", encoding="utf-8")


def _index(nav: Navigation, config: MkDocsConfig) -> Iterator[str]:
    yield f"# {config.site_name}\n\n> {config.site_description}\n"
    for item in nav.items:
        yield f"## {item.title}\n" if not item.is_page else "## Start\n"
        for page in _pages_of(item):
            yield f"- [{page.title}]({page.file.src_uri}): {_summary(_plain(page))}"
        yield ""


def _pages_of(item: StructureItem) -> Iterator[Page]:
    if isinstance(item, Page):
        yield item
    elif isinstance(item, Section):
        for child in item.children:
            yield from _pages_of(child)


def _plain(page: Page) -> str:
    return _rewritten(_text(page.file.src_uri), page.file.src_uri)


def _summary(text: str) -> str:
    """Return the first sentence of the first paragraph of a page."""
    for part in text.split("\n\n"):
        said = " ".join(part.split())
        if said and said[0] not in "#|`!<>-":
            said = LINK.sub(r"\2", said)
            sentence = re.split(r"(?<=[.:]) ", said)[0]
            return sentence if len(sentence) <= SUMMARY else sentence[:SUMMARY] + "…"
    return ""


def _source(page: str) -> str:
    """Return the place of a page of the site in the repository."""
    for source, name in ELSEWHERE.items():
        if name == page:
            return source
    return f"docs/{page}"


def _text(page: str) -> str:
    """Return the Markdown that a page of the site is made of."""
    if page not in OF_CODES.values():
        return (ROOT / _source(page)).read_text(encoding="utf-8")
    found = explanation(PurePosixPath(page).stem)
    return _code_page(found) if found is not None else _codes_index()


def _code_page(one: Explanation) -> str:
    noun, about = one.family.noun, one.family.about
    place = f"{noun[0].upper()}{noun[1:]} about {about}."
    more = f"More: [{one.page}](../{one.page}.md)."
    return f"# {one.code}: {one.title}\n\n{place}\n\n{code_markdown(one, '##')}\n{more}\n"


def _codes_index() -> str:
    """Return the index of codes: family by family, each in the order of its declaration."""
    reported = (value.code for base in (Reason, Remark) for value in base.__subclasses__())
    exits = (f"{EXIT}{code.value}" for code in ExitCode)
    # A few reasons are guards too, and have one page.
    known = dict.fromkeys((*CODES, *AUDITED, *GUARDS, *reported, *exits))
    found = [explanation(code) for code in known]
    lines = [
        "# Codes",
        "",
        "Everything that has a code: complaints, guards, reasons of plans and exit codes.",
        "`reconciler explain CODE` says the same.",
    ]
    for family in FAMILIES.values():
        lines += ["", f"## {family.about[0].upper()}{family.about[1:]}", ""]
        lines += ["| code | meaning |", "|---|---|"]
        lines += [
            f"| [{one.code}]({one.code}.md) | {one.title} |"
            for one in found
            if one is not None and one.family is family
        ]
    return "\n".join(lines) + "\n"


def _rewritten(text: str, page: str) -> str:
    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(lambda match: _link(match, page), part) for part in parts[::2]]
    return "".join(parts)


def _link(match: re.Match[str], page: str) -> str:
    mark, said, target, fragment = match.groups()
    place = _place(target, page)
    if place is None:
        return match.group()
    if place == "":
        return said
    leads = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{mark}[{said}]({leads}{fragment or ''})"


def _place(target: str, page: str) -> str | None:
    """Return where a link leads in the site: "" for nowhere, None where it is right as it is."""
    if not target or ":" in target:
        return None
    file = posixpath.normpath(posixpath.join(posixpath.dirname(_source(page)), target))
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    if file in OF_CODES:
        return OF_CODES[file]
    if (ROOT / file).is_dir():
        file = f"{file}/README.md"
    if file in ELSEWHERE:
        return ELSEWHERE[file]
    return _copy_of(file) if (ROOT / file).is_file() else ""


def _copy_of(file: str) -> str:
    """Return the place in the site of a file that is no page, which has no hidden folders."""
    return "files/" + file.replace("/.", "/").lstrip(".")


def _linked(text: str, file: File) -> Iterator[str]:
    for part in FENCED.split(text)[::2]:
        for match in LINK.finditer(part):
            if (_place(match[3], file.src_uri) or "").startswith("files/"):
                here = posixpath.dirname(_source(file.src_uri))
                target = posixpath.normpath(posixpath.join(here, match[3]))
                if target.startswith("/") or {"..", ".git"} & {*target.split("/")}:
                    raise PluginError(f"{file.src_uri} links to {target}: no file of the project")
                yield target
