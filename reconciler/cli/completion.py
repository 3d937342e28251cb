"""`reconciler completion`: the script that completes commands in a shell.

Apart from the answer to a completion, which loads as little as possible.
"""

import click
from click.shell_completion import ShellComplete

from reconciler.cli import options
from reconciler.cli.complete import PROGRAM, SHELLS, VARIABLE
from reconciler.cli.console import data


@click.command
@click.argument("shell", type=click.Choice(list(SHELLS)))
@options.verbose
@options.quiet
def completion(shell: str, *, verbose: bool, quiet: bool) -> int:
    """Print the script that lets a shell complete commands, options and names.

    bash: eval "$(reconciler completion bash)" in ~/.bashrc; zsh: the same with zsh in
    ~/.zshrc; fish: reconciler completion fish > ~/.config/fish/completions/reconciler.fish
    """
    del verbose, quiet
    # Bash's own method would start bash to find its version.
    return data(ShellComplete.source(SHELLS[shell](click.Group(PROGRAM), {}, PROGRAM, VARIABLE)))
