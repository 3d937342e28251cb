"""How the page looks: its only style sheet, known to the Content-Security-Policy by its hash."""

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #667085; --paper: #f5f6f8;
  --card: #fff; --line: #e2e5ea; --accent: #3b5bdb; --good: #2b8a3e; --bad: #c92a2a;
  --warn: #b35c00; --tile: #eef2ff; --weekend: #9db2f5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --paper: #12151b;
  --card: #1a1f28; --line: #2b323e; --accent: #8ea6ff; --good: #69db7c; --bad: #ff8787;
  --warn: #ffc078; --tile: #232b3d; --weekend: #4a5a94; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, "Segoe UI", Roboto, sans-serif; }
header { padding: 1.6rem 2rem 1rem; }
h1 { margin: 0; font-size: 1.5rem; letter-spacing: -.01em; }
h2 { margin: 0 0 .8rem; font-size: 1rem; }
h3 { margin: 1rem 0 .5rem; font-size: .95rem; }
p { margin: .2rem 0; }
.soft { color: var(--soft); }
.figures { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1rem; }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .5rem 1rem; min-width: 6.5rem; }
.figure b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem;
  padding: 0 2rem 2rem; align-items: start; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .7rem;
  padding: 1rem 1.2rem; overflow: hidden; }
.wide { grid-column: 1 / -1; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); padding: 0 1rem 1rem; }
  header { padding: 1rem; } }
.scroll { overflow: auto; max-height: 26rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem;
  position: sticky; top: 0; background: var(--card); }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; vertical-align: top; }
tr:last-child td { border-bottom: 0; }
code { font: 12.5px ui-monospace, "Cascadia Mono", Menlo, monospace; }
.mark { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .78rem;
  border: 1px solid currentColor; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.grid { display: grid; gap: .4rem; }
.row { display: flex; gap: .4rem; }
.tile { background: var(--tile); border-radius: .4rem; padding: .4rem .6rem; overflow: hidden;
  min-width: 0; flex-basis: 0; }
.tile b { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
svg { width: 100%; height: auto; display: block; }
.bar { fill: var(--accent); } .weekend { fill: var(--weekend); }
.axis { stroke: var(--line); } text { fill: var(--soft); font-size: 11px; }
""" + "".join(
    f".w{size} {{ flex-grow: {size}; }} .h{size} {{ height: {1.7 + size * 0.25:.2f}rem; }}\n"
    for size in range(1, 25)
)

POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
