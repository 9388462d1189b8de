"""The form that starts a step of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, BenchmarkRun, Facet, Reference, Setting
from auditing.services.anchor.asking_choices import KNOWN, MOST_PICTURES, RATED_FACETS, asks, models_of
from auditing.views.asking_forms import MONEY, AskingForm

Step = BenchmarkRun.Step
OPENAI = "openai"
ALL_MODELS = "Choose some, or none to take all."


@dataclass(frozen=True, slots=True)
class StepChoice:
    """What a step's form decided, in the terms of `services.anchor.runs.create`."""

    step: str
    model: str
    options: dict[str, Any]
    choices: dict[str, Any]

    @property
    def to_run(self) -> dict[str, Any]:
        """The arguments of `runs.create`."""
        return {"step": self.step, "model": self.model, "options": self.options, "choices": self.choices}


def _several(label: str, help_text: str, choices: Any = ()) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(label=label, required=False, choices=choices, help_text=help_text)


class StepForm(AskingForm):
    """What starts a step: who is asked, what exactly, and limits. `admin` may also say which server is asked."""

    model = forms.CharField(label="Model", max_length=150, help_text="Its name at the server.")
    setting = forms.ChoiceField(
        label="Cues",
        required=False,
        choices=Setting.choices,
        help_text="Which cues the model is given, or was given.",
    )
    name = forms.CharField(
        label="Name in tables",
        required=False,
        max_length=200,
        help_text="Under which its answers are kept. Empty means its name at the server.",
    )
    pictures = forms.IntegerField(
        label="Pictures of each clip",
        required=False,
        min_value=0,
        max_value=MOST_PICTURES,
        help_text="Evenly spaced. Empty means as many as the benchmark says for models that take pictures, else none.",
    )
    takes = forms.IntegerField(
        label="Answers of this model to each item", required=False, min_value=1, max_value=1000
    )
    facets = _several(
        "Facets",
        "5 is best for each.",
        [(facet, Facet(facet).label) for facet in RATED_FACETS],
    )
    models = _several("Answers of", ALL_MODELS)
    settings = _several("Answers with these cues", "Choose some, or none to take all.", Setting.choices)
    references = _several("References", "Answers are rated against each of them.")

    OPTIONS = ("base_url", "max_calls", *MONEY)
    # Errors are listed in this order.
    field_order = (
        "model",
        "setting",
        "name",
        "pictures",
        "takes",
        "facets",
        "models",
        "settings",
        "references",
        *OPTIONS,
    )

    def __init__(self, *args: Any, benchmark: Benchmark, step: str, **kwargs: Any) -> None:
        """Keep the fields of a step, and offer what is there."""
        super().__init__(*args, **kwargs)
        self.step = step
        kept = {*KNOWN[step], *(("model", *self.OPTIONS) if asks(step) else ())}
        self.fields = {name: field for name, field in self.fields.items() if name in kept}
        parameters = BenchmarkParameters.from_dict(benchmark.parameters)
        if "models" in self.fields:
            self._offer("models", models_of(benchmark))
        if "references" in self.fields:
            sources = Reference.objects.filter(item__benchmark=benchmark).order_by("source")
            there = list(sources.values_list("source", flat=True).distinct())
            self._offer("references", dict.fromkeys([parameters.reference, *there]))
            self.initial.setdefault("references", [parameters.reference])
        if "facets" in self.fields:
            self.initial.setdefault("facets", list(RATED_FACETS))
        if "setting" in self.fields:
            setting = Setting.FULL.value if step == Step.ANSWER else parameters.setting
            self.initial.setdefault("setting", setting)
        if "takes" in self.fields:
            rule = parameters.rule
            self.fields["takes"].help_text = (
                f"Empty means {parameters.rollouts_each}: the rule is about {rule.rollouts} answers of all models "
                "together."
            )

    def _offer(self, name: str, values: Any) -> None:
        field: Any = self.fields[name]
        field.choices = [(value, value) for value in values]
        field.widget.attrs["size"] = max(2, min(6, len(field.choices)))

    @property
    def needs_input(self) -> bool:
        """Whether nothing can be counted before something is typed."""
        return "model" in self.fields and not self.initial.get("model")

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """Limits and prices, for the folded part of the form."""
        return [self[name] for name in self.OPTIONS if name in self.fields and name != "base_url"]

    @property
    def choice_fields(self) -> list[forms.BoundField]:
        """What else decides the step."""
        return [self[name] for name in self.fields if name in KNOWN[self.step]]

    def unsent(self) -> StepChoice:
        """What a form stands for before it is sent."""
        return StepChoice(self.step, "", {}, {})

    def choice(self) -> StepChoice:
        """The decision of a valid form; what is empty is left to the step."""
        data: Mapping[str, Any] = self.cleaned_data
        choices = {name: data[name] for name in KNOWN[self.step] if data.get(name) not in (None, "", [])}
        model = f"{OPENAI}:{data['model'].strip()}" if data.get("model") else ""
        return StepChoice(self.step, model, self.options_given(self.OPTIONS, nothing=(None, "")), choices)
