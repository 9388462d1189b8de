"""Addresses of the pages of videos."""

from django.urls import path

from videos.views import questions, sets, transcripts, uploads, videos

app_name = "videos"
SET = "video-sets/<slug:slug>/"
VIDEO = "videos/<uuid:video>/"

urlpatterns = [
    path("video-sets/", sets.set_list, name="set_list"),
    path("video-sets/new/", sets.set_create, name="set_create"),
    path(SET, sets.set_detail, name="set_detail"),
    path(f"{SET}change/", sets.set_change, name="set_change"),
    path(f"{SET}upload/", uploads.set_upload, name="set_upload"),
    path(f"{SET}from-server/", uploads.set_from_server, name="set_from_server"),
    path(f"{SET}questions/import/", questions.questions_import, name="questions_import"),
    path(f"{SET}questions/import/<uuid:upload>/", questions.questions_confirm, name="questions_confirm"),
    path("video-questions/<uuid:question>/", questions.question_detail, name="question_detail"),
    path(VIDEO, videos.video_detail, name="video_detail"),
    path(f"{VIDEO}change/", videos.video_change, name="video_change"),
    path(f"{VIDEO}again/", videos.video_again, name="video_again"),
    path(f"{VIDEO}playback/", videos.video_playback, name="video_playback"),
    path(f"{VIDEO}remove/", videos.video_remove, name="video_remove"),
    path(f"{VIDEO}transcript/", transcripts.transcript_make, name="transcript_make"),
    path(f"{VIDEO}transcript/stop/", transcripts.transcript_stop, name="transcript_stop"),
    path(f"{VIDEO}transcript/upload/", transcripts.transcript_upload, name="transcript_upload"),
    path(
        f"{VIDEO}transcript/<uuid:transcript>/remove/",
        transcripts.transcript_remove,
        name="transcript_remove",
    ),
]
