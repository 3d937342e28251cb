"""A command that only has others below it: what is missing or unknown there says what to do."""

from __future__ import annotations

from collections.abc import Sequence

import click


class UnknownCommand(click.UsageError):
    """A word that is no command; `advice` is what to type instead, "" where nobody knows."""

    def __init__(self, word: str, advice: str, ctx: click.Context) -> None:
        super().__init__(f"No such command `{word}`.", ctx)
        self.advice = advice


class Group(click.Group):
    """A group of commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the commands where none is given."""
        if not args:
            ctx.fail(f"a command is needed: {', '.join(self.list_commands(ctx))}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; say what to type instead of a word that is none."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            raise UnknownCommand(args[0], self.advice(args[0], known), ctx)
        return super().resolve_command(ctx, args)

    def advice(self, word: str, known: Sequence[str]) -> str:
        """Say what to type instead of a word that is no command."""
        from reconciler.slips import nearest  # noqa: PLC0415 - only for a mistake

        near = nearest(word, known)
        return f"did you mean `{near}`?" if near else f"there are: {', '.join(known)}"
