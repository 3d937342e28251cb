"""What is wrong with manifests: one file a format."""
