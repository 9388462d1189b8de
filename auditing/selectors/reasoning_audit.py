"""The audit of chains by people: who is shown which chains, in what order, and what one has said so far.

Blind: nothing here tells which rule chose a chain, how it scored, or what anybody else said of it. The gold answer is
shown, as in the paper's audit (section 5.3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Func, JSONField
from django.urls import reverse

from annotation.core.draws import draw
from annotation.core.labels import text_version
from annotation.models import Case
from auditing.core.grapheval.agreement import CRITERIA, Dispute
from auditing.core.grapheval.decoding import Cell
from auditing.core.grapheval.study_records import PERSON
from auditing.models import ChainJudgement, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_steps import steps_by_trace
from auditing.selectors.reasoning_studies import disagreeing
from reasonaudit.lib.canonical import canonical_json

SEED = 42
DEFAULT_MOST = 50
MOST_CHAINS = 1000
MOST_PATHS = 200
LONGEST_NOTE = 2000
# Chains whose texts come with one answer; a page asks for the next ones while somebody reads.
AT_ONCE = 20

QUESTIONS = {
    "sound": (
        "Is the reasoning sound?",
        "Every step follows from what is given and from the steps before it, and the answer follows from the steps.",
    ),
    "atomic": ("Is every fact atomic?", "Each fact says one thing that is true or false by itself."),
    "grounded": ("Is every fact grounded?", "Each fact is said in the steps; nothing was made up."),
    "dependencies": (
        "Are the dependencies right?",
        "Each fact names the earlier steps that it needs, and no others.",
    ),
}
SHORT = {
    "sound": "Sound",
    "atomic": "Atomic",
    "grounded": "Grounded",
    "dependencies": "Right dependencies",
}


@dataclass(frozen=True, slots=True)
class DisputedQuestion:
    """A question on which the vote and the medoid differ in being correct; the dispute names `StudyChain` rows."""

    case_id: int
    external_id: str
    dispute: Dispute[int]


def by_source(study: ReasoningStudy, kind: str) -> dict[str, dict[int, dict[str, str]]]:
    """Everybody's words on the study's chains.

    Returns
    -------
    Answers (yes, no or unsure by criterion) by chain id, by source: ``user:ID`` for a person, else the judge's spec
    or ``imported:NAME``. Sources stand in the order of their first word.
    """
    rows = ChainJudgement.objects.filter(study=study, kind=kind).order_by("pk")
    found: dict[str, dict[int, dict[str, str]]] = {}
    for user_id, source, chain_id, answers in rows.values_list("user_id", "source", "chain_id", "answers"):
        name = source if user_id is None else f"{PERSON}{user_id}"
        found.setdefault(name, {})[chain_id] = answers
    return found


def disputed_questions(study: ReasoningStudy, cases: Iterable[int] | None = None) -> list[DisputedQuestion]:
    """The scored questions that only the vote or only the medoid answers correctly, in the data set's order.

    A question whose medoid or vote is not known to be correct or wrong (no gold answer) is not among them. `cases`
    keeps to these questions.
    """
    scored = disagreeing(study)
    if cases is not None:
        scored = scored.filter(case__in=list(cases))
    scores = list(
        scored.order_by("case_id").values_list(
            "case_id",
            "case__external_id",
            "document__medoid",
            "document__votes__answer",
            "document__votes__correct",
            _of_chains("chain"),
            _of_chains("answer"),
        )
    )
    samples = StudyChain.objects.filter(
        study=study, role=StudyChain.Role.SAMPLE, case__in=[case_id for case_id, *_ in scores]
    )
    ids = {(case, number): pk for case, number, pk in samples.values_list("case_id", "number", "pk")}
    found = []
    for case_id, external_id, medoid, voted, vote_correct, numbers, answers in scores:
        # Chains that were made anew after the score have no row any more.
        paths = tuple(
            pk
            for number, answer in zip(numbers, answers, strict=True)
            if answer is not None and answer == voted and (pk := ids.get((case_id, number))) is not None
        )
        medoid_id = ids.get((case_id, medoid))
        if medoid_id is not None:
            cell: Cell = "sc_only" if vote_correct else "gsc_only"
            found.append(DisputedQuestion(case_id, external_id, Dispute(cell, paths, medoid_id)))
    return found


def _of_chains(field: str) -> Func:
    """One field of all chains in a document, in their order: the rest of them is long and of no use here."""
    return Func(
        "document",
        template=f"jsonb_path_query_array(%(expressions)s, '$.chains[*].{field}')",
        output_field=JSONField(),
    )


def soundness_chains(
    study: ReasoningStudy, paths: int | None = None, cases: Iterable[int] | None = None
) -> list[tuple[int, int]]:
    """The chains to be judged sound or not: ``(chain id, case id)``, the same for everybody.

    Of each disputed question (`cases` keeps to these) the paths that support the vote's answer, at most `paths` of
    them drawn with a fixed seed, and the medoid.
    """
    chosen = []
    for question in disputed_questions(study, cases):
        supporting = question.dispute.paths
        if paths is not None and paths < len(supporting):
            drawn = sorted(
                range(len(supporting)), key=lambda place: draw(SEED, "paths", question.external_id, place)
            )
            supporting = tuple(supporting[place] for place in sorted(drawn[:paths]))
        chosen += [(pk, question.case_id) for pk in dict.fromkeys((*supporting, question.dispute.medoid))]
    return chosen


def decomposition_chains(
    study: ReasoningStudy, most: int = DEFAULT_MOST, cases: Iterable[int] | None = None
) -> list[tuple[int, int]]:
    """A sample of chains whose facts are checked: ``(chain id, case id)``, drawn with a fixed seed.

    A smaller sample is part of a larger one, so that `most` can be raised later; `cases` keeps to these questions.
    """
    pool = StudyChain.objects.filter(study=study, role=StudyChain.Role.SAMPLE, excluded="").exclude(facts=[])
    if cases is not None:
        pool = pool.filter(case__in=list(cases))
    rows = pool.values_list("pk", "case_id", "case__external_id", "number")
    drawn = sorted(rows, key=lambda row: draw(SEED, "decomposition", *row[2:]))
    return [(pk, case_id) for pk, case_id, *_ in drawn[:most]]


def queue(
    study: ReasoningStudy, user: Any, kind: str, *, paths: int | None = None, most: int = DEFAULT_MOST
) -> list[tuple[int, int]]:
    """One person's queue: ``(chain id, case id)``.

    Questions come in an order drawn for this person and study, and so do the chains of a question, which stand
    together so that a question is read once. The place of a chain says nothing of how it was chosen.
    """
    chosen = soundness_chains(study, paths) if kind == "soundness" else decomposition_chains(study, most)

    def place(row: tuple[int, int]) -> tuple[int, int, int]:
        chain_id, case_id = row
        of_case = draw(SEED, "question", study.pk, user.pk, case_id)
        return of_case, draw(SEED, "chain", study.pk, user.pk, chain_id), chain_id

    return sorted(chosen, key=place)


def judgement_version(answers: dict[str, str], note: str) -> int:
    """The version of what a person said of a chain: 0 for nothing, else a number that another text does not have."""
    return text_version(canonical_json([answers, note]).decode()) if answers or note else 0


def judgement_object(row: ChainJudgement) -> dict[str, Any]:
    """A person's own word on a chain, as the page knows it."""
    return {
        "answers": row.answers,
        "note": row.note,
        "version": judgement_version(row.answers, row.note),
        "saved_at": row.updated_at.isoformat(),
    }


def is_complete(kind: str, answers: dict[str, str]) -> bool:
    """Whether every criterion has a word."""
    return set(CRITERIA[kind]) <= set(answers)


def own_words(study: ReasoningStudy, user: Any, kind: str) -> dict[int, ChainJudgement]:
    """What this person said, by chain id."""
    return {row.chain_id: row for row in ChainJudgement.objects.filter(study=study, kind=kind, user=user)}


def judged_chains(study: ReasoningStudy, user: Any, kind: str) -> set[int]:
    """The chains on which this person has said a word for every criterion."""
    return {pk for pk, row in own_words(study, user, kind).items() if is_complete(kind, row.answers)}


def audit_payload(
    study: ReasoningStudy, user: Any, kind: str, order: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """Everything the page starts with: the whole `queue`, own words, and the texts of the first open chains."""
    said = own_words(study, user, kind)
    done = {pk for pk, _ in order if pk in said and is_complete(kind, said[pk].answers)}
    first = next((place for place, (pk, _) in enumerate(order) if pk not in done), 0)
    start = max(first - 1, 0)  # one may look back at once
    address = reverse("api:reasoning-judgements", args=[study.slug])
    return {
        "study": {"slug": study.slug, "name": study.name},
        "kind": kind,
        "criteria": [
            {"id": one, "title": QUESTIONS[one][0], "help": QUESTIONS[one][1], "short": SHORT[one]}
            for one in CRITERIA[kind]
        ],
        "user": {"id": user.pk, "username": user.get_username()},
        "queue": [list(row) for row in order],
        "said": {str(pk): judgement_object(said[pk]) for pk, _ in order if pk in said},
        "limits": {"note": LONGEST_NOTE, "at_once": AT_ONCE},
        "urls": {
            "save": address,
            "texts": f"{address}?kind={kind}",
            "relogin": reverse("accounts:relogin"),
        },
        **chain_texts(study, [pk for pk, _ in order[start : start + AT_ONCE]], kind),
    }


def chain_texts(study: ReasoningStudy, chain_ids: Iterable[int], kind: str) -> dict[str, Any]:
    """The texts of some chains of the study and of their questions: ``{"chains": {id: …}, "questions": {id: …}}``.

    Facts are there only for the check of decompositions. Numbers of chains are not told: they could be recognised
    on other pages.
    """
    rows = list(
        StudyChain.objects.filter(study=study, pk__in=list(chain_ids))
        .select_related("trace")
        .only("answer", "facts", "case", "trace__meta")
    )
    steps = steps_by_trace([row.trace for row in rows])
    facts = kind == "decomposition"
    return {
        "chains": {
            str(row.pk): {
                "steps": [
                    {"index": step.index, "text": step.text, "depends_on": list(step.depends_on)}
                    for step in steps[row.trace_id]
                ],
                "answer": row.answer,
                **({"facts": row.facts} if facts else {}),
            }
            for row in rows
        },
        "questions": {
            str(case.pk): question_object(case)
            for case in Case.objects.filter(pk__in={row.case_id for row in rows})
        },
    }


def question_object(case: Case) -> dict[str, Any]:
    """A question with its context, options and gold answer; null where there is none."""
    options = case.meta.get("options")
    return {
        "title": case.title,
        "sections": case.sections or ([["Context", case.context]] if case.context else []),
        "question": case.question if case.question.strip() != case.context.strip() else "",
        "options": [[str(key), str(text)] for key, text in options.items()]
        if isinstance(options, dict)
        else [],
        "gold": case.reference or None,
    }
