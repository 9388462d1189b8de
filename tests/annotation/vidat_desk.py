"""An annotator with the workspace in one browser and VidAT in another, for the tests of VidAT's submit."""

import json
from typing import Any

from django.test import Client

from annotation.models import Assignment
from tests.annotation import video_factories
from tests.annotation.desk import BACKEND

HERE = "http://testserver"
ELSEWHERE = "https://vidat.example.org"


class Desk:
    """An annotator with the workspace in one browser and VidAT in another."""

    def __init__(self) -> None:
        self.row = video_factories.work_with_boxes()
        self.base = f"/api/v1/refinements/{self.row.public_id}/"
        self.own = Client(raise_request_exception=False)
        self.own.force_login(self.row.member.user, backend=BACKEND)
        self.vidat = Client(raise_request_exception=False, enforce_csrf_checks=True)

    def address(self) -> str:
        answer = self.own.post(f"{self.base}vidat/")
        assert answer.status_code == 201, answer.content
        url: str = answer.json()["url"]
        return url

    def file(self) -> dict[str, Any]:
        """The question's file for VidAT."""
        made: dict[str, Any] = json.loads(self.own.get(f"{self.base}export/vidat/").content)
        return made

    def send(self, url: str, body: Any, origin: str | None = HERE, **extra: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if origin is None else {"Origin": origin}
        return self.vidat.post(url, data, content_type="application/json", headers=headers, **extra)

    def document(self) -> dict[str, Any]:
        content: dict[str, Any] = self.own.get(self.base).json()["document"]
        return content

    def state(self) -> tuple[str, int]:
        row = Assignment.objects.select_related("document").get(pk=self.row.pk)
        return row.state, 0 if row.document is None else row.document.version


def boxes(file: dict[str, Any]) -> list[dict[str, Any]]:
    return [box for row in file["annotation"]["objectAnnotationListMap"].values() for box in row]
