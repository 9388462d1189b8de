"""Who is asked in a step of a study."""

from auditing.core.grapheval.parameters import StudyParameters
from auditing.elicitation.protocol import Elicitor
from auditing.models import ReasoningStudy
from auditing.services import elicitors
from auditing.services.elicitors import check_options, check_spec
from auditing.services.options import RunOptions

__all__ = ["build", "check_options", "check_spec"]


def build(spec: str, options: RunOptions, study: ReasoningStudy) -> Elicitor:
    """Return what asks the model of a run (`elicitors.build`); chains are sampled at the study's temperature."""
    parameters = StudyParameters.from_dict(study.parameters)
    return elicitors.build(spec, options, temperature=parameters.sampling.temperature)
