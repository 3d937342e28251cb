"""Where each character of a scalar stands in its file, in every style of YAML and JSON."""

from __future__ import annotations

import json
from random import Random

import pytest
import yaml

from reconciler.document import Json
from reconciler.syntax.read_text import read_text

LETTERS = "abcxyz(){}[]=~\"'\\ \t\n:#-é\U0001f600,.$|>&*%@!?"
MARKS = "⁂※†‡"
STYLES = ("", "|", ">", '"', "'")


class Dumper(yaml.CSafeDumper):
    """Writes texts in styles of its own."""


def drawn(random: Random) -> str:
    """Give a text with some characters that stand in it once."""
    letters = random.choices(LETTERS, k=random.randint(0, 40))
    for mark in MARKS:
        letters.insert(random.randint(0, len(letters)), mark)
    return "".join(letters)


def written_in_yaml(value: Json, random: Random) -> str:
    """Write a document in random styles, as another program would."""
    Dumper.add_representer(
        str,
        lambda dumper, text: dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, style=random.choice(STYLES)
        ),
    )
    text: str = yaml.dump(
        value,
        Dumper=Dumper,
        width=random.choice([5, 12, 40, 1000]),
        indent=random.choice([2, 3, 4]),
        default_flow_style=random.choice([None, False, False, True]),
        allow_unicode=True,
        sort_keys=False,
    )
    return text.replace("\n", "\r\n") if random.random() < 0.3 else text


def leaves(
    value: Json, path: tuple[str | int, ...] = ()
) -> list[tuple[tuple[str | int, ...], str]]:
    match value:
        case dict():
            return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
        case list():
            return [leaf for nth, inner in enumerate(value) for leaf in leaves(inner, (*path, nth))]
        case str():
            return [(path, value)]
        case _:
            return []


def assert_places(text: str, *, is_json: bool = False) -> int:
    """Hold the places of all scalars of a text against the text itself; give their number."""
    reading = read_text(text, is_json=is_json)
    [document] = reading.documents
    found = leaves(document.value)
    for path, value in found:
        places = document.places(path, value)
        assert places is not None, (value, text)
        assert len(places) == len(value) + 1
        assert [*places] == sorted(places)
        for character, place in zip(value, places, strict=False):
            here = text[place]
            assert here == character or here in "\\\r\n" or character == "'" == here, (value, text)
        # These stand once in each value, so their place is known without any rule.
        begin, end = places[0], places[-1]
        for one in MARKS:
            if value.count(one) == 1:
                written = one if one in text[begin:end] else json.dumps(one)[1:-1]
                assert text.index(written, begin, end) == places[value.index(one)]
    return len(found)


@pytest.mark.parametrize("seed", range(20))
def test_every_style(seed: int) -> None:
    """Each character of each scalar is led to where it is written, in whatever style."""
    random = Random(seed)  # noqa: S311 - repeatable
    count = 0
    for _ in range(60):
        value: Json = {f"k{nth}": [drawn(random), {"z": drawn(random)}] for nth in range(3)}
        count += assert_places(written_in_yaml(value, random))
    assert count == 60 * 6


@pytest.mark.parametrize("seed", range(5))
def test_json(seed: int) -> None:
    """In JSON too, with escapes for what is beyond ASCII or without."""
    random = Random(seed)  # noqa: S311 - repeatable
    for _ in range(60):
        value: Json = {"k": [drawn(random), {"z": drawn(random)}]}
        text = json.dumps(
            value, ensure_ascii=random.random() < 0.5, indent=random.choice([None, 2])
        )

        assert assert_places(text, is_json=True) == 2


@pytest.mark.parametrize(
    "text",
    [
        "k: |+2\n    two\n  ⁂one\n\n",
        "k: |1-\n  ⁂\n\n",
        "k: >+ # said\n  a ⁂\n  b\n\n\n   more\n  c\n\n",
        "k: >-\n\n  a\n\n\n  ⁂b\n",
        "k: |\n  ⁂ without a last break",
        'k: "a \\\n     ⁂b\\\n     \\  c"\n',
        'k: "a\n\n   ⁂b\n   c\\u00e9\\x41\\U0001F600 ⁂"\n'.replace("⁂ ", "⁂", 1).replace(" ⁂", ""),
        "k: 'it''s\n\n  ⁂ here'\n",
        "k: plain\n  goes ⁂\n\n  on   # said\n",
        "k: &name\n  ⁂ value\nother: *name\n",
        "k: &name !!str '⁂'\n",
        "k: [one ⁂, {a: two\n  lines}]\n",
        "k: |\r\n  a\r\n  ⁂b\r\n",
    ],
)
def test_odd_styles(text: str) -> None:
    """Indicators, comments, anchors, continued lines and breaks of two characters are known."""
    assert assert_places(text) >= 1


def test_pairs_of_surrogates() -> None:
    """Two escapes that are one character are one place, and as text they are twelve."""
    text = 'a: "\\ud83d\\ude00 ⁂"\nb: \\ud83d\\ude00 ⁂\nc: |\n  \\ud83d\\ude00 ⁂\n'

    assert assert_places(text) == 3


def test_no_scalar() -> None:
    """Where no scalar stands, or it means something else, no place is told."""
    [document] = read_text("k: text\n").documents

    assert document.places(("k",), "another") is None
    assert document.places((), "text") is None
