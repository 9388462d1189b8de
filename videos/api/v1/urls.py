"""Addresses of the API's version 1: sets of videos, uploads, videos and their parts."""

from django.urls import URLPattern, path

from videos.api.v1 import sets, uploads, videos

SET = "video-sets/<slug:slug>/"
UPLOAD = "video-uploads/<uuid:upload>/"
VIDEO = "videos/<uuid:video>/"

urlpatterns: list[URLPattern] = [
    path("video-sets/", sets.VideoSetList.as_view(), name="video-set-list"),
    path(SET, sets.VideoSetDetail.as_view(), name="video-set-detail"),
    path(f"{SET}videos/", sets.VideoSetVideos.as_view(), name="video-set-videos"),
    path(f"{SET}questions/", sets.VideoSetQuestions.as_view(), name="video-set-questions"),
    path(f"{SET}uploads/", uploads.UploadList.as_view(), name="video-upload-list"),
    path(UPLOAD, uploads.UploadDetail.as_view(), name="video-upload-detail"),
    path(f"{UPLOAD}piece/", uploads.UploadPiece.as_view(), name="video-upload-piece"),
    path(f"{UPLOAD}finish/", uploads.UploadFinish.as_view(), name="video-upload-finish"),
    path(VIDEO, videos.VideoDetail.as_view(), name="video-detail"),
    path(f"{VIDEO}index/", videos.VideoIndex.as_view(), name="video-index"),
    path(f"{VIDEO}peaks/", videos.VideoPeaks.as_view(), name="video-peaks"),
    path(f"{VIDEO}spectrogram/<int:tile>/", videos.VideoSpectrogram.as_view(), name="video-spectrogram"),
    path(f"{VIDEO}filmstrip/", videos.VideoFilmstrip.as_view(), name="video-filmstrip"),
    path(f"{VIDEO}pictures/", videos.VideoPictures.as_view(), name="video-pictures"),
    path(f"{VIDEO}crops/", videos.VideoCrops.as_view(), name="video-crops"),
    path(f"{VIDEO}media/", videos.VideoMedia.as_view(), name="video-media"),
    path(f"{VIDEO}play/", videos.VideoPlay.as_view(), name="video-play"),
    path(f"{VIDEO}playback/", videos.VideoPlayback.as_view(), name="video-playback"),
]
