"""Command and option names of similar tools, with our equivalents.

Loaded only after a mistake: words in `COMMANDS` and known options are never looked up here.
"""

import re
from collections.abc import Mapping, Sequence

import click

from reconciler.cli.overview import COMMANDS
from reconciler.runtime.connection import KEY_VARIABLE

_PLAN = "`reconciler plan` shows what an apply would change, and changes nothing"
_APPLY = "`reconciler apply` makes the service hold what the manifests declare"
_CHECK = "`reconciler validate` checks manifests offline"
_DRIFT = "`reconciler drift` shows what was changed by hand since the last apply"
_LOOK = (
    "`reconciler journal show` and `reconciler journal history` show what was applied; events, "
    "incidents, cases and policies are listed, as by `reconciler incidents list`"
)
_DELETE = (
    "nothing is deleted from here, as the API has no delete for most things: take it out of the "
    "manifests, delete it in the web interface, then `reconciler journal forget KIND/NAME`"
)
_SETUP = "`reconciler init` makes a workspace to start from"
_TAKE_OVER = (
    "`reconciler import` makes manifests of what is there, live or in exports; `reconciler plan` "
    "shows whether the two agree"
)
_FORMAT = "`reconciler fmt` brings manifests into their one layout; `--check` only reports"
_BACK = (
    "`reconciler rollback RUN` puts back what was declared before a run; "
    "then change the manifests that it names, too"
)
_KEY = (
    f"the key is read from {KEY_VARIABLE}, and never kept"
    + "; `reconciler doctor` checks it and all else that a run needs" * ("doctor" in COMMANDS)
)
_ENVIRONMENT = "environments are in reconciler.yaml, and `-e NAME` chooses one"
_SERVE = "`reconciler emulator serve` runs the management API on this machine"
_UNLOCK = "`reconciler journal unlock` says who holds the lock of a journal, and takes it by its id"
_HELP = "`reconciler --help` lists the commands, and each of them takes `--help`"

_FILES = "files and folders are arguments: `reconciler apply PATH`"
_VALUES = "`variables:` of an environment in reconciler.yaml are the values of `${var:NAME}`"
_TARGET = "the address is `baseUrl` of an environment in reconciler.yaml, or RECONCILER_BASE_URL"

# Explanations; the value is the names of the same command in other tools.
COMMAND_WORDS = {
    _PLAN: "diff preview changes status dry-run what-if template render build synth",
    _APPLY: "up sync deploy create update push replace patch install upgrade run reconcile edit",
    _CHECK: "check lint test verify",
    _DRIFT: "refresh detect",
    _LOOK: "get list ls describe show state output logs",
    "`reconciler journal history` shows who applied what, and when": "history log runs",
    _DELETE: "destroy delete down uninstall rm remove prune",
    _SETUP: "new start bootstrap setup",
    _TAKE_OVER: "pull export dump generate clone",
    _FORMAT: "format tidy prettify",
    _BACK: "undo revert restore reset",
    _KEY: "login logout auth configure config whoami",
    _ENVIRONMENT: "workspace env environment stack context use",
    _SERVE: "serve server local mock",
    _UNLOCK: "unlock force-unlock cancel",
    _HELP: "help commands man",
    "`reconciler --version` shows it": "version about",
    "`reconciler schema` prints what a manifest may hold": "schemas api-resources",
}
OPTION_WORDS = {
    "`--yes` applies without asking": "auto-approve y approve non-interactive no-input input batch "
    "force confirm skip-preview",
    _PLAN: "dry-run preview diff what-if refresh-only",
    _FILES: "f filename file k kustomize recursive R target resource only include",
    _VALUES: "var var-file values set config",
    _ENVIRONMENT: "n namespace context stack s env workspace",
    _KEY: "key api-key token password auth",
    _TARGET: "url base-url endpoint server host api-url address",
    "`--format json` prints what programs read": "o output json",
    _DELETE: "prune destroy delete cascade",
    "`reconciler plan --exit-code` exits with 2 where there are changes": "detailed-exitcode",
    "NO_COLOR=1 in the environment turns colour off": "no-color nocolor color",
    "`-v` shows everything, nothing folded": "debug trace log-level",
    "`-q` prints only the data, and what went wrong": "silent",
    "`requestsAtOnce` under `api` in the project file bounds it": "parallelism concurrency",
    "`--lock-timeout 5m` waits while another run holds the journal": "lock wait timeout",
}


_NAMED = re.compile("`reconciler ([a-z]+)")


def about_word(word: str) -> str:
    """Return our equivalent of another tool's command; "" if unknown."""
    return _meaning(COMMAND_WORDS, word.lower())


def about_option(error: click.NoSuchOption, arguments: Sequence[str]) -> str:
    """Return our equivalent of an unknown option; "" if there is none."""
    name = _typed(error.option_name, arguments).lstrip("-")
    parameters = error.ctx.command.params if error.ctx is not None else []
    if f"--{name}" in {flag for parameter in parameters for flag in parameter.opts}:
        return f"write `--{name}`: a name of more than one letter has two dashes"
    return _meaning(OPTION_WORDS, name)


def _meaning(table: Mapping[str, str], word: str) -> str:
    """Return the explanation of a word, if there are the commands that it names."""
    found = next((explanation for explanation, words in table.items() if word in words.split()), "")
    return found if COMMANDS.keys() >= set(_NAMED.findall(found)) else ""


def _typed(option: str, arguments: Sequence[str]) -> str:
    """Return an option as it was typed, without its value: click reads `-auto-approve` as `-a`."""
    if option.startswith("--"):
        return option
    names = (argument.partition("=")[0] for argument in arguments)
    clusters = (name for name in names if name.startswith("-") and not name.startswith("--"))
    return next((cluster for cluster in clusters if option[1:] in cluster), option)
