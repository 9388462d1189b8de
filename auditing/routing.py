"""Socket addresses."""

from django.urls import URLPattern, path

from auditing.consumers import JudgeProgressConsumer, RunProgressConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/runs/<int:pk>/", RunProgressConsumer.as_asgi(), name="run_progress"),
    path("ws/judges/<int:pk>/", JudgeProgressConsumer.as_asgi(), name="judge_progress"),
]
