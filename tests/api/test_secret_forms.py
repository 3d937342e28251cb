from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from reconciler.api.secret import HIDDEN, Redaction, key_from
from reconciler.runtime.connection import KEY_VARIABLE


def test_every_usable_character() -> None:
    """A key may hold each printable character of ASCII but the space, and is given as it is."""
    key = "".join(map(chr, range(ord("!"), ord("~") + 1)))

    assert key_from({KEY_VARIABLE: key}).reveal() == key


WRITTEN = [
    ("pässwörd", "p%C3%A4ssw%c3%b6rd"),
    ("pässwörd", "p%25C3%25A4ssw%25c3%25b6rd"),
    ("pässwörd", r"p\u00e4ssw\u00F6rd"),
    ("pässwörd", r"p\\u00e4ssw\xf6rd"),
    ("pässwörd", r"p\xc3\xa4ssw\xc3\xb6rd"),
    ("pässwörd", "p&#228;ssw&#xf6;rd"),
    ("pässwörd", "p&#0228;ssw&#X00F6;rd"),
    ("key-\U0001f600-key", r"key-\ud83d\ude00-key"),
    ("key-\U0001f600-key", r"key-\U0001f600-key"),
    ("a&b<c>d\"e'f", "a&amp;b&lt;c&gt;d&quot;e&apos;f"),
    ("a&b<c>d\"e'f", "a&#38;b\\<c\\>d\\\"e\\'f"),
    ("one two", "one+two"),
    ("first  second", "first second"),
    ("first  second", "first\n    second"),
    ("ab d", "ab\n  d"),
    ("one two", "one%20two"),
    ("one two", r"one\ two"),
    ("a\nb\rc\td\be\ff", r"a\nb\rc\td\be\ff"),
    ("a\nb\rc\td\be\ff", r"a\\nb\\rc\\td\\be\\ff"),
    ("a/b.c+d", r"a\/b\.c\+d"),
    ("abcd\ud800", r"abcd\ud800"),
    ("abcd", "%61b%63d"),
    ("pässwörd", r"p\U000000e4ssw\U000000f6rd"),
    (
        "a-long-secret-without-escapes-in-it",
        r"a-long-secret-without-escap\U00000065s-in-i\U00000074",
    ),
    ("a-long-secret-without-escapes-in-it", r"a-long-secret-without-escap\x65s-in-i&#x74;"),
    ("a long secret \U0010ffff and more of it", r"a long secret \U0010ffff and more of it"),
]


@pytest.mark.parametrize(("secret", "written"), WRITTEN)
def test_spelt(secret: str, written: str) -> None:
    """A secret is hidden in each way of writing it, and what stands around it stays."""
    assert Redaction([secret])(f"<{written}> {written}") == f"<{HIDDEN}> {HIDDEN}"


@pytest.mark.parametrize(
    "text",
    [
        "onetwo",
        "one%2two",
        "one%21two",
        "one&#33;two",
        r"one\x21two",
        "one-two",
        "onextwo",
    ],
)
def test_not_spelt(text: str) -> None:
    """What is not the secret stays, however close it comes."""
    assert Redaction(["one two"])(text) == text


PASSWORD = "correct horse battery staple extra"  # noqa: S105 - made up, to be hidden


@pytest.mark.parametrize(
    "told",
    [
        "Correct HORSE battery STAPLE extra",
        "correct\n      horse battery staple extra",
        "correct horse\r\nbattery  staple\textra",
        "correct horse\x1b[0m\n      \x1b[36mbattery staple extra",
        "correct%20Horse%0Abattery+staple&#10;extra",
        r"correct horse\\r\\nbattery staple\u000A  EXTR\u0041",
    ],
)
def test_laid_out(told: str) -> None:
    """A secret is hidden in other letters, and broken over lines wherever it holds a blank."""
    assert Redaction([PASSWORD])(f"<{told}>") == f"<{HIDDEN}>"


@pytest.mark.parametrize("around", [("", "\n"), ("  ", "\r\n"), ("\t", " "), ("\n", "\n")])
def test_trimmed(around: tuple[str, str]) -> None:
    """A secret with blanks around it is hidden without them too, in each way of writing it."""
    redact = Redaction([PASSWORD.join(around)])
    encoded = base64.b64encode(PASSWORD.encode()).decode()
    told = (PASSWORD, json.dumps(PASSWORD), PASSWORD.encode().hex(), encoded)

    for text in told:
        assert PASSWORD not in redact(text)
        # The last digit of base64 is not of the secret alone.
        assert redact(text).strip('"=Q') == HIDDEN


LINES = ("-----BEGIN THING-----", "bGluZSBvbmUgb2YgdHdv", "bGluZSB0d28gb2YgdHdv", "Zg=")


@pytest.mark.parametrize("line", LINES[:3])
def test_lines(line: str) -> None:
    """Each long line of a secret is hidden alone, also where it is written in another way."""
    redact = Redaction(["\n".join(LINES) + "\n"])

    assert redact(f"no {line}, really") == f"no {HIDDEN}, really"
    assert redact(f"50% {line.replace('b', '%62')}") == f"50% {HIDDEN}"
    assert redact("  ".join(LINES)) == HIDDEN


def test_short_lines() -> None:
    """A line of three characters hides nothing by itself."""
    assert Redaction(["Zg=\nlonger"])("Zg= and LONGER") == f"Zg= and {HIDDEN}"


def test_blanks_of_what_is_short() -> None:
    """Blanks around or inside what would be too short without them are not taken for others."""
    redact = Redaction(["ab  ", "a  b", "    "])

    assert redact("ab a b cab c") == "ab a b cab c"
    assert redact("<ab  > <a  b> <    >") == f"<{HIDDEN}> <{HIDDEN}> <{HIDDEN}>"


@pytest.mark.parametrize(
    "before", ["\\", "\\\\", "%", "%2", "\\u00", "&#", "&", "%25", "\\x6", "+"]
)
def test_half_an_escape_before(before: str) -> None:
    """What looks like the beginning of an escape leads nothing of a long secret past the filter."""
    secret = "b0dy41-of-a-long-random-key-7c7c"  # noqa: S105 - made up, to be hidden

    assert Redaction([secret])(f"{before}{secret}") == before + HIDDEN
    assert HIDDEN in Redaction([secret])(f"{before}{secret.replace('long', '%6cong')}")


def test_nothing_around_a_secret_goes() -> None:
    """A backslash, a sign or a digit beside a secret is not taken with it."""
    assert Redaction(["next"])(r"\next +next next3 %next") == r"\*** +*** ***3 %***"
    assert Redaction(["next"])(r"\nex%74 +nex%74") == r"\*** +***"


@pytest.mark.parametrize(
    ("before", "first", "last"), [("", 0, 8), ("a", 2, 9), ("ab", 3, 10), ("abc", 4, 12)]
)
def test_what_base64_leaves(before: str, first: int, last: int) -> None:
    """In base64 all goes that is of the secret alone, and nothing that is of its neighbours."""
    redact = Redaction(["secret"])
    encoded = base64.b64encode(f"{before}secretxyz".encode()).decode()

    assert redact(encoded) == encoded[:first] + HIDDEN + encoded[last:]


def test_base64_of_urls() -> None:
    """Both alphabets of base64 are known, so `+` and `/` in it hide nothing."""
    text = "\u00ff\u00ff\u00fe>>>???"
    plain, url = base64.b64encode(text.encode()), base64.urlsafe_b64encode(text.encode())

    assert plain != url
    assert Redaction([text])(f"{plain.decode()} {url.decode()}") == f"{HIDDEN} {HIDDEN}"


def test_hexadecimal() -> None:
    """A secret in hexadecimal digits is hidden, large or small."""
    assert Redaction(["jklm"])("6a6b6c6d 6A6B6C6D") == f"{HIDDEN} {HIDDEN}"


def test_too_short() -> None:
    """Three characters are no secret, as hiding them would blank half of every text; four are."""
    redact = Redaction(["abc", "wxyz"])

    assert redact("abc YWJj 616263 wxyz") == f"abc YWJj 616263 {HIDDEN}"


def test_secret_inside_another() -> None:
    """The longer of two secrets goes first, so that nothing of it stays around the shorter one."""
    assert Redaction(["word", "a-word-b"])("a-word-b word") == f"{HIDDEN} {HIDDEN}"


def test_added_later() -> None:
    """Secrets that become known on the way are hidden from then on, the first ones still."""
    redact = Redaction()
    assert redact("first second") == "first second"

    redact.add("first")
    redact.add("second")
    redact.add("first")

    assert redact(json.dumps(["first", "second"])) == json.dumps([HIDDEN, HIDDEN])


@pytest.mark.parametrize("secret", ["q8Zr", "  q8Zr  ", "first line of it\nq8Zr"])
@pytest.mark.parametrize(
    "form", [str, lambda one: base64.b64encode(b"0" + one.encode()).decode()[2:6]]
)
def test_shortest(secret: str, form: Callable[[str], str]) -> None:
    """A secret of the shortest length is hidden where it is all that a text holds."""
    lines = Redaction([secret, *secret.split("\n")])

    assert lines(form("q8Zr")) == HIDDEN
    assert Redaction([secret])("q8Zr") == HIDDEN


@pytest.mark.parametrize("nearest", [r"\U00000071", r"\U0010ffff", "&#x71;", "&#113;"])
def test_long_escapes(nearest: str) -> None:
    """A character that is written with its whole number is found, the last one there is too."""
    character = "\U0010ffff" if "ffff" in nearest else "q"

    assert Redaction([f"{character}8Zr-hunter"])(f"<{nearest}8Zr-hunter>") == f"<{HIDDEN}>"


@pytest.mark.parametrize("beyond", [r"\UFFFFFFFF", r"\U00110000", "&#x110000;", "&#9999999;"])
def test_no_character(beyond: str) -> None:
    """What looks like an escape and is no character hides no secret beside it."""
    assert Redaction(["q8Zr-hunter"])(f"{beyond}q8Zr-hunter") == f"{beyond}{HIDDEN}"


@pytest.mark.parametrize("written", [r"\xe9", r"\u00e9", r"\U000000e9", r"\xc3\xa9"])
def test_letters_of_one_byte(written: str) -> None:
    """A letter that is one byte in some codes and two in others is found in either way."""
    assert Redaction(["caf\u00e9-hunter"])(f"caf{written}-hunter") == HIDDEN


@pytest.mark.parametrize(("blanks", "between"), [(1, 64), (40, 80), (40, 1)])
def test_more_blanks(blanks: int, between: int) -> None:
    """A secret with blanks inside is found with up to twice as many, or 64."""
    secret, text = (f"q8Zr{' ' * many}hunter" for many in (blanks, between))

    assert Redaction([secret])(text) == HIDDEN


def test_taken_over() -> None:
    """One filter takes over what another hides, in every form, and keeps its own."""
    one, other = Redaction(["q8Zr-hunter"]), Redaction(["swordfish-77", "a longer swordfish-77"])
    one.take(other)

    for secret in ("q8Zr-hunter", "swordfish-77", "a longer swordfish-77"):
        assert one(f"<{secret}>") == f"<{HIDDEN}>"
        assert one(f"<{secret.encode().hex()}>") == f"<{HIDDEN}>"
    assert other("q8Zr-hunter") == "q8Zr-hunter"


@pytest.mark.parametrize("taken", ["%41", "&#x41;", "\\\\x41"])
def test_behind_what_looks_like_an_escape(taken: str) -> None:
    """A long secret is found behind signs that would take its first characters for an escape."""
    held = "41-swordfish-and-a-longer-tail-77"

    assert HIDDEN in Redaction([held])(f"{taken[:-2]}{held}")


def test_a_secret_that_is_an_escape() -> None:
    """A long secret that itself holds signs of escapes is found as it is, and written by URLs."""
    held = "%41-swordfish-%42-and-a-longer-tail"

    for text in (held, held.replace("%", "%25")):
        assert Redaction([held])(f"<{text}>") == f"<{HIDDEN}>"


@pytest.mark.parametrize("blank", [" ", "\\n", "\\t\\t"])
def test_blanks_in_long_texts(blank: str) -> None:
    """A secret whose blanks are written otherwise is found in a text that holds much else."""
    text = "x" * 500 + blank.join(("swordfish", "and", "tail")) + "y" * 500

    assert Redaction(["swordfish and tail"])(text) == "x" * 500 + HIDDEN + "y" * 500
