# ruff: noqa: E501 - a table reads best with one case a line
"""Project files that are wrong. Source: docs/manifests.md."""

from __future__ import annotations

from dataclasses import replace

from wrong import Wrong

FILE = "reconciler.yaml"


def _project(
    name: str, place: str, says: str, *lines: str, suggests: str = "", code: str = "P101"
) -> Wrong:
    content = "".join(f"{line}\n" for line in lines)
    at = f"{FILE}:{place}" if place else FILE
    return Wrong(name, code, at, says, {FILE: content}, suggests)


def _setting(
    name: str, place: str, says: str, *lines: str, suggests: str = "", code: str = "P101"
) -> Wrong:
    """Give a case of lines in environment `local`; the first of them is line 3."""
    inside = [f"    {line}" for line in lines]
    return _project(
        name, place, says, "environments:", "  local:", *inside, suggests=suggests, code=code
    )


PROJECTS = [
    _project("an empty project file", "1:1", "holds one mapping"),
    _project("comments for a project", "1:1", "holds one mapping", "# later"),
    _project("two documents", "1:1", "holds one mapping", "manifests: [.]", "---", "manifests: [.]"),
    _project("a list for a project", "1:1", "a mapping, as `manifests: [.]`", "- manifests"),
    _project("null for a project", "1:1", "a mapping", "~"),
    _project("a tab in a project", "2:1", "a tab cannot indent", "environments:", "\tlocal: {}", code="M101"),
    _project("a key twice in a project", "2:1", "appears twice", "manifests: [.]", "manifests: [a]", code="M102"),
    _project("a near setting", "1:1", "unknown setting `manifest` (known: manifests, exclude, defaultEnvironment, environments, secrets, driftIgnore, trustedBranches, mentionOwners, checks, limits, baseline, rules)", "manifest: [.]", suggests="manifests"),
    _project("a setting of an environment at the top", "1:1", "unknown setting `variables`", "variables: {team: a}", suggests="environments"),
    _project("a setting in snake case", "1:1", "unknown setting", "default_environment: local", suggests="defaultEnvironment"),
    _project("text for manifests", "1:12", "`manifests` must be a list", "manifests: ."),
    _project("a number for a path", "1:13", "item 1 must be text", "manifests: [1]"),
    _project("manifests above", "1:13", "`../other` leads out of the folder", "manifests: [../other]"),
    _project("manifests far above", "1:16", "leads out of the folder", "manifests: [., a/../../b]"),
    _project("absolute manifests", "1:13", "`/etc` leads out of the folder", "manifests: [/etc]"),
    _project("an exclude above", "1:11", "`../x/*` must be a glob that is relative", "exclude: [../x/*]"),
    _project("an absolute exclude", "1:14", "`/x` must be a glob", "exclude: [a, /x]"),
    _project("all excluded", "1:11", "`./` must be a glob", "exclude: [./]"),
    _project("text for exclude", "1:10", "`exclude` must be a list", "exclude: charts"),
    _project("a default that is not there", "1:21", "there is no environment `locl` (known: local)", "defaultEnvironment: locl", "environments: {local: {}}", suggests="local"),
    _project("a default of none", "1:21", "(known: none)", "defaultEnvironment: local"),
    _project("a number for a default", "1:21", "`defaultEnvironment` must be text", "defaultEnvironment: 1"),
    _project("a list for environments", "1:15", "`environments` must be a mapping", "environments: [local]"),
    _project("null for an environment", "2:9", "`local` must be a mapping", "environments:", "  local:"),
    _project("a path for an environment", "2:3", "`../x` is no name", "environments:", "  ../x: {}"),
    _project("a blank in an environment", "2:3", "is no name", "environments:", '  "my place": {}'),
    _project("a line break in an environment", "2:3", "is no name", "environments:", '  "a\\n::error::b": {}'),
    _setting("a near setting of a place", "3:5", "unknown setting `baseURL`", "baseURL: https://api.example.com", suggests="baseUrl"),
    _setting("an unknown setting of a place", "3:5", "unknown setting `region`", "region: eu"),
    _setting("a freeze of true", "3:13", "`freeze` must be a mapping", "freeze: true", suggests="say when: `windows:`, or `incidents: {severities: [critical]}`"),
    _setting("incidents of true", "3:25", "`incidents` must be a mapping", "freeze: {incidents: true}", suggests="write `{}` for any open one, or which: `{severities: [critical]}`"),
    _setting("severities in the singular", "3:26", "unknown setting `severity`", "freeze: {incidents: {severity: [critical]}}", suggests="severities"),
    _setting("one severity for a list", "3:38", "`severities` must be a list", "freeze: {incidents: {severities: critical}}", suggests="[critical]"),
    *(
        _setting(name, "3:31", says, f"freeze: {{windows: [{{cron: '{cron}', for: 1h, reason: x}}]}}", suggests=near)
        for name, cron, says, near in (
            ("a day in full", "0 18 * * FRIDAY", "day-of-week is 0 to 7, or SUN to SAT", "0 18 * * FRI"),
            ("days in the plural", "0 18 * * mondays,Thurs", "is no cron expression", "0 18 * * MON,THU"),
            ("a month in full", "0 18 1 December *", "month is 1 to 12, or JAN to DEC", "0 18 1 DEC *"),
            ("a date that never comes", "0 18 31 2 *", "never comes: February has at most 29 days", "0 18 L 2 *"),
            ("dates that never come", "0 18 31 apr,6 *", "April and June have at most 30 days", "0 18 L apr,6 *"),
            ("a word for a cron", "@daily", "must be five fields", "0 0 * * *"),
            ("a cron with seconds", "0 0 18 ? * MON-FRI", "must be five fields", "0 18 * * MON-FRI"),
            ("an hour there is not", "0 25 * * *", "hour is 0 to 23", ""),
        )
    ),
    _project("a code in small letters", "1:10", "there is no code `a102`", "checks: {a102: off}", suggests="A102"),
    _project("another code in small letters", "1:10", "there is no code `a201`", "checks: {a201: off}", suggests="A201"),
    _project("a code with a letter for a figure", "1:10", "there is no code `A1O2`", "checks: {A1O2: off}", suggests="A102"),
    _setting("another authorization", "3:20", "must be 'raw' or 'bearer'", "authorization: basic"),
    _setting("a number for a URL", "3:14", "`baseUrl` must be text", "baseUrl: 1"),
    _setting("a URL and an emulator", "4:5", "has both `baseUrl` and `emulator`", "baseUrl: https://api.example.com", "emulator: {data: x.db}"),
    _setting("an emulator without data", "3:15", "`data` is required", "emulator: {}"),
    _setting("an emulator's setting", "3:25", "unknown setting `dat` (known: data)", "emulator: {data: x, dat: y}", suggests="data"),
    _setting("a variable of nothing", "4:12", "the variable `team` must not be null", "variables:", "  team:"),
    _setting("variables as a list", "3:16", "`variables` must be a mapping", "variables: [team]"),
    _setting("a share above 100", "3:32", "`maxChangePercent` must be less than or equal to 100", "guards: {maxChangePercent: 101}"),
    _setting("text for a minimum", "3:23", "`minimum` must be a whole number", 'guards: {minimum: "3"}'),
    _setting("an unknown guard", "3:14", "unknown setting `maximum`", "guards: {maximum: 3}"),
    _project("a silence without a reason", "1:15", "`reason` is required", "driftIgnore: [{path: name}]"),
    _project("a silence with an empty reason", "1:36", "`reason` must say why this may differ", "driftIgnore: [{path: name, reason: ' '}]"),
    _project("a silence about nothing", "1:15", "`path` is required", "driftIgnore: [{reason: r}]"),
    _project("a silence about half a place", "1:22", "`path` must be steps joined by dots", "driftIgnore: [{path: a..b, reason: r}]"),
    _project("a silence about a number", "1:22", "`path` must be steps joined by dots", "driftIgnore: [{path: [a, 1], reason: r}]"),
    _project("a silence about no kind", "1:22", "there is no kind `Dashbord` (known: ", "driftIgnore: [{kind: Dashbord, path: a, reason: r}]", suggests="Dashboard"),
    _project("a near setting of a silence", "1:36", "unknown setting `reson` (known: kind, name, path, reason)", "driftIgnore: [{path: a, reason: r, reson: r}]", suggests="reason"),
    _project("one silence and no list", "1:14", "`driftIgnore` must be a list", "driftIgnore: {path: a, reason: r}"),
    _setting("a read that is nothing", "3:36", "`AlertDefinition` must be a mapping", "api: {reads: {AlertDefinition: }}"),
    _setting("a read without its id", "3:37", "`path` must hold the part `{id}` once", "api: {reads: {SavedView: {path: /v3/views}}}"),
    _setting("a read with two ids", "3:37", "`path` must hold the part `{id}` once", "api: {reads: {SavedView: {path: '/v3/{id}/{id}'}}}"),
    _setting("a read of half a part", "3:37", "and `{id}` as a whole part", "api: {reads: {SavedView: {path: '/v3/view-{id}'}}}"),
    _setting("a read elsewhere", "3:37", "must be a path below the API root, as /v3/x: no host", "api: {reads: {SavedView: {path: 'https://other/{id}'}}}"),
    _setting("a read of another host", "3:37", "no host, and no part left empty", "api: {reads: {SavedView: {path: '//other/{id}'}}}"),
    _setting("a read that climbs", "3:37", "must hold no part `..`, which leads elsewhere", "api: {reads: {SavedView: {path: '/v3/../../{id}'}}}"),
    _setting("a read that climbs in disguise", "3:37", "must hold no part `%2E.`", "api: {reads: {SavedView: {path: '/v3/%2E./{id}'}}}"),
    _setting("a read with a query", "3:37", "nothing behind it: no query, no fragment", "api: {reads: {SavedView: {path: '/v3/{id}?all=1'}}}"),
    _setting("an odd place of a record", "3:57", "`record` must be names of fields joined by dots, as data.record", "api: {reads: {SavedView: {path: '/v3/{id}', record: a..b}}}"),
    _setting("a near setting of a read", "3:49", "unknown setting `recrod` (known: path, record, spec)", "api: {reads: {SavedView: {path: '/v3/{id}', recrod: a}}}", suggests="record"),
    _setting("a read of what is read", "3:19", "the API document has a read of `SLO`, and that one is used", "api: {reads: {SLO: {path: '/v3/{id}'}}}"),
    _setting("a read of an unknown kind", "3:19", "there is nothing of `SavedViews` to be read so (known: AlertDefinition, SavedView, lists)", "api: {reads: {SavedViews: {path: '/v3/{id}'}}}", suggests="SavedView"),
    _setting("a list of one", "3:39", "`path` must hold no `{id}`, as it lists all", "api: {reads: {lists: {SLO: {path: '/v3/{id}'}}}}"),
    _setting("a list of the one list", "3:27", "there is nothing of `LogPolicySet` to be read so", "api: {reads: {lists: {LogPolicySet: {path: /v3/x}}}}"),
    _setting("a near setting of a list", "3:46", "unknown setting `item` (known: path, items, id, name)", "api: {reads: {lists: {SLO: {path: /v3/x, item: a}}}}", suggests="items"),
    _project("a wrong expression of a rule", "4:23", "there is no `resorce` here", "rules:", "  - name: a", "    message: m", "    check: 'true &&   resorce.kind'", code="P103", suggests="resource"),
    replace(
        _project("a wrong example of a rule", "6:14", "should complain of this", "rules:", "  - name: a", "    message: m", "    check: has(resource.kind)", "    examples:", "      fail: [{kind: SLO}]", code="P104"),
        command="rules test",
    ),
    _setting("a plain URL", "3:14", "`baseUrl` must begin with https://", "baseUrl: http://api.example.com", code="P102"),
    _setting("a password in a URL", "3:14", "must not hold a user name or a password", "baseUrl: https://me:pass@api.example.com", code="P102"),
    _setting("samples above", "3:20", "must be inside the folder of the project file", "policySamples: ../logs.yaml"),
    _setting("absolute samples", "3:20", "must be inside the folder", "policySamples: /etc/logs.yaml"),
    _setting("samples of another form", "3:20", "must be YAML or JSON", "policySamples: logs.csv"),
    _setting("samples without a file", "3:20", "`file` is required", "policySamples: {onMismatch: report}"),
    _setting("a mismatch of another word", "3:47", "must be 'rollback' or 'report'", "policySamples: {file: a.yaml, onMismatch: undo}"),
    _setting("a near setting of samples", "3:35", "unknown setting `onMismach`", "policySamples: {file: a.yaml, onMismach: report}", suggests="onMismatch"),
    _setting("a number for samples", "3:20", "must be a mapping", "policySamples: 7"),
]  # fmt: skip
