"""P: what can be wrong with the project file."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import Sample, diagnostic, project

_RULE = """\
rules:
  - name: has-a-description
    kinds: [SLO]
    check: "%s"
    message: say what it is for
    examples:
      pass: [{spec: {description: Orders are paid.}}]
      fail: [{spec: {name: Checkout}}]
"""


def _rule(check: str) -> Sample:
    return project(_RULE % check)


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
    diagnostic(
        "P103",
        "`check` or `when` of a rule is no CEL that can be read, or names what a rule does not "
        "see: a rule sees `resource`, and with `on: plan` also `change`.",
        "A rule that cannot be asked holds for nothing, and would seem to hold for all.",
        _rule("has(resource.spec.description"),
        _rule("has(resource.spec.description)"),
        page="rules",
    ),
    diagnostic(
        "P104",
        "An example of a rule does not come out as it should, is about a kind that the rule is not "
        "about, or is missing (a warning). `reconciler rules test` tells.",
        "An expression is easy to turn around. Examples show that it complains of what it should, "
        "and of nothing else.",
        _rule("!has(resource.spec.description)"),
        _rule("has(resource.spec.description)"),
        command="rules test",
        page="rules",
    ),
)
