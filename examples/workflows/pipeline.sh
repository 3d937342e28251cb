#!/bin/sh
# Plan, apply and drift in a CI system of any make, inside the image of docs/image.md:
#
#   sh pipeline.sh plan ENVIRONMENT     for a change; keep .plan-ENVIRONMENT.json as an artifact
#   sh pipeline.sh apply ENVIRONMENT    after the merge, with that artifact; one job at a time
#   sh pipeline.sh drift ENVIRONMENT    every night; fails where live is not what was applied
#
# It needs RECONCILER_API_KEY where ENVIRONMENT is a service. What plan wrote is evidence of
# review: apply plans again, and sends nothing where the result is another.
set -eu

INPUT_COMMAND=$1
INPUT_ENVIRONMENT=$2
# The dot keeps it from being read as a manifest.
INPUT_PLAN_FILE=".plan-$INPUT_ENVIRONMENT.json"
# What is waited for stands in the log, a line a second.
RECONCILER_PROGRESS=${RECONCILER_PROGRESS-1}
export INPUT_COMMAND INPUT_ENVIRONMENT INPUT_PLAN_FILE RECONCILER_PROGRESS

case $INPUT_COMMAND in
    plan)
        reconciler validate --environment "$INPUT_ENVIRONMENT" --format junit >validate.junit.xml ||
            reconciler validate --environment "$INPUT_ENVIRONMENT"
        ;;
    apply) export INPUT_REQUIRE_PLAN=file ;;
    drift) export INPUT_FAIL_ON_CHANGES=true ;;
    *)
        echo "usage: pipeline.sh plan|apply|drift ENVIRONMENT" >&2
        exit 64
        ;;
esac
exec reconciler ci "$INPUT_COMMAND"
