"""How a page looks: by light, by dark, on paper. No colour speaks alone. Pure."""

from __future__ import annotations

_LIGHT = """
  --paper: #fafaf7; --card: #ffffff; --ink: #1b1f23; --quiet: #57606a; --line: #dfe2e6;
  --link: #0b57b0; --focus: #0b57b0;
  --green: #14683c; --green-soft: #e3f4ea; --red: #a3231c; --red-soft: #fdebe9;
  --amber: #7a4d00; --amber-soft: #fcf1da; --violet: #5f35b0; --violet-soft: #f0eafb;
  --blue: #0b57b0; --blue-soft: #e6f0fb; --grey-soft: #f1f2f0; --mark: #ffd98a;
"""

_DARK = """
  --paper: #121518; --card: #1a1e23; --ink: #e7e9ec; --quiet: #a2acb7; --line: #323941;
  --link: #83b8ff; --focus: #83b8ff;
  --green: #6bd79d; --green-soft: #14301f; --red: #ff9f96; --red-soft: #3b1a18;
  --amber: #efc15c; --amber-soft: #33280f; --violet: #c3a9ff; --violet-soft: #2a2142;
  --blue: #83b8ff; --blue-soft: #15273d; --grey-soft: #23282e; --mark: #6b4e00;
"""

_FRAME = """
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.01em; margin: 0;
  overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 0.6rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
h4 { font-size: 0.8rem; margin: 0 0 0.3rem; color: var(--quiet); font-weight: 600; }
a { color: var(--link); text-underline-offset: 0.15em; }
code, .source, .digest { font-family: ui-monospace, "SF Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: 0.86em; }
.quiet, .target, footer { color: var(--quiet); font-weight: 400; }
.target { margin: 0.3rem 0 0; overflow-wrap: anywhere; }
.made { margin: 0.2rem 0 0; color: var(--quiet); font-size: 0.9rem; overflow-wrap: anywhere; }
.made strong { font-weight: 600; }
header .counts { margin-top: 1.1rem; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.4rem 0.8rem; }
.counts { display: flex; flex-wrap: wrap; gap: 0.5rem; list-style: none; margin: 0; padding: 0; }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.4rem 0.85rem 0.4rem 0.55rem; }
.number { font-weight: 650; font-variant-numeric: tabular-nums; }
.sign { display: inline-block; min-width: 1.5em; text-align: center; border-radius: 5px;
  font-weight: 700; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: var(--quiet); background: var(--grey-soft); }
.sign.create, .sign.op-add { color: var(--green); background: var(--green-soft); }
.sign.update, .sign.op-change, .sign.drifted { color: var(--amber); background: var(--amber-soft); }
.sign.assert { color: var(--violet); background: var(--violet-soft); }
.sign.op-move { color: var(--blue); background: var(--blue-soft); }
.sign.blocked, .sign.op-remove, .sign.gone, .sign.unread
  { color: var(--red); background: var(--red-soft); }
footer { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem;
  font-size: 0.9rem; overflow-wrap: anywhere; }
footer ul { list-style: none; padding: 0; }
.attention { background: var(--amber-soft); border-radius: 10px; padding: 1rem 1.25rem;
  margin-top: 1.75rem; border-left: 4px solid var(--amber); }
.attention h2 { margin: 0 0 0.4rem; }
.notices { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere; }
.notices > li { margin: 0.35rem 0; }
.notices strong { color: var(--amber); }
.ways { padding-left: 1.1rem; }
"""

_FILTERS = """
.filters { position: sticky; top: 0; z-index: 1; background: var(--paper); padding: 0.9rem 0;
  margin-top: 1rem; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap;
  gap: 0.5rem 1.1rem; align-items: center; max-height: 45vh; overflow-y: auto; }
.search { flex: 1 1 16rem; }
.search label { position: absolute; left: -100rem; }
input { width: 100%; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--quiet); border-radius: 8px; padding: 0.4rem 0.7rem; }
input::placeholder { color: var(--quiet); opacity: 1; }
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.3rem;
  align-items: center; min-width: 0; }
legend { float: left; color: var(--quiet); font-size: 0.85rem; padding: 0 0.3rem 0 0; }
button { font: inherit; font-size: 0.86rem; color: var(--ink); background: var(--card);
  border: 1px solid var(--quiet); border-radius: 999px; padding: 0.15rem 0.7rem; cursor: pointer; }
button .count { color: var(--quiet); font-variant-numeric: tabular-nums; }
button:hover { border-color: var(--ink); }
button:disabled { color: var(--quiet); border-color: var(--line); cursor: default; }
button[aria-pressed="true"] { background: var(--ink); color: var(--paper);
  border-color: var(--ink); }
button[aria-pressed="true"]::before { content: "✓ "; }
button[aria-pressed="true"] .count { color: inherit; }
.actions { flex-basis: 100%; display: flex; gap: 0.4rem; flex-wrap: wrap; align-items: center; }
.actions output { margin-right: auto; color: var(--quiet); font-size: 0.9rem; }
"""

_CARDS = """
.group { scroll-margin-top: 12rem; }
.change { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  margin: 0.5rem 0; content-visibility: auto; contain-intrinsic-size: auto 3.2rem;
  scroll-margin-top: 12rem; }
.change > summary { display: flex; flex-wrap: wrap; gap: 0.25rem 0.6rem; align-items: center;
  padding: 0.6rem 0.9rem; cursor: pointer; list-style: none; }
.change > summary::-webkit-details-marker { display: none; }
.change > summary::before { content: "▸"; color: var(--quiet); width: 0.7em; font-weight: 700; }
.change[open] > summary::before { content: "▾"; }
.change > summary:hover { background: var(--grey-soft); border-radius: 10px; }
.word { color: var(--quiet); font-size: 0.86rem; }
.chips { display: flex; flex-wrap: wrap; gap: 0.3rem; }
.chip { font-size: 0.8rem; border: 1px solid var(--line); border-radius: 999px;
  padding: 0 0.55rem; color: var(--quiet); overflow-wrap: anywhere; }
.chip.journal { border-style: dashed; border-color: var(--quiet); }
.chip.unseen { border-style: dotted; border-width: 2px; border-color: var(--violet);
  color: var(--violet); }
.chip.danger { background: var(--red-soft); color: var(--red); border-color: var(--red); }
.source { color: var(--quiet); margin-left: auto; overflow-wrap: anywhere; }
.said { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; min-width: 0; }
.said code { overflow-wrap: anywhere; min-width: 0; }
.body { padding: 0.2rem 0.9rem 1rem; border-top: 1px solid var(--line); }
.notes { color: var(--quiet); padding-left: 1.1rem; overflow-wrap: anywhere; }
div.danger { background: var(--red-soft); color: var(--red); border-radius: 8px;
  padding: 0.5rem 0.9rem; margin: 0.7rem 0; overflow-wrap: anywhere; }
div.danger p, div.danger ul { margin: 0; }
.unchanged { margin-top: 2.5rem; color: var(--quiet); }
.unchanged summary { cursor: pointer; }
.names { columns: 15rem; overflow-wrap: anywhere; }
"""

_FIELDS = """
.scroll { overflow-x: auto; }
.fields { border-collapse: collapse; width: 100%; table-layout: fixed; margin-top: 0.8rem;
  font-size: 0.9rem; }
.fields > thead th { text-align: left; color: var(--quiet); font-weight: 600;
  font-size: 0.8rem; padding: 0 0.5rem 0.2rem; }
.fields > thead th:first-child { width: 31%; }
.fields > tbody > tr > * { border-top: 1px solid var(--line); padding: 0.4rem 0.5rem;
  text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.fields > tbody > tr > th { font-weight: 400; }
.fields th .sign { float: left; margin-right: 0.4rem; }
.fields th[colspan] { background: var(--grey-soft); font-weight: 600; }
.key { font-weight: 550; }
td code { white-space: pre-wrap; }
td.before { background: var(--red-soft); }
td.after { background: var(--green-soft); }
td.before > code, td.before > del, td.after > code, td.after > ins
  { display: block; position: relative; padding-left: 1.1em; }
td.before > code::before, td.before > del::before { content: "-"; color: var(--red); }
td.after > code::before, td.after > ins::before { content: "+"; color: var(--green); }
td > code::before, td > del::before, td > ins::before { position: absolute; left: 0; }
del, ins { text-decoration: none; }
mark { background: var(--mark); color: inherit; border-radius: 2px; padding: 0.05em 0; }
td.lines { padding: 0 !important; }
.linediff { border-collapse: collapse; width: 100%; table-layout: fixed; }
.linediff td { padding: 0.05rem 0.5rem; overflow-wrap: anywhere; vertical-align: top; }
.linediff .gap { text-align: center; font-size: 0.8rem; background: var(--grey-soft); }
.leaves { list-style: none; margin: 0; padding: 0; }
.leaves .key { font-weight: 400; color: var(--quiet); }
.leaves .part { font-weight: 550; margin-top: 0.3rem; }
"""

_PICTURES = """
.picture { margin: 0.9rem 0 0.4rem; display: flex; flex-wrap: wrap; gap: 0.6rem 1.5rem; }
.picture figcaption { flex-basis: 100%; font-size: 0.9rem; font-weight: 600; }
.picture > .side { flex: 1 1 444px; min-width: 0; overflow-x: auto; padding: 2px; }
.picture > .side > svg { width: 100%; min-width: 440px; max-width: 540px; }
.picture .legend { flex-basis: 100%; margin: 0; font-size: 0.85rem; color: var(--quiet);
  display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; }
svg { max-width: 100%; height: auto; display: block; overflow: visible; }
text { fill: var(--ink); font-family: system-ui, -apple-system, "Segoe UI", Roboto,
  "Noto Sans", sans-serif; }
.t { font-size: 12.5px; font-weight: 600; }
.s { font-size: 11.5px; }
.c { font-size: 11.5px; fill: var(--quiet);
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
text.quiet, text.place, text.note { fill: var(--quiet); }
.cell { fill: var(--grey-soft); stroke: var(--line); stroke-width: 1; }
.track { flex-basis: 100%; max-width: 440px; }
.strip { width: 100%; border-bottom: 1.5px solid var(--quiet); }
.fired { fill: var(--amber); }
.silent { fill: var(--line); }
.ends { display: flex; justify-content: space-between; margin: 0.2rem 0 0; font-size: 0.8rem;
  color: var(--quiet); gap: 0.8rem; }
.watched p { margin: 0.7rem 0 0.2rem; font-size: 0.9rem; font-weight: 600; }
.watched ul { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere; }
.order { flex-basis: 100%; display: grid; align-items: start;
  grid-template-columns: minmax(0, 1fr) 10rem minmax(0, 1fr); }
.order h4, .links { margin: 0; }
.order h4 { height: 1.6rem; }
.links { padding-top: 1.6rem; }
.links svg { width: 10rem; }
.ranks { list-style: none; margin: 0; padding: 0; }
.rank { display: grid; grid-template-columns: 1.6rem minmax(0, 1fr) auto; column-gap: 0.3rem;
  height: 2.25rem; margin-bottom: 0.5rem; padding: 0 0.6rem; overflow: hidden;
  align-content: center; font-size: 0.75rem; line-height: 1rem; border-radius: 5px;
  background: var(--grey-soft); box-shadow: inset 0 0 0 1px var(--line); }
.rank .place { color: var(--quiet); grid-row: 1 / 3; align-self: center; }
.rank .name { font-weight: 600; font-size: 0.8rem; }
.rank .name, .rank .says { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.rank .says { color: var(--quiet); grid-column: 2 / 4; }
.rank.added { background: var(--green-soft); box-shadow: inset 0 0 0 2px var(--green); }
.rank.removed { background: var(--red-soft); box-shadow: none; outline: 2px dashed var(--red);
  outline-offset: -2px; }
.rank.moved { background: var(--blue-soft); box-shadow: inset 0 0 0 1.5px var(--blue); }
.rank.edited { background: var(--amber-soft); box-shadow: inset 0 0 0 1.5px var(--amber); }
.added .turn { color: var(--green); }
.removed .turn { color: var(--red); }
.moved .turn { color: var(--blue); }
.edited .turn { color: var(--amber); }
.narrow { display: none; }
.bar { fill: var(--blue-soft); stroke: var(--blue); stroke-width: 1; }
.bar.bad { fill: var(--red-soft); stroke: var(--red); stroke-width: 2; }
.floor { stroke: var(--line); stroke-width: 1; }
.key-week { border-left: 0.8rem solid var(--blue); padding-left: 0.35rem; }
.key-bad { border-left: 0.8rem solid var(--red); padding-left: 0.35rem; }
.figures { border-collapse: collapse; font-size: 0.9rem; }
.figures th, .figures td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.figures tr { border-bottom: 1px solid var(--line); }
.figures th:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 8rem; }
.cell.empty { stroke-dasharray: 3 4; fill: none; }
.cell.added { fill: var(--green-soft); stroke: var(--green); stroke-width: 2; }
.cell.removed { fill: var(--red-soft); stroke: var(--red); stroke-width: 2;
  stroke-dasharray: 5 4; }
.cell.moved { fill: var(--blue-soft); stroke: var(--blue); stroke-width: 1.5; }
.cell.resized { fill: var(--violet-soft); stroke: var(--violet); stroke-width: 1.5; }
.cell.edited { fill: var(--amber-soft); stroke: var(--amber); stroke-width: 1.5; }
text.added, .key-added { fill: var(--green); color: var(--green); }
text.removed, .key-removed { fill: var(--red); color: var(--red); }
text.moved, .key-moved { fill: var(--blue); color: var(--blue); }
text.resized, .key-resized { fill: var(--violet); color: var(--violet); }
text.edited, .key-edited { fill: var(--amber); color: var(--amber); }
.link { fill: none; stroke: var(--line); stroke-width: 1.5; }
.link.moved { stroke: var(--blue); stroke-width: 2.5; }
.axis { stroke: var(--quiet); stroke-width: 1.5; fill: none; }
.aim { stroke: var(--ink); stroke-width: 2.5; fill: var(--card); }
.aim.after { fill: var(--ink); }
.window { fill: var(--blue-soft); stroke: var(--blue); stroke-width: 1.5; }
.window.before { stroke-dasharray: 5 4; }
.week { stroke: var(--blue); stroke-width: 1; stroke-dasharray: 2 3; }
"""

_SAMPLED = """
.sampled { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem 1.25rem; margin-top: 1.25rem; }
.sampled h2 { margin: 0 0 0.3rem; }
.sampled p { margin: 0 0 0.8rem; overflow-wrap: anywhere; }
.sampled .doubt { color: var(--red); font-weight: 600; }
.sampled .chip { margin-left: 0.5rem; }
.flows { list-style: none; margin: 0 0 0.8rem; padding: 0; }
.flow { display: grid; grid-template-columns: minmax(0, 1fr) 9rem minmax(0, 1fr);
  align-items: start; margin-bottom: 0.4rem; }
.flow.head { color: var(--quiet); font-size: 0.8rem; font-weight: 600; }
.policy { background: var(--grey-soft); border-radius: 5px; padding: 0.3rem 0.6rem;
  box-shadow: inset 0 0 0 1px var(--line); font-size: 0.85rem; overflow-wrap: anywhere; }
.policy .name { font-weight: 600; }
.policy .says { color: var(--quiet); margin-left: 0.5rem; }
.policy.none { background: none; box-shadow: none; outline: 2px dashed var(--quiet);
  outline-offset: -2px; }
.policy.none .name { font-weight: 400; color: var(--quiet); }
.way { display: block; text-align: center; padding-top: 0.35rem; }
.way svg { width: 100%; height: 1.15rem; }
.way .many { display: block; font-size: 0.75rem; color: var(--quiet); padding: 0 0.3rem; }
.band { fill: var(--line); }
.turns .band { fill: var(--blue); }
.turns .policy:last-child { background: var(--blue-soft);
  box-shadow: inset 0 0 0 1.5px var(--blue); }
.fails .band { fill: var(--red); }
.fails .many { color: var(--red); font-weight: 600; }
.fails .policy:last-child { background: var(--red-soft); box-shadow: inset 0 0 0 2px var(--red); }
"""

_PAPER = """
@media (max-width: 40rem) {
  body { padding: 1.25rem 0.75rem 3rem; }
  .filters { position: static; }
  .source { margin-left: 0; flex-basis: 100%; }
  .fields { table-layout: auto; }
  .fields > thead { display: none; }
  .fields > tbody > tr { display: grid; grid-template-columns: 1fr; }
  .fields > tbody > tr > * { border-top: 0; padding: 0.25rem 0.5rem; }
  .fields > tbody > tr { border-top: 1px solid var(--line); }
  .order { display: block; }
  .order .links, .order .before .same { display: none; }
  .order .before { margin-bottom: 1rem; }
  .rank { height: auto; min-height: 2.25rem; padding: 0.2rem 0.6rem; }
  .rank .name, .rank .says { white-space: normal; overflow-wrap: anywhere; }
  .narrow { display: block; }
  .roomy { display: none; }
  .flow { grid-template-columns: 1fr; margin-bottom: 0.9rem; }
  .flow.head { display: none; }
  .way svg { display: none; }
  .way .many::before { content: "↓ "; }
  p.narrow { margin: 0 0 0.3rem; font-size: 0.85rem; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .change > summary { transition: background 0.12s, border-color 0.12s; }
}
@media (forced-colors: active) {
  .cell, .window, .link, .axis, .band, .fired, .silent { forced-color-adjust: none; }
}
@media print {
  html { background: #ffffff; font-size: 11px; }
  body { max-width: none; padding: 0; }
  .filters, .skip, .change > summary::before { display: none; }
  .change { content-visibility: visible; border-color: #999999; }
  .change > summary, .picture, tr { break-inside: avoid; }
  details:not([open]) > *:not(summary) { display: block; }
  details::details-content { content-visibility: visible; block-size: auto; }
  * { print-color-adjust: exact; }
}
"""

STYLE = (
    f"\n:root {{ color-scheme: light dark;{_LIGHT}}}"
    f"\n@media (prefers-color-scheme: dark) {{ :root {{{_DARK}}} }}"
    f"\n@media print {{ :root {{ color-scheme: light;{_LIGHT}}} }}"
    f"{_FRAME}{_FILTERS}{_CARDS}{_FIELDS}{_PICTURES}{_SAMPLED}{_PAPER}"
)
"""The whole style sheet."""
