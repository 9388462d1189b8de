"""What all writes of people's work have in common: strict bodies, keys against doing things twice, whose page it is."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle, ScopedRateThrottle
from rest_framework.views import APIView

from annotation.models import Study
from annotation.selectors.studies import check_of_traces
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.idempotency import once, read_key


class StrictSerializer(serializers.Serializer[Any]):
    """A body that holds nothing but the named fields."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse what is not known: a misspelt name would otherwise be lost in silence."""
        if isinstance(data, Mapping) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError(dict.fromkeys(unknown, "Not known here."))
        return super().to_internal_value(data)


class TabField(serializers.UUIDField):
    """The id of a browser tab; programs have none."""

    def __init__(self) -> None:
        super().__init__(allow_null=True, default=None)


class SaveView(APIView):
    """A view that pages call on their own while somebody works.

    Its limit (`save`) is apart from that of forms: whoever labels fast, or comes back with an hour's work of changes
    from offline, must not be slowed down by it, nor locked out of everything else.
    """

    throttle_classes: list[type[BaseThrottle]] = [ScopedRateThrottle]
    throttle_scope = "save"


def check_person(request: Request) -> None:
    """Refuse a change from the page of another person than the one who is logged in now (another tab did that)."""
    expected = request.headers.get("X-Expected-User", "")
    if expected and expected != str(request.user.pk):
        raise UserError(
            "other_user",
            "Another person is logged in in this browser.",
            "Log in as the person of this page; nothing was saved.",
            status=409,
        )


def read_body(request: Request, body: type[StrictSerializer]) -> dict[str, Any]:
    """The fields of a JSON body; answers 400 naming those that are wrong."""
    read = body(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


def write_once(
    request: Request, body: type[StrictSerializer], do: Callable[[dict[str, Any]], dict[str, Any]]
) -> Response:
    """Carry out a write that the page may send again: the second time nothing is done and the first answer returns."""
    check_person(request)
    key = read_key(request.headers.get("Idempotency-Key"))
    fields = read_body(request, body)
    user: Any = request.user
    # What was sent, not what was read from it: a repeat must be the same to the last field.
    sent: Any = request.data
    reply, replayed = once(
        user_id=user.pk,
        key=key,
        route=f"{request.method} {request.path}",
        body=sent,
        do=lambda: do(fields),
    )
    return Response(reply, headers={"Idempotent-Replay": "true"} if replayed else None)


def found(request: Request) -> Any:
    """The row that the permission matrix found for this request."""
    return request._request.access.object  # type: ignore[attr-defined]


def of_traces(request: Request) -> Any:
    """The study or item of the request, if it is one of traces; answers 404 for a study of videos."""
    row = found(request)
    check_of_traces(row if isinstance(row, Study) else row.study)
    return row


def case_of(request: Request) -> Any:
    """The assignment of the request, if it is a case whose segments are labelled; answers 404 for a video question."""
    row = found(request)
    if row.item.question_id is not None:
        raise UserError("not_found", "This work is a video question: it has no segments.", status=404)
    return row


def question_of(request: Request) -> Any:
    """The assignment of the request, if it is a video question; answers 404 for a case."""
    row = found(request)
    if row.item.question_id is None:
        raise UserError("not_found", "This work is no video question.", status=404)
    return row
