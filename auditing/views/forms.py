"""Forms of the audit pages."""

from dataclasses import dataclass, fields
from typing import Any

from django import forms

from annotation.formats.records import DOMAINS
from annotation.formats.registry import FORMATS
from annotation.models import Dataset, Domain
from auditing.core.parameters import CHOICES, AuditParameters
from auditing.models import AuditRun
from auditing.views.asking_forms import AskingForm, ServerForm

DEFAULTS = AuditParameters()

# Parameter -> (label, help). The defaults are the paper's.
RULES = {
    "m_min": ("Smallest premise set", "How few segments may be premises together."),
    "m_max": (
        "Largest premise set",
        "How many segments may be premises together. Each step up multiplies the calls.",
    ),
    "context_premises": ("The case may be a premise", ""),
    "tau": (
        "Locality limit",
        "An Implied edge is removed when its closest premise is this far before the target.",
    ),
    "gap_enabled": ("Apply the gap filter", "Without it no Implied edge is removed for its distance."),
    "gap_op": ("Gap operator", "Whether a distance equal to the limit is too far."),
    "d_max_threshold": ("Limit on the farthest premise", "Empty means no limit."),
    "span_threshold": ("Limit on the spread of premises", "Empty means no limit."),
    "degraded_rule": (
        "When a combination is degraded",
        "Which of its single premises must be stronger than it.",
    ),
    "weak_cluster": ("Consistently weak cluster", "Remove only the combination, or its single premises too."),
    "dominance_basis": (
        "What a redundant combination is compared with",
        "Edges that survived the gap filter, or all relations.",
    ),
    "contradiction_scope": (
        "What can contradict a segment",
        "Any premise set, single premises only, or nothing.",
    ),
    "contradiction_policy": ("What a contradiction does", "It becomes the label, or is only recorded."),
    "contradicted_blocks": ("A contradicted segment cannot support others", ""),
    "unstable_policy": ("Unstable segments", "Only marked, or counted as not supported."),
    "early_accept": ("Segments taken as given", "Up to this number a segment needs no support of its own."),
    "max_depth": ("Deepest support tree", "In edges."),
    "max_trees": ("Most trees per segment", ""),
    "max_subtrees": ("Most subtrees per premise", ""),
}
CHOICE_WORDS = {
    ">=": "at least the limit (≥)",
    ">": "more than the limit (>)",
    "any_strong": "any of them",
    "both_strong": "all of them",
    "pair": "the combination only",
    "cluster": "the whole cluster",
    "surviving": "surviving edges",
    "raw": "all relations",
    "any": "any premise set",
    "singleton": "single premises",
    "none": "nothing",
    "override": "becomes the label",
    "record": "is only recorded",
    "flag": "mark only",
    "negative": "count as not supported",
}
LABELLERS = (
    ("local", "Embedded model, on this computer"),
    ("stored", "Relations that came with the data"),
    ("openai", "A model server"),
)
# Which options matter to which labeller; the others of the form are not passed on.
OPTIONS_OF = {
    "local": ("window", "max_calls", "skip_refused"),
    "stored": ("max_premises", "skip_refused"),
    "openai": ("base_url", "window", "max_calls", "price_prompt", "price_completion", "skip_refused"),
}


@dataclass(frozen=True, slots=True)
class AuditChoice:
    """What an audit form decided, in the terms of the services."""

    labeller: str
    options: dict[str, Any]
    parameters: AuditParameters
    order: str
    name: str


class AuditForm(AskingForm):
    """Labeller, order and every rule of an audit. `admin` may also say which server is asked."""

    labeller = forms.ChoiceField(label="Who labels the relations", choices=LABELLERS, initial="local")
    model = forms.CharField(
        label="Model", required=False, max_length=150, help_text="Its name at the server."
    )
    order = forms.ChoiceField(
        label="Which relations are asked",
        choices=AuditRun.Order.choices,
        initial=AuditRun.Order.EAGER,
        help_text="Both give the same labels. Only what labels need leaves the hypergraph incomplete.",
    )
    window = forms.IntegerField(
        label="Window",
        required=False,
        min_value=1,
        help_text="Premises at most so many segments before the target, and the case. Saves calls on long "
        "traces, may lose far support. Empty means no window, as in the paper.",
    )
    max_premises = forms.IntegerField(
        label="Largest stored premise set",
        required=False,
        min_value=1,
        help_text="For relations that came with the data: leave out larger sets. Empty keeps all.",
    )
    max_cost = None  # type: ignore[assignment]
    skip_refused = forms.BooleanField(label="Leave out traces that cannot be audited", required=False)
    name = forms.CharField(
        label="Name of the run",
        required=False,
        max_length=200,
        help_text="Empty means its number and labeller.",
    )

    # Errors are listed in this order.
    field_order = (
        "labeller", "model", "base_url", "order", "window", "max_premises", "max_calls", "price_prompt",
        "price_completion",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in fields(AuditParameters):
            self.fields[f"p_{parameter.name}"] = _rule_field(parameter.name)

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """Fields that save calls or money, for the folded part of the form."""
        names = ("order", "window", "max_premises", "max_calls", "price_prompt", "price_completion", "name")
        return [self[name] for name in names]

    @property
    def rule_fields(self) -> list[forms.BoundField]:
        """The fields of the rules, in the order of the paper's table."""
        return [self[f"p_{parameter.name}"] for parameter in fields(AuditParameters)]

    def clean(self) -> dict[str, Any]:
        """Check what concerns several fields."""
        data = super().clean() or {}
        if data.get("labeller") == "openai" and not data.get("model"):
            self.add_error("model", "Name the model that the server is to use.")
        if not self.errors:
            values: dict[str, Any] = {}
            for parameter in fields(AuditParameters):
                value = data.get(f"p_{parameter.name}")
                unlimited = value is None and parameter.name in {"d_max_threshold", "span_threshold"}
                if value in (None, "") and not unlimited:
                    value = getattr(DEFAULTS, parameter.name)
                # 3.0 from a form is the paper's 3, in the manifest too.
                if isinstance(value, float) and value.is_integer():
                    value = int(value)
                values[parameter.name] = value
            try:
                data["parameters"] = AuditParameters.from_dict(values)
            except ValueError as error:
                self.add_error(None, str(error))
        return data

    def choice(self) -> AuditChoice:
        """The decision of a valid form."""
        data = self.cleaned_data
        labeller = f"openai:{data['model']}" if data["labeller"] == "openai" else data["labeller"]
        wanted = OPTIONS_OF[data["labeller"]]
        options = self.options_given(wanted)
        return AuditChoice(labeller, options, data["parameters"], data["order"], data["name"])


def _rule_field(name: str) -> forms.Field:
    default = getattr(DEFAULTS, name)
    label, help_text = RULES[name]
    if isinstance(default, bool):
        said = f"Default: {'yes' if default else 'no'}."
        return forms.BooleanField(
            label=label, required=False, initial=default, help_text=f"{help_text} {said}".strip()
        )
    if name in CHOICES:
        choices = [(value, CHOICE_WORDS[value]) for value in CHOICES[name]]
        said = f"Default: {CHOICE_WORDS[default]}."
        return forms.ChoiceField(
            label=label,
            choices=choices,
            initial=default,
            required=False,
            help_text=f"{help_text} {said}".strip(),
        )
    unlimited = default == float("inf")
    said = "Default: no limit." if unlimited else f"Default: {default:g}."
    kind = forms.FloatField if isinstance(default, float) or name == "tau" else forms.IntegerField
    return kind(
        label=label,
        initial=None if unlimited else default,
        required=False,
        help_text=f"{help_text} {said}".replace(
            "Empty means no limit. Default: no limit.", "Default: no limit."
        ).strip(),
    )


class ImportForm(forms.Form):
    """A file of traces, how to read it and where it goes."""

    file = forms.FileField(
        label="File",
        help_text="At most 50 MB. JSON lines, JSON or a table.",
        error_messages={
            "empty": "The file has no content (0 bytes). Export it again, or choose a file with at least one trace."
        },
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[
            ("", "Find out from the content"),
            *((entry.name, entry.title) for entry in FORMATS.values()),
        ],
    )
    dataset = forms.ModelChoiceField(
        label="Data set",
        queryset=Dataset.objects.order_by("name"),
        required=False,
        empty_label="A new data set",
    )
    name = forms.CharField(
        label="Name of the new data set",
        max_length=200,
        required=False,
        help_text="Needed unless one is chosen above.",
    )
    domain = forms.ChoiceField(
        label="Domain",
        required=False,
        choices=[("", "As the file says"), *((value, Domain(value).label) for value in DOMAINS)],
        help_text="For records that do not say it themselves.",
    )
    index_base = forms.ChoiceField(
        label="Number of the first segment in the file",
        required=False,
        choices=[("", "Not known: stop and say so where it matters"), ("0", "0"), ("1", "1")],
        help_text="Only files that count segments without saying from where need this.",
    )

    def __init__(self, *args: Any, with_file: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not with_file:
            del self.fields["file"]

    def clean(self) -> dict[str, Any]:
        """A new data set needs a name."""
        data = super().clean() or {}
        if not data.get("dataset") and not (data.get("name") or "").strip():
            self.add_error("name", "Give the new data set a name, or choose one that exists.")
        return data


class AnswerForm(ServerForm):
    """Which model answers a case."""

    model = forms.CharField(label="Model", max_length=150, help_text="Its name at the server.")

    field_order = ("model", "base_url")
