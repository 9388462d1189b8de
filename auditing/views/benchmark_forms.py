"""Forms of benchmarks: a new one with its parameters, references, a file of rows, a category by hand."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django import forms
from django.utils.text import slugify

from annotation.models import Study
from annotation.views.forms import ServiceForm
from auditing.core.anchor.difficulty import DifficultyRule
from auditing.core.anchor.parameters import MOST_RESAMPLES, BenchmarkParameters
from auditing.formats.benchmark_files import MAX_FILE_BYTES
from auditing.models import Benchmark, Reference
from auditing.models.anchor import Setting
from videos.models import GeneratedDocument, VideoSet

DEFAULTS = BenchmarkParameters()
RULE = "rule_"
FOLDED = (
    "match_from",
    "rollouts_each",
    *(f"{RULE}{entry.name}" for entry in fields(DifficultyRule)),
    "resamples",
    "seed",
)
"""Parameters that few change, for the folded part of the form."""

# How the core's sentences begin or what they name -> the field that they are about.
SPOKEN = {
    "IoU from which": "match_from",
    "number of pictures": "pictures",
    "do not make up": "rollouts_each",
    "do not fit": "rule_hard_mismatches",
    "thresholds of the similarity": "rule_hard_similarity",
    "resamples": "resamples",
    "source of references": "reference",
}
SOURCE_HELP = "A short name in small letters, digits, hyphens and underscores."


def whole(label: str, low: int, high: int, help_text: str = "", *, initial: int) -> forms.IntegerField:
    """A field of a whole number; empty means its default, which the help says."""
    words = f"{help_text} Default: {initial:,}.".strip()
    return forms.IntegerField(
        label=label, min_value=low, max_value=high, required=False, initial=initial, help_text=words
    )


class ParametersForm(ServiceForm):
    """Name, description and parameters of a benchmark. An empty parameter is its default, which is the paper's."""

    name = forms.CharField(label="Name", max_length=200)
    description = forms.CharField(
        label="Description", required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    setting = forms.ChoiceField(
        label="Cues of the answers that count",
        choices=Setting.choices,
        required=False,
        initial=DEFAULTS.setting,
        help_text="Panel, agreement, references and grounding are about these answers. Cues compares all of them.",
    )
    reference = forms.SlugField(
        label="Main reference",
        max_length=80,
        required=False,
        initial=DEFAULTS.reference,
        help_text="The source of references that counts where one is needed; items without it have none. "
        "Default: human.",
    )
    pictures = whole("Pictures of a clip for a model", 0, 64, "Sampled evenly.", initial=DEFAULTS.pictures)
    match_from = forms.FloatField(
        label="Boxes match from this IoU on",
        required=False,
        initial=DEFAULTS.match_from,
        help_text=f"Above 0 and at most 1. Default: {DEFAULTS.match_from:g}.",
    )
    rollouts_each = whole(
        "Bare answers of each model, for the difficulty",
        1,
        100,
        "With four models they make up the rollouts.",
        initial=DEFAULTS.rollouts_each,
    )
    rule_rollouts = whole("Rollouts of an item", 1, 100, initial=DEFAULTS.rule.rollouts)
    rule_hard_mismatches = whole(
        "Hard from so many mismatches on", 1, 100, initial=DEFAULTS.rule.hard_mismatches
    )
    rule_medium_mismatches = whole(
        "Medium from so many mismatches on", 1, 100, initial=DEFAULTS.rule.medium_mismatches
    )
    rule_hard_similarity = whole(
        "Hard from this similarity on", 1, 5, "5 = least similar.", initial=DEFAULTS.rule.hard_similarity
    )
    rule_medium_similarity = whole(
        "Medium from this similarity on", 1, 5, "5 = least similar.", initial=DEFAULTS.rule.medium_similarity
    )
    rule_vote = forms.ChoiceField(
        label="An answer mismatches if",
        required=False,
        choices=(("half", "at least half of the judges say so"), ("majority", "more than half say so")),
        initial=DEFAULTS.rule.vote,
    )
    rule_median = forms.ChoiceField(
        label="A median of similarities that ends in a half goes",
        required=False,
        choices=(("up", "up, the harder reading"), ("down", "down")),
        initial=DEFAULTS.rule.median,
    )
    resamples = whole("Resamples of an interval", 10, MOST_RESAMPLES, initial=DEFAULTS.resamples)
    seed = whole("Seed of the resamples", 0, 2**31 - 1, initial=DEFAULTS.seed)

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """Thresholds and numbers that few change."""
        return [self[name] for name in FOLDED]

    @property
    def folded_wrong(self) -> bool:
        """Whether the folded part holds an error, so that it must be open."""
        return any(self[name].errors for name in FOLDED)

    def clean(self) -> dict[str, Any]:
        """Build the parameters; what the core refuses stands beside the field it is about."""
        data = super().clean() or {}
        if set(self.errors) - {"name", "description"}:
            return data
        values: dict[str, Any] = {"rule": {}}
        for name in ("setting", "reference", "pictures", *FOLDED):
            value = data.get(name)
            if value in (None, ""):
                continue
            if name.startswith(RULE):
                values["rule"][name.removeprefix(RULE)] = value
            else:
                values[name] = value
        try:
            data["parameters"] = BenchmarkParameters.from_dict(values)
        except ValueError as error:
            said = str(error)
            field = next((name for words, name in SPOKEN.items() if words in said), None)
            self.add_error(field, said)
        return data

    def values(self) -> dict[str, Any]:
        """The decision of a valid form, as arguments of the service."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "description": data["description"],
            "parameters": data["parameters"].to_dict(),
        }

    @staticmethod
    def initial_of(benchmark: Benchmark) -> dict[str, Any]:
        """A benchmark in the terms of this form."""
        parameters = BenchmarkParameters.from_dict(benchmark.parameters).to_dict()
        rule = {f"{RULE}{name}": value for name, value in parameters.pop("rule").items()}
        return {"name": benchmark.name, "description": benchmark.description, **parameters, **rule}


class NewBenchmarkForm(ParametersForm):
    """A new benchmark over the questions of a set of videos."""

    video_set = forms.ModelChoiceField(
        label="Set of videos",
        queryset=VideoSet.objects.filter(questions__isnull=False).distinct().order_by("name"),
        empty_label="Choose a set",
        help_text="Every question of the set becomes an item. Sets without questions are not offered.",
    )
    field_order = ("name", "video_set", "description")

    def values(self) -> dict[str, Any]:
        """The decision of a valid form, as arguments of `benchmarks.create`."""
        return {**super().values(), "video_set": self.cleaned_data["video_set"]}


class StudyReferencesForm(ServiceForm):
    """References out of a study in which people refined the questions."""

    how = "study"
    study = forms.ModelChoiceField(
        label="Study",
        queryset=Study.objects.none(),
        help_text="What was decided there comes first, else what was handed in.",
    )
    source = forms.SlugField(
        label="Name of the source", max_length=80, initial="human", help_text=SOURCE_HELP
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["study"]
        field.queryset = Study.objects.filter(video_set=benchmark.video_set).order_by("name")


class QuestionReferencesForm(ServiceForm):
    """References out of the reasoning that came with the questions."""

    how = "questions"
    source = forms.SlugField(
        label="Name of the source", max_length=80, initial="imported", help_text=SOURCE_HELP
    )
    kind = forms.ChoiceField(label="Who wrote it", choices=Reference.Kind.choices, initial="generated")
    writer = forms.CharField(
        label="Model that wrote it",
        required=False,
        max_length=200,
        help_text="Its name as answers show it, so that its own answers can be told apart. Empty for people.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        """People have no model's name."""
        data = super().clean() or {}
        if data.get("kind") == Reference.Kind.REFINED and data.get("writer"):
            self.add_error("writer", "Leave it empty: people wrote it.")
        return data


class DraftReferencesForm(ServiceForm):
    """References that a model wrote as drafts for everybody."""

    how = "drafts"
    model = forms.ChoiceField(label="Model", help_text="Its newest reasoning for each question is taken.")
    source = forms.SlugField(
        label="Name of the source",
        max_length=80,
        required=False,
        help_text=f"{SOURCE_HELP} Empty means one made of the model's name.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["model"]
        field.choices = [(name, name) for name in draft_models(benchmark)]

    def clean(self) -> dict[str, Any]:
        """Name the source after the model where nobody named it."""
        data = super().clean() or {}
        if data.get("model") and not data.get("source"):
            data["source"] = slugify(data["model"])[:80] or "generated"
        return data


REFERENCE_FORMS = {
    form.how: form for form in (StudyReferencesForm, QuestionReferencesForm, DraftReferencesForm)
}


def draft_models(benchmark: Benchmark) -> list[str]:
    """Models that wrote reasoning for everybody about questions of the benchmark's set."""
    found = GeneratedDocument.objects.filter(
        question__video_set=benchmark.video_set_id,
        kind=GeneratedDocument.Kind.REASONING,
        asked_in=None,
        source__model__isnull=False,
    )
    return sorted({str(name) for name in found.order_by().values_list("source__model", flat=True).distinct()})


class RowsFileForm(ServiceForm):
    """A file of answers, ratings, references and categories."""

    file = forms.FileField(
        label="File",
        help_text="JSON Lines, or a JSON list; at most 20 MiB. You see what was read before anything is stored.",
    )

    def clean_file(self) -> Any:
        """Refuse what is too long before it is read."""
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it, or use "
                "`manage.py benchmark`."
            )
        return file


class LabelForm(ServiceForm):
    """Where an item belongs, by hand."""

    category = forms.ChoiceField(label="Category")
    subcategory = forms.CharField(label="Sub-category", required=False, max_length=200)
    note = forms.CharField(label="Why", required=False, max_length=2000)

    def __init__(self, *args: Any, categories: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["category"]
        field.choices = [
            ("", "Choose one"),
            *((name, f"{name}: {meaning}" if meaning else name) for name, meaning in categories.items()),
        ]
