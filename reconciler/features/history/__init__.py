"""History: figures over the runs of a journal. Source: docs/evidence.md."""
