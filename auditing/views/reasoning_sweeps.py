"""The sensitivity of a study to alpha, beta and gamma, as tables of shaded cells: heat maps that can be read out."""

from typing import Any

from django.http import QueryDict

from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.study_document import ALPHAS, BETAS, GAMMAS
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_sweeps import PLACES, grid, joined, measures, read_values
from auditing.services.grapheval import results
from reasonaudit.lib.errors import UserError


def sweep_context(study: ReasoningStudy, query: QueryDict) -> dict[str, Any]:
    """What the part of the page shows: tables over beta and gamma at one alpha, and a line over alpha."""
    own = StudyParameters.from_dict(study.parameters)
    alpha, beta, gamma = own.consensus.alpha, own.distance.beta, own.distance.gamma
    given = {name: query.get(name, "")[:200] for name in ("betas", "gammas")}
    try:
        betas = sorted({*read_values(query, "betas", BETAS), beta})
        gammas = sorted({*read_values(query, "gammas", GAMMAS), gamma})
        alphas = sorted({*ALPHAS, alpha})
        by_weights = results.sweep(study, [alpha], betas, gammas)["rows"]
        by_alpha = results.sweep(study, alphas, [beta], [gamma])["rows"]
    except UserError as error:
        return {"problem": str(error), "given": given}
    return {
        "given": {
            "betas": given["betas"] or joined(BETAS),
            "gammas": given["gammas"] or joined(GAMMAS),
        },
        "own": {"alpha": alpha, "beta": beta, "gamma": gamma},
        "gammas": gammas,
        "heat_maps": [
            {
                "title": title,
                "about": about,
                "places": PLACES.get(path[0], 3),
                "rows": grid(by_weights, betas, gammas, path, (beta, gamma)),
            }
            for title, about, path in measures(by_weights)
        ],
        "alphas": by_alpha,
        "questions": by_weights[0]["n"] if by_weights else 0,
    }
