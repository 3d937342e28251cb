"""Reports: plans, outcomes, complaints, drift and journals in every output format. Pure."""
