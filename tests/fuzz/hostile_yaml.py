"""Manifests as text: made from the schemas, mutated, and written in hostile ways."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from hostile_documents import TEXTS, from_schema, mutated

from reconciler.document import Json
from reconciler.kinds import BY_NAME

SCHEMAS = Path(__file__).parents[2] / "schemas"
KINDS = sorted(BY_NAME)
_LOADED: dict[str, dict[str, Any]] = {}


def manifest_text(rng: Random) -> bytes:
    """Give one file: a few manifests, most of them nearly right."""
    documents = [_manifest(rng) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
    if len(documents) > 1 and rng.random() < 0.2:
        documents.append(documents[0])
    style = rng.choice(_STYLES)
    text = "\n---\n".join(style(document, rng) for document in documents)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 3))):
        text = rng.choice(_TEXT_MUTATIONS)(text, rng)
    content = text.encode("utf-8", "surrogatepass" if rng.random() < 0.5 else "replace")
    if rng.random() < 0.05:
        content = text.encode(rng.choice(("utf-16", "latin-1", "utf-8-sig")), "replace")
    return content


def _manifest(rng: Random) -> Json:
    kind = rng.choice(KINDS)
    schema = _LOADED.get(kind)
    if schema is None:
        schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
        _LOADED[kind] = schema
    made = from_schema(schema, schema, rng)
    if isinstance(made, dict) and rng.random() < 0.9:
        # Drawn at random these are hardly ever right, and hide what else is there.
        for rare in ("forEach", "overrides"):
            made.pop(rare, None)
        metadata = made.get("metadata")
        if isinstance(metadata, dict):
            metadata.pop("exempt", None)
    if isinstance(made, dict) and rng.random() < 0.3:
        made = _reused(made, schema, rng)
    return mutated(made, rng, rng.choice((0, 0, 1, 1, 2, 6)))


def _reused(made: dict[str, Json], schema: dict[str, Any], rng: Random) -> Json:
    """Give a manifest with items and overrides, most of them nearly right."""
    another = from_schema(schema, schema, rng)
    spec = another.get("spec") if isinstance(another, dict) else None
    patch = mutated(spec, rng, rng.choice((0, 1, 3)))
    if rng.random() < 0.7:
        made["overrides"] = {rng.choice(("local", "production", "lost", "")): patch}
    if rng.random() < 0.7:
        made["forEach"] = mutated(
            [
                {"name": f"s{nth}", "n": nth, "list": [nth], "more": {"a": rng.choice(TEXTS)}}
                for nth in range(rng.choice((0, 1, 3, 30)))
            ],
            rng,
            rng.choice((0, 0, 1, 3)),
        )
        metadata = made.get("metadata")
        if isinstance(metadata, dict):
            metadata["name"] = "x-${each:name}"
    return made


def _as_json(document: Json, rng: Random) -> str:
    return json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 2)))


def _as_blocks(document: Json, rng: Random) -> str:
    return "\n".join(_lines(document, rng, 0))


def _lines(document: Json, rng: Random, indent: int) -> Iterator[str]:
    pad = " " * indent
    if isinstance(document, dict) and document:
        for key, value in document.items():
            if isinstance(value, dict | list) and value and indent < 60:
                yield f"{pad}{_scalar(key, rng)}:"
                yield from _lines(value, rng, indent + 2)
            else:
                yield f"{pad}{_scalar(key, rng)}: {_scalar(value, rng)}"
    elif isinstance(document, list) and document:
        for item in document:
            first, *rest = _lines(item, rng, indent + 2)
            yield f"{pad}- {first.strip()}"
            yield from rest
    else:
        yield f"{pad}{_scalar(document, rng)}"


def _scalar(value: Json, rng: Random) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if rng.random() < 0.4:
        return json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:
        return "|\n" + "\n".join(" " * 70 + line for line in value.split("\n"))
    return value if rng.random() < 0.7 else "'" + value.replace("'", "''") + "'"


_STYLES: tuple[Callable[[Json, Random], str], ...] = (_as_json, _as_blocks, _as_blocks)


def _insert(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice((*TEXTS, *_TRICKS)) + text[at:]


def _cut(text: str, rng: Random) -> str:
    return text[: rng.randint(0, len(text))]


def _without(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 20) :]


def _repeat(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    return "\n".join([*lines[:at], *[lines[at]] * rng.choice((2, 3, 50)), *lines[at + 1 :]])


def _dedent(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at] = rng.choice((lines[at].lstrip(), "\t" + lines[at], " " + lines[at]))
    return "\n".join(lines)


def _returns(text: str, rng: Random) -> str:
    return text.replace("\n", rng.choice(("\r\n", "\r", "\x85", "\u2028")))


def _bomb(text: str, rng: Random) -> str:
    levels = rng.choice((3, 9, 30))
    lines = ["x0: &x0 [lol]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, levels)]
    if rng.random() < 0.5:
        return "\n".join(lines) + "\n---\n" + text
    # In the same document, where a field then holds the whole of it.
    return "\n".join(lines) + "\n" + text.replace("plain", f"*x{rng.randrange(levels)}", 1)


def _brackets(text: str, rng: Random) -> str:
    return text + rng.choice("[{") * rng.choice((10, 70, 5000))


_TRICKS = (
    *("&a ", "*a", "<<: *a", "!!python/object:os.system ", "!x ", "%YAML 1.1\n---\n", "...\n"),
    *(
        "? [a, b]\n: c\n",
        "{a: 1, a: 2}",
        "|2-\n",
        ">+\n",
        "- - - ",
        "\n---\n",
        "\t",
        "# ",
        '"',
        "'",
    ),
)
_TEXT_MUTATIONS: tuple[Callable[[str, Random], str], ...] = (
    *(_insert, _insert, _cut, _without, _without, _repeat, _dedent, _returns, _bomb, _brackets),
)
