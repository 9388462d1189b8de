"""`manage.py transcribe`: transcripts of all clips of a set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Q

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from videos import tasks
from videos.models import Video, VideoSet
from videos.selectors.transcripts import newest_transcript
from videos.services import transcripts
from videos.speech.factory import why_not

HELP = """\
Make a transcript of every clip of a set that has sound and no transcript yet, with the speech recogniser of the extra
`speech` (English). Stopped half-way, the same command goes on where it was.
Ends with exit code 1 where a clip gave no transcript.
"""


class Command(BaseCommand):
    """Transcribe the clips of a set."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("set_name", metavar="SET", help="name (or address) of the set")
        parser.add_argument("--again", action="store_true", help="also clips that have a transcript")
        parser.add_argument(
            "--queue", action="store_true", help="leave the work to the workers, and end at once"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["set_name"]
        video_set = VideoSet.objects.filter(Q(name=name) | Q(slug=name)).first()
        if video_set is None:
            raise CommandError(f"There is no video set {name!r}.")
        missing = why_not()
        if missing:
            raise CommandError(missing)
        failed = 0
        for video in video_set.videos.defer("picture_index"):
            if not options["again"] and newest_transcript(video) is not None:
                self.stdout.write(f"{video.title}: has a transcript")
            elif video.is_ready and video.audio_offset_us is None:
                self.stdout.write(f"{video.title}: no sound")
            else:
                failed += not self._transcribe(video, queue=options["queue"])
        if failed:
            raise CommandError(
                f"{failed:,} clip{' has' if failed == 1 else 's have'} no transcript; see above."
            )

    def _transcribe(self, video: Video, *, queue: bool) -> bool:
        """Make one transcript; says how it went and returns whether it was made or will be."""
        try:
            if queue:
                tasks.enqueue_transcript(video)
                self.stdout.write(f"{video.title}: waits for a worker")
                return True
            with transaction.atomic():
                run, _ = transcripts.create(video=video, by=None)
        except UserError as error:
            self.stderr.write(f"{video.title}: {error}", style_func=str)
            return False
        transcripts.execute(run.pk)
        run.refresh_from_db()
        row = newest_transcript(video)
        if run.state == RunState.DONE and row is not None:
            self.stdout.write(f"{video.title}: {len(row.words):,} words in {run.total:,} s of sound")
            return True
        if run.is_active:
            self.stderr.write(f"{video.title}: a worker has it in hand.", style_func=str)
            return True
        self.stderr.write(f"{video.title}: {run.get_state_display().lower()}. {run.message}", style_func=str)
        return False
