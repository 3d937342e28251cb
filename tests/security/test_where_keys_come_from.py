"""One module knows where the API key comes from; all that use, hide or withhold it ask that."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest

from reconciler.api.secret import key_from
from reconciler.ci.runner import Runner
from reconciler.runtime import connection as keys
from reconciler.workspace.expression_scope import withheld_from

CANARY = "canary-of-a-key-77b1"
CODE = Path(keys.__file__).parent
NAMES = ("RECONCILER_API_KEY", "INPUT_API_KEY")


def _texts(tree: ast.AST) -> set[str]:
    """Return the texts of a module that are no docstring of it."""
    texts, docstrings = [], set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            docstrings.add(body[0].value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node)
    return {str(text.value) for text in texts if text not in docstrings}


@pytest.mark.promise("S51")
def test_one_module_names_the_variable() -> None:
    """No module but one names a variable of the key, in code or in words to people."""
    named = {
        str(file.relative_to(CODE))
        for file in CODE.rglob("*.py")
        for text in _texts(ast.parse(file.read_text(encoding="utf-8")))
        if any(name in text for name in NAMES)
    }

    assert named == {"connection.py"}


@pytest.mark.promise("S51")
def test_a_key_that_comes_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that this module takes from elsewhere is sent, masked, and withheld from manifests."""
    monkeypatch.setattr(keys, "KEY_VARIABLE", "ELSEWHERE")
    environ = {"ELSEWHERE": CANARY}
    stream = io.StringIO()
    Runner(stream=stream, is_forge=True).mask(environ)
    withheld = withheld_from(environ)

    assert key_from(environ).reveal() == CANARY
    assert stream.getvalue() == f"::add-mask::{CANARY}\n"
    assert withheld.why("ELSEWHERE", "").startswith("is the API key")
    assert withheld.why_text(f"Bearer {CANARY}").startswith("holds the value of ELSEWHERE")


@pytest.mark.promise("S51")
def test_a_job_with_two_keys() -> None:
    """The key of a job's input is the one that is sent; neither may stand in what is sent."""
    environ = {"INPUT_API_KEY": "the-key-of-the-input", "RECONCILER_API_KEY": CANARY}
    withheld = withheld_from(environ)

    assert keys.key_of_job(environ) == "the-key-of-the-input"
    assert all(withheld.why_text(key) for key in environ.values())
