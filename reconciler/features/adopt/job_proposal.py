"""The input `adopt` of `reconciler ci drift`: propose to adopt what was edited live."""

from __future__ import annotations

from typing import Final

from reconciler.features.adopt.adopt_live import ToAdopt, adopt
from reconciler.features.adopt.adoption import AdoptionState
from reconciler.features.adopt.adoption_formats import adopted_markdown
from reconciler.operations.job_steps import ProposedEdits
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session

DECIDED: Final[tuple[AdoptionState, ...]] = ("adopted", "same", "unseen", "gone")
"""States that show whether there is something to adopt; any other state leaves that open."""


def proposal(session: Session, options: Options, drift_page: str) -> ProposedEdits:
    """Return all live edits as edits of manifests; neither files nor the journal are written."""
    made = adopt(session, options, ToAdopt(every=True, only_shown=True))
    return ProposedEdits(
        title=f"Adopt live edits of {made.environment}",
        body=adopted_markdown(made, drift_page=drift_page),
        files=made.files,
        undecided=any(adoption.state not in DECIDED for adoption in made.adoptions),
    )
