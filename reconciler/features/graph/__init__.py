"""Graph: what refers to what, and who uses a metric. Source: docs/graph.md."""
