"""Forms of GraphEVAL studies: a new study with all its parameters, and what starts a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.models import Dataset
from annotation.views.forms import ServiceForm
from auditing.core.grapheval.parameters import StudyParameters
from auditing.models import ReasoningRun
from auditing.models.reasoning import SENTENCES, STORED, AnswerKind
from auditing.selectors.reasoning_audit import DEFAULT_MOST
from auditing.views.asking_forms import MONEY, AskingForm
from auditing.views.reasoning_parameters import GROUPS, PATHS, field_of, given, parameter_field, put

Step = ReasoningRun.Step
OPENAI = "openai"
MODEL_OF_ALL = (
    "Its name at the server; it answers, early and after edits. Empty runs only what asks no model."
)


class StudyForm(ServiceForm):
    """A new study. Which server is asked is chosen when a step is started."""

    name = forms.CharField(label="Name", max_length=200)
    dataset = forms.ModelChoiceField(
        label="Data set",
        queryset=Dataset.objects.order_by("name"),
        help_text="Its cases are the questions; a case's reference answer is the gold answer.",
    )
    source = forms.ChoiceField(
        label="Where the chains come from",
        choices=(("stored", "Traces of the data set (stored samples)"), ("model", "A model, sampled here")),
        initial="stored",
    )
    generator = forms.CharField(
        label="Model that answers",
        required=False,
        max_length=150,
        help_text="Its name at the server; only for chains that are sampled here. Nothing is asked yet.",
    )
    decomposer = forms.ChoiceField(
        label="How chains become facts",
        choices=(
            (STORED, "Facts that came with the chains; sentences where there are none"),
            (SENTENCES, "Each sentence is a fact (no model)"),
            (OPENAI, "A second model, as in the paper"),
        ),
        initial=STORED,
        help_text="Sentences are a fallback: a sentence may hold several facts, and its dependencies are the step's.",
    )
    decomposer_model = forms.CharField(
        label="Model that decomposes",
        required=False,
        max_length=150,
        help_text="Its name at the server; asked at temperature 0.",
    )
    embedder = forms.ChoiceField(
        label="Embedder",
        choices=(
            ("minilm", "MiniLM, on this computer"),
            ("sentence-transformers", "A sentence-transformers model on this computer"),
            (OPENAI, "A model server"),
        ),
        initial="minilm",
        help_text="It turns each fact into a vector; the distances follow from it. MiniLM (all-MiniLM-L6-v2, 384 "
        "numbers) comes along and needs no network. The paper's is Qwen3-Embedding-0.6B.",
    )
    embedder_model = forms.CharField(
        label="Model of the embedder",
        required=False,
        max_length=150,
        help_text="Only for the last two: its name, for example Qwen/Qwen3-Embedding-0.6B.",
    )
    labeller = forms.ChoiceField(
        label="Entailments for CoTA",
        required=False,
        choices=(("", "None: CoTA stays empty"), ("local", "Embedded relation model, on this computer")),
        help_text="One of the baselines compares chains step by step. It takes longer than all else.",
    )
    answer_kind = forms.ChoiceField(
        label="Answers are",
        choices=AnswerKind.choices,
        help_text="How a final answer is read and compared. What cannot be read is no vote, and is counted.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, path in PATHS.items():
            self.fields[f"p_{name}"] = parameter_field(name, path)

    @property
    def parameter_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Title and fields of each group of parameters."""
        groups = []
        taken: set[str] = set()
        for title, prefix in GROUPS:
            names = [name for name in PATHS if name.startswith(prefix) and name not in taken]
            taken.update(names)
            groups.append((title, [self[f"p_{name}"] for name in names]))
        return groups

    @property
    def parameters_wrong(self) -> bool:
        """Whether the folded part holds an error, so that it must be open."""
        return any(self[f"p_{name}"].errors for name in PATHS)

    def clean(self) -> dict[str, Any]:
        """Check what concerns several fields, and build the parameters."""
        data = super().clean() or {}
        if data.get("source") == "model" and not (data.get("generator") or "").strip():
            self.add_error("generator", "Name the model that answers, or take the stored chains.")
        if data.get("source") == "model" and data.get("decomposer") == STORED:
            # Sampled chains bring no facts.
            self.add_error("decomposer", "Chains that are sampled here bring no facts; choose another way.")
        if data.get("decomposer") == OPENAI and not (data.get("decomposer_model") or "").strip():
            self.add_error("decomposer_model", "Name the model that decomposes.")
        if data.get("embedder") not in ("minilm", None) and not (data.get("embedder_model") or "").strip():
            self.add_error("embedder_model", "Name the model of the embedder.")
        if any(f"p_{name}" in self.errors for name in PATHS):
            return data
        values: dict[str, Any] = {}
        for name, path in PATHS.items():
            put(values, path, given(name, path, data.get(f"p_{name}")))
        try:
            data["parameters"] = StudyParameters.from_dict(values)
        except (ValueError, TypeError) as error:
            self.add_error(field_of(str(error)), str(error))
        return data

    def values(self) -> dict[str, Any]:
        """The decision of a valid form, as arguments of `studies.create`."""
        data = self.cleaned_data
        embedder, decomposer = data["embedder"], data["decomposer"]
        return {
            "name": data["name"].strip(),
            "dataset": data["dataset"],
            "answer_kind": data["answer_kind"],
            "generator": f"{OPENAI}:{data['generator'].strip()}" if data["source"] == "model" else "",
            "decomposer": f"{OPENAI}:{data['decomposer_model'].strip()}"
            if decomposer == OPENAI
            else decomposer,
            "embedder": embedder if embedder == "minilm" else f"{embedder}:{data['embedder_model'].strip()}",
            "labeller": data["labeller"],
            "parameters": data["parameters"].to_dict(),
        }


@dataclass(frozen=True, slots=True)
class StepChoice:
    """What a step's form decided, in the terms of `runs.create`."""

    step: str
    model: str
    options: dict[str, Any]
    choices: dict[str, Any]


class StepForm(AskingForm):
    """What starts a step: who is asked, what exactly, and limits. `admin` may also say which server is asked."""

    model = forms.CharField(
        label="Model", required=False, max_length=150, help_text="Its name at the server."
    )
    role = forms.ChoiceField(
        label="Which chains",
        required=False,
        choices=(("sample", "Samples"), ("alternative", "Alternatives to the medoid"), ("all", "All")),
    )
    chains = forms.ChoiceField(
        label="Which chains",
        required=False,
        choices=(
            ("medoid", "The medoid of each question"),
            ("all", "Every chain in the pool"),
            ("alternative", "Alternatives to the medoid"),
        ),
        help_text="Faithfulness of a question is that of its medoid. More chains cost as many times more calls.",
    )
    protocol = forms.ChoiceField(
        label="Which questions",
        required=False,
        choices=(
            ("population", "All scored questions"),
            ("targeted", "Only those that the medoid alone answers correctly"),
        ),
    )
    criterion = forms.ChoiceField(
        label="What is judged",
        required=False,
        choices=(
            ("soundness", "Whether the reasoning is sound"),
            ("decomposition", "Whether the facts render it"),
        ),
    )
    most = forms.IntegerField(
        label="Chains at most",
        required=False,
        min_value=1,
        max_value=10_000,
        help_text=f"Empty means {DEFAULT_MOST}.",
    )

    OPTIONS = ("base_url", "max_calls", *MONEY)
    CHOICES: Mapping[str, tuple[str, ...]] = {
        Step.DECOMPOSE: ("role",),
        Step.EARLY: ("chains",),
        Step.ABLATE: ("protocol",),
        Step.JUDGE: ("criterion", "most"),
    }

    # Errors are listed in this order.
    field_order = ("model", "role", "chains", "protocol", "criterion", "most", *OPTIONS)

    def __init__(
        self,
        *args: Any,
        step: str,
        asks: bool = True,
        named: bool = False,
        optional: bool = False,
        **kwargs: Any,
    ) -> None:
        """Keep the fields of a step. `named` says that the study names the model, `optional` that none is needed."""
        super().__init__(*args, **kwargs)
        self.step = step
        kept = {*self.CHOICES.get(step, ())}
        if asks:
            kept |= {*self.OPTIONS} if named else {"model", *self.OPTIONS}
        self.fields = {name: field for name, field in self.fields.items() if name in kept}
        if "model" in self.fields:
            self.fields["model"].required = not optional
            if optional:
                self.fields["model"].help_text = MODEL_OF_ALL

    @property
    def needs_input(self) -> bool:
        """Whether nothing can be counted before something is typed."""
        return "model" in self.fields and self.fields["model"].required and not self.initial.get("model")

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """Limits and prices, for the folded part of the form."""
        return [self[name] for name in self.OPTIONS if name in self.fields and name != "base_url"]

    @property
    def choice_fields(self) -> list[forms.BoundField]:
        """What else decides the step."""
        return [self[name] for name in self.CHOICES.get(self.step, ()) if name in self.fields]

    def first_choices(self) -> dict[str, Any]:
        """What is chosen before anything is sent: the first of each list."""
        chosen = {}
        for bound in self.choice_fields:
            if isinstance(bound.field.widget, forms.Select):
                chosen[bound.name] = next(iter(bound.field.widget.choices))[0]
        return chosen

    def unsent(self) -> StepChoice:
        """What a form stands for before it is sent: the suggested model and the first choices."""
        model = str(self.initial.get("model") or "")
        return StepChoice(self.step, f"{OPENAI}:{model}" if model else "", {}, self.first_choices())

    def choice(self) -> StepChoice:
        """The decision of a valid form; `most` of a judge counts for decompositions only."""
        data = self.cleaned_data
        options = self.options_given(self.OPTIONS, nothing=(None, ""))
        choices = {
            name: data[name] for name in self.CHOICES.get(self.step, ()) if data.get(name) not in (None, "")
        }
        if choices.get("criterion") != "decomposition":
            choices.pop("most", None)
        elif "most" not in choices:
            choices["most"] = DEFAULT_MOST
        model = f"{OPENAI}:{data['model'].strip()}" if data.get("model") else ""
        return StepChoice(self.step, model, options, choices)
