"""What a judge is asked: whether chains are sound where the rules disagree, or whether facts render their chains."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from auditing.core.grapheval.chains import Step
from auditing.elicitation import reading
from auditing.elicitation.protocol import Elicitation
from auditing.models import ChainJudgement, ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import decomposition_chains
from auditing.services.grapheval import stored
from auditing.services.grapheval.asking import (
    CaseWork,
    Request,
    chain_text,
    pool,
    score_of,
    steps_by_trace,
    triples,
)

NOT_SCORED = (
    "It is not scored yet, so whether vote and medoid disagree is not known. Compare and score it first."
)
SOUNDNESS, DECOMPOSITION = ChainJudgement.Kind.SOUNDNESS, ChainJudgement.Kind.DECOMPOSITION


class JudgeWork(CaseWork):
    """The chains of a question that this judge has not judged yet.

    For soundness: where exactly one of vote and medoid is right, every chain that supports the vote's answer, and the
    medoid (paper, section 5.3 and C.9). For a decomposition: those of the chosen chains that are of this question.
    """

    missing = "are no judgements; resuming asks for them again"

    def requests(self) -> list[Request]:
        """Return a request for each chain."""
        kind = str(self.choices["criterion"])
        wanted = self._disagreement() if kind == SOUNDNESS else self._chosen()
        judged = set(
            ChainJudgement.objects.filter(
                chain__in=wanted, kind=kind, user=None, source=self.choices["source"]
            ).values_list("chain_id", flat=True)
        )
        self.chains = {chain.pk: chain for chain in wanted if chain.pk not in judged}
        steps = steps_by_trace([chain.trace for chain in self.chains.values()])
        return [
            Request(pk, self._question(kind, chain, steps[chain.trace_id]))
            for pk, chain in self.chains.items()
        ]

    def _question(self, kind: str, chain: StudyChain, steps: Sequence[Step]) -> Elicitation:
        if kind == SOUNDNESS:
            return Elicitation.soundness(
                question=self.asked.question,
                context=self.asked.context,
                options=self.asked.options,
                gold=self.case.reference,
                chain=chain_text(steps, chain.answer),
            )
        return Elicitation.decomposition(chain=triples(steps), facts=stored.facts_of(chain.facts))

    def _disagreement(self) -> list[StudyChain]:
        score = score_of(self.study, self.case)
        if score is None:
            self.problem = NOT_SCORED
            return []
        if not disagrees(score.document):
            return []
        votes = score.document["votes"]["answer"]
        medoid = score.medoid_id
        return [
            chain
            for chain in pool(self.study, self.case)
            if chain.pk == medoid or (votes is not None and chain.normal_answer == votes)
        ]

    def _chosen(self) -> list[StudyChain]:
        rows = StudyChain.objects.filter(study=self.study, case=self.case, pk__in=self.choices["chosen"])
        return list(rows.select_related("trace").order_by("role", "number"))

    def keep(self, run: ReasoningRun) -> str:
        """Store the judgements, but for chains that this judge judged meanwhile."""
        kind = str(self.choices["criterion"])
        read = reading.soundness_of if kind == SOUNDNESS else reading.decomposition_of
        made, unread = [], 0
        for pk, reply in self.replies.items():
            found = read(reply)
            if not found.answers:
                unread += 1
                continue
            made.append(
                ChainJudgement(
                    study=self.study,
                    chain=self.chains[pk],
                    kind=kind,
                    source=self.choices["source"],
                    answers=found.answers,
                    note=found.reason,
                    run=run,
                )
            )
        ChainJudgement.objects.bulk_create(made, ignore_conflicts=True)
        return f"{unread:,} replies hold no judgement." if unread else ""


def disagrees(document: Mapping[str, Any]) -> bool:
    """Whether exactly one of vote and medoid gives the right answer; False where that is not known."""
    vote, medoid = document["votes"]["correct"], document["gsc"]["correct"]
    return vote is not None and medoid is not None and vote != medoid


def medoid_alone_is_right(document: Mapping[str, Any]) -> bool:
    """Whether the medoid gives the right answer and the vote does not: the questions of a targeted ablation."""
    return document["gsc"]["correct"] is True and document["votes"]["correct"] is not True


def choose_chains(study: ReasoningStudy, cases: Iterable[int], most: int) -> list[int]:
    """Return the ids of up to `most` chains with facts of these questions: those that people are given first, too."""
    return sorted(pk for pk, _ in decomposition_chains(study, most, cases))
