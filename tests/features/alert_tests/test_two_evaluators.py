"""Two evaluators of log alerts, written apart, agree."""

from collections import Counter
from random import Random

import pytest
from random_alerts import TRAITS, disagreement, random_pair, traits_of


@pytest.mark.parametrize("seed", range(8))
def test_two_evaluators_agree(seed: int) -> None:
    """The tool and a plain evaluator find the same groups that fire, with the same priorities."""
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    disagreements = [words for _ in range(50) if (words := disagreement(random_pair(random)))]

    assert not disagreements, "\n".join(disagreements)


def test_random_alerts_have_all_traits() -> None:
    """Of random alerts, each trait is in 1 %, 30 % fire and 20 % are a row from a threshold."""
    random = Random(1)  # noqa: S311 - repeatable, not secret
    shares: Counter[str] = Counter()
    for _ in range(600):
        shares.update(traits_of(random_pair(random)))
    wanted = {**dict.fromkeys(TRAITS, 6), "fires": 180, "near": 120}

    assert {trait: shares[trait] for trait in wanted if shares[trait] < wanted[trait]} == {}
