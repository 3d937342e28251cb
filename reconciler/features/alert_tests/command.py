"""`reconciler test`: the tests of alerts, and rows from an export of logs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.errors import InvalidInput, UsageError
from reconciler.operations.open_project import Options
from reconciler.report.complaints.document import complaints_text


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "junit")
@click.option("--strict", is_flag=True, help="Fail for a test that cannot be evaluated offline.")
@click.option("--weak", is_flag=True, help="Name small changes of an alert that no test notices.")
@click.option("--fail-on-weak", is_flag=True, help="As --weak, and end with 4 if there are some.")
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Print the lines of an export (JSON Lines) as rows for a test, and run nothing.",
)
@click.option(
    "--scrub/--as-is",
    default=None,
    help="With --record: replace what looks like a secret or personal data, or keep everything.",
)
def test(
    *,
    options: Options,
    form: str,
    strict: bool,
    weak: bool,
    fail_on_weak: bool,
    record: Path | None,
    scrub: bool | None,
) -> int:
    """Run the tests that alert definitions have, offline.

    A test has log lines and what the alert must do on them. Nothing is sent,
    and no service, key or secret is needed. Ends with 4 if a test does not
    hold.
    """
    if record is not None:
        return _record(record, options, scrub=scrub)
    if scrub is not None:
        raise UsageError("--scrub and --as-is are about --record: give it too")
    from reconciler.features.alert_tests import test_formats  # noqa: PLC0415 - the JSON's types
    from reconciler.features.alert_tests.test_alerts import run  # noqa: PLC0415 - loads the library

    weak = weak or fail_on_weak
    report = run(options, strict=strict, weak=weak)
    if form == "text":
        errors_only = [found for found in report.complaints if found.is_error or not options.quiet]
        if errors_only:
            data(complaints_text(errors_only, stdout_style(verbose=options.verbose)))
    else:
        data((test_formats.tests_json if form == "json" else test_formats.tests_junit)(report))
    if not options.quiet:
        words(test_formats.tests_summary(report, weak=weak))
    failed = not report.is_good or (fail_on_weak and report.unnoticed)
    return InvalidInput.exit_code if failed else 0


def _record(file: Path, options: Options, *, scrub: bool | None) -> int:
    from reconciler.features.alert_tests import record_rows  # noqa: PLC0415 - for --record only

    if scrub is None:
        raise UsageError(
            "logs may hold secrets and personal data: give --scrub to replace what looks like it, "
            "or --as-is to keep everything"
        )
    scrubber = record_rows.Scrubber() if scrub else None
    try:
        if not file.is_file():
            raise UsageError(f"{file} is no regular file")
        with file.open(encoding="utf-8-sig", errors="replace") as opened:
            rows = record_rows.recorded(opened, scrubber)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    data("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if not options.quiet:
        words(record_rows.describe_recorded(len(rows), scrubber))
    return 0
