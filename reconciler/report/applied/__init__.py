"""Reports of an apply, one file for each format."""
