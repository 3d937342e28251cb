"""Adopt: live edits go into the manifests, comments kept. Source: docs/adopt.md."""
