"""Forms of the study pages."""

from typing import Any

from django import forms

from annotation.models import Dataset, Gold, Study, StudyItem, StudyMember
from annotation.selectors.studies import TRACE_SETTINGS, VIDEO_PARTS
from reasonaudit.lib.errors import UserError
from videos.models import VideoSet

VIDEO_OVERLAP_HELP = (
    "So many refine the same question without seeing each other. With more than one, an adjudicator decides where they "
    "differ."
)
VIDEO_RECHECK = "Agreed questions that are adjudicated all the same, in per cent"
AGREED_OF_EITHER = "Agreed segments or questions that are adjudicated all the same, in per cent"


class ServiceForm(forms.Form):
    """A form whose input a service checks: what the service refuses stands beside the field, else above the form."""

    def add_user_error(self, error: UserError) -> None:
        """Show what a service refused."""
        placed = False
        for name, why in error.fields.items():
            if name in self.fields:
                self.add_error(name, str(why))
                placed = True
        if not placed:
            self.add_error(None, str(error))


class StudyForm(ServiceForm):
    """Settings of a study. Some are fixed once it was opened."""

    name = forms.CharField(label="Name", max_length=200)
    description = forms.CharField(
        label="Description",
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For those who lead. Those who label read the guideline.",
    )
    overlap = forms.IntegerField(
        label="People per item",
        min_value=1,
        max_value=10,
        initial=2,
        help_text="So many label the same item without seeing each other. Agreement needs at least two.",
    )
    blinding = forms.ChoiceField(
        label="When the audit is shown to those who label",
        choices=Study.Blinding.choices,
        initial=Study.Blinding.REVEAL,
        help_text="Labels that were made while the audit could be seen are marked and left out of agreement.",
    )
    in_order = forms.BooleanField(
        label="Segments are judged in reading order the first time",
        required=False,
        initial=True,
    )
    training_pass = forms.IntegerField(
        label="Pass mark of the training, in per cent",
        min_value=0,
        max_value=100,
        initial=0,
        help_text="Of the segments of a training case; below it the case comes back with the expected labels. "
        "0 means that everybody passes.",
    )
    recheck_percent = forms.IntegerField(
        label="Agreed segments that are adjudicated all the same, in per cent",
        min_value=0,
        max_value=100,
        initial=0,
        help_text="A random sample, so that agreeing on a mistake can be noticed.",
    )

    def __init__(
        self,
        *args: Any,
        fixed: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        for name in without:
            del self.fields[name]
        if without:
            self._word_for_videos()
        for name in fixed & set(self.fields):
            self.fields[name].disabled = True
            self.fields[name].help_text = "Stays as it was when the study was opened."

    def settings(self) -> dict[str, Any]:
        """The settings in the terms of the services."""
        values = {name: self.cleaned_data[name] for name in StudyForm.base_fields if name in self.fields}
        if "training_pass" in values:
            values["training_pass"] /= 100
        return values

    def _word_for_videos(self) -> None:
        self.fields["description"].help_text = "For those who lead. Annotators read the guideline."
        self.fields["overlap"].label = "People per question"
        self.fields["overlap"].help_text = VIDEO_OVERLAP_HELP
        self.fields["recheck_percent"].label = VIDEO_RECHECK

    @classmethod
    def initial_of(cls, study: Study) -> dict[str, Any]:
        """The settings of a study in the terms of this form."""
        values = {name: getattr(study, name) for name in cls.base_fields}
        return {**values, "training_pass": round(100 * study.training_pass)}


class NewStudyForm(StudyForm):
    """A new study: settings, and the data set or the set of videos it is about.

    Where one of the two is chosen already, by the address (`initial`) or by what was typed, only what belongs to it is
    asked. Settings of traces are left out of what is read of a study of videos.
    """

    dataset = forms.ModelChoiceField(
        label="Data set of traces, which people label",
        required=False,
        queryset=Dataset.objects.order_by("name"),
        to_field_name="slug",
        empty_label="None",
    )
    video_set = forms.ModelChoiceField(
        label="Or set of videos, whose questions people refine",
        required=False,
        queryset=VideoSet.objects.order_by("name"),
        to_field_name="slug",
        empty_label="None",
    )
    field_order = ("dataset", "video_set", "name", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = {name for name in ("dataset", "video_set") if self._given(name)}
        if chosen == {"video_set"}:
            for name in (*TRACE_SETTINGS, "dataset"):
                del self.fields[name]
            self.fields["video_set"].label = "Set of videos"
            self._word_for_videos()
            self.fields["overlap"].initial = 1
            self.fields["recheck_percent"].required = False
        elif chosen == {"dataset"}:
            del self.fields["video_set"]
            self.fields["dataset"].label = "Data set"
        else:
            # Its usual number depends on what is chosen.
            self.fields["overlap"].initial = None
            self.fields["overlap"].help_text = "Empty means 2 for traces and 1 for questions about videos."
            for name in ("blinding", "training_pass", "recheck_percent"):
                self.fields[name].required = False
            for name in TRACE_SETTINGS:
                self.fields[name].label = f"{self.fields[name].label} (traces only)"
            self.fields["recheck_percent"].label = AGREED_OF_EITHER
        self.fields["overlap"].required = False

    def _given(self, name: str) -> str:
        typed = self.data.get(name) if self.is_bound else None
        return typed or (self.initial.get(name, "") if not self.is_bound else "")

    def clean(self) -> dict[str, Any]:
        """Exactly one of the two is chosen."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        asked = {"dataset", "video_set"} & self.fields.keys()
        if not asked & self.errors.keys():
            chosen = [name for name in asked if values.get(name)]
            if len(chosen) != 1:
                which = "Both are chosen" if chosen else "Nothing is chosen"
                self.add_error(
                    None, f"{which}: a study is about either a data set or a set of videos. Choose one."
                )
        return values

    def subject(self) -> dict[str, Any]:
        """The data set or the set of videos, by the name that the service gives it."""
        names = ("dataset", "video_set")
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name)}

    def settings(self) -> dict[str, Any]:
        """The settings in the terms of the services; of a number that is not given the usual one is taken."""
        return {name: value for name, value in super().settings().items() if value is not None}


class MemberForm(ServiceForm):
    """A part for a user who has an account."""

    user = forms.CharField(
        label="User name", max_length=150, help_text="Of an account that exists, as it logs in."
    )
    part = forms.ChoiceField(label="Part", choices=StudyMember.Part.choices)
    seniority = forms.ChoiceField(
        label="Seniority",
        required=False,
        choices=[("", "Not said"), *StudyMember.Seniority.choices],
        help_text="Results compare senior with junior where both are known.",
    )
    pseudonym = forms.CharField(
        label="Pseudonym",
        required=False,
        max_length=40,
        help_text="Names the person in exports and to others. Empty means the next number, like P3.",
    )

    def __init__(self, *args: Any, videos: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if videos:
            field: Any = self.fields["part"]
            field.choices = [(part.value, VIDEO_PARTS[part]) for part in StudyMember.Part]
            del self.fields["seniority"]


class GuidelineForm(ServiceForm):
    """Text, question and reasons of a guideline version. A reason is a line, `code | words` or only words.

    A study of videos has no labels, so its guideline has no reasons.
    """

    text = forms.CharField(
        label="Text in Markdown",
        strip=False,
        max_length=60_000,
        widget=forms.Textarea(attrs={"rows": 26, "class": "mono", "spellcheck": "true"}),
        help_text="Headings become clauses with an address of their own: [see there](#uncertain).",
    )
    question = forms.CharField(
        label="Question over every segment", max_length=500, widget=forms.Textarea(attrs={"rows": 2})
    )
    change_note = forms.CharField(
        label="What changed",
        required=False,
        max_length=1000,
        help_text="Needed from version 2 on. Those who label read it before they go on.",
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, videos: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if videos:
            self.fields["question"].label = "What is asked of every question's reasoning"
            self.fields[
                "text"
            ].help_text = "Headings become clauses with an address of their own: [see there](#boxes)."
            self.fields[
                "change_note"
            ].help_text = "Needed from version 2 on. Annotators read it before they go on."
            return
        for label in (Gold.CORRECT, Gold.UNCERTAIN, Gold.INCORRECT):
            self.fields[f"reasons_{label.value}"] = forms.CharField(
                label=f"Reasons for {label.label}",
                required=False,
                max_length=2000,
                widget=forms.Textarea(attrs={"rows": 6}),
            )

    @property
    def reason_fields(self) -> list[forms.BoundField]:
        """The three lists of reasons, in the order of the labels."""
        labels = (Gold.CORRECT, Gold.UNCERTAIN, Gold.INCORRECT)
        return [self[name] for label in labels if (name := f"reasons_{label.value}") in self.fields]

    def reasons(self) -> dict[str, list[dict[str, str]]]:
        """The reasons in the terms of the services."""
        found: dict[str, list[dict[str, str]]] = {}
        for label in Gold.values:
            found[label] = []
            if f"reasons_{label}" not in self.fields:
                continue
            for line in self.cleaned_data[f"reasons_{label}"].splitlines():
                code, bar, words = line.partition("|")
                if line.strip():
                    found[label].append(
                        {"code": code.strip() if bar else "", "words": (words if bar else code).strip()}
                    )
        return found

    @staticmethod
    def initial_of(
        text: str, question: str, reasons: dict[str, Any], change_note: str = ""
    ) -> dict[str, str]:
        """A version in the terms of this form."""
        lines = {
            f"reasons_{label}": "\n".join(f"{row['code']} | {row['words']}" for row in reasons.get(label, ()))
            for label in Gold.values
        }
        return {"text": text, "question": question, "change_note": change_note, **lines}


class TracesForm(ServiceForm):
    """What kind of items the chosen traces become."""

    kind = forms.ChoiceField(label="As", choices=StudyItem.Kind.choices, initial=StudyItem.Kind.MAIN)
    signed_off = forms.BooleanField(
        label="I have checked the labels that came with these traces and sign for them as the expected ones",
        required=False,
    )


class QuestionsForm(ServiceForm):
    """Above the list of questions that could go into a study: nothing is asked beside which ones."""


class OverlapForm(ServiceForm):
    """How many people work on one item."""

    overlap = forms.IntegerField(
        label="People for this item",
        required=False,
        min_value=1,
        max_value=10,
        help_text="Empty means as many as the study says; training and hidden gold then go to everybody.",
    )

    def __init__(self, *args: Any, videos: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if videos:
            self.fields["overlap"].label = "People for this question"
            self.fields["overlap"].help_text = "Empty means as many as the study says."
