"""History: figures over the runs of a journal. Source: docs/watch.md."""
