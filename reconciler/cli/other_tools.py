"""Command and option names of similar tools, with our equivalents.

Loaded only after a mistake: words in `COMMANDS` and known options are never looked up here.
"""

import re
from collections.abc import Mapping, Sequence

import click

from reconciler.cli.overview import COMMANDS
from reconciler.runtime.connection import KEY_VARIABLE

_PLAN = "`reconciler plan` shows what an apply would change, and changes nothing"
_DELETE = (
    "nothing is deleted from here, as the API has no delete for most things: take it out of the "
    "manifests, delete it in the web interface, then `reconciler journal forget KIND/NAME`"
)
_KEY = (
    f"the key is read from {KEY_VARIABLE}, and never kept"
    + "; `reconciler doctor` checks it and all else that a run needs" * ("doctor" in COMMANDS)
)
_ENVIRONMENT = "environments are in reconciler.yaml, and `-e NAME` chooses one"


# Explanations, by the names of the same command in other tools.
COMMAND_WORDS = {
    "diff preview changes status dry-run what-if template render build synth": _PLAN,
    "up sync deploy create update push replace patch install upgrade run reconcile edit": (
        "`reconciler apply` makes the service hold what the manifests declare"
    ),
    "check lint test verify": "`reconciler validate` checks manifests offline",
    "refresh detect": "`reconciler drift` shows what was changed by hand since the last apply",
    "get list ls describe show state output logs": (
        "`reconciler journal show` and `reconciler journal history` show what was applied; events, "
        "incidents, cases and policies are listed, as by `reconciler incidents list`"
    ),
    "history log runs": "`reconciler journal history` shows who applied what, and when",
    "destroy delete down uninstall rm remove prune": _DELETE,
    "new start bootstrap setup": "`reconciler init` makes a workspace to start from",
    "pull export dump generate clone": (
        "`reconciler import` makes manifests of what is there, live or in exports; "
        "`reconciler plan` shows whether the two agree"
    ),
    "format tidy prettify": (
        "`reconciler fmt` brings manifests into their one layout; `--check` only reports"
    ),
    "undo revert restore reset": (
        "`reconciler rollback RUN` puts back what was declared before a run; "
        "then change the manifests that it names, too"
    ),
    "login logout auth configure config whoami": _KEY,
    "workspace env environment stack context use": _ENVIRONMENT,
    "serve server local mock": (
        "`reconciler emulator serve` runs the management API on this machine"
    ),
    "unlock force-unlock cancel": (
        "`reconciler journal unlock` says who holds the lock of a journal, and takes it by its id"
    ),
    "help commands man": "`reconciler --help` lists the commands, and each of them takes `--help`",
    "version about": "`reconciler --version` shows it",
    "schemas api-resources": "`reconciler schema` prints what a manifest may hold",
}
OPTION_WORDS = {
    "auto-approve y approve non-interactive no-input input batch force confirm skip-preview": (
        "`--yes` applies without asking"
    ),
    "dry-run preview diff what-if refresh-only": _PLAN,
    "f filename file k kustomize recursive R target resource only include": (
        "files and folders are arguments: `reconciler apply PATH`"
    ),
    "var var-file values set config": (
        "`variables:` of an environment in reconciler.yaml are the values of `${var:NAME}`"
    ),
    "n namespace context stack s env workspace": _ENVIRONMENT,
    "key api-key token password auth": _KEY,
    "url base-url endpoint server host api-url address": (
        "the address is `baseUrl` of an environment in reconciler.yaml, or RECONCILER_BASE_URL"
    ),
    "o output json": "`--format json` prints what programs read",
    "prune destroy delete cascade": _DELETE,
    "detailed-exitcode": "`reconciler plan --exit-code` exits with 2 where there are changes",
    "no-color nocolor color": "NO_COLOR=1 in the environment turns colour off",
    "debug trace log-level": "`-v` shows everything, nothing folded",
    "silent": "`-q` prints only the data, and what went wrong",
    "parallelism concurrency": "`requestsAtOnce` under `api` in the project file bounds it",
    "lock wait timeout": "`--lock-timeout 5m` waits while another run holds the journal",
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
    found = next((meaning for words, meaning in table.items() if word in words.split()), "")
    return found if COMMANDS.keys() >= set(_NAMED.findall(found)) else ""


def _typed(option: str, arguments: Sequence[str]) -> str:
    """Return an option as it was typed, without its value: click reads `-auto-approve` as `-a`."""
    if option.startswith("--"):
        return option
    names = (argument.partition("=")[0] for argument in arguments)
    clusters = (name for name in names if name.startswith("-") and not name.startswith("--"))
    return next((cluster for cluster in clusters if option[1:] in cluster), option)
