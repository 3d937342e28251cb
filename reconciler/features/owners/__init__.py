"""Code owners of changed manifests, in the comment of a job."""
