"""The application: its resources, its routes, the record of its requests, and its OpenAPI document.

Paths under `/web` do what a person can do in the web interface and a client of the API cannot.
Tests use them to list what the API does not return, and to delete. They need the same key.

The OpenAPI 3.1 document is made from the models that answer. The model of a query becomes flat
parameters: `filter.status`, `pagination.pageSize`. OpenAPI cannot describe a map as such
parameters, so maps are only in the description of the operation.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic.json_schema import models_json_schema
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reconciler.emulator import (
    alert_definition_endpoints,
    log_policy_endpoints,
    overview_page,
    resources,
    wire,
)
from reconciler.emulator.database import (
    API_ROOT,
    HEALTH_PATH,
    OPENAPI_PATH,
    PAGE_PATH,
    LogFile,
    RequestLog,
    RequestRecord,
    StaleReads,
    Store,
)
from reconciler.emulator.endpoint import Answers, Deployment, Endpoint, Keys
from reconciler.emulator.faults import FaultInjection, Faults
from reconciler.emulator.profile import Profile

REQUESTS_KEPT = 10_000


def create_app(  # noqa: PLR0913 - one keyword for each option of the server
    data: Path | None = None,
    *,
    alert_ids: Iterable[str] = (),
    api_key: str | None = None,
    keys: Mapping[str, frozenset[str]] = MappingProxyType({}),
    profile: Profile | None = None,
    faults: Faults | None = None,
    log: Path | None = None,
    seed: str | None = None,
    clock: wire.Clock = wire.utc_now,
) -> Starlette:
    """Return a whole service of its own, with its data in a file or in memory.

    Each of `alert_ids` gets a bare alert definition unless it has one. `api_key` is accepted with
    all permissions, and each of `keys` with its permissions such as `case:Read`. Without any key,
    every key that is not empty has all permissions. `seed` fills the emulator with a company, once.
    `app.state.requests` has the requests so far, the newest last. Raises UnreadableDataError for a
    file of another program, ValueError for an alert id that is not a uuid or an unknown seed,
    OSError for a log file that cannot be written.
    """
    behaviour = profile or Profile()
    store = Store(data, [table for resource in resources.RESOURCES for table in resource.tables])
    with store.writing():
        alert_definition_endpoints.plant(store, alert_ids, wire.timestamp(clock()))
    if seed is not None:
        resources.fill(store, seed, clock())
    known: dict[str, frozenset[str] | None] = dict(keys)
    if api_key is not None:
        known[api_key] = None
    deployment = Deployment(
        store=store,
        keys=Keys(known, behaviour.authorization),
        clock=clock,
        profile=behaviour,
        stale_reads=StaleReads(store, behaviour.stale_reads),
    )
    record = RequestRecord(REQUESTS_KEPT, LogFile(log).write if log else None)
    app = Starlette(
        routes=[
            Route(HEALTH_PATH, _health),
            Route(OPENAPI_PATH, _openapi),
            Route(PAGE_PATH, overview_page.page),
            *web_routes(deployment),
            *_routes(deployment),
        ],
        middleware=[Middleware(RequestLog, record=record)],
        exception_handlers=wire.REFUSALS,
    )
    if faults is not None:
        # Outside everything else, even the error pages.
        app.middleware_stack = FaultInjection(
            app.build_middleware_stack(), faults, record=record, clock=clock
        )
    app.router.redirect_slashes = False
    app.state.profile = behaviour
    app.state.requests = record.requests
    app.state.record = record
    app.state.clock = clock
    app.state.store = store
    return app


def _routes(deployment: Deployment) -> list[Route]:
    """Return a route for each path; `/slos/{id}` matches `/slos/validate`, so it comes later."""
    endpoints = [
        *resources.extra_endpoints(deployment.profile),
        # Last, so that a profile never replaces a documented endpoint.
        *(endpoint for resource in resources.RESOURCES for endpoint in resource.endpoints),
    ]
    paths = sorted({endpoint.path for endpoint in endpoints}, key=lambda path: ("{" in path, path))
    return [
        Route(
            API_ROOT + path,
            Answers(
                {endpoint.method: endpoint for endpoint in endpoints if endpoint.path == path},
                deployment,
            ),
        )
        for path in paths
    ]


async def _health(_: Request) -> Response:
    """Answer that the server is ready; needs no key."""
    return JSONResponse({"status": "ok"})


async def _openapi(request: Request) -> Response:
    """Answer with the OpenAPI document, endpoints of the profile included; needs no key."""
    return JSONResponse(openapi_document(request.app.state.profile))


_KINDS = {
    "alerts": "AlertDefinition",
    "dashboards": "Dashboard",
    "saved-views": "SavedView",
    "slos": "SLO",
}
"""The kind, by the part of the path that names it."""


def web_routes(deployment: Deployment) -> list[Route]:
    """Return `GET /web/alerts`, which lists all, `DELETE /web/alerts/ID`, and so on."""

    async def listed(request: Request) -> Response:
        """Answer `{"items": [...]}`: every record as it is stored."""
        deployment.keys.check(request)
        what = request.path_params["what"]
        if what == "policies":
            return JSONResponse({"items": log_policy_endpoints.held_policies(deployment.store)})
        if what not in _KINDS:
            raise wire.unknown_route()
        return JSONResponse(
            {"items": deployment.store.records(resources.STORED[_KINDS[what]].table)}
        )

    async def delete(request: Request) -> Response:
        """Answer 204, or 404 for an unknown id."""
        deployment.keys.check(request)
        what, own = request.path_params["what"], request.path_params["id"]
        if what not in _KINDS:
            raise wire.unknown_route()
        records = resources.STORED[_KINDS[what]]
        with deployment.stale_reads.writing() as store:
            records.read(store, own)
            store.write(f"DELETE FROM {records.table} WHERE id = ?", own)  # noqa: S608 - a table of ours
        return Response(status_code=204)

    return [
        Route("/web/{what}", listed, methods=["GET"]),
        Route("/web/{what}/{id}", delete, methods=["DELETE"]),
    ]


def _within(
    schema: wire.JsonObject, parts: wire.JsonObject, path: str = "", *, is_required: bool = True
) -> Iterator[wire.JsonObject]:
    """Yield a parameter for each leaf of the schema of a query."""
    for name, content in schema["properties"].items():
        inner = _resolved(content, parts)
        item = _resolved(inner.get("items", {}), parts)
        needed = is_required and name in schema.get("required", [])
        if "properties" in inner:
            yield from _within(inner, parts, f"{path}{name}.", is_required=needed)
        elif "properties" in item:
            for leaf in _within(item, parts, f"{path}{name}.", is_required=False):
                yield {**leaf, "schema": {"type": "array", "items": leaf["schema"]}}
        else:
            yield {
                "name": path + name,
                "in": "query",
                **({"required": True} if needed else {}),
                "schema": {key: part for key, part in inner.items() if key != "title"},
            }


def _resolved(schema: wire.JsonObject, parts: wire.JsonObject) -> wire.JsonObject:
    """Return the schema that a reference names; for a field that may be null, its other form."""
    forms = [form for form in schema.get("anyOf", []) if form.get("type") != "null"]
    if forms:
        return _resolved(forms[0], parts)
    if "$ref" in schema:
        return dict(parts[schema["$ref"].rpartition("/")[2]])
    return schema


_REF = "#/components/schemas/{model}"
_NAMES = {
    1: ("replaceAlertDefinitions", "Replace alert definitions in bulk"),
    2: ("listAlertEvents", "List alert events"),
    3: ("createDashboard", "Create a dashboard"),
    4: ("replaceDashboard", "Replace a dashboard"),
    5: ("getDashboard", "Read a dashboard by its id"),
    6: ("getDashboardBySlug", "Read a dashboard by its slug"),
    7: ("listCases", "List cases"),
    8: ("listIncidents", "List incidents"),
    9: ("listIncidentEvents", "List incident events"),
    10: ("closeIncidents", "Close incidents"),
    11: ("createSlo", "Create an SLO"),
    12: ("replaceSlo", "Replace an SLO"),
    13: ("getSlo", "Read an SLO"),
    14: ("validateSlo", "Validate the alerts of an SLO before it is replaced"),
    15: ("listLogPolicies", "List the log policies"),
    16: ("createLogPolicies", "Create log policies, all or none"),
    17: ("overwriteLogPolicies", "Overwrite all log policies at once"),
    18: ("testLogPolicies", "Test the metadata of logs against the policies"),
    19: ("getDailyUnits", "Read the daily data-usage units"),
    20: ("createSavedView", "Create a saved view"),
    21: ("replaceSavedView", "Replace a saved view"),
}
_NAMING_AN_OBJECT = (4, 10, 12)  # in the body or the query
_REFUSALS = {
    400: "The request breaks the shape or a rule.",
    401: "The key is missing or not valid.",
    403: "The key lacks the permission.",
    404: "There is no such object.",
    409: "An id, slug or name is taken.",
    413: "The body is too large.",
}
_ERROR: wire.JsonObject = {
    "title": "Error",
    "description": "Why a request was refused.",
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
}
_ABOUT = (
    "All endpoints of the management API as the emulator understands them. "
    "Generated from its models: see scripts/write_openapi.py."
)


def openapi_document(profile: Profile | None = None) -> Any:
    """Return the whole document, the same every time for one profile."""
    endpoints = sorted(
        (endpoint for resource in resources.RESOURCES for endpoint in resource.endpoints),
        key=lambda endpoint: endpoint.number,
    )
    endpoints.extend(resources.extra_endpoints(profile or Profile()))
    paths: dict[str, wire.JsonObject] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    key = {"type": "apiKey", "in": "header", "name": "Authorization"}
    document: wire.JsonObject = {
        "openapi": "3.1.0",
        "info": {
            "title": "Observability Management API",
            "version": "latest",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": API_ROOT}],
        "security": [{"apiKey": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(map(_tag, endpoints))],
        "paths": paths,
        "components": {
            "schemas": {**_schemas(endpoints), "Error": _ERROR},
            "securitySchemes": {"apiKey": key},
        },
    }
    return wire.rebuilt(document, of_object=_tidied)


def _tidied(members: wire.JsonObject) -> wire.JsonObject:
    """Return a schema; for integers without `ge` and `le`, which JSON Schema lacks."""
    foreign = {"ge", "le"} if members.get("type") == "integer" else set()
    return {key: member for key, member in members.items() if key not in foreign}


def _schemas(endpoints: list[Endpoint[Any]]) -> wire.JsonObject:
    bodies = {endpoint.request for endpoint in endpoints if endpoint.has_body}
    models = sorted(
        bodies | {endpoint.reply for endpoint in endpoints}, key=lambda model: model.__name__
    )
    _, schema = models_json_schema(
        [(model, "validation") for model in models], by_alias=True, ref_template=_REF
    )
    return dict(schema["$defs"])


def _operation(endpoint: Endpoint[Any]) -> wire.JsonObject:
    name, summary = _NAMES.get(endpoint.number, endpoint.named)
    sentences = [f"Endpoint {endpoint.number}." if endpoint.number else "Of this profile only."]
    if endpoint.permission:
        sentences.append(f"Needs the permission `{endpoint.permission}`.")
    parameters = _parameters(endpoint)
    query = endpoint.request.model_json_schema() if endpoint.in_query else {"properties": {}}
    for parameter in _within(query, query.get("$defs", {})):
        if parameter["schema"].get("type") != "object":
            parameters.append(parameter)
            continue
        key = parameter["name"]
        sentences.append(
            f"The map `{key}` travels as `{key}.<key>=<value>`, repeated for alternatives."
        )
    operation: wire.JsonObject = {
        "operationId": name,
        "summary": summary,
        "description": " ".join(sentences),
        "tags": [_tag(endpoint)],
        "parameters": parameters,
        "responses": _responses(endpoint),
    }
    if endpoint.has_body:
        operation["requestBody"] = {"required": True, "content": _json(endpoint.request)}
    return {name: part for name, part in operation.items() if part}


def _parameters(endpoint: Endpoint[Any]) -> list[wire.JsonObject]:
    """Return the parameters in the path, and the flags next to a body."""
    names = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    text = {"type": "string", "minLength": 1}
    number = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 2**31 - 1}
    schema = number if endpoint.number == 21 else text  # noqa: PLR2004 - the view's is a number
    flag = {"in": "query", "deprecated": True, "schema": {"type": "boolean"}}
    return [
        *({"name": name, "in": "path", "required": True, "schema": schema} for name in names),
        *({"name": name, **flag} for name in endpoint.flags),
    ]


def _tag(endpoint: Endpoint[Any]) -> str:
    """Return the part of the path that names the resource."""
    parts = [part for part in endpoint.path.split("/") if part not in ("", "v1", "v2", "v3")]
    return parts[1] if parts[0] in ("dataplans", "data-exploration") else parts[0]


def _responses(endpoint: Endpoint[Any]) -> wire.JsonObject:
    likely = {
        400: True,
        401: True,
        403: bool(endpoint.permission),
        404: "{" in endpoint.path or endpoint.number in _NAMING_AN_OBJECT,
        409: endpoint.creates or endpoint.number in _NAMING_AN_OBJECT,
        413: endpoint.has_body,
    }
    error = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    return {
        "200": {"description": "It worked.", "content": _json(endpoint.reply, endpoint.schema)},
        **{
            str(code): {"description": _REFUSALS[code], "content": error}
            for code, is_likely in likely.items()
            if is_likely
        },
    }


def _json(model: type[wire.WireObject], schema: wire.JsonObject | None = None) -> wire.JsonObject:
    reference = {"$ref": _REF.format(model=model.__name__)}
    return {"application/json": {"schema": reference if schema is None else schema}}
