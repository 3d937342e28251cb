"""The commands of a job in CI: what it may use, what it says on a pull request and to a runner."""
