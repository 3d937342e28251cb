"""What is fast, and how fast: `python -m benchmarks [reading|merging|starting|planning]`."""
