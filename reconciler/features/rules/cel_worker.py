"""The program of the separate process: expressions and documents in, verdicts out, by lines.

It is run by its path, with no environment, and imports nothing of ours. The first line on stdin has
the bounds and the expressions, each further line a document to judge. A line is written once all
is ready, after each rule, and after each document: so the reader knows which rule or document was
too expensive.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]  # its stubs are not marked
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]  # as above

FAILS, HOLDS, NOT_ABOUT = 0, 1, 2
WIDEST_TEXT = 1_000


def _bound(which: int, most: int) -> None:
    # Some systems know a limit and reject it: the other limits still hold.
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (most, most))


def _confine(bounds: dict[str, Any]) -> None:
    """Permanently give up what judging does not need: files, processes, unlimited memory."""
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_FSIZE, 0)
    _bound(resource.RLIMIT_AS, bounds["memory"])
    _bound(resource.RLIMIT_CPU, bounds["cpuInAll"])
    # The three open files stay open.
    _bound(resource.RLIMIT_NOFILE, 3)


def _environment(names: list[str]) -> Any:
    return cel.NewEnv(
        variables=dict.fromkeys(names, cel.Type.DYN), extensions=[ext_strings.ExtStrings()]
    )


def _compiled(environment: Any, written: str) -> tuple[Any, str]:
    """Return an expression and "", or None and its error."""
    if not written:
        return None, ""
    try:
        expression = environment.compile(written)
        kind = expression.return_type().name()
    except Exception as error:  # noqa: BLE001 - whatever the library says, it is said of the rule
        return None, _said(error)
    if kind in ("BOOL", "DYN"):
        return expression, ""
    return None, f"type:{kind}"


def _judged(rule: tuple[Any, Any], values: Any) -> int | str:
    when, check = rule
    if when is not None:
        applies = _truth(when, values)
        if applies is not True:
            return NOT_ABOUT if applies is False else applies[:WIDEST_TEXT]
    holds = _truth(check, values)
    return int(holds) if isinstance(holds, bool) else holds[:WIDEST_TEXT]


def _truth(expression: Any, values: Any) -> bool | str:
    """Return the value of an expression, or its error."""
    try:
        value = expression.eval(values)
        kind = value.type()
        if kind == cel.Type.BOOL:
            return bool(value.value())
        return str(value.value()) if kind == cel.Type.ERROR else f"type:{kind.name()}"
    except MemoryError:
        return "memory"
    except Exception as error:  # noqa: BLE001 - as above
        return _said(error)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _tell(told: Any) -> None:
    # Written at once: this process may not live to write the next line.
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read expressions, then documents, until nothing more comes."""
    begun = json.loads(sys.stdin.readline())
    _confine(begun["bounds"])
    _tell("ready")
    environments: dict[str, Any] = {}
    rules: list[tuple[Any, Any]] = []
    span = begun["bounds"]["cpu"]

    def wind() -> None:
        # The signal ends this process, whatever it is doing: no code can refuse it.
        signal.setitimer(signal.ITIMER_PROF, span)

    for rule in begun["rules"]:
        wind()
        names = rule["variables"]
        key = " ".join(names)
        if key not in environments:
            environments[key] = _environment(names)
        environment = environments[key]
        pairs = [_compiled(environment, rule[part]) for part in ("when", "check")]
        rules.append((pairs[0][0], pairs[1][0]))
        _tell([error[:WIDEST_TEXT] for _, error in pairs])
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, 0)
        question = json.loads(line)
        wind()
        environment = environments[" ".join(sorted(question["values"]))]
        values = environment.Activation(question["values"])
        _tell([_judged(rules[number], values) for number in question["rules"]])


if __name__ == "__main__":
    main()
