"""The frame of a page: what it may load (nothing), when it was made, its look and its script.

Pure.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class
from reconciler.report.html.style import STYLE

COMMIT_DIGITS = 12
DIRTY = "-dirty"


@dataclass(frozen=True, slots=True)
class Made:
    """The occasion of a report.

    `at` is aware of its zone; `commit` ends in `-dirty` where manifests are not
    as committed; `actor` and the CI system's `run` are foreign text. "" stands
    for what nobody knows.
    """

    at: datetime
    commit: str = ""
    actor: str = ""
    run: str = ""


def page_head(title: str, target: str, made: Made | None, *parts: Markup) -> Markup:
    """Give the head of a page: what it is of, and when it was made, where there is an occasion."""
    occasion = of_class("p", "made", joined(_parts(made))) if made is not None else NOTHING
    named = element("h1", None, title), of_class("p", "target", target)
    return element("header", None, *named, occasion, *parts)


def _parts(made: Made) -> Iterator[str]:
    at = made.at.astimezone(UTC).replace(microsecond=0)
    told = at.isoformat().replace("+00:00", "Z")
    yield "made "
    yield element("time", {"datetime": told}, f"{at:%Y-%m-%d %H:%M} UTC")
    if made.commit:
        yield " from commit "
        commit = made.commit.removesuffix(DIRTY)
        yield element("code", {"title": commit}, commit[:COMMIT_DIGITS])
        yield " with edits that are not committed" if commit != made.commit else ""
    if made.actor:
        yield " by "
        yield element("strong", None, made.actor)
    if made.run:
        yield " in run "
        yield element("code", None, made.run)


SCRIPT = """
(() => {
  "use strict";
  const all = (selector) => [...document.querySelectorAll(selector)];
  const cards = all(".change");
  const groups = all(".group");
  const facets = all("[data-facet]");
  const search = document.getElementById("search");
  const status = document.getElementById("status");
  const reset = document.getElementById("reset");
  const words = new Map();

  const textOf = (card) => {
    if (!words.has(card)) words.set(card, card.textContent.toLowerCase());
    return words.get(card);
  };

  const chosen = () => {
    const found = new Map();
    for (const button of facets) {
      if (button.getAttribute("aria-pressed") !== "true") continue;
      const { facet, value } = button.dataset;
      found.set(facet, (found.get(facet) || new Set()).add(value));
    }
    return [...found];
  };

  const filter = () => {
    const wanted = chosen();
    const sought = search ? search.value.trim().toLowerCase() : "";
    let shown = 0;
    for (const card of cards) {
      const fits = wanted.every(([facet, values]) => values.has(card.dataset[facet] || ""))
        && (!sought || textOf(card).includes(sought));
      card.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const group of groups) group.hidden = !group.querySelector(".change:not([hidden])");
    if (status) status.textContent = shown + " of " + cards.length + " shown";
    if (reset) reset.disabled = !wanted.length && !sought;
  };

  const open = (id) => {
    const card = id && document.getElementById(id);
    if (!card || !card.matches("details")) return;
    if (card.hidden) clear();
    card.open = true;
    card.querySelector("summary").focus();
    card.scrollIntoView({ block: "start" });
  };

  const clear = () => {
    for (const button of facets) button.setAttribute("aria-pressed", "false");
    if (search) search.value = "";
    filter();
  };

  const setAll = (value) => {
    for (const card of cards) if (!card.hidden) card.open = value;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.dataset.facet) {
      const pressed = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!pressed));
      filter();
    } else if (button && button.id === "reset") {
      clear();
    } else if (button && button.dataset.open) {
      setAll(button.dataset.open === "true");
    }
    const link = event.target.closest("a[href^='#']");
    if (link) open(link.hash.slice(1));
  });

  if (search) search.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && search && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    }
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])").filter((one) => !one.hidden);
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    closed = [];
  });

  for (const bar of all("[data-needs-script]")) bar.hidden = false;
  filter();
  open(location.hash.slice(1));
})();
"""


LANGUAGE = "en"
_BEGINS = "<!doctype html>\n"


def begins_page(head: bytes) -> bool:
    """Tell by its first bytes a page."""
    return head.startswith(_BEGINS.encode())


def page(title: str, *body: str) -> str:
    """Give a whole page, ending in a line break.

    Its policy forbids every request and every style or script but its own,
    which stand in it word for word.
    """
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": _policy()}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("title", None, title),
        element("style", None, Markup(STYLE)),
    )
    content = element("body", None, joined(body), element("script", None, Markup(SCRIPT)))
    return f"{_BEGINS}{element('html', {'lang': LANGUAGE}, head, content)}\n"


def skip_link(target: str, words: str) -> Markup:
    """Give the link that leads past the head, shown once it has the focus."""
    return element("a", {"class": "skip", "href": f"#{target}"}, words)


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
