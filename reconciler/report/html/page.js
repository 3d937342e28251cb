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
  if (matchMedia("(max-width: 40rem)").matches) {
    for (const one of all(".attention > details, .facets")) one.open = false;
  }
  filter();
  open(location.hash.slice(1));
})();
