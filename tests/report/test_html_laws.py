"""The page of a plan as text: what holds for every plan, without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from html_reading import Reader
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import HOSTILE, MARK, plans
from sample_plans import plan_of_none, plan_of_three, plan_of_three_hundred
from test_outcomes import LOOKS

from reconciler.model import DriftReport, Plan
from reconciler.report.html import drift_html, plan_html
from reconciler.report.html.page import Markup, element, style
from reconciler.report.html.report_pages import marked

OURS = {
    *("html", "head", "meta", "title", "style", "body", "script", "header", "main", "footer"),
    *("section", "div", "span", "p", "a", "ul", "li", "h1", "h2", "h3", "h4", "strong", "code"),
    *("details", "summary", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "g", "rect", "text", "path", "circle", "del", "ins", "mark"),
    *("time", "ol", "wbr", "input", "label", "fieldset", "legend", "button", "output"),
}
LINKS = {"href", "src", "action", "style", "srcdoc", "data", "formaction", "xlink:href"}
TEXT_AND_GROUND = (
    *((ink, ground) for ink in ("ink", "quiet") for ground in ("paper", "card", "grey-soft")),
    *((ink, f"{side}-soft") for ink in ("ink", "quiet") for side in ("green", "red")),
    *((name, f"{name}-soft") for name in ("green", "red", "amber", "violet", "blue")),
    *((name, "card") for name in ("green", "red", "amber", "violet", "blue", "link")),
    *(("link", "amber-soft"), ("ink", "amber-soft"), ("ink", "mark"), ("paper", "ink")),
    *(("quiet", "amber-soft"), ("link", "paper")),
)
ENOUGH = 4.5  # WCAG 2.2, 1.4.3: contrast of text


@settings(max_examples=settings().max_examples // 2)
@given(plan=plans(most=20))
def test_foreign_text_is_never_markup(plan: Plan) -> None:
    """Whatever manifests say, a page holds our elements alone, each of them closed."""
    reader = Reader(plan_html(plan))

    assert set(reader.tags) <= OURS
    assert reader.open == []
    assert not [value for _, name, value in reader.attributes if name.startswith("on")]
    leads = [value for _, name, value in reader.attributes if name in LINKS]
    assert all(re.fullmatch(r"#[a-z]+(-\d+)?", value) for value in leads)
    assert not any(MARK in text for tag in ("style", "script") for text in reader.words[tag])


@settings(max_examples=settings().max_examples // 4)
@given(plan=plans(most=12))
def test_every_change_is_in_the_page(plan: Plan) -> None:
    """Each change has one card, and each has an identity of its own."""
    reader = Reader(plan_html(plan))

    todo = sum(change.action.is_to_do for change in plan.changes)
    identities = [value for _, name, value in reader.attributes if name == "id"]
    assert len([identity for identity in identities if identity.startswith("change-")]) == todo
    assert len(set(identities)) == len(identities)


@settings(max_examples=settings().max_examples // 4)
@given(look=LOOKS)
def test_drift_is_a_page_too(look: DriftReport) -> None:
    """What drifted has one card each, and foreign text stays text."""
    reader = Reader(drift_html(look, f"{MARK}<b>", "emulator"))

    drifted = sum(drift.drifted for drift in look.found)
    identities = [value for _, name, value in reader.attributes if name == "id"]
    assert len([identity for identity in identities if identity.startswith("drift-")]) == drifted
    assert set(reader.tags) <= OURS
    assert reader.open == []


@pytest.mark.parametrize("text", HOSTILE)
def test_an_element_takes_any_text(text: str) -> None:
    """Any text is text between two tags, and one value in an attribute."""
    reader = Reader(element("p", text, title=text))

    assert reader.tags == {"p": 1}
    assert [name for _, name, _ in reader.attributes] == ["title"]
    assert element("p", Markup("<b>")) == "<p><b></p>"


@given(one=st.text("abc<&", max_size=12), other=st.text("abc<&", max_size=12))
def test_a_mark_adds_nothing_but_itself(one: str, other: str) -> None:
    """Without the marks, both texts are what they were."""
    for text, shown in zip((one, other), marked(one, other), strict=True):
        assert re.sub("</?mark>", "", shown) == element("p", text)[3:-4]


@pytest.mark.parametrize("make", [plan_of_none, plan_of_three, plan_of_three_hundred])
def test_a_page_needs_nothing_beside_it(make: object) -> None:
    """A page names no address to load from, and forbids itself to load any."""
    assert callable(make)
    text = plan_html(make())

    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src &#39;none&#39;; ")
    assert "unsafe" not in policy
    assert "url(" not in text
    assert "@import" not in text
    reader = Reader(text)
    assert {"link", "img", "iframe", "object", "form"} & set(reader.tags) == set()


def palettes() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the colours by light and by dark."""
    for name, block in zip(
        ("light", "dark"), re.findall(r":root \{([^}]*)\}", style())[:2], strict=True
    ):
        yield name, dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))


def brightness(colour: str) -> float:
    """Give the relative luminance of a colour. Source: WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("name", "palette"), list(palettes()), ids=["light", "dark"])
def test_every_text_can_be_read(name: str, palette: dict[str, str]) -> None:
    """By light and by dark, each colour of text has the contrast that the guidelines want."""
    weak = {}
    for ink, ground in TEXT_AND_GROUND:
        high, low = sorted((brightness(palette[ink]), brightness(palette[ground])), reverse=True)
        ratio = (high + 0.05) / (low + 0.05)
        if ratio < ENOUGH:
            weak[name, ink, ground] = round(ratio, 2)

    assert weak == {}
