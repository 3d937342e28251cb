"""The comment by which editors find the schema of a file: `# yaml-language-server: $schema=…`.

`init` writes the schemas for editors into the folder of the project.
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
    """Return whether the schemas for modelines exist."""
    return all((root / name).is_file() for name in (PROJECT_SCHEMA, MANIFEST_SCHEMA))


def modeline(path: Path, root: Path) -> str:
    """Return the modeline of a file of the project, with its line break."""
    name = PROJECT_SCHEMA if path.name == PROJECT_FILE else MANIFEST_SCHEMA
    relative = os.path.relpath((root / name).resolve(), path.parent.resolve())
    return f"# yaml-language-server: $schema={Path(relative).as_posix()}\n"


def with_modeline(text: str, path: Path, root: Path) -> str:
    """Return YAML with a modeline as its first line, unless it already has one."""
    if _MODELINE.search(text):
        return text
    line = modeline(path, root)
    first_break = text.find("\n")
    return (
        line.replace("\n", "\r\n") if text[first_break - 1 : first_break] == "\r" else line
    ) + text


def led(text: str, path: Path, root: Path) -> str:
    """Return the YAML of a new file, with a modeline if the schemas exist."""
    return with_modeline(text, path, root) if has_schemas(root) else text
