"""Commands of a CI job: what a job may use, its pull request comment, its output to the runner."""
