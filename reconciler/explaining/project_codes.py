"""P: what can be wrong with the project file."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import diagnostic, project

PROJECT_CODES: Final = (
    diagnostic(
        "P101",
        "The project file is no mapping, or holds a setting that there is not, or one of the wrong "
        "form.",
        "Nothing runs until it is right: a guard with a misspelled name would guard nothing. "
        "`reconciler explain project --recursive` lists every setting.",
        project("environments:\n  local:\n    emulator: {dat: .reconciler/local.db}\n"),
        project("environments:\n  local:\n    emulator: {data: .reconciler/local.db}\n"),
    ),
    diagnostic(
        "P102",
        "`baseUrl` is not an https address, or holds a user name, a query, or a host that leads to "
        "what no service should be. Plain http is for this machine alone.",
        "The API key goes to that address with every request.",
        project("environments:\n  production: {baseUrl: http://api.example.com}\n"),
        project("environments:\n  production: {baseUrl: https://api.example.com}\n"),
    ),
)
