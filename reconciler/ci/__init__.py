"""Commands of a CI job: what it may use of a checkout, its comment, its output to the runner."""
