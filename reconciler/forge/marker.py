"""The hidden first line of our comment: what was planned, where, from which commit. Pure.

Source: docs/ci.md.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from posixpath import normpath
from typing import Literal, TypeAlias, get_args

State: TypeAlias = Literal[
    "planned",
    "no-changes",
    "offline",
    "failed",
    "applying",
    "applied",
    "partial",
    "in-doubt",
    "not-applied",
    "superseded",
]
"""What became of the plan. `offline` had no service to compare with; `superseded` gave way."""

VERSION = 1
ROOT_DIGITS = 16

_LINE = re.compile(r"<!-- reconciler (\{[^<>]*\}) -->\r?")
_DIGEST = re.compile(r"(sha256:[0-9a-f]{64})?")
_FORMS: dict[str, type] = {
    "environment": str,
    "root": str,
    "digest": str,
    "head": str,
    "base": str,
    "run": int,
    "state": str,
}


@dataclass(frozen=True, slots=True)
class Marker:
    """What a comment says of itself to the next run.

    `environment` and `root` are its key. `digest` is the plan's that was
    reviewed, "" where nothing may be applied. `run` grows from run to run.
    """

    environment: str
    root: str
    digest: str = ""
    head: str = ""
    base: str = ""
    run: int = 0
    state: State = "planned"

    @property
    def key(self) -> tuple[str, str]:
        """What one comment of a pull request stands for."""
        return self.environment, self.root

    @property
    def line(self) -> str:
        """The first line of the comment. Nothing in it can end the HTML comment it is in."""
        return f"<!-- reconciler {hidden_json({'version': VERSION, **asdict(self)})} -->"


def hidden_json(document: dict[str, object]) -> str:
    """Give JSON for an HTML comment: nothing in it can end the comment or begin another."""
    text = json.dumps(document)
    for ending in ("--", "<", ">"):
        text = text.replace(ending, "".join(f"\\u{ord(one):04x}" for one in ending))
    return text


def root_of(path: str) -> str:
    """Give what stands for the folder of the manifests, as in the input `path`."""
    return sha256(normpath(path or ".").encode()).hexdigest()[:ROOT_DIGITS]


def read_marker(body: str) -> Marker | None:
    """Read the marker of a comment; None where its first line is anything else."""
    found = _LINE.fullmatch(body.partition("\n")[0])
    if found is None:
        return None
    try:
        document = json.loads(found[1])
    except ValueError:
        return None
    if document.pop("version", None) != VERSION or document.keys() != _FORMS.keys():
        return None
    # Exactly these types: True is an int to isinstance.
    if any(type(document[name]) is not form for name, form in _FORMS.items()):
        return None
    if document["state"] not in get_args(State) or not _DIGEST.fullmatch(document["digest"]):
        return None
    return Marker(**document)
