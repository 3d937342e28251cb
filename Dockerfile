# The base is Debian 12 or newer, pinned by digest. Which one is the builder's choice,
# so there is no default:
#   docker build --build-arg BASE=debian:12-slim@sha256:... -t reconciler .
# docs/image.md says how two builds give one digest, and what is inside.
ARG BASE

FROM ${BASE} AS build
# Only to build: nothing of this stage but /kept goes into the image.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        binutils ca-certificates git openssh-client python3 python3-venv
# A mirror of packages, or a folder of wheels in a closed network.
ARG PIP_INDEX_URL
ARG PIP_FIND_LINKS
ARG PIP_NO_INDEX
# `rules` adds what rules of one's own need; `remote` that, and what journals in object stores need.
ARG LOCK=runtime
# The time that wheels are stamped with; any, as long as it is always the same.
ARG SOURCE_DATE_EPOCH=315532800
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
COPY requirements/ requirements/
RUN python3 -m venv /build \
    && /build/bin/pip wheel --require-hashes -r "requirements/${LOCK}.txt" --wheel-dir /wheels \
    && /build/bin/pip install --require-hashes -r requirements/build.txt
COPY LICENSE README.md pyproject.toml ./
COPY reconciler/ reconciler/
# Compiled files must not depend on the times of their sources, which a build may rewrite.
# What only debuggers read is 10 MB of the extension modules.
RUN /build/bin/pip wheel --no-deps --no-build-isolation --no-index --wheel-dir /wheels . \
    && python3 -m venv --without-pip /opt/reconciler \
    && /build/bin/pip --python /opt/reconciler/bin/python install --no-compile \
        --no-deps --no-index --find-links /wheels -r "requirements/${LOCK}.txt" \
    && /build/bin/pip --python /opt/reconciler/bin/python install --no-compile \
        --no-deps --no-index --find-links /wheels observability-reconciler \
    && find /opt/reconciler -name '*.so' -exec strip --strip-unneeded {} + \
    && python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/reconciler/lib
# Of git only what the journal and `--changed-since` run: the package needs Perl, 50 MB of it.
# Of OpenSSH only what signs and checks approvals.
# A checkout belongs to whoever made it, hence the setting.
RUN mkdir -p /kept/etc/ssl/certs /kept/opt /kept/usr/bin /kept/usr/lib/git-core \
    && mv /opt/reconciler /kept/opt/ \
    && cp /etc/ssl/certs/ca-certificates.crt /kept/etc/ssl/certs/ \
    && cp /usr/bin/git /usr/bin/ssh-keygen /kept/usr/bin/ \
    && cp -L /usr/lib/git-core/git-remote-http /kept/usr/lib/git-core/ \
    && ln -s git-remote-http /kept/usr/lib/git-core/git-remote-https \
    && ln -s ../../bin/git /kept/usr/lib/git-core/git \
    && git config --file /kept/etc/gitconfig safe.directory '*'

FROM ${BASE}
# `ssh-keygen` serves only a user with a name.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl3-gnutls libpcre2-8-0 python3 \
    && python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3* \
    && echo reconciler:x:65532:65532::/workspace:/usr/sbin/nologin >>/etc/passwd \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old \
        /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/apt /var/log/*.log
COPY --from=build /kept/ /
ARG REVISION=
LABEL org.opencontainers.image.title="reconciler" \
    org.opencontainers.image.description="Observability as code: validate, plan, apply, drift" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/reconciler/bin:$PATH PYTHONDONTWRITEBYTECODE=1
WORKDIR /workspace
USER 65532:65532
ENTRYPOINT ["reconciler"]
