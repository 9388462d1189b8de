"""Forms of the pages of videos."""

from typing import Any

from django import forms

from reasonaudit.lib.errors import UserError
from videos.models import Video, VideoSet
from videos.services.question_items import MAX_FILE_BYTES, SHAPES


class SayingForm(forms.Form):
    """A form that shows the `UserError` of a service at its field."""

    def add_user_error(self, error: UserError) -> None:
        """Show what a service refused, at the field that it names where this form has it."""
        known = {name: words for name, words in error.fields.items() if name in self.fields}
        for name, words in known.items():
            self.add_error(name, words if isinstance(words, str) else str(error))
        if not known:
            self.add_error(None, str(error))


class VideoSetForm(SayingForm):
    """Name of a set, and whom to name for its videos."""

    name = forms.CharField(max_length=200, label="Name")
    description = forms.CharField(
        max_length=5000, required=False, label="Description", widget=forms.Textarea(attrs={"rows": 3})
    )
    licence = forms.CharField(
        max_length=200,
        required=False,
        label="Licence",
        help_text="Under which the videos may be used, as CC BY 4.0.",
    )
    attribution = forms.CharField(
        max_length=5000,
        required=False,
        label="Attribution",
        help_text="Whom to name; shown beside each video that says nothing of its own.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    @classmethod
    def of(cls, video_set: VideoSet) -> "VideoSetForm":
        """The form as the set fills it."""
        names = ("name", "description", "licence", "attribution")
        return cls(initial={name: getattr(video_set, name) for name in names})


class VideoForm(SayingForm):
    """What is said of a video."""

    title = forms.CharField(max_length=300, label="Title")
    licence = forms.CharField(
        max_length=200, required=False, label="Licence", help_text="Empty: that of the set."
    )
    attribution = forms.CharField(
        max_length=5000,
        required=False,
        label="Attribution",
        help_text="Empty: that of the set.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    @classmethod
    def of(cls, video: Video) -> "VideoForm":
        """The form as the video fills it."""
        return cls(initial={name: getattr(video, name) for name in ("title", "licence", "attribution")})


class ManyFilesInput(forms.ClearableFileInput):
    """A file control that takes several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """A field of one or more files."""

    def __init__(self, *args: Any, **more: Any) -> None:
        more.setdefault("widget", ManyFilesInput())
        super().__init__(*args, **more)

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Each of the files, checked."""
        given = data if isinstance(data, list | tuple) else [data]
        one = super().clean
        return [one(each, initial) for each in given] or one(None, initial)


class UploadForm(SayingForm):
    """Videos from this computer."""

    videos = ManyFilesField(label="Videos", max_length=2000, allow_empty_file=True)


class QuestionFileForm(SayingForm):
    """A file of questions."""

    file = forms.FileField(
        label="File",
        max_length=2000,
        help_text="JSON: a list of items, or one item a line; or a table with a header (CSV, TSV).",
    )

    def clean_file(self) -> Any:
        """Refuse a file over the limit before it is read."""
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it."
            )
        return file


class QuestionReadingForm(SayingForm):
    """How a file of questions is read."""

    shape = forms.ChoiceField(
        label="Read as",
        required=False,
        choices=[("", "Recognise it"), *((shape.name, shape.title) for shape in SHAPES.values())],
    )
    leave_out = forms.BooleanField(
        label="Leave out questions with a problem",
        required=False,
        help_text="Such as those about videos that this set does not have. They are counted and listed.",
    )
