"""`manage.py import_videos`: a folder of videos, and their questions, into a set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Q

from reasonaudit.lib.errors import UserError
from videos import tasks
from videos.models import MediaRun, Video, VideoSet
from videos.services import files, preparation, question_imports, runs, server_folder, sets, uploads
from videos.services.question_items import MAX_FILE_BYTES, SHAPES

HELP = """\
Bring every video of a folder (and of the folders in it) into a set, look into each and count its pictures, then
bring in questions about them. What the set has already is not stored twice, so the same command may be given again.
Ends with exit code 1 where a video was refused or the questions have a problem.
"""


class Command(BaseCommand):
    """Import videos."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, metavar="FOLDER", help="where the videos are; one video also works"
        )
        parser.add_argument(
            "--set", required=True, metavar="NAME", dest="set_name", help="name (or address) of the set"
        )
        parser.add_argument("--questions", type=Path, metavar="FILE", help="questions, each naming its video")
        parser.add_argument(
            "--read-as", default="", choices=list(SHAPES), help="shape of that file (default: recognise it)"
        )
        parser.add_argument(
            "--leave-out",
            action="store_true",
            help="leave out questions with a problem, such as a video that is not there, and import the others",
        )
        parser.add_argument("--licence", default="", help="of a new set")
        parser.add_argument("--attribution", default="", help="of a new set: whom to name")
        parser.add_argument(
            "--queue", action="store_true", help="leave the looking into them to the workers, and end at once"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = self._found(options["folder"])
        questions = self._questions(options["questions"])
        try:
            video_set = self._set(options)
            refused = [
                path for name, path in found if not self._bring_in(video_set, name, path, options["queue"])
            ]
        except UserError as error:
            raise CommandError(str(error)) from None
        if questions is not None:
            self._import_questions(video_set, questions, options)
        self.stdout.write(
            f"{len(found) - len(refused):,} of {len(found):,} videos are in {video_set.slug}"
            f"{' and wait for a worker' if options['queue'] else ''}."
        )
        if refused:
            words = "1 video was" if len(refused) == 1 else f"{len(refused):,} videos were"
            raise CommandError(f"{words} refused; the reasons stand above.")

    def _found(self, folder: Path) -> list[tuple[str, Path]]:
        if folder.is_file():
            return [(folder.name, folder)]
        if not folder.is_dir():
            raise CommandError(f"There is no folder {folder}. Name one with videos in it.")
        found = [(path.relative_to(folder).as_posix(), path) for path in server_folder.videos_in(folder)]
        if not found:
            known = ", ".join(sorted(server_folder.ENDINGS))
            raise CommandError(f"{folder} holds no file whose name ends in one of {known}.")
        return found

    def _questions(self, path: Path | None) -> bytes | None:
        """Read before anything is stored: a file that is not there must not stop the work half-way."""
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                return file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise CommandError(f"{path} cannot be read ({error.strerror}).") from None

    def _set(self, options: dict[str, Any]) -> VideoSet:
        name = options["set_name"]
        known = VideoSet.objects.filter(Q(name=name) | Q(slug=name)).first()
        if known is not None:
            return known
        return sets.set_create(name=name, licence=options["licence"], attribution=options["attribution"])

    def _bring_in(self, video_set: VideoSet, name: str, path: Path, queue: bool) -> bool:
        """Store one video and look into it; says how it went and returns whether it may be used."""
        try:
            files.check_room(path.stat().st_size)
            if queue:
                tasks.take_in(video_set=video_set, pieces=uploads.pieces_of(path), file_name=name)
                self.stdout.write(f"{name}: waits for a worker")
                return True
            video, _ = uploads.take_in(video_set=video_set, pieces=uploads.pieces_of(path), file_name=name)
        except UserError as error:
            self.stderr.write(f"{name}: {error}", style_func=str)
            return False
        except OSError as error:
            self.stderr.write(f"{name}: cannot be read ({error.strerror}).", style_func=str)
            return False
        return self._prepared(video, name)

    def _prepared(self, video: Video, name: str) -> bool:
        if not video.is_ready:
            with transaction.atomic():
                run, _ = runs.create(video=video, kind=MediaRun.Kind.PREPARE)
            preparation.prepare(run.pk)
            video.refresh_from_db()
        if video.is_ready:
            self.stdout.write(
                f"{name}: {video.picture_count:,} pictures, {(video.duration_us or 0) / 1_000_000:.3f} s"
            )
            return True
        if video.is_waiting:
            seconds = settings.STALLED_AFTER_SECONDS
            self.stderr.write(
                f"{name}: a worker has it in hand, or one died on it less than {seconds:.0f} s ago.",
                style_func=str,
            )
            return True
        self.stderr.write(f"{name}: {video.get_state_display().lower()}. {video.message}", style_func=str)
        return False

    def _import_questions(self, video_set: VideoSet, data: bytes, options: dict[str, Any]) -> None:
        found = question_imports.preview(
            video_set=video_set,
            data=data,
            name=options["questions"].name,
            shape=options["read_as"],
            leave_out=options["leave_out"],
        )
        if found.read_as:
            self.stdout.write(f"Questions read as {found.read_as}.")
        for note in [found.hint, *found.notes] if found.hint else found.notes:
            self.stderr.write(note, style_func=str)
        for problem in [*found.problems, *found.left_out]:
            self.stderr.write(str(problem), style_func=str)
        if found.problems:
            count = len(found.problems)
            words = "1 problem" if count == 1 else f"{count:,} problems"
            raise CommandError(f"The questions have {words}; none was imported. The videos stay.")
        made = question_imports.commit(video_set=video_set, found=found)
        without = f" {len(found.left_out):,} were left out." if found.left_out else ""
        self.stdout.write(f"{len(made):,} questions imported, {found.known:,} were there already.{without}")
