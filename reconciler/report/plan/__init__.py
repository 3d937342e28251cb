"""Reports of a plan for people and programs, one file for each format."""
