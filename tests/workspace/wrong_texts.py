# ruff: noqa: E501 - a table reads best with one case a line
"""Texts that are no YAML 1.2, no JSON, too large, or hostile. Source: docs/manifests.md."""

from __future__ import annotations

from wrong import FILE, Wrong, board_of, slo, text

from reconciler.syntax import files, read_text

_BOMB = "a: &a [lol, lol]\n" + "".join(
    f"{key}: &{key} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, key in zip("abcdefgh", "bcdefghi", strict=True)
)
_MANY_ALIASES = "a: &a 1\nb: [" + "*a, " * 100 + "*a]\n"
_DEEP_ALIASES = "a: &a " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 40 + "*a" + "]" * 40 + "\n"

SYNTAX = [
    text("a tab indents", "M101", "2:1", "a tab cannot indent YAML", "a:\n\tb: 1\n"),
    text(
        "a colon in plain text",
        "M101",
        "9:16",
        "must be quoted",
        slo("description: Say: it"),
        '"Say: it"',
    ),
    text("an open quote", "M101", "1:4", "close it", "a: 'open\n"),
    text("an open bracket", "M101", "1:4", "`[` is never closed", "a: [1, 2\n"),
    text(
        "a bracket in a text in braces",
        "M101",
        "1:8",
        "must be quoted",
        "a: {b: total[5m]}\n",
        '"total[5m]"',
    ),
    text("an open brace", "M101", "1:4", "`{` is never closed", "a: {b: 1\n"),
    text("a brace open over keys", "M101", "2:2", "`{` is on line 1", "m: {b: 1\nc:\n  d: 1\n"),
    text("two closing braces", "M101", "1:7", "a line `---`", "{a: 1}}\n"),
    text("a mapping in a list", "M101", "2:1", "must begin with `- `", "- a\nb: 1\n"),
    text("a list on the key's line", "M101", "1:4", "start a new line", "a: - b\n"),
    text("a wrong escape", "M101", "1:5", "double the backslash", 'a: "\\q"\n'),
    text("half a surrogate pair", "M101", "1:7", "surrogate", 'a: "\\ud800"\n'),
    text(
        "text after a quote",
        "M101",
        "1:4",
        "goes on behind its quotes",
        'a: "x" y\n',
        suggests="'\"x\" y'",
    ),
    text(
        "an at sign",
        "M101",
        "1:4",
        "begins with `@` must be quoted",
        "a: @team\n",
        suggests='"@team"',
    ),
    text(
        "a backtick",
        "M101",
        "1:4",
        "begins with a backtick must be quoted",
        "a: `x\n",
        suggests='"`x"',
    ),
    text("text after a block indicator", "M101", "1:6", "on the next line", "a: > x\n"),
    text("an alias of nothing", "M101", "1:4", "`*x` has no anchor", "a: *x\n", suggests='"*x"'),
    text("YAML 2.0", "M101", "1:1", "version of YAML", "%YAML 2.0\n---\na: 1\n"),
    text("a long key", "M101", "1:1103", "at most 1,024", '{"' + "k" * 1099 + '": 1}\n'),
    text(
        "a template unquoted",
        "M107",
        "1:6",
        "must be quoted",
        "key: {{ name }}\n",
        suggests='"{{ name }}"',
    ),
    text("a list as a key", "M107", "1:3", "a key must be text", "? [a]\n: 1\n"),
    text("an alias as a key", "M107", "2:1", "write the key out", "a: &x b\n*x : 1\n"),
    text("a number as a key", "M107", "1:1", "the key `1` is not text", "1: x\n", '"1"'),
    text("a boolean as a key", "M107", "1:1", "the key `true`", "true: x\n", '"true"'),
    text("null as a key", "M107", "1:1", "the key `~`", "~: x\n", '"~"'),
    text("an empty key", "M101", "1:1", "a key is expected", ": x\n"),
    text("a key twice", "M102", "9:3", "`name` appears twice", slo("name: Again")),
    text("a quoted key twice", "M102", "2:1", "`a` appears twice", "a: {b: 1}\n'a': 2\n"),
    text("a key twice in flow", "M102", "1:11", "`a` appears twice", "x: {a: 1, a: 2}\n"),
    text("a merge key", "M103", "2:1", "write the fields out", "a: &a {b: 1}\n<<: *a\n"),
    text("a tag", "M104", "1:4", "the tag `!secret`", "a: !secret x\n"),
    text("a core tag", "M104", "1:4", "the tag `tag:yaml.org,2002:str`", "a: !!str 1\n"),
    text("a Python tag", "M104", "1:4", "is not supported", "a: !!python/object:os.system x\n"),
]

NUMBERS = [
    text("infinity", "M105", "1:4", "`.inf` is not a number", "a: .inf\n"),
    text("less than all", "M105", "1:4", "`-.INF` is not", "a: -.INF\n"),
    text("not a number", "M105", "1:4", "`.NaN` is not", "a: .NaN\n"),
    text("a float too large", "M105", "1:4", "`1e999` is too large", "a: 1e999\n"),
    text("2^53 + 1", "M106", "1:4", "quote it", "a: 9007199254740993\n", '"9007199254740993"'),
    text("-2^53 - 1", "M106", "1:4", "quote it", "a: -9007199254740993\n", '"-9007199254740993"'),
    text(
        "a large hexadecimal",
        "M106",
        "1:4",
        "lose digits",
        "a: 0xFFFFFFFFFFFFFFFF\n",
        '"0xFFFFFFFFFFFFFFFF"',
    ),
    text("5,000 digits", "M106", "1:4", "lose digits", f"a: {'9' * 5000}\n"),
]

LIMITS = [
    text("a cycle", "M108", "1:8", "`*a` contains itself", "a: &a [*a]\n"),
    text("a cycle of mappings", "M108", "1:11", "contains itself", "a: &a {b: *a}\n"),
    text("an alias bomb", "M108", "7:24", "aliases expand to more", _BOMB),
    text("too many aliases", "M108", "2:405", "more than 100 aliases", _MANY_ALIASES),
    text("deep aliases", "M109", "2:44", "nests deeper than 64", _DEEP_ALIASES),
    text("65 levels", "M109", "1:65", "deeper than 64", "[" * 65 + "]" * 65),
    text("100,000 brackets", "M109", "1:65", "deeper than 64", "[" * 100_000),
    text("100,000 braces", "M107", "1:2", "a mapping", "{" * 100_000),
    text("100,000 dashes", "M109", "1:129", "deeper than 64", "- " * 100_000),
    Wrong(
        "a file over 8 MB",
        "M110",
        FILE,
        "larger than 8 MB",
        {FILE: b"#" * (files.LARGEST_FILE + 1)},
    ),
    Wrong(
        "a line over 1 MB",
        "M110",
        FILE,
        "a line longer than 1 MB",
        {FILE: "#" * (files.LONGEST_LINE + 1)},
    ),
    text(
        "a text over 1 MB",
        "M110",
        "1:4",
        "longer than 1 MB",
        "a: |\n" + ("  " + "x" * 1023 + "\n") * (read_text.LONGEST_SCALAR // 1024 + 1),
    ),
    text(
        "a million values",
        "M110",
        "1000002:1",
        "values in one document",
        "- 1\n" * (read_text.MOST_NODES + 1),
    ),
    text("too many mistakes", "M115", "1001:1", "1,000 mistakes", "a: 1\n" * 3000),
]

CHARACTERS = [
    text("NUL", "M111", "1:4", "a NUL character", "a: \0\n"),
    text("ESC", "M111", "9:16", "an escape character (\\u001b)", slo("description: \x1b[31mred")),
    text("C1", "M111", "1:4", "the control character \\u009b", "a: \x9b31m\n"),
    text("DEL", "M111", "1:4", "the control character \\u007f", "a: \x7f\n"),
    text(
        "a lone carriage return", "M111", "1:9", "without a line feed", "# change\rspec: hidden\n"
    ),
    text("a line separator", "M111", "1:9", "separator \\u2028", "# change\u2028spec: hidden\n"),
    text("a next line", "M111", "1:9", "separator \\u0085", "# change\x85spec: hidden\n"),
    text("a right-to-left override", "M111", "9:16", "\\u202e", slo("description: \u202etxet")),
    text(
        "a hidden comment",
        "M111",
        "2:13",
        "\\u2066",
        slo().replace("kind: SLO", "kind: SLO # \u2066x"),
    ),
    text(
        "an override after block text",
        "M111",
        "11:17",
        "\\u202e",
        slo("description: |", "  \u202eok", "sloTimeFrame: \u202ex"),
    ),
    text(
        "an override after much block text",
        "M111",
        "11:4",
        "\\u202e",
        slo("description: |", "  " + "\u202e" * 30, "#\u202e"),
    ),
    text("an escaped override", "M111", "9:16", "\\u202e", slo('description: "\\u202e"')),
    text(
        "an escaped override beside block text",
        "M111",
        "11:17",
        "\\u202e",
        slo("description: |", "  \u202eok", 'sloTimeFrame: "\\u202ex"'),
    ),
    text("an escaped escape", "M111", "9:16", "\\u001b", slo('description: "\\e[31m"')),
    text("an escaped NUL", "M111", "9:16", "NUL", slo('description: "\\0"')),
    text(
        "Latin-1",
        "M111",
        "9:19",
        "not UTF-8: byte 0xe9",
        slo("description: cafX").replace("X", "\0").encode().replace(b"\0", b"\xe9"),
        "save it as UTF-8",
    ),
    Wrong("UTF-16", "M111", FILE, "UTF-16", {FILE: slo().encode("utf-16")}, "save it as UTF-8"),
    text(
        "an encoded surrogate",
        "M111",
        "1:4",
        "not UTF-8: byte 0xed",
        b"a: \xed\xa0\x80\n",
        suggests="save it as UTF-8",
    ),
    text(
        "an overlong slash",
        "M111",
        "1:4",
        "not UTF-8: byte 0xc0",
        b"a: \xc0\xaf\n",
        suggests="save it as UTF-8",
    ),
]

_BODY = '{"apiVersion": "reconciler/v1", "kind": "SLO", "metadata": {"name": "a"}, "spec": %s}'


def _json(name: str, code: str, column: int, says: str, spec: str, suggests: str = "") -> Wrong:  # noqa: PLR0917 - a row of a table
    return Wrong(name, code, f"a.json:1:{column}", says, {"a.json": _BODY % spec}, suggests)


JSON = [
    _json("a trailing comma", "M101", 96, "there is a comma before the closing", '{"name": "a",}'),
    _json("a comment in JSON", "M101", 84, "no comments", '{/* x */"name": "a"}'),
    _json("single quotes", "M101", 84, "this is not JSON", "{'name': \"a\"}"),
    _json("a bare word", "M101", 92, "this is not JSON", '{"name": word}'),
    _json("NaN in JSON", "M105", 92, "`NaN` is not a number of JSON", '{"name": NaN}'),
    _json("Infinity in JSON", "M105", 104, "`-Infinity` is not", '{"name": "NaN", "a": -Infinity}'),
    _json("a key twice in JSON", "M102", 97, "`name` appears twice", '{"name": "a", "name": "b"}'),
    _json("after an emoji", "M303", 108, "`nam`", '{"name": "\\ud83d\\ude00", "nam": 1}', "keep one of `nam`, `name`"),
    _json("a lone surrogate", "M101", 95, "surrogate", '{"name": "\\ud83d"}'),
    Wrong("JSON after JSON", "M101", "a.json:2:1", "more follows", {"a.json": f"{_BODY % '{}'}\n---\n{{}}"}),
    Wrong("YAML named JSON", "M101", "a.json:1:13", "more follows", {"a.json": slo().replace("apiV", '"apiV').replace("ion:", 'ion":')}),
    Wrong("deep JSON", "M109", "a.json:1:146", "deeper than 64", {"a.json": _BODY % ("[" * 100_000)}),
    Wrong(
        "a deep export", "M109", "board.json:1:69", "deeper than 64",
        {FILE: board_of("board.json"), "board.json": '{"a":' + "[" * 100 + "]" * 100 + "}"},
    ),
    Wrong(
        "an export with a trailing comma", "M101", "board.json:1:11", "a comma before",
        {FILE: board_of("board.json"), "board.json": '{"name":1,}'},
    ),
]  # fmt: skip

TEXTS = [*SYNTAX, *NUMBERS, *LIMITS, *CHARACTERS, *JSON]
