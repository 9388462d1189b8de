"""Everything that the page of one question of a GraphEVAL study shows, as one document.

The question's scores are the stored document of the core; what is read here besides are the chains' texts, the
distances made from the stored parts, and the values of early answering, counterfactual edits and the ablation.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from annotation.models import Case
from auditing.core.grapheval.ablation import question_ablation
from auditing.core.grapheval.distance import DistanceParts
from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.faithfulness import counterfactual, early_answering
from auditing.core.grapheval.graph import build_graph
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.stored_steps import steps_of
from auditing.core.grapheval.study import OWN, study_topology
from auditing.core.grapheval.text_similarity import text_similarity
from auditing.core.grapheval.topology import quadrant
from auditing.core.statistics import mean_of
from auditing.models.reasoning import QuestionScore, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_steps import chain_of, step_texts
from auditing.selectors.reasoning_words import metric_rows, warning_words

SCHEMA = "reasonaudit.grapheval-question-page/1"
DECIMALS = 4
LATER = "It came after the last scoring"

Unpack = Callable[[bytes], DistanceParts | None]
"""Makes the arrays of a stored score; the services know how they are packed."""


def question_page(
    study: ReasoningStudy, case: Case, unpack: Unpack, *, gold: str | None, stale: bool = False
) -> dict[str, Any]:
    """Return the document of the page.

    Parameters
    ----------
    study, case
        A study and a question of its data set.
    unpack : callable
        Turns `QuestionScore.parts` into `DistanceParts`; None where the graphs were too large to compare.
    gold : str or None
        Normal form of the correct answer.
    stale : bool
        Whether the score follows from other inputs than the present ones.

    Returns
    -------
    dict
        JSON values with schema `SCHEMA`: ``study``, ``question``, ``document`` (null before the first score),
        ``matrix`` (upper triangles, row by row, rounded to 4 decimals), ``chains``, ``early``, ``ablation``,
        ``topology`` and ``metrics``.
    """
    parameters = StudyParameters.from_dict(study.parameters)
    score = QuestionScore.objects.filter(study=study, case=case).first()
    document = score.document if score else None
    rows = list(
        StudyChain.objects.filter(study=study, case=case)
        .select_related("trace")
        .defer("trace__raw_text", "trace__stored_relations")
    )
    texts = step_texts([row.trace for row in rows])
    samples = [row for row in rows if row.role == StudyChain.Role.SAMPLE]
    alternatives = [row for row in rows if row.role == StudyChain.Role.ALTERNATIVE]
    medoid = document["medoid"] if document else None
    reasons = not_in_pool(samples, document)
    chains = [chain_entry(row, texts, gold, reasons[row.number]) for row in samples]
    # The document has the graphs of the pool; the others are drawn all the same.
    drawn = {entry["chain"] for entry in document["chains"]} if document else set()
    for chain in chains:
        if chain["chain"] not in drawn:
            chain |= graph_entry(chain["facts"], parameters)
    return {
        "schema": SCHEMA,
        "study": study_entry(study, parameters),
        "question": {**question_entry(case, gold), **place(case)},
        "document": document,
        "scored_at": score.created_at.isoformat() if score else None,
        "stale": stale,
        "matrix": matrix(unpack(bytes(score.parts)), parameters, score.document) if score else None,
        "chains": chains,
        "early": early_means(chains),
        "ablation": ablation_entry(alternatives, samples, medoid, texts, parameters, gold),
        "topology": topology_entry(study, score),
        "metrics": metric_rows(document, parameters),
    }


def study_entry(study: ReasoningStudy, parameters: StudyParameters) -> dict[str, Any]:
    """Who made the chains and how they are compared."""
    return {
        "slug": study.slug,
        "name": study.name,
        "dataset": study.dataset.slug,
        "generator": study.generator,
        "decomposer": study.decomposer,
        "embedder": study.embedder,
        "labeller": study.labeller,
        "answer_kind": study.answer_kind,
        "parameters": parameters.to_dict(),
    }


def question_entry(case: Case, gold: str | None) -> dict[str, Any]:
    """The question with its options and the correct answer, as written and in normal form."""
    return {
        "case": case.pk,
        "external_id": case.external_id,
        "title": case.title,
        "text": case.question or case.context,
        "options": case.meta.get("options") or {},
        "gold": case.reference or None,
        "gold_normal": gold,
    }


def place(case: Case) -> dict[str, Any]:
    """Place of the question in its data set, in the order of import, and the questions beside it."""
    others = Case.objects.filter(dataset=case.dataset_id)
    return {
        "position": others.filter(pk__lte=case.pk).count(),
        "of": others.count(),
        "previous": others.filter(pk__lt=case.pk).order_by("-pk").values_list("pk", flat=True).first(),
        "next": others.filter(pk__gt=case.pk).order_by("pk").values_list("pk", flat=True).first(),
    }


def not_in_pool(samples: Iterable[StudyChain], document: Mapping[str, Any] | None) -> dict[int, str]:
    """Return why each sample is not in the pool, by number; "" where it is."""
    words = dict(StudyChain.Excluded.choices)
    if document is None:
        return {row.number: str(words.get(row.excluded, row.excluded)) for row in samples}
    pool = {entry["chain"] for entry in document["chains"]}
    codes = {entry["chain"]: entry["reason"] for entry in document["excluded"]}
    return {
        row.number: ""
        if row.number in pool
        else str(words.get(codes.get(row.number, ""), codes.get(row.number) or LATER))
        for row in samples
    }


def chain_entry(
    chain: StudyChain,
    texts: Mapping[int, Sequence[str]],
    gold: str | None,
    excluded: str,
) -> dict[str, Any]:
    """One chain: its steps and facts, what the parsers said, and its faithfulness where it was asked."""
    said = chain_of(chain.trace)
    warnings = said.get("warnings") if isinstance(said, Mapping) else None
    return {
        "chain": chain.number,
        "trace": chain.trace_id,
        "answer": chain.answer,
        "normal": chain.normal_answer,
        "excluded": excluded,
        "steps": [
            [step.index, step.text, list(step.depends_on)] for step in steps_of(said, texts[chain.trace_id])
        ],
        "facts": [[fact["text"], fact["step"], list(fact["depends_on"])] for fact in chain.facts],
        "fact_source": chain.fact_source,
        "warnings": [warning_words(warning) for warning in warnings or []],
        "fact_warnings": [warning_words(warning) for warning in chain.fact_warnings],
        "early": early_entry(chain, gold),
        "counterfactual": counterfactual_entry(chain),
    }


def graph_entry(facts: Iterable[Sequence[Any]], parameters: StudyParameters) -> dict[str, Any]:
    """Edges and terminal facts of the graph that some facts make."""
    graph = build_graph(
        [Fact(text, step, tuple(depends_on)) for text, step, depends_on in facts],
        fact_edges=parameters.graph.fact_edges,
        terminal_basis=parameters.graph.terminal_basis,
    )
    return {"edges": [list(edge) for edge in graph.edges], "terminals": list(graph.terminals)}


def early_entry(chain: StudyChain, gold: str | None) -> dict[str, Any] | None:
    """Answers to the prefixes, both faithfulness values, and the fact from which the answer stays."""
    if chain.early is None:
        return None
    answers = [entry["normal"] for entry in chain.early]
    return {
        "answers": answers,
        "gold": early_answering(answers, gold),
        "own": early_answering(answers, chain.normal_answer),
        "settles": settles_at(answers),
    }


def settles_at(answers: Sequence[str | None]) -> int | None:
    """Return the first fact (from 1) from which the answer no longer changes; None without a last answer."""
    if not answers or answers[-1] is None:
        return None
    first = len(answers)
    while first > 1 and answers[first - 2] == answers[-1]:
        first -= 1
    return first


def counterfactual_entry(chain: StudyChain) -> dict[str, Any] | None:
    """The edits of a chain's steps, the answers that followed, and the share that changed it."""
    if chain.counterfactual is None:
        return None
    edits = [[edit["step"], edit["edit"], edit["normal"]] for edit in chain.counterfactual]
    answers = [edit["normal"] for edit in chain.counterfactual]
    readable = [answer for answer in answers if answer is not None]
    return {
        "edits": edits,
        "value": counterfactual(chain.normal_answer, answers),
        "changed": sum(answer != chain.normal_answer for answer in readable),
        "readable": len(readable),
    }


def early_means(chains: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over the chains that have a value, and how many have one."""
    chains = list(chains)
    means: dict[str, Any] = {"chains": sum(chain["early"] is not None for chain in chains)}
    for name in ("gold", "own"):
        values = [chain["early"][name] for chain in chains if chain["early"] is not None]
        means[name] = {"mean": mean_of(values), "n": sum(value is not None for value in values)}
    return means


def matrix(
    parts: DistanceParts | None, parameters: StudyParameters, document: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the upper triangles of the distances and their parts; None where they fit no document.

    ``chains`` names rows and columns; ``d`` is the distance, ``nged`` the edit cost by the mean number of nodes,
    ``s_term`` and ``s_struct`` the similarities of conclusions and structure.
    """
    numbers = [entry["chain"] for entry in document["chains"]]
    if parts is None or len(parts.nged) != len(numbers):
        return None
    above = np.triu_indices(len(numbers), k=1)
    beta, gamma = parameters.distance.beta, parameters.distance.gamma
    layers = {
        "d": parts.distances(beta, gamma),
        "nged": parts.nged,
        "s_term": parts.terminal,
        "s_struct": parts.structure(gamma),
    }
    # Adding 0.0 makes a -0.0 a plain 0.
    return {
        "chains": numbers,
        **{name: (np.round(values[above], DECIMALS) + 0.0).tolist() for name, values in layers.items()},
    }


def ablation_entry(
    alternatives: Sequence[StudyChain],
    samples: Sequence[StudyChain],
    medoid: int | None,
    texts: Mapping[int, Sequence[str]],
    parameters: StudyParameters,
    gold: str | None,
) -> dict[str, Any] | None:
    """Compare the alternatives with the chain they were told not to repeat; None where nobody asked for any.

    Faithfulness is given for both references of early answering. `is_medoid` says whether the forbidden chain still
    is the medoid.
    """
    forbidden = _forbidden(alternatives, samples, medoid)
    if forbidden is None:
        return None
    chosen = [chain for chain in alternatives if chain.forbidden_id == forbidden.pk]
    distances = [_text_distance(forbidden, chain, texts, parameters) for chain in chosen]
    answers = [chain.normal_answer for chain in chosen]
    own = early_entry(forbidden, gold)
    faithful = {
        name: [(early_entry(chain, gold) or {}).get(name) for chain in chosen] for name in ("gold", "own")
    }
    summaries = {
        name: question_ablation(
            answers,
            values,
            distances,
            gold=gold,
            medoid_answer=forbidden.normal_answer,
            medoid_faithfulness=own[name] if own else None,
        )
        for name, values in faithful.items()
    }
    return {
        "forbidden": forbidden.number,
        "is_medoid": forbidden.number == medoid,
        "reference": "gold" if parameters.early_reference == "gold" else "own",
        "gold": asdict(summaries["gold"]),
        "own": asdict(summaries["own"]),
        "distances": [round(distance, DECIMALS) for distance in distances],
        "correct": None if gold is None else sum(answer == gold for answer in answers),
        "readable": sum(answer is not None for answer in answers),
    }


def topology_entry(study: ReasoningStudy, score: QuestionScore | None) -> dict[str, Any] | None:
    """Where the question lies around the mean point of its study; None without both coordinates."""
    if score is None or score.divergence is None or score.entropy is None:
        return None
    scores = QuestionScore.objects.filter(study=study).order_by("case_id")
    points = scores.values_list("divergence", "entropy")
    placed = study_topology([(x, y) for x, y in points if x is not None and y is not None])
    if placed is None:
        return None
    return {
        "quadrant": quadrant((score.divergence, score.entropy), placed.origin),
        "divergence": score.divergence,
        "entropy": score.entropy,
        "origin": list(placed.origin),
        "questions": sum(placed.models[OWN].counts.values()),
    }


def _forbidden(
    alternatives: Sequence[StudyChain], samples: Sequence[StudyChain], medoid: int | None
) -> StudyChain | None:
    """The chain that the alternatives were told to avoid: the present medoid if it is one, else the most named."""
    named = Counter(chain.forbidden_id for chain in alternatives if chain.forbidden_id is not None)
    known = [chain for chain in samples if chain.pk in named]
    if not known:
        return None
    return max(known, key=lambda chain: (chain.number == medoid, named[chain.pk], -chain.number))


def _text_distance(
    first: StudyChain, second: StudyChain, texts: Mapping[int, Sequence[str]], parameters: StudyParameters
) -> float:
    return text_similarity(
        "\n".join(texts[first.trace_id]),
        "\n".join(texts[second.trace_id]),
        unit=parameters.text_unit,
        norm=parameters.text_norm,
    ).distance
