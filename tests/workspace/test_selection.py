"""What terms of a selection take, and what is said of those that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.errors import UsageError
from reconciler.kinds import BY_NAME
from reconciler.model import Ref
from reconciler.workspace.selection import Selection, read_selection

SLO = Ref("SLO", "checkout-latency")
FILE = "checkout/slo/latency.yaml"
LABELS = {"team": "payments", "tier": "1"}


def selected(*terms: str, exclude: tuple[str, ...] = ()) -> bool:
    """Tell whether the SLO is taken."""
    return read_selection(terms, exclude, BY_NAME).takes(SLO, FILE, LABELS)


@pytest.mark.parametrize(
    "term",
    [
        *("SLO/checkout-latency", "SLO/*", "*/checkout-*", "S?O/checkout-latenc[xy]"),
        *("kind=SLO", "kind=S*", "label.team=payments", "label.team=pay*", "label.tier=?"),
        *("file=checkout/slo/*", "file=checkout/**", "file=checkout", "file=**/latency.yaml"),
        *("file=checkout/slo/latency.yaml", "kind=SLO, label.team=payments"),
    ],
)
def test_taken(term: str) -> None:
    """Globs of names, kinds, labels and files take what they fit, in files below folders too."""
    assert selected(term)
    assert not selected(exclude=(term,))
    assert not selected(term, exclude=(term,))


@pytest.mark.parametrize(
    "term",
    [
        *("SLO/checkout", "Dashboard/checkout-latency", "*/CHECKOUT-LATENCY", "kind=Dashboard"),
        *("label.team=pay", "label.owner=payments", "label.team=Payments"),
        *("file=*/latency.yaml", "file=latency.yaml", "kind=SLO,label.team=search"),
    ],
)
def test_not_taken(term: str) -> None:
    """A term that does not fit whole takes nothing, and one of several is enough to fail."""
    assert not selected(term)
    assert selected(exclude=(term,))
    assert selected(term, "kind=SLO")


TERMS = st.sampled_from(["kind=SLO", "kind=Dashboard", "SLO/*", "label.team=payments", "file=a"])


@given(st.lists(TERMS, max_size=3), st.lists(TERMS, max_size=3))
def test_alternatives(select: list[str], exclude: list[str]) -> None:
    """A selection is the union of its alternatives without the union of what is excluded."""
    wanted = not select or any(selected(text) for text in select)
    unwanted = any(selected(text) for text in exclude)

    assert selected(*select, exclude=tuple(exclude)) is (wanted and not unwanted)


@given(st.lists(TERMS, min_size=1, max_size=4))
def test_conjunction(terms: list[str]) -> None:
    """Terms joined by commas take what each of them takes, in any order."""
    assert selected(",".join(terms)) is all(selected(term) for term in terms)
    written = read_selection([",".join(reversed(terms))], (), BY_NAME).flags()
    assert written == read_selection([",".join(terms)], (), BY_NAME).flags()


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        ("kind=slo", "kind=SLO"),
        ("kind=Dashbord", "kind=Dashboard"),
        ("SavedView", "kind=SavedView"),
        ("checkout", "*/checkout"),
        ("kinds=SLO", "kind=SLO"),
        ("fiel=a/*", "file=a/*"),
        ("labels.team=a", "label.team=a"),
        ("lable.team=a", "label.team=a"),
        ("label.team=", "label.team=VALUE"),
        ("Dashbord/a{b}", "Dashboard/a{b}"),
    ],
)
def test_meant(term: str, meant: str) -> None:
    """A slip is told together with the term that was meant."""
    with pytest.raises(UsageError, match="did you mean") as raised:
        read_selection([term], (), BY_NAME)
    assert meant in str(raised.value)
    assert f"--select `{term}`" in str(raised.value)


@pytest.mark.parametrize("term", ["", ",", "kind=SLO,", "=", "kind=", "file=", "/", "SLO/", "/a"])
def test_no_term(term: str) -> None:
    """A term that is empty or half of one is refused, and never taken for everything."""
    with pytest.raises(UsageError, match="a term is Kind/name"):
        read_selection((), [term], BY_NAME)


@given(st.text(max_size=30))
def test_any_text(term: str) -> None:
    """Any text is a selection or a usage error, and a selection's flags read as the same again."""
    try:
        made = read_selection([term], (), BY_NAME)
    except UsageError:
        return
    flags = made.flags()
    assert read_selection([flags[1]], (), BY_NAME).flags() == flags


@pytest.mark.parametrize(
    ("selection", "may"),
    [
        (read_selection(["kind=SLO"], (), BY_NAME), True),
        (read_selection(["file=b/*"], (), BY_NAME), False),
        (read_selection(["file=b/*", "kind=SLO"], (), BY_NAME), True),
        (read_selection(["file=a/*,kind=SLO"], (), BY_NAME), True),
        (read_selection((), ["file=a/*"], BY_NAME), False),
        (read_selection((), ["file=a/*,kind=SLO"], BY_NAME), True),
    ],
)
def test_files_that_cannot_be_read(selection: Selection, may: bool) -> None:
    """A file is left out unread only where its place alone decides."""
    assert selection.may_take_from("a/broken.yaml") is may
