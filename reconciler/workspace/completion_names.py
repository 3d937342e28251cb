"""Names for completion, guessed from the text of the files of a workspace.

Only the project file is parsed, so that a thousand files take no noticeable time. The names are
offered and never relied on. No content of a file raises an error here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.runtime import regular_files
from reconciler.syntax.expressions import EACH_PATTERN, FILE_PATTERN

MOST_FILES = 20_000
LARGEST = 1 << 20
MOST_READ = 64 << 20
LARGEST_JOURNAL = 4 << 20
PROJECT_FILE = "reconciler.yaml"

_KINDS = re.compile(r"""(?:^kind|"kind")\s*:\s*["']?([A-Za-z]\w*)""", re.MULTILINE)
_NAME = re.compile(r"""(?:^|[\s{,])["']?name["']?\s*:\s*["']?([\w][\w.-]*)(?=["'\s,}]|$)""")
_EACH_NAME = re.compile(
    rf"""(?:^|[\s{{,])["']?name["']?\s*:\s*["']?([\w.-]*){EACH_PATTERN}([\w.-]*)"""
)
_FOR_EACH = re.compile(
    r"""^["']?forEach["']?:((?:[^\n]*\n)(?:(?:[ \t-][^\n]*)?\n|[^\n]+\Z)*)""", re.MULTILINE
)
_INCLUDED = re.compile(rf"""\s*["']?{FILE_PATTERN}""")
_METADATA = re.compile(
    r"""(?:^metadata:[^\S\n]*(?P<flow>\{[^\n]*)"""
    r"""|^metadata:[^\n{]*\n(?P<block>(?:[ \t#][^\n]*\n|\n)*)"""
    r"""|"metadata"\s*:\s*(?P<json>\{(?:[^{}]|\{[^{}]*\})*\}))""",
    re.MULTILINE,
)
_LABELS = re.compile(
    r"""["']?labels["']?\s*:[^\S\n]*(?:\{(?P<flow>[^{}]*)\}|\n(?P<block>(?:[ \t]+[^\n]*\n)+))"""
)
_LABEL = re.compile(
    r"""(?:^|[\n,{])\s*["']?([A-Za-z][\w./-]*)["']?\s*:\s*["']?([\w][\w.@+-]*)["']?(?=\s|,|\}|$)"""
)
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_RUN = re.compile(r'^\{"entry":"run"[^\n]*?"run":"([0-9A-Za-z-]{1,64})"', re.MULTILINE)
_MANIFESTS = re.compile(r"^manifests:[^\S\n]*\[([^\]\[{}\n#\\]*)\]", re.MULTILINE)
_SKIPPED = frozenset(("node_modules", "venv"))


@dataclass(frozen=True, slots=True)
class ManifestHeader:
    """A manifest as guessed from its text; `file` is relative to the project."""

    kind: str
    name: str
    file: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CompletionProject:
    """A project as completion sees it: its folder and the text of its project file."""

    root: Path
    text: str = ""

    @property
    def environments(self) -> Mapping[str, Any]:
        """The environments, by their names."""
        found = _said(self.text).get("environments")
        return (
            {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}
        )

    @property
    def manifests(self) -> Sequence[str]:
        """The files and folders that manifests are in."""
        if "manifests" not in self.text:
            return ["."]
        plain = _MANIFESTS.search(self.text)
        if plain is not None:
            return [part.strip("\"' ") for part in plain[1].split(",")]
        found = _said(self.text).get("manifests")
        return (
            [text for text in found if isinstance(text, str)] if isinstance(found, list) else ["."]
        )


def place_of(start: Path, file: Path | None = None) -> CompletionProject:
    """Find the project of a folder or a file, upward to the git root, and read its file."""
    folder = Path(os.path.realpath(start))
    folder = folder if folder.is_dir() else folder.parent
    found = file or next(_project_files(folder), None)
    if found is None:
        return CompletionProject(folder)
    return CompletionProject(found.resolve().parent, _text_of(str(found)))


def _project_files(folder: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        if (place / PROJECT_FILE).is_file():
            yield place / PROJECT_FILE
        if (place / ".git").exists():
            return


def _said(text: str) -> Mapping[str, Any]:
    # This import takes as long as all other code here.
    from yaml import CSafeLoader, YAMLError, load  # noqa: PLC0415 - see above

    try:
        document = load(text, CSafeLoader)
    except (YAMLError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def named_in(place: CompletionProject) -> Iterator[ManifestHeader]:
    """Yield the probable manifests of a project, file by file."""
    left, files = MOST_READ, MOST_FILES
    root = str(place.root)
    for folder in place.manifests:
        for file in _files(os.path.normpath(os.path.join(root, folder))):  # noqa: PTH118 - see below
            files -= 1
            if left < 0 or files < 0:
                return
            text = _text_of(file)
            left -= len(text)
            yield from _manifests(text, file, root)


# Path objects for a thousand files would take longer than the search in their texts.
def _files(top: str) -> Iterator[str]:
    if os.path.isfile(top):  # noqa: PTH113 - as above
        yield top
        return
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(
            folder for folder in folders if not folder.startswith(".") and folder not in _SKIPPED
        )
        for name in sorted(names):
            if name.endswith((".yaml", ".yml", ".json")) and name != PROJECT_FILE:
                yield f"{folder}{os.path.sep}{name}"


def _text_of(file: str, *, end: bool = False) -> str:
    """Read the beginning of a regular file, or its end; "" where it cannot be read."""
    try:
        with regular_files.opened(Path(file)) as stream:
            if end:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - LARGEST_JOURNAL))
            return stream.read(LARGEST_JOURNAL if end else LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def _manifests(text: str, file: str, root: str) -> Iterator[ManifestHeader]:
    if "apiVersion" not in text:
        return
    for document in _DOCUMENT.split(text):
        kind, metadata = _KINDS.search(document), _METADATA.search(document)
        if kind is None or metadata is None:
            continue
        about = next(filter(None, metadata.groups()), "")
        labels = _LABELS.search(about)
        label_text = next(filter(None, labels.groups()), "") if labels is not None else ""
        # A label may be called `name` too.
        bare = about if labels is None else about[: labels.start()] + about[labels.end() :]
        name = _NAME.search(bare)
        for manifest_name in (
            [name[1]] if name is not None else _repeated(bare, document, file, root)
        ):
            named = file.removeprefix(root + os.path.sep)
            yield ManifestHeader(kind[1], manifest_name, named, dict(_LABEL.findall(label_text)))


def _repeated(about: str, document: str, file: str, root: str) -> Iterator[str]:
    """Yield the names that `forEach` items make, from items here or in an included file."""
    name, items = _EACH_NAME.search(about), _FOR_EACH.search(document)
    if name is None or items is None:
        return
    before, key, after = name.groups()
    value = rf"""(?:^|[\s{{,-])["']?{re.escape(key)}["']?\s*:\s*["']?([\w][\w.-]*)"""
    item_text, included = items[1], _INCLUDED.match(items[1])
    if included is not None:
        other = os.path.normpath(os.path.join(os.path.dirname(file), included[1]))  # noqa: PTH118, PTH120 - as above
        item_text = _text_of(other) if other.startswith(root + os.path.sep) else ""
    for found in re.finditer(value, item_text, re.MULTILINE):
        yield f"{before}{found[1]}{after}"


def rules_in(place: CompletionProject) -> list[str]:
    """Return the names of the rules of a project file."""
    rules = _said(place.text).get("rules") if "rules" in place.text else None
    found = rules if isinstance(rules, list) else []
    return [str(value["name"]) for value in found if isinstance(value, dict) and "name" in value]


def runs_in(place: CompletionProject, environment: str | None) -> list[str]:
    """Return the runs in the file journals of a project, newest first."""
    found: dict[str, None] = {}
    for name, settings in place.environments.items():
        if environment is None or name == environment:
            own = settings.get("journal") if isinstance(settings, dict) else None
            kept = own if isinstance(own, str) else f".reconciler/{name}.journal.jsonl"
            for run in reversed(_RUN.findall(_text_of(str(place.root / kept), end=True))):
                found.setdefault(run)
    return list(found)
