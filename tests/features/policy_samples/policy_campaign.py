"""`make policies`: the evaluator of policies against the emulator's matching, at length.

POLICY_CASES lists and logs from POLICY_SEED on; ends with 1 where one disagrees.
"""

from __future__ import annotations

import os
import sys
from random import Random

from random_policies import emulated, random_case

from reconciler.features.policy_samples.sample_impact import policies_in

CASES = 1_000_000
TOLD_EVERY = 100_000


def main() -> int:
    """Compare, and print what disagrees."""
    cases = int(os.environ.get("POLICY_CASES", CASES))
    seed = int(os.environ.get("POLICY_SEED", "1"))
    disagreeing = met = 0
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    for number in range(1, cases + 1):
        case = random_case(random)
        told = policies_in({"policies": case.policies}, any_case=case.any_case).met(case.sample)
        met += bool(told is not None and told.policy)
        if told is None or told.policy != emulated(case):
            disagreeing += 1
            _say(f"{case} {told}")
        if number % TOLD_EVERY == 0:
            _say(f"{number:,} cases, {met:,} met a policy, {disagreeing:,} disagree")
    _say(f"{cases:,} cases from seed {seed}: {met:,} met a policy, {disagreeing:,} disagree")
    return 1 if disagreeing else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
