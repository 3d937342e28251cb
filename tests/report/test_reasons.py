"""Reasons and remarks: values with a code, whose words are made in reports alone."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from harness.golden import Golden
from sample_reasons import REF, example, said_of_each

from reconciler.document import Json
from reconciler.model import CreateLost, LastEdit, Reason, Ref, Remark, TakesOver
from reconciler.report.plan.document import reason_document
from reconciler.report.reasons import describe_remark, words_of

DOCS = Path(__file__).parents[2] / "docs" / "reasons.md"
GOLDEN = Path(__file__).parent / "golden" / "reasons.txt"


def codes_after(first: str) -> list[str]:
    """Return the codes of the table of docs/reasons.md that begins with this code."""
    text = DOCS.read_text("utf-8")
    rows = text[text.index(f"| [`{first}`]") :].partition("<!--")[0].splitlines()
    return [row.split("`")[1] for row in rows]


@pytest.mark.promise("P55")
def test_reasons_are_documented() -> None:
    """docs/reasons.md names each reason and remark with its code, and none that there is not."""
    assert codes_after("cannot-be-asked") == [value.code for value in Reason.__subclasses__()]
    assert codes_after("no-journal") == [value.code for value in Remark.__subclasses__()]


def test_the_words_of_each_reason() -> None:
    """Every reason, and every end of a lost create, reads to the letter as its golden text."""
    assert said_of_each() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("reason", Reason.__subclasses__(), ids=lambda one: one.code)
def test_reasons_have_words_and_data(reason: type[Reason]) -> None:
    """Each reason can be said in words, and stands in JSON with its code and all its data."""
    one = example(reason)

    document: Json = json.loads(json.dumps(reason_document(one)))

    assert words_of(one, REF)  # type: ignore[arg-type]  # an example of a reason
    assert isinstance(document, dict)
    assert document.pop("code") == reason.code
    assert len(document) == len(dataclasses.fields(reason))


@pytest.mark.parametrize("remark", Remark.__subclasses__(), ids=lambda one: one.code)
def test_remarks_have_words(remark: type[Remark]) -> None:
    """Each remark can be said in words."""
    assert describe_remark(example(remark))  # type: ignore[arg-type]  # an example of itself


@pytest.mark.parametrize("became", get_args(get_type_hints(CreateLost)["became"]))
def test_lost_creates_have_words(became: str) -> None:
    """Whatever became of a lost create is said, with the way to settle it where one is needed."""
    said = words_of(CreateLost("now", became), REF)  # type: ignore[arg-type]  # one of them

    assert ("journal settle SLO/checkout" in said) == (became in ("unknown", "another"))


@pytest.mark.parametrize("differs", [True, False])
def test_who_changed_what_is_taken_over(differs: bool, golden: Golden) -> None:
    """The last edit of what is taken over is a part of a sentence, without a name too."""
    edit = LastEdit(at="2026-01-31T09:00:00Z")

    said = words_of(TakesOver(edit, differs=differs), Ref("SLO", "one"))

    golden(said)
