"""The pages of codes, for tests that run their samples."""

from __future__ import annotations

from reconciler.report.explanations.pages import Explanation, Sample, codes, explanation

MANIFEST = "checkout.yaml"


def explained(code: str) -> Explanation:
    """Return what the page of a code says."""
    found = explanation(code)
    assert found is not None, code
    return found


EXPLAINED = {code: explained(code) for code in codes()}


def manifest_of(sample: Sample) -> str:
    """Return the text of the manifest that a sample is about."""
    return sample.files[MANIFEST]
