"""A person at work over the API, as the page does it: session, keys, versions."""

import json
import uuid
from typing import Any

from django.test import Client

from annotation.models import Assignment, SegmentLabel

BACKEND = "django.contrib.auth.backends.ModelBackend"


class Desk:
    """One assignment and a client that is logged in as its owner."""

    def __init__(self, work: Assignment, client: Client | None = None) -> None:
        self.work = work
        self.url = f"/api/v1/assignments/{work.public_id}/"
        self.client = client or Client(raise_request_exception=False)
        if client is None:
            self.client.force_login(work.member.user, backend=BACKEND)

    def send(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> Any:
        """One request; a fresh key unless one is given."""
        return self.client.generic(
            method,
            f"{self.url}{path}",
            json.dumps({} if body is None else body),
            content_type="application/json",
            headers={"Idempotency-Key": key or str(uuid.uuid4()), **headers},
        )

    def payload(self) -> dict[str, Any]:
        """What the workspace shows now."""
        response = self.client.get(self.url)
        assert response.status_code == 200, response.content
        return response.json()

    def version_of(self, index: int, number: int = 1) -> int:
        """Stored version of a segment's label, 0 for none."""
        found = SegmentLabel.objects.filter(assignment=self.work, segment__index=index, round=number)
        return found.values_list("version", flat=True).first() or 0

    def save(
        self, index: int, label: str | None = "correct", *, key: str | None = None, **fields: Any
    ) -> Any:
        """Save a segment on its newest version, unless another base is given."""
        base = fields.pop("base_version", None)
        version = self.version_of(index) if base is None else base
        body = {"base_version": version, "guideline": 1, "label": label, **fields}
        return self.send("PUT", f"segments/{index}/", body, key=key)

    def save_all(self, label: str = "correct") -> None:
        """Judge every segment."""
        for segment in self.payload()["segments"]:
            if not segment["context"]:
                response = self.save(
                    segment["index"], label, comment="" if label == "correct" else "Because."
                )
                assert response.status_code == 200, response.content

    def submit(self, *, key: str | None = None, **fields: Any) -> Any:
        """Hand in the newest version."""
        body = {"base_version": self.payload()["version"], **fields}
        return self.send("POST", "submit/", body, key=key)

    def hand_in(self, label: str = "correct") -> Any:
        """Judge everything and hand it in."""
        self.save_all(label)
        response = self.submit()
        assert response.status_code == 200, response.content
        return response.json()

    def stored(self, index: int, number: int = 1) -> SegmentLabel:
        """The row of a segment."""
        return SegmentLabel.objects.get(assignment=self.work, segment__index=index, round=number)

    def state(self) -> str:
        """The real state of the assignment."""
        return Assignment.objects.values_list("state", flat=True).get(pk=self.work.pk)


def code(response: Any) -> tuple[int, str]:
    """Status and code of a refusal."""
    return response.status_code, response.json().get("error", {}).get("code", "")
