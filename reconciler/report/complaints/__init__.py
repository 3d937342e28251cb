"""Complaints about manifests, one file for each format."""
