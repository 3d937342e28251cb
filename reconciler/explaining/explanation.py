"""What is said of one code: what it means, why it matters, an example and its repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.source.diagnostic import CODES

MANIFEST = "checkout.yaml"
PROJECT = "reconciler.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Files of a workspace as they stand there, or the commands of a shell that lead there.

    `says` tells in words what no file shows. `environ` is set while it is checked, by
    `command`, in a folder that holds the files and what the commands made.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a code means to whoever met it.

    `title` completes "this is told where ..." in a few words. `command` is what tells
    the code of `wrong`, and does not tell it of `right`; "" where no sample can show it.
    `page` is the page of docs/ that says more.
    """

    code: str
    title: str
    means: str
    why: str
    wrong: Sample
    right: Sample
    command: str = "validate"
    page: str = "manifests"


def diagnostic(
    code: str,
    means: str,
    why: str,
    wrong: Sample,
    right: Sample,
    *,
    command: str = "validate",
    page: str = "manifests",
) -> Explanation:
    """Explain a complaint; its title is the one of `CODES`."""
    return Explanation(
        code=code,
        title=CODES[code],
        means=means,
        why=why,
        wrong=wrong,
        right=right,
        command=command,
        page=page,
    )


def of_plan(  # noqa: PLR0917 - a row of a table
    code: str, title: str, means: str, why: str, example: str, to_do: Sample
) -> Explanation:
    """Explain a reason or a remark of a plan, of which no sample can show one."""
    return Explanation(
        code=code,
        title=title,
        means=means,
        why=why,
        wrong=Sample(says=example),
        right=to_do,
        command="",
        page="plan",
    )


def do(says: str, *typed: str) -> Sample:
    """Return what to do in words, and the commands for it."""
    return Sample(says=says, typed=typed)


def manifest(text: str, **others: str) -> Sample:
    """Give a sample of one manifest; `others` are further files, `_` standing for the dot."""
    more = {name.replace("_", "."): content for name, content in others.items()}
    return Sample(files={MANIFEST: text, **more})


def project(text: str) -> Sample:
    """Give a sample of a project file."""
    return Sample(files={PROJECT: text})


HEAD = "apiVersion: reconciler/v1\n"
SLI = "  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}\n"


def slo(*lines: str, name: str = "checkout", target: str = "99.9", sli: str = SLI) -> str:
    """Give the text of an SLO, with further lines of its spec."""
    more = "".join(f"  {line}\n" for line in lines)
    return (
        f"{HEAD}kind: SLO\nmetadata: {{name: {name}}}\nspec:\n  name: Checkout\n"
        f"  targetThresholdPercentage: {target}\n{sli}{more}"
    )


def view(*lines: str, name: str = "errors", metadata: str = "") -> str:
    """Give the text of a saved view, with further lines of its spec."""
    more = "".join(f"  {line}\n" for line in lines)
    return (
        f"{HEAD}kind: SavedView\nmetadata: {{name: {name}{metadata}}}\nspec:\n"
        f"  name: Errors\n  timeSelection: {{quickSelection: {{seconds: 900}}}}\n{more}"
    )
