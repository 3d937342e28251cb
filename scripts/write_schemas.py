"""`make schemas`: write schemas/ again, as the models have it now."""

from __future__ import annotations

import json
from pathlib import Path

from reconciler.cli.schema import schemas

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
SUFFIX = ".schema.json"


def schema_files() -> dict[str, str]:
    """Give the text of every file that schemas/ should hold, by its name."""
    return {
        f"{name}{SUFFIX}": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas().items()
    }


def main() -> None:
    """Write what should be there, and remove what should not."""
    FOLDER.mkdir(exist_ok=True)
    files = schema_files()
    for file in FOLDER.glob(f"*{SUFFIX}"):
        if file.name not in files:
            file.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(files)} schemas in {FOLDER.name}/")


if __name__ == "__main__":
    main()
