# The base is Debian 12 or newer, pinned by digest. Which one is the builder's choice,
# so there is no default:
#   docker build --build-arg BASE=debian:12-slim@sha256:... -t reconciler .
ARG BASE

FROM ${BASE} AS build
SHELL ["/bin/sh", "-eux", "-c"]
# Only to build: nothing of this stage but /opt/reconciler is kept.
# hadolint ignore=DL3008
RUN apt-get update; \
    apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv; \
    rm -rf /var/lib/apt/lists/*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
COPY requirements/ requirements/
RUN python3 -m venv /build; \
    /build/bin/pip wheel --require-hashes -r requirements/runtime.txt --wheel-dir /wheels; \
    /build/bin/pip install --require-hashes -r requirements/build.txt
COPY LICENSE README.md pyproject.toml ./
COPY reconciler/ reconciler/
RUN /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .; \
    python3 -m venv --without-pip /opt/reconciler; \
    /build/bin/pip --python /opt/reconciler/bin/python \
        install --no-deps --no-index /wheels/*.whl

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log
COPY --from=build /opt/reconciler /opt/reconciler
ENV PATH=/opt/reconciler/bin:$PATH PYTHONDONTWRITEBYTECODE=1
WORKDIR /workspace
USER 65532:65532
ENTRYPOINT ["reconciler"]
