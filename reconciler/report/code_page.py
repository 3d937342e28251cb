"""What a code means, in words for a terminal and in Markdown: one text for all who show it."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.explaining.explanation import Explanation, Sample
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, fitted


def code_text(one: Explanation) -> str:
    """Give what a code means as plain text."""
    return "\n".join(code_lines(one, Style()))


def code_markdown(one: Explanation, heading: str = "") -> str:
    """Give what a code means as Markdown, ending in a line break; headings begin with `heading`."""
    parts = [one.means, one.why]
    for word, sample in (("wrong", one.wrong), ("right", one.right)):
        title = _titled(word, one).capitalize()
        parts.append(f"{heading} {title}" if heading else f"**{title}**")
        parts.extend(_markdown(sample))
    return "\n\n".join(parts) + "\n"


def _markdown(sample: Sample) -> Iterator[str]:
    if sample.says:
        yield sample.says
    if typed := [*_exports(sample), *sample.typed]:
        yield "\n".join(("```bash", *typed, "```"))
    for name, content in sample.files.items():
        yield f"`{name}`:"
        yield f"```{'json' if name.endswith('.json') else 'yaml'}\n{content}```"


def code_lines(one: Explanation, style: Style) -> Iterator[str]:
    """Yield what a code means, for a terminal."""
    yield style.paint(safe(f"{one.code}: {one.title}"), Colour.BOLD)
    yield ""
    yield fitted(f"  {safe(one.means)}", style)
    yield ""
    yield fitted(f"  {safe(one.why)}", style)
    for word, sample in (("wrong", one.wrong), ("right", one.right)):
        yield ""
        yield style.paint(_titled(word, one), Colour.DIM)
        yield from _sample_lines(sample, style)


def _titled(word: str, one: Explanation) -> str:
    if one.command:
        return word
    return "for example" if word == "wrong" else "what to do"


def _sample_lines(sample: Sample, style: Style) -> Iterator[str]:
    if sample.says:
        yield fitted(f"  {sample.says}", style)
    for line in (*_exports(sample), *sample.typed):
        yield f"  $ {line}"
    for name, content in sample.files.items():
        yield f"  # {name}"
        yield from (f"  {safe(line)}" for line in content.splitlines())


def _exports(sample: Sample) -> Iterator[str]:
    for name, value in sample.environ.items():
        yield f"export {name}={value!r}"
