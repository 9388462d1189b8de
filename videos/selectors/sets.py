"""Sets of videos with their counts."""

from django.db.models import Count, Q, QuerySet, Sum

from videos.models import Video, VideoSet


def set_rows() -> QuerySet[VideoSet]:
    """All sets with `video_count`, `ready_count`, `trouble_count`, `question_count`, `duration_us`, `bytes`.

    Each sum is over the videos alone: questions are counted apart, since joining both would count videos twice.
    """
    trouble = Q(videos__state__in=[Video.State.REFUSED, Video.State.FAILED])
    rows = VideoSet.objects.annotate(
        video_count=Count("videos"),
        ready_count=Count("videos", filter=Q(videos__state=Video.State.READY)),
        trouble_count=Count("videos", filter=trouble),
        duration_us=Sum("videos__duration_us"),
        bytes=Sum("videos__bytes"),
    )
    return rows.order_by("name", "pk")


def question_counts() -> dict[int, int]:
    """Number of questions by id of their set; sets without any are left out."""
    return dict(
        VideoSet.objects.annotate(found=Count("questions"))
        .filter(found__gt=0)
        .order_by()
        .values_list("pk", "found")
    )
