"""Prose of the code: docstrings and comments, and the words in them that have to be read twice."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

WORDS: Final = {
    "tell": r"tells?|told",
    "stand": r"stands?",
    "hold against": r"h(?:eld|olds?) against",
    "anew": "anew",
    "beside": "beside",
    "mend": r"mend(?:s|ed|ing)?",
    "stray": r"stray(?:s|ed|ing)?",
    "nobody": "nobody",
    "somebody": "somebody",
    "no more": r"no more(?! than)",
    "way out": r"ways? out",
    "whose": "whose",
    "of which": "of which",
    "for good": "for good",
}
"""Words of a dialect, each with its forms; CONTRIBUTING has what to write instead."""

OPENERS: Final = frozenset(
    {"Give", "Tell", "Say", "Take", "Let", "Put", "Whether", "Whose", "What"}
)
"""What no docstring begins with."""

NOT_NOUNS: Final = frozenset({"one", "thing", "each"})
"""What no loop variable is called."""

_WORD: Final = re.compile(rf"\b(?:{'|'.join(WORDS.values())})\b", re.IGNORECASE)
_CODE: Final = re.compile(r"```.*?```|`[^`]*`|\"[^\"]*\"", re.DOTALL)


class Found(NamedTuple):
    """A word to leave, at its line."""

    line: int
    word: str


def dialect_in(file: Path) -> list[Found]:
    """Return the words and openers to leave in the docstrings and comments of a Python file."""
    text = file.read_text("utf-8")
    found = [
        Found(line, match.group()) for line, prose in prose_of(text) for match in words_in(prose)
    ]
    module = ast.parse(text)
    for node in ast.walk(module):
        # The text below a field says what it is, and may begin with "Whether".
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            opener = (ast.get_docstring(node) or "-").split(maxsplit=1)[0].rstrip(",:")
            found += [Found(node.body[0].lineno, opener)] if opener in OPENERS else []
    found += [Found(line, "one") for line in _loops_over_one(module)]
    return sorted(found)


def words_in(prose: str) -> Iterator[re.Match[str]]:
    """Yield the words to leave; names and quotations between backticks or quotes are no prose."""
    return _WORD.finditer(_CODE.sub(" ", prose))


def prose_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, each with its line."""
    yield from docstrings_of(ast.parse(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def docstrings_of(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module, those below a field or a constant too."""
    for node in ast.walk(module):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))) if text.strip():
                yield node.lineno, text
            case _:
                pass


def _loops_over_one(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            names = (name for name in ast.walk(node.target) if isinstance(name, ast.Name))
            yield from (name.lineno for name in names if name.id in NOT_NOUNS)
