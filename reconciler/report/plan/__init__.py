"""A plan for people and for programs: one file a format."""
