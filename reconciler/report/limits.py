"""What the forge takes of a comment, a summary, annotations and SARIF, and what we use of it.

Source: pr-experience.md, part 2. Sizes are bytes of UTF-8 unless they say otherwise.
"""

from __future__ import annotations

LARGEST_COMMENT_CHARACTERS = 65_536
"""The forge refuses a longer comment with 422."""

COMMENT_BYTES = 60_000

LARGEST_SUMMARY = 1 << 20
"""Of one step; above it the runner drops all of it."""

SUMMARY_BYTES = 900 << 10

ANNOTATIONS_OF_A_LEVEL = 10
"""What the runner keeps of one step; of a job it keeps 50."""

SHOWN_ANNOTATIONS = 9
"""Of each level; the tenth says how many more there are."""

LARGEST_OUTPUTS = 1 << 20
"""Of all outputs of one job."""

SARIF_RESULTS = 25_000
SHOWN_SARIF_RESULTS = 5_000
"""Code scanning takes 25,000 of a run and keeps 5,000."""

SARIF_RUNS = 20
SARIF_TAGS_OF_A_RULE = 20
LARGEST_SARIF = 10 << 20
"""Packed with gzip."""
