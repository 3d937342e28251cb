from __future__ import annotations

import json
import re

import pytest
import yaml
from harness.golden import Golden
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.document import Json, Path
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import decode
from reconciler.syntax.parsed_text import MOST_FLAWS
from reconciler.syntax.read_text import MOST_ALIASES, MOST_NODES, read_text

_PRINTABLE = st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"))
_TEXT = st.text(_PRINTABLE, max_size=20)
_KEY = st.text(_PRINTABLE, min_size=1, max_size=12)
_SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    _TEXT,
)
_DOCUMENT: st.SearchStrategy[Json] = st.recursive(
    _SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEY, inner, max_size=4)),
    max_leaves=20,
)
_MARKUP = st.text(
    st.sampled_from("ab01 \n\t-:?,[]{}#&*!|>'\"%@`~<=.\\\r\x00\x1b\x85\u2028\u202e\ufeffé")
)
PARSERS_WORDS = re.compile(r"\b(?:[Ww]hile|[Ee]xpecting|did not find|could not find|found)\b")


def same(left: Json, right: Json) -> bool:
    """Compare with types, so that true is not 1."""
    return json.dumps(left) == json.dumps(right)


def paths_in(document: Json, path: Path = ()) -> list[Path]:
    """List the paths of all that stands in a document."""
    found: list[Path] = [path] if path else []
    if isinstance(document, dict):
        for key, value in document.items():
            found += paths_in(value, (*path, key))
    elif isinstance(document, list):
        for index, item in enumerate(document):
            found += paths_in(item, (*path, index))
    return found


def first_scalar(text: str) -> str:
    """Give the scalar that a text begins with."""
    events = yaml.parse(text)
    return next(event.value for event in events if isinstance(event, yaml.ScalarEvent))


@given(_DOCUMENT, st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=100, deadline=None)
def test_json_round_trip(document: Json, ascii_only: bool, indent: int | None) -> None:
    """What JSON writes is read as it was, and nothing is wrong with it."""
    written = json.dumps(document, ensure_ascii=ascii_only, indent=indent)

    reading = read_text(written, is_json=True)

    assert reading.flaws == []
    assert same(reading.documents[0].value, document)


@given(st.dictionaries(_KEY, _DOCUMENT, min_size=1, max_size=4), st.booleans())
@example({"0": None, "\\uD800\\uDC00": None, "': \\uD800\\uDC00": None}, False)  # noqa: FBT003 - flow
@settings(max_examples=100, deadline=None)
def test_positions(document: dict[str, Json], flow: bool) -> None:
    """However YAML is laid out, the position of each key leads to that key."""
    written = yaml.safe_dump(
        document, allow_unicode=True, default_flow_style=flow, sort_keys=False, width=60
    )

    read = read_text(written).documents[0]

    lines = written.split("\n")
    for path in paths_in(read.value):
        line, column = read.locate(path, at_key=True)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        if isinstance(path[-1], str):
            assert first_scalar(rest) == path[-1]


@given(_MARKUP)
@settings(max_examples=300, deadline=None)
def test_any_text(text: str) -> None:
    """The reader raises on no text, and each flaw stands in the file."""
    for is_json in (False, True):
        reading = read_text(text, is_json=is_json)

        count = text.count("\n") + 1
        assert all(1 <= flaw.line <= count and flaw.column >= 1 for flaw in reading.flaws)
        assert all(isinstance(document.locate(), tuple) for document in reading.documents)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes(content: bytes) -> None:
    """Bytes are text, or a complaint that they are not."""
    text = decode(content, "a.yaml")

    if isinstance(text, Complaint):
        assert text.code == "M111"
    else:
        read_text(text)
        read_text(text, is_json=True)


@given(st.text(max_size=8), st.booleans())
def test_the_first_wrong_byte_has_its_place(before: str, mark: bool) -> None:
    """A byte that is no UTF-8 is named with line and column, behind a byte-order mark too."""
    before = "a" + before.replace("\r", "")
    wrong = decode(b"\xef\xbb\xbf" * mark + before.encode() + b"\xff rest", "a.yaml")

    assert isinstance(wrong, Complaint)
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert (wrong.code, wrong.line, wrong.column) == ("M111", line, column)
    assert "0xff" in wrong.message


@given(_DOCUMENT, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_aliases_expand(document: Json, times: int) -> None:
    """An alias is read as what its anchor holds, and places after it stay right."""
    shared = json.dumps(document, ensure_ascii=False)
    aliases = "".join("- *shared\n" for _ in range(times))

    reading = read_text(f"- &shared {shared}\n{aliases}- last\n")

    assert reading.flaws == []
    read = reading.documents[0]
    assert same(read.value, [document] * (times + 1) + ["last"])
    assert read.locate((times + 1,)) == (times + 2, 3)


def test_aliases_are_counted_in_the_whole_file() -> None:
    """A hundred aliases are read and one more is not, though documents share them out."""
    half = "- &a 1\n" + "- *a\n" * (MOST_ALIASES // 2)

    assert read_text(f"{half}---\n{half}").flaws == []
    assert [flaw.code for flaw in read_text(f"{half}---\n{half}- *a\n").flaws] == ["M108"]


@pytest.mark.parametrize("mistakes", [MOST_FLAWS - 2, MOST_FLAWS - 1, MOST_FLAWS])
def test_a_syntax_error_near_the_limit(mistakes: int) -> None:
    """Wherever the limit of mistakes is met, at a syntax error too, it ends the reading quietly."""
    reading = read_text("- !tag x\n" * mistakes + "- [")

    codes = [flaw.code for flaw in reading.flaws]
    assert codes[-1] == ("M101" if mistakes < MOST_FLAWS - 1 else "M115")
    assert len(codes) <= MOST_FLAWS + 1


@given(_DOCUMENT, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_aliases_of_what_a_repeated_key_held(document: Json, times: int) -> None:
    """What stands under a repeated key is left out, and its aliases stay what they are."""
    shared = json.dumps(document, ensure_ascii=False)
    aliases = "".join(f"  - *shared\n  - *inner{number % 2}\n" for number in range(times))

    reading = read_text(
        f"a: 1\na: &inner0 [1, &shared {shared}]\na: &inner1 [&x 2]\nlist:\n{aliases}  - last\n"
    )

    assert [flaw.code for flaw in reading.flaws] == ["M102", "M102"]
    read = reading.documents[0]
    held: list[Json] = [[1, document], [2]]
    listed = [value for number in range(times) for value in (document, held[number % 2])]
    assert same(read.value, {"a": 1, "list": [*listed, "last"]})
    assert read.locate(("list", 2 * times)) == (2 * times + 5, 5)
    if times > 1:
        assert read.locate(("list", 2)) == (7, 5)


@pytest.mark.parametrize("twice", ["x3", "x5"])
def test_a_repeated_key_hides_no_bomb(twice: str) -> None:
    """Aliases of what stands under a repeated key count as what they expand to."""
    lines = ["x0: &x0 [lol]"]
    for number in range(1, 9):
        line = f"x{number}: &x{number} [{', '.join([f'*x{number - 1}'] * 9)}]"
        lines += [line, line] if f"x{number}" == twice else [line]

    reading = read_text("\n".join(lines))

    assert [flaw.code for flaw in reading.flaws] == ["M102", "M108"]


def test_repeated_keys_count() -> None:
    """What is left out counts on, so that no file is read for ever."""
    wide = "x1: &x1 [" + "1, " * (MOST_NODES // 10) + "1]\n"

    reading = read_text(wide + "a: *x1\n" * 12)

    assert reading.flaws[-1].code in ("M108", "M110")
    assert len(reading.documents) == 0


def test_an_anchor_ends_with_its_document() -> None:
    """An alias of another document's anchor leads nowhere."""
    reading = read_text("- &a 1\n---\n- *a\n")

    assert [(flaw.code, flaw.line) for flaw in reading.flaws] == [("M101", 3)]
    assert [document.value for document in reading.documents] == [[1]]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    """A BOM is tolerated and moves no column."""
    text = decode(b"\xef\xbb\xbfa: 1\n", "a.yaml")

    assert isinstance(text, str)
    read = read_text(text).documents[0]
    assert (read.value, read.locate(("a",), at_key=True)) == ({"a": 1}, (1, 1))


def test_line_breaks_of_windows() -> None:
    """CR LF is one line break, and no part of a value."""
    reading = read_text("a: x\r\nb:\r\n  - y\r\n")

    read = reading.documents[0]
    assert read.value == {"a": "x", "b": ["y"]}
    assert read.locate(("b", 0)) == (3, 5)


def test_pairs_of_surrogates_move_no_column() -> None:
    """In JSON an emoji in two escapes is one character, and columns are those of the file."""
    text = r'{"\\ud83d": "\ud83d\ude00\ud83d\ude00", "b": {"c": "\ud83d\ude00", "d": 1}}'

    read = read_text(text, is_json=True).documents[0]

    assert read.value == {"\\ud83d": "😀😀", "b": {"c": "😀", "d": 1}}
    assert read.locate(("b",), at_key=True) == (1, text.index('"b"') + 1)
    assert read.locate(("b", "d"), at_key=True) == (1, text.index('"d"') + 1)


_PAIRS = st.lists(
    st.sampled_from(
        (
            r"\ud83d\uddff",
            r"\uD83D\uDE00",
            r"\U0001F5FF",
            r"\ud83d",
            r"\udfff",
            r"\n",
            "#",
            " ",
            "x",
        )
    ),
    max_size=8,
).map("".join)


@pytest.mark.promise("P38")
@given(document=_DOCUMENT, emoji=st.text(st.characters(min_codepoint=0x10000), max_size=4))
def test_pasted_json_reads_as_json(document: Json, emoji: str) -> None:
    """JSON text in a YAML file reads as in a file of JSON, whatever it writes as two escapes."""
    pasted = json.dumps({"a": emoji, "b": [document, emoji]}, ensure_ascii=True)

    alone, inside = read_text(pasted, is_json=True), read_text(f"spec:\n  {pasted}\nz: 1\n")

    assert inside.flaws == []
    (read,) = inside.documents
    assert same(read.value, {"spec": alone.documents[0].value, "z": 1})
    assert read.locate(("z",), at_key=True) == (3, 1)


@pytest.mark.promise("P38")
@given(text=_PAIRS)
def test_two_escapes_are_text_without_quotes(text: str) -> None:
    """Where YAML knows no escapes, two that would be a pair are the characters that stand there."""
    lines = [
        r'a: "\ud83d\ude00" # \ud83d\ude00 \U0001F600',
        f"plain: x{text.replace('#', '-')}x",
        f"single: 'x{text}x' # \\ud83d\\ude00",
        r"literal: | # \ud83d\ude00 \U0001F600",
        f"  x{text}x",
        r"folded: >-",
        f"  x{text}x",
        f"k{text.replace('#', '-').replace(' ', '-')}k: 1",
        r'z: "\ud83d\ude00\ud83d\ude00"',
    ]

    reading = read_text("\n".join(lines) + "\n")

    assert reading.flaws == []
    (read,) = reading.documents
    assert read.value == {
        "a": "\U0001f600",
        "plain": f"x{text.replace('#', '-')}x",
        "single": f"x{text}x",
        "literal": f"x{text}x\n",
        "folded": f"x{text}x",
        f"k{text.replace('#', '-').replace(' ', '-')}k": 1,
        "z": "\U0001f600\U0001f600",
    }
    assert read.locate(("z",), at_key=True) == (len(lines), 1)


@pytest.mark.promise("P38")
def test_half_a_pair_in_yaml_is_an_error(golden: Golden) -> None:
    """A surrogate without its other half is an error at its place, in YAML as in JSON."""
    (flaw,) = read_text('a: "\\ud83d\\ude00"\nb: "\\ude00"\n').flaws

    assert (flaw.code, flaw.line) == ("M101", 2)
    golden(flaw.message)


def test_templates_of_others_are_data() -> None:
    """Braces and dollars that others evaluate are text, with every character kept."""
    written = ["{{ .Value }}", "${{ github.ref }}", "$(date)", "${HOME}", "{% if x %}", "<%= y %>"]

    reading = read_text(json.dumps(written))

    assert reading.documents[0].value == written
    assert reading.flaws == []


def test_a_missing_field_is_placed_at_its_parent() -> None:
    """A path that ends in nothing gives the nearest place that was written."""
    read = read_text("a:\n  b: [x]\n").documents[0]

    assert read.locate(("a", "lost")) == (2, 3)
    assert read.locate(("a", "b", 7, "lost"), at_key=True) == (2, 3)
    assert read.locate(("a", "b", "x")) == (2, 6)


@given(
    st.one_of(
        _MARKUP, st.from_regex(r"(a: )?[\[{\"'%!&*|>][ab01%:,\]}\"'!<>\\ ]*", fullmatch=True)
    ),
    st.booleans(),
)
@settings(max_examples=1_500, deadline=None)
def test_in_own_words(text: str, is_json: bool) -> None:
    """What is not well-formed is told in words of the reader's own, at a line that is there."""
    written = f"a: b\n{text}\n"
    flaws = read_text(written, is_json=is_json).flaws

    lines = len(re.findall("\r\n|[\r\n\x85\u2028\u2029]", written))
    for flaw in flaws:
        assert not PARSERS_WORDS.search(flaw.message), flaw.message
        assert flaw.line <= lines, flaw
