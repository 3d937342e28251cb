"""Documents made from JSON schemas, and what an enemy does to documents. Seeded, so repeatable."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from reconciler.document import Json

TEXTS = (
    *("", " ", "x", "é", "日本語", "👩\u200d👩", "a" * 300, "\u202egnp.exe", "\u2066x", "\ufeff"),
    *("\x1b[31m", "\r", "\n", "\t", "\x00", "\x7f", "\x85", "\u2028", "\U000e0041", "\u0130"),
    *("yes", "NO", "null", "~", "1:30", "012", "0o17", "1_000", ".inf", ".nan", "-0", "1e999"),
    *("2025-01-31", "<<", "=", "!!binary x", "*a", "&a x", "- x", "? x", "{", "[", "]", "}", "#"),
    *(
        "${var:team}",
        "${var:lost}",
        "${secret:TOKEN}",
        "${secret:LOST}",
        "${ref:SLO/a}",
        "${ref:",
        "$",
    ),
    *(
        "${ref:SLO/../x}",
        "${env:PATH}",
        "${Var:team}",
        "by ${vars:team} $${vars:team} ${vars:team}",
        "${var.team}",
        "${a:" * 5_000,
        "${var:lost}" * 2_000,
        "$${var:x}",
        "${var:${var:x}}",
        "${secret:}",
        "${{ x }}",
        "{{x}}",
    ),
    *("${each:name}", "${each:name.a}", "x ${each:n} ${each:", "${each:lost}", "${EACH:name}"),
    *("${file:part.yaml}", "${file:../../etc/passwd}", "${file:loop.yaml} x", "${file:}"),
    *(
        "${file:x\x00.yaml}",
        "${file:" + "a/" * 3_000 + "x.yaml}",
        "$${file:x}",
        "${each:a" + ".a" * 3_000 + "}",
    ),
    *("::error::x", "##[error]x", "--> x", "```", "../../etc/passwd", "/etc/passwd", "file:///x"),
    *("2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11", "AlertDefinition", "SLO/a", "%s%n", "' OR 1=1", "\\"),
)
PUT_IN = (
    *("${each:name}", "${each:more}", "${each:more.a}", "${each:list}", "${var:team}"),
    *("${file:checkout.yaml}", "${file:part.yaml}", "${file:.}", "s-${each:name}"),
)
NUMBERS: tuple[Json, ...] = (
    *(0, -1, 1, 2, 7, 28, 99.9, 100, 101, 1.0, -0.0, 1e308, 5e-324, 0.1, 2**31 - 1, 2**31),
    *(2**53, 2**53 + 1, -(2**53) - 1, 2**63, 10**400, 1000000, 604800),
)
ODD: tuple[Json, ...] = (None, True, False, [], {}, [[]], [{}], {"": None}, {"a": {"a": {}}})
DEEPEST = 90


def from_schema(schema: dict[str, Any], whole: dict[str, Any], rng: Random, depth: int = 0) -> Json:
    """Give a document that a schema allows, nearly always; `whole` holds its `$defs`."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return from_schema(whole["$defs"][name], whole, rng, depth + 1)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            options = schema[choice][:1] if depth > 12 else schema[choice]
            if rng.random() < 0.9:
                # Nearly everything may be an expression, and few are to be.
                options = [option for option in options if "${" not in _pattern(option)] or options
            return from_schema(rng.choice(options), whole, rng, depth)
    if "const" in schema:
        constant: Json = deepcopy(schema["const"])
        return constant
    if "enum" in schema:
        member: Json = deepcopy(rng.choice(schema["enum"]))
        return member
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = rng.choice(kind)
    return _OF_TYPE.get(str(kind), _anything)(schema, whole, rng, depth)


def _pattern(schema: dict[str, Any]) -> str:
    return str(schema.get("pattern", "")).replace("\\", "")


def _object(schema: dict[str, Any], whole: dict[str, Any], rng: Random, depth: int) -> Json:
    required = set(schema.get("required", ()))
    chance = 0.5 / (1 + depth / 4)
    made: dict[str, Json] = {
        name: from_schema(inner, whole, rng, depth + 1)
        for name, inner in schema.get("properties", {}).items()
        if name in required or rng.random() < chance
    }
    more = schema.get("additionalProperties")
    if isinstance(more, dict) and rng.random() < 0.3:
        made[rng.choice(("a", "team", "k é"))] = from_schema(more, whole, rng, depth + 1)
    return made


def _array(schema: dict[str, Any], whole: dict[str, Any], rng: Random, depth: int) -> Json:
    items = schema.get("items", {})
    most = 3 if depth < 8 else 1
    return [from_schema(items, whole, rng, depth + 1) for _ in range(rng.randint(0, most))]


def _text(schema: dict[str, Any], _: dict[str, Any], rng: Random, __: int) -> Json:
    if schema.get("format") == "uuid":
        return "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
    if "pattern" in schema:
        if "${" in _pattern(schema) and rng.random() < 0.5:
            return rng.choice(PUT_IN)
        return rng.choice(("a", "checkout", "a.b-c_d", "x9"))
    return rng.choice(("x", "level:error", "checkout", *TEXTS)) if rng.random() < 0.3 else "plain"


def _number(schema: dict[str, Any], _: dict[str, Any], rng: Random, __: int) -> Json:
    if rng.random() < 0.2:
        return rng.choice(NUMBERS)
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    return int(least) + rng.randint(0, 9)


def _anything(_: dict[str, Any], __: dict[str, Any], rng: Random, ___: int) -> Json:
    return deepcopy(rng.choice((*ODD, *NUMBERS, "x")))


_OF_TYPE: dict[str, Callable[[dict[str, Any], dict[str, Any], Random, int], Json]] = {
    "object": _object,
    "array": _array,
    "string": _text,
    "number": _number,
    "integer": _number,
    "boolean": lambda _, __, rng, ___: rng.random() < 0.5,
    "null": lambda *_: None,
}


def mutated(document: Json, rng: Random, times: int) -> Json:
    """Change a copy of a document in some places: drop, retype, extend, repeat or deepen."""
    holder: list[Any] = [deepcopy(document)]
    for _ in range(times):
        places = list(_places(holder))
        container, key = rng.choice(places)
        rng.choice(_MUTATIONS)(container, key, rng)
        if not holder:
            holder.append(None)
    return holder[0]  # type: ignore[no-any-return]  # what a mutation left is JSON


def _places(holder: list[Any]) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    stack: list[Any] = [holder]
    while stack:
        here = stack.pop()
        for key, value in here.items() if isinstance(here, dict) else enumerate(here):
            found.append((here, key))
            if isinstance(value, dict | list):
                stack.append(value)
    return found


def _drop(container: Any, key: Any, _: Random) -> None:
    del container[key]


def _retype(container: Any, key: Any, rng: Random) -> None:
    container[key] = deepcopy(rng.choice((*ODD, *NUMBERS, *TEXTS)))


def _as_text(container: Any, key: Any, _: Random) -> None:
    container[key] = str(container[key])[:200]


def _in_list(container: Any, key: Any, _: Random) -> None:
    container[key] = [container[key]]


def _extend(container: Any, key: Any, rng: Random) -> None:
    value = container[key]
    if isinstance(value, dict):
        value[rng.choice(TEXTS)] = deepcopy(rng.choice((*ODD, *NUMBERS, *TEXTS)))
    elif isinstance(value, list):
        value.extend(deepcopy(value[:20]) if rng.random() < 0.5 else [rng.choice(NUMBERS)])
    elif isinstance(value, str):
        container[key] = value + rng.choice(TEXTS)


def _rename(container: Any, key: Any, rng: Random) -> None:
    if isinstance(container, dict):
        value = container.pop(key)
        name = str(key)
        container[rng.choice((name.upper(), name[:-1], name + "s", name + " ", *TEXTS))] = value


def _deepen(container: Any, key: Any, rng: Random) -> None:
    value, levels = container[key], rng.choice((1, 5, 30, DEEPEST))
    for _ in range(levels):
        value = [value] if rng.random() < 0.5 else {"a": value}
    container[key] = value


def _swap(container: Any, key: Any, rng: Random) -> None:
    other = rng.choice(list(container) if isinstance(container, dict) else range(len(container)))
    container[key], container[other] = container[other], container[key]


_MUTATIONS = (_drop, _retype, _retype, _as_text, _in_list, _extend, _rename, _deepen, _swap)
