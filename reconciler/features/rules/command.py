"""`reconciler rules`: the team's own rules."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.cli.root import Group
from reconciler.errors import InvalidInput
from reconciler.operations.open_project import Options
from reconciler.report.complaints.document import complaints_text


@click.group(cls=Group)
def rules() -> None:
    """Test the rules of the project file."""


@rules.command
@options.locating
@options.formats("text", "json")
def test(*, options: Options, form: str) -> int:
    """Check that each rule of the project file judges its examples as they say; offline.

    With PATH, the project file is looked for from there upward.
    """
    from reconciler.features.rules import rule_tests  # noqa: PLC0415 - brings the rules

    tested = rule_tests.run_rule_tests(options)
    if form == "json":
        data(rule_tests.rule_tests_json(tested))
    elif shown := [
        complaint for complaint in tested.complaints if complaint.is_error or not options.quiet
    ]:
        data(complaints_text(shown, stdout_style(verbose=options.verbose)))
    if not options.quiet:
        words(rule_tests.rule_tests_summary(tested))
    return 0 if tested.is_good else InvalidInput.exit_code
