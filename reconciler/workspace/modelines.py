"""The comment by which editors find the schema of a file: `# yaml-language-server: $schema=…`.

What it leads to is what `init` writes for editors into the project's folder.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from reconciler.syntax.files import PROJECT_FILE

FOLDER = ".vscode"
PROJECT_SCHEMA = f"{FOLDER}/reconciler-project.schema.json"
MANIFEST_SCHEMA = f"{FOLDER}/reconciler-manifest.schema.json"
_MODELINE = re.compile(r"^#[ \t]*yaml-language-server[ \t]*:", re.MULTILINE)


def has_schemas(root: Path) -> bool:
    """Tell whether the schemas are there that a modeline would lead to."""
    return all((root / name).is_file() for name in (PROJECT_SCHEMA, MANIFEST_SCHEMA))


def modeline(path: Path, root: Path) -> str:
    """Give the modeline of a file of the project, its line break included."""
    name = PROJECT_SCHEMA if path.name == PROJECT_FILE else MANIFEST_SCHEMA
    leads = os.path.relpath((root / name).resolve(), path.parent.resolve())
    return f"# yaml-language-server: $schema={Path(leads).as_posix()}\n"


def with_modeline(text: str, path: Path, root: Path) -> str:
    """Give YAML with a modeline in its first line, unless it has one somewhere."""
    if _MODELINE.search(text):
        return text
    line = modeline(path, root)
    first_break = text.find("\n")
    return (
        line.replace("\n", "\r\n") if text[first_break - 1 : first_break] == "\r" else line
    ) + text


def led(text: str, path: Path, root: Path) -> str:
    """Give the YAML of a new file, with a modeline if that leads somewhere."""
    return with_modeline(text, path, root) if has_schemas(root) else text
