"""Fmt: manifests and exports in one layout. Source: docs/fmt.md."""
