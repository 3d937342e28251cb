"""Reports of what stands beside a plan: one file a subject, for all formats."""
