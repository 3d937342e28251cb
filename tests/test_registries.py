"""Each place that a new code, format, guard, expression or limit has to be named is one place.

Where a second place cannot be avoided, a law here fails until it names the new one too.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_house import python_files, syntax

from reconciler.kinds import KINDS
from reconciler.model import FLAGS, GUARDS
from reconciler.project.levels import WARNED_OF
from reconciler.syntax.diagnostic import AUDITED, CODES
from reconciler.workspace.reuse import UNUSED, WRONG_ITEM

ROOT = Path(__file__).parent.parent
FINDING_CODE = re.compile(r"[A-Z]\d{3}")
GUARD_CODE = re.compile(r"[a-z]+(-[a-z]+)+")


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and value of each text below a node."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.lineno, one.value


def named_texts(file: Path) -> dict[str, str]:
    """Give the texts that a module gives a name in capitals."""
    return {
        target.id: node.value.value
        for node in syntax(file).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
        and target.id.isupper()
        and isinstance(node.value.value, str)
    }


@pytest.mark.promise("P55")
def test_every_finding_code_is_listed() -> None:
    """No line of code holds the code of a complaint that `CODES`, where reports look, has not."""
    unknown = [
        f"{file.relative_to(ROOT)}:{line} {text}"
        for file in python_files("reconciler")
        for line, text in texts(syntax(file))
        if FINDING_CODE.fullmatch(text) and text not in {**CODES, **AUDITED}
    ]

    assert unknown == []


@pytest.mark.promise("P55")
def test_every_guard_code_is_listed() -> None:
    """Each code that a guard gives its objections is among `GUARDS`, which the docs have."""
    given = {
        text
        for file in python_files(
            "reconciler/planning", "reconciler/features", "reconciler/project", "reconciler/model"
        )
        for name, text in named_texts(file).items()
        # Of signatures, with the form of a code.
        if name != "NAMESPACE"
        and ((GUARD_CODE.fullmatch(text) and text not in FLAGS) or text in GUARDS)
    }

    assert given | {code for kind in KINDS for code in kind.consents} == set(GUARDS)


@pytest.mark.promise("P55")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_weakening_that_asks_is_declared(kind: object) -> None:
    """What a kind asks consent for is in its declaration, so that a project file can give it."""
    file = Path(inspect.getfile(kind.weakens))  # type: ignore[attr-defined]  # a kind
    names = named_texts(file)
    asking = {
        names[call.args[0].id]
        for call in ast.walk(syntax(file))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] == "RiskyChange"
        and isinstance(call.args[0], ast.Name)
        and "ConsentRule" in ast.dump(call)
    }

    assert asking == set(kind.consents)  # type: ignore[attr-defined]  # a kind


@pytest.mark.promise("P55")
def test_expressions_are_read_in_one_place() -> None:
    """No pattern for `${...}` stands anywhere but in the one file of their syntax."""
    patterns = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in python_files("reconciler")
        for call in ast.walk(syntax(file))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "re.compile"
        and any(r"\$" in text for _, text in texts(call))
        # What other tools write in queries is no expression of ours.
        and (file.parent.name, file.name)
        not in {("syntax", "expressions.py"), ("queries", "__init__.py")}
    ]

    assert patterns == []


def test_every_warning_has_a_level() -> None:
    """A code that is told as a warning anywhere can be raised, lowered and ignored."""
    told = {
        code
        for file in python_files("reconciler")
        for code in re.findall(r"""\bwarning\(\s*"([MP]\d{3})\"""", file.read_text("utf-8"))
    }

    # What `rules test` and `test` say of examples have commands of their own.
    assert told - {"P104"} <= WARNED_OF
    assert {WRONG_ITEM, UNUSED} <= WARNED_OF
    assert "M304" in told


@pytest.mark.promise("P55")
def test_the_bulk_limit_stands_once() -> None:
    """How many alerts one request may carry is a number of one file; all others name it."""
    places = [
        str(file.relative_to(ROOT))
        for file in python_files("reconciler")
        if "emulator" not in file.parts and re.search(r"(?i)bulk.*\b100\b", file.read_text("utf-8"))
    ]

    assert places == ["reconciler/model/assumptions.py"]
