"""All words, and every form they take: plans, outcomes, complaints, drift, journals. Pure."""
