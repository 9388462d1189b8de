"""What a judge is asked: whether chains are sound where the rules disagree, or whether facts render their chains."""

from collections.abc import Iterable, Sequence

from auditing.core.grapheval.chains import Step
from auditing.elicitation import reading
from auditing.elicitation.protocol import Elicitation
from auditing.models import ChainJudgement, ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import decomposition_chains, soundness_chains
from auditing.selectors.reasoning_steps import steps_by_trace
from auditing.services.grapheval import stored
from auditing.services.grapheval.asking import (
    CaseWork,
    Request,
    chain_text,
    score_of,
    triples,
    why_no_score,
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
        chosen = self._disputed() if kind == SOUNDNESS else self.choices["chosen"]
        rows = StudyChain.objects.filter(study=self.study, case=self.case, pk__in=chosen)
        self._wanted = list(rows.select_related("trace").order_by("role", "number"))
        judged = set(
            ChainJudgement.objects.filter(
                chain__in=self._wanted, kind=kind, user=None, source=self.choices["source"]
            ).values_list("chain_id", flat=True)
        )
        self.chains = {chain.pk: chain for chain in self._wanted if chain.pk not in judged}
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

    @property
    def is_about(self) -> bool:
        """Whether any chain of the question is to be judged, or was."""
        return bool(self._wanted)

    def _disputed(self) -> list[int]:
        self.problem = why_no_score(score_of(self.study, self.case))
        return [] if self.problem else [pk for pk, _ in soundness_chains(self.study, cases=[self.case.pk])]

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


def choose_chains(study: ReasoningStudy, cases: Iterable[int], most: int) -> list[int]:
    """Return the ids of up to `most` chains with facts of these questions: those that people are given first, too."""
    return sorted(pk for pk, _ in decomposition_chains(study, most, cases))
