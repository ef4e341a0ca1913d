"""The application: routes, topics, and how they begin and end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

import dumbbell
from dumbbell.below import Below, confined
from dumbbell.errors import Damaged, DumbbellError, InputError, of_system
from dumbbell.server import configurations, facts, files, socket, transfer, work
from dumbbell.server.agreement import NotAgreed
from dumbbell.server.documents import Documents
from dumbbell.server.http_messages import Login
from dumbbell.server.messages import Agree, Problem, Question
from dumbbell.server.problems import problem
from dumbbell.server.security import LOGIN, Access, Refused, answer
from dumbbell.server.workspace import Workspace


def routes(workspace: Workspace, access: Access) -> FastAPI:
    """The application of a workspace. It belongs behind a guard: see `serve.application`."""
    app = FastAPI(
        title="dumbbell",
        version=dumbbell.__version__,
        description="What the page of `dumbbell ui` asks of its server. For that page alone.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # Their pages load scripts from elsewhere.
        redoc_url=None,
        lifespan=_lifespan,
    )
    documents = Documents(workspace)
    app.add_middleware(_Confined, below=workspace.below)
    app.state.workspace, app.state.documents, app.state.sockets = workspace, documents, 0
    app.state.topics = {"document": documents.events, "files": files.Watching(workspace)}
    app.add_exception_handler(DumbbellError, _refused)
    app.add_exception_handler(OSError, _unopened)
    app.add_exception_handler(NotAgreed, _asks)
    app.add_exception_handler(Refused, _turned_away)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)

    @app.post(LOGIN)
    def login(asked: Login, response: Response) -> dict[str, bool]:
        """The token of the URL's fragment for the cookie that all other requests need."""
        if not access.is_token(asked.token):
            raise Refused(401, "this is not the token", "each start has its own", "open the URL that it printed")
        response.headers["set-cookie"] = access.set_cookie()
        return {"ok": True}

    @app.post("/api/agree")
    async def agree(asked: Agree) -> dict[str, bool]:
        """Let programs run that a start was refused for."""
        documents.agree(asked.programs)
        return {"agreed": True}

    for router in (configurations.router, facts.router, files.router, transfer.router, socket.router):
        app.include_router(router)
    work.include(app, workspace.root)
    return app


class _Confined:
    """Middleware: what a request opens lies below the workspace."""

    def __init__(self, app: ASGIApp, below: Below) -> None:
        self._app, self._below = app, below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with confined(self._below):
            await self._app(scope, receive, send)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    documents: Documents = app.state.documents
    # A stranger's folder may have journals that take long.
    tasks = [asyncio.create_task(documents.recover()), asyncio.create_task(documents.watch())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await documents.close()
        work.end(app)


def _answer(status: int, problem: Problem) -> Response:
    # In ASCII: a name that a request brings may have lone surrogates, which are no UTF-8.
    return Response(json.dumps(problem.model_dump(mode="json")), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, DumbbellError), "as registered"
    failed = error.exit_code == 1 and not isinstance(error, Damaged)
    status = 400 if isinstance(error, InputError) else 500 if failed else 409
    return _answer(status, problem(error.problems[0]))


async def _unopened(request: Request, error: Exception) -> Response:
    """Answers when the operating system refuses a file and no route expects that."""
    assert isinstance(error, OSError), "as registered"
    return await _refused(request, of_system(error))


async def _asks(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotAgreed), "as registered"
    told = problem(error.problems[0])
    return _answer(428, Question(**told.model_dump(), programs=error.programs))


async def _turned_away(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused), "as registered"
    status, told = answer(error)
    return JSONResponse(told, status)


async def _malformed(request: Request, error: Exception) -> Response:
    """A request that does not fit its route. The first thing that is wrong is said."""
    assert isinstance(error, RequestValidationError), "as registered"
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return _answer(422, Problem(what=f"{where}: {first['msg']}", hint="reload the page: it may be of another version"))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "as registered"
    if isinstance(error.detail, dict):
        return JSONResponse(error.detail, error.status_code, error.headers)
    return JSONResponse(Problem(what=str(error.detail)).model_dump(mode="json"), error.status_code, error.headers)
