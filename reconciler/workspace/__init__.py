"""YAML text to manifests, and back."""
