"""The explanation of a code, for a terminal and in Markdown: one text for every place."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.report.explanations.explanation import Explanation, Sample
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, fitted


def code_text(explanation: Explanation) -> str:
    """Return the explanation of a code as plain text."""
    return "\n".join(code_lines(explanation, Style()))


def code_markdown(explanation: Explanation, heading: str = "") -> str:
    """Return the explanation as Markdown, ending in a line break; headings begin with `heading`."""
    parts = [explanation.means, explanation.why]
    for word, sample in (("wrong", explanation.wrong), ("right", explanation.right)):
        title = _titled(word, explanation).capitalize()
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


def code_lines(explanation: Explanation, style: Style) -> Iterator[str]:
    """Yield the lines of an explanation for a terminal."""
    yield style.paint(safe(f"{explanation.code}: {explanation.title}"), Colour.BOLD)
    yield ""
    yield fitted(f"  {safe(explanation.means)}", style)
    yield ""
    yield fitted(f"  {safe(explanation.why)}", style)
    for word, sample in (("wrong", explanation.wrong), ("right", explanation.right)):
        yield ""
        yield style.paint(_titled(word, explanation), Colour.DIM)
        yield from _sample_lines(sample, style)


def _titled(word: str, explanation: Explanation) -> str:
    if explanation.command:
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
