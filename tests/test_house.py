"""The shape of the house, and the lists of words that must not drift apart."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest
from house_prose import dialect_in
from measure_house import PATTERNS, House, floors, public_names, repeated

from reconciler.cli.overview import COMMANDS
from reconciler.errors import ExitCode
from reconciler.kinds import KINDS
from reconciler.syntax.diagnostic import AUDITED, CODES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCES = ("reconciler", "scripts", "benchmarks")

# The folder of each kind, and the file about it in a feature.
FOLDERS = {kind.name: kind.spec.__module__.split(".")[-1] for kind in KINDS}
# A module of each kind, and one of each format of a report; a command has the name of its noun.
SHARED_MODULES = {*FOLDERS.values(), "document", "junit", "markdown", "text", "plan", "parts"}
COMMAND_FILES = {f"{module.replace('.', '/')}.py" for module, _, _ in COMMANDS.values()}
LONGEST_FILE = 900
NO_COVER = 0
BANNED_MODULES = {"utils", "helpers", "common", "base", "core", "types", "constants"}
BANNED_ROLES = {*("Manager", "Handler", "Processor", "Service"), *("Factory", "Engine", "Context")}
# "The service" is the word for the other side, and this is where it stands.
OTHER_SIDE = {("reconciler/project/project.py", "Service")}
HEAVY = {"httpx", "aiohttp", "pydantic", "starlette", "deepdiff", "yaml", "uvicorn"}
# Written so that this file does not hold what it looks for.
ONE_MACHINE = re.compile(
    r"/wor[k]/|/roo[t]/|/hom[e]/|/opt/p[y]pi|/tmp/b[a]sh|"
    r"pypi\.or[g]|pythonhosted\.or[g]|npmjs\.(or[g]|co[m])|crates\.i[o]|"
    r"deb\.debian\.or[g]|docker\.i[o]|ghcr\.i[o]|quay\.i[o]"
)

# Papers that this project was written from, and the codes they gave to what they wanted.
CITED = re.compile(
    r"(?:failure-case[s]|api-fact[s]|desig[n]|pr-experienc[e]|management-ap[i]|styl[e])\.md"
    r"|\b[RNSI]\d{1,2}\b"
)
# A test may read one of them that lies beside the project, and is skipped where none does.
READ_WHERE_THERE = re.compile(r'/ "shared" / "[\w-]+\.md"$')
WRITTEN = {".py", ".md", ".yml", ".yaml", ".toml", ".json", ".sh", ""}
PRODUCTS = {"S3"}  # a protocol of object stores


def tracked_files() -> list[Path]:
    """Give every file that is committed or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def python_files(*folders: str) -> list[Path]:
    """Give the Python files under some folders of the project."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def name_of(file: Path) -> str:
    """Give a file's path inside the project."""
    return str(file.relative_to(ROOT))


def syntax(file: Path) -> ast.Module:
    """Read one Python file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def words_of(name: str) -> list[str]:
    """Give the words of a class name."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", name)


def test_short_files() -> None:
    """No file of the package is longer than 400 lines."""
    lengths = {
        name_of(file): len(file.read_text("utf-8").splitlines()) for file in python_files(*SOURCES)
    }

    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_module_names() -> None:
    """No module is named after nothing in particular."""
    files = python_files(*SOURCES, "tests")

    named = [file for file in files if BANNED_MODULES & {file.stem, file.parent.name}]
    assert named == []


def test_class_names() -> None:
    """No class is named after a role instead of a thing."""
    named = {
        (name_of(file), node.name)
        for file in python_files(*SOURCES)
        for node in ast.walk(syntax(file))
        if isinstance(node, ast.ClassDef) and BANNED_ROLES & set(words_of(node.name)[-1:])
    }

    assert named == OTHER_SIDE


def test_a_class_name_means_one_thing() -> None:
    """No public class or alias of the program is called like another; the emulator is apart."""
    names = {file: set(public_names(syntax(file))) for file in House().own}

    assert repeated(names) == {}


def test_a_module_name_is_used_once() -> None:
    """Only modules of a pattern share a name: of each kind, and of each format of a report."""
    names = {file: {file.stem} - PATTERNS for file in House().own}

    assert repeated(names).keys() <= SHARED_MODULES


def test_prose_is_plain() -> None:
    """Docstrings and comments have no word or opener to leave, and no loop is over `one`."""
    found = {
        f"{name_of(file)}:{dialect.line}": dialect.word
        for file in python_files("reconciler")
        for dialect in dialect_in(file)
    }

    assert found == {}


def test_words_to_leave_are_found(tmp_path: Path) -> None:
    """A word in a docstring or comment is found at its line, and none in code or in quotations."""
    file = tmp_path / "a.py"
    file.write_text(
        '"""Whose `told` it is."""\n'
        "told = 1  # nobody knows\n"
        "for one in ():\n"
        "    def named():\n"
        '        """Give more than "anew"."""\n',
        "utf-8",
    )

    assert dialect_in(file) == [(1, "Whose"), (1, "Whose"), (2, "nobody"), (3, "one"), (5, "Give")]


def test_kinds_are_known_in_their_folders() -> None:
    """Besides the emulator, only its folder and features with a file about a kind name it."""
    files = [
        file
        for file in python_files("reconciler")
        if not {"emulator", "kinds", "records"} & set(file.relative_to(ROOT).parts)
    ]

    holding = [
        f"{name_of(file)}:{node.lineno} {node.value}"
        for file in files
        for node in ast.walk(syntax(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in FOLDERS and not _has_file_about(node.value, file)
    ]
    assert holding == []


def _has_file_about(kind: str, file: Path) -> bool:
    is_feature = file.parent.parent == ROOT / "reconciler" / "features"
    return is_feature and (file.parent / f"{FOLDERS[kind]}.py").exists()


def test_streams_are_written_at_the_console() -> None:
    """Only the console, commands and the entry point's own version write to stdout or stderr."""
    writing = {
        name_of(file)
        for file in python_files("reconciler")
        for node in ast.walk(syntax(file))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("sys", "stdout"), ("sys", "stderr")}
        and "cli" not in file.parts
        and name_of(file) not in COMMAND_FILES
    }

    allowed = {
        "reconciler/__main__.py",
        "reconciler/cli/console.py",
        "reconciler/runtime/streams.py",
    }
    # It runs in a process of its own, and speaks to the run alone.
    allowed.add("reconciler/features/rules/cel_worker.py")
    assert writing <= allowed


def test_commands_are_independent() -> None:
    """The contracts name each command: those of the core one by one, those of features at once."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    named = {contract["name"]: contract.get("modules") for contract in contracts["contracts"]}
    modules = {module for module, _, _ in COMMANDS.values()}
    of_features = {module for module in modules if module.startswith("reconciler.features.")}

    assert named["Features know nothing of each other"] == ["reconciler.features.*"]
    # It has a floor of its own.
    assert {*named["Commands know nothing of each other"], "reconciler.ci.command"} == (
        modules - of_features
    )


def test_kinds_are_independent() -> None:
    """The contract that kinds know nothing of each other names the package of every kind."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (named,) = (
        contract["modules"]
        for contract in contracts["contracts"]
        if contract["name"] == "Kinds know nothing of each other"
    )

    folders = {file.parent.name for file in (ROOT / "reconciler/kinds").glob("*/remote.py")}
    assert set(named) == {f"reconciler.kinds.{folder}" for folder in folders}


def test_each_package_has_a_floor() -> None:
    """The floors in pyproject.toml are the modules and packages of the top level, each once."""
    there = {
        file.stem
        for file in (ROOT / "reconciler").iterdir()
        if file.suffix == ".py" or (file / "__init__.py").exists()
    }

    assert sorted(name for floor in floors() for name in floor) == sorted(there - {"__init__"})


def test_git_is_run_in_one_place() -> None:
    """But for git, what judges rules, gives a secret, signs or reads ahead alone is started."""
    modules, calls = {"subprocess", "pty", "multiprocessing"}, {"system", "popen", "posix_spawn"}
    starting = {
        name_of(file)
        for file in python_files("reconciler")
        for node in ast.walk(syntax(file))
        if (isinstance(node, ast.Import) and modules & {name.name for name in node.names})
        or (isinstance(node, ast.ImportFrom) and node.module in modules)
        or (isinstance(node, ast.Attribute) and node.attr in calls)
    }

    assert starting == {
        "reconciler/runtime/git.py",
        "reconciler/features/approvals/ssh_signatures.py",
        "reconciler/features/rules/ask_worker.py",
        "reconciler/operations/secret_sources.py",
        "reconciler/syntax/read_text.py",
    }


def test_every_test_states_a_law() -> None:
    """Every test has a docstring."""
    silent = [
        f"{name_of(file)}:{node.lineno} {node.name}"
        for file in python_files("tests")
        for node in ast.walk(syntax(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]

    assert silent == []


def test_each_idea_stands_once() -> None:
    """What the harness of the tests calls a class, no other file of theirs calls one."""
    found: dict[str, list[str]] = {}
    for file in python_files("tests"):
        for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(name_of(file))

    twice = {name: files for name, files in found.items() if len(files) > 1}
    assert [name for name, files in twice.items() if "tests/harness/" in "".join(files)] == []


def offered_whole(package: str) -> set[str]:
    """Return the public names of the files that a package offers with all their names."""
    face = ROOT / package.replace(".", "/") / "__init__.py"
    starred = re.findall(r"^ *from ([\w.]+) import \*", face.read_text("utf-8"), re.MULTILINE)
    bodies = [syntax(ROOT / f"{module.replace('.', '/')}.py").body for module in starred]
    return {
        name
        for node in chain.from_iterable(bodies)
        for name in (
            [node.name]
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
            else [ast.unparse(target) for target in targets_of(node)]
        )
        if name.isidentifier() and not name.startswith("_")
    }


WHOLE = ("reconciler.document", "reconciler.model")
"""The packages that offer all public names of their files."""


def targets_of(node: ast.stmt) -> Sequence[ast.expr]:
    """Return what a statement assigns to."""
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    return node.targets if isinstance(node, ast.Assign) else []


IMPORTED = re.compile(r"^ *from (reconciler\.[\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)


def test_faces() -> None:
    """What a package offers, tests import from its face: a file of it may be moved or renamed."""
    faces = {
        ".".join(file.parent.relative_to(ROOT).parts): {*ast.literal_eval(node.value)}
        for file in python_files("reconciler")
        if file.name == "__init__.py"
        for node in syntax(file).body
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets)
    }
    faces |= {package: offered_whole(package) for package in WHOLE}
    behind = [
        f"{name_of(file)}: {module} instead of {face}"
        for file in python_files("tests")
        for module, names in IMPORTED.findall(file.read_text("utf-8"))
        for face, offered in faces.items()
        if module.startswith(f"{face}.") and offered & {*re.findall(r"\w+", names)}
    ]

    assert len(faces) > 4
    assert behind == []


def comments(file: Path, word: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each comment that holds a word."""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        _, mark, comment = line.partition(f"# {word}")
        if mark:
            yield f"{name_of(file)}:{number}", comment


def test_suppressions_have_reasons() -> None:
    """Every suppression names what it suppresses, and says why."""
    narrow = {
        "noqa": re.compile(r": [A-Z]+\d+(, ?[A-Z]+\d+)* - \S"),
        "type: ignore": re.compile(r"\[[a-z, -]+\]  # \S"),
    }
    bare = [
        place
        for file in python_files(*SOURCES, "tests")
        for word, form in narrow.items()
        for place, comment in comments(file, word)
        if not form.match(comment)
    ]

    assert bare == []


def test_what_is_not_covered_is_counted() -> None:
    """The number of places that coverage leaves out is the one written here."""
    left_out = [
        place
        for file in python_files("reconciler")
        for place, _ in comments(file, "pragma: no cover")
    ]

    assert len(left_out) == NO_COVER, left_out


def test_one_machine_is_nowhere() -> None:
    """No file names a place of the machine it was written on, or a package registry."""
    held = {
        name_of(file): found[0]
        for file in tracked_files()
        if (found := ONE_MACHINE.search(file.read_text("utf-8", errors="replace")))
    }

    assert held == {}


def test_what_is_cited_is_here() -> None:
    """No file names a paper that the project does not hold, or a code that no page defines."""
    pages = "\n".join(page.read_text("utf-8") for page in sorted(DOCS.glob("*.md")))
    defined = {*re.findall(r"^\| ([A-Z]\d{1,2}) \|", pages, re.MULTILINE), *PRODUCTS}
    held = [
        f"{name_of(file)}:{number} {found}"
        for file in tracked_files()
        if file.suffix in WRITTEN
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if not READ_WHERE_THERE.search(line)
        for found in CITED.findall(line)
        if found not in defined
    ]

    assert held == []


def table(page: str) -> dict[str, str]:
    """Return the codes of the tables of a page, each a link, with their second cells."""
    text = (DOCS / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\([^)]*\) \| (.*?) \|", text, re.MULTILINE)
    return dict(rows)


def test_exit_codes_are_documented() -> None:
    """docs/exit-codes.md has the exit codes of the command line, and their words."""
    assert table("exit-codes.md") == {str(code): code.words for code in ExitCode}


def given_codes(node: ast.AST) -> Iterator[ast.expr | None]:
    """Yield what a node gives to an exit code, or compares with one."""
    if (
        (isinstance(node, ast.keyword) and node.arg == "exit_code")
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("code"))
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target).endswith("exit_code"))
    ):
        yield node.value
    elif isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("code"):
        yield from node.comparators
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".fail", "sys.exit")):
        yield from node.args[:1]


def test_exit_codes_have_names() -> None:
    """No exit code but 0 stands as a bare number in the program, the emulator aside."""
    bare = [
        f"{name_of(file)}:{number.lineno} {number.value}"
        for file in python_files("reconciler")
        if "emulator" not in file.relative_to(ROOT / "reconciler").parts[:1]
        for node in ast.walk(syntax(file))
        for given in given_codes(node)
        if given is not None
        for number in (given, *ast.iter_child_nodes(given))
        if isinstance(number, ast.Constant) and type(number.value) is int and number.value
    ]

    assert bare == []


def test_complaints_are_documented() -> None:
    """docs/errors.md has the codes of all complaints, and their words."""
    assert table("errors.md") == {**CODES, **AUDITED}


LISTING = """\
import sys
before = set(sys.modules)
from reconciler.__main__ import main
sys.argv = ["reconciler", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
sys.stderr.write("\\n" + " ".join(set(sys.modules) - before))
"""


def modules_loaded_by(*arguments: str) -> set[str]:
    """Give the modules that one command line imports."""
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments], capture_output=True, check=True, text=True
    )
    return set(ran.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("asked", ["--version", "--help"])
def test_light_answers(asked: str) -> None:
    """What a shell asks at every start loads no heavy package, and no slow part of Python's own."""
    assert modules_loaded_by(asked) & (HEAVY | {"typing", "enum", "re", "signal"}) == set()


def test_offline_is_light() -> None:
    """`validate` loads nothing that talks to a service."""
    loaded = modules_loaded_by("validate", "--quiet", str(ROOT / "examples"))

    assert loaded & {"httpx", "aiohttp", "starlette", "deepdiff", "uvicorn"} == set()
    assert "reconciler.workspace.workspace" in loaded


def test_each_noun_is_found() -> None:
    """Every name that the face of the nouns offers is that of one of its files, and no other."""
    face = import_module("reconciler.model")
    offered = offered_whole("reconciler.model")

    assert {"Manifest", "Seen", "Written", "Plan", "Reason"} <= offered
    assert [name for name in offered if not hasattr(face, name)] == []
    with pytest.raises(AttributeError):
        _ = face.Nothing
