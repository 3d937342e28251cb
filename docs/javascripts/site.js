// Helps a keyboard and a screen reader with what the theme adds while a page is shown.
function help() {
  for (const buttons of document.querySelectorAll("nav.md-code__nav:not([aria-label])")) {
    buttons.setAttribute("aria-label", `Buttons of ${buttons.closest("[id]").id}`);
  }
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Table");
    } else {
      box.removeAttribute("tabindex");
    }
  }
}
new MutationObserver(help).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", help);
help();
