"""A bounded part of the fuzzing, on every change; `make fuzz` runs the whole."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from batches import MOST_MB, Batch, run_batch
from campaign import run_raw
from hostile_documents import mutated
from hostile_yaml import manifest_text

from reconciler.document import Json

SEED = int(os.environ.get("FUZZ_SEED", "20260101"))
MANIFESTS = 400
RAW = 350
RUNS = 30
FOREIGN = 300


def test_structured_manifests(tmp_path: Path) -> None:
    """Manifests made from the schemas and mutated: no traceback, no hang, no secret told."""
    tally = run_batch(Batch("manifests", SEED, 0, MANIFESTS), tmp_path)

    assert tally.failures == []
    assert tally.inputs == MANIFESTS
    assert tally.peak_mb < MOST_MB
    # The inputs reach the checks of fields and of the workspace, and some are right.
    assert {"none", "M101", "M201", "M301"} <= tally.notes.keys()


def test_raw_manifests(tmp_path: Path) -> None:
    """Bytes chosen by coverage: no traceback, no crash of the parser, no hang."""
    tally = run_raw(RAW, SEED, tmp_path, 120)

    assert tally.failures == []
    assert tally.inputs >= RAW


def test_mutated_answers(tmp_path: Path) -> None:
    """Whatever a service answers, a command ends with an error of ours or with none."""
    tally = run_batch(Batch("answers", SEED, 0, RUNS), tmp_path)

    assert tally.failures == []
    assert tally.notes["answers"] > RUNS
    assert tally.notes["done"] > 0
    assert tally.notes["UnreadableReply"] > 0


def test_documents_of_other_tools(tmp_path: Path) -> None:
    """Damaged documents of other tools: no traceback, nothing wrong is made or unsafe to show."""
    tally = run_batch(Batch("foreign", SEED, 0, FOREIGN), tmp_path)

    assert tally.failures == []
    assert len(tally.notes) == 3


@pytest.mark.parametrize(
    ("target", "why"),
    [("raising", "ZeroDivisionError"), ("hanging", "Hang"), ("crashing", "ended with -")],
)
def test_what_fails_is_seen(target: str, why: str, tmp_path: Path) -> None:
    """An input that raises, hangs or kills its process is told, and the others still run."""
    tally = run_batch(Batch(target, SEED, 0, 4), tmp_path)

    # After a crash a new child goes on, and this one crashes again.
    assert len(tally.failures) == (2 if target == "crashing" else 1)
    assert why in tally.failures[0]
    assert tally.inputs == 4


def test_inputs_are_repeatable() -> None:
    """A seed gives the same input for ever, and another seed another."""
    texts = [manifest_text(Random(f"{SEED}:{number}")) for number in range(50)]  # noqa: S311 - repeatable, not secret

    assert texts == [manifest_text(Random(f"{SEED}:{number}")) for number in range(50)]  # noqa: S311 - the same
    assert len(set(texts)) > 45


def test_mutations_spare_the_original() -> None:
    """A mutation changes a copy."""
    document: Json = {"a": [1, {"b": "c"}]}

    changed = {repr(mutated(document, Random(seed), 2)) for seed in range(100)}  # noqa: S311 - repeatable

    assert document == {"a": [1, {"b": "c"}]}
    assert len(changed) > 50
