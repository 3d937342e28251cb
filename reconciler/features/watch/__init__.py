"""Watch: whether alerts are noisier since a run. Source: docs/watch.md."""
