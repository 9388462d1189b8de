"""What is asked about chains that are there: their facts, answers to prefixes of them, counterfactual edits."""

from typing import Any

from annotation.models import Case
from auditing.core.grapheval.facts import parse_facts
from auditing.elicitation import reading
from auditing.elicitation.protocol import Elicitation
from auditing.models import ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_steps import steps_by_trace
from auditing.services.grapheval import stored
from auditing.services.grapheval.answers import normal
from auditing.services.grapheval.asking import (
    CaseWork,
    Request,
    alternatives,
    medoid_of,
    pool,
    triples,
    with_text,
)


class DecomposeWork(CaseWork):
    """The facts of chains that have none (paper, section 3). A chain whose decomposition failed is asked again."""

    missing = "are no facts; resuming asks for them again"

    def requests(self) -> list[Request]:
        """Return a request for each chain of the chosen role that has steps and no facts."""
        self.problem, self.chains = open_chains(self.study, self.case, str(self.choices["role"]))
        self.steps = steps_by_trace([chain.trace for chain in self.chains.values()])
        return [
            Request(
                pk, Elicitation.facts(question=self.asked.question, steps=triples(self.steps[chain.trace_id]))
            )
            for pk, chain in self.chains.items()
        ]

    def keep(self, run: ReasoningRun) -> str:
        """Store facts and warnings, and why a chain has none."""
        without = 0
        for pk, chain in self.chains.items():
            if pk in self.replies:
                known = [step.index for step in self.steps[chain.trace_id]]
                found = parse_facts(self.replies[pk], known_steps=known)
                without += not found.facts
                chain.facts = [stored.fact_dict(fact) for fact in found.facts]
                chain.fact_warnings = [warning.to_dict() for warning in found.warnings]
                chain.excluded = "" if found.facts else StudyChain.Excluded.NO_FACTS
            elif pk in self.failed:
                chain.excluded = StudyChain.Excluded.NOT_DECOMPOSED
            else:
                continue
            chain.fact_source = run.model
        StudyChain.objects.bulk_update(
            list(self.chains.values()), ["facts", "fact_warnings", "fact_source", "excluded"]
        )
        return f"{without:,} replies hold no fact; their chains are not in the pool." if without else ""


def open_chains(study: ReasoningStudy, case: Case, role: str) -> tuple[str, dict[int, StudyChain]]:
    """Return the chains of a role that have steps and no facts, by id; and why there is no chain at all, or ""."""
    rows = StudyChain.objects.filter(study=study, case=case)
    rows = rows if role == "all" else rows.filter(role=role)
    if not rows.exists():
        is_alternative = role == StudyChain.Role.ALTERNATIVE
        first = "Forbid the medoid first." if is_alternative else "Sample or take chains first."
        return f"It has no chain to decompose. {first}", {}
    wanted = rows.filter(facts=[], excluded__in=["", StudyChain.Excluded.NOT_DECOMPOSED])
    return "", {chain.pk: chain for chain in wanted.select_related("trace").order_by("role", "number")}


class EarlyWork(CaseWork):
    """Answers after the first fact of a chain, the first two, up to all (paper, section 4 and B.6)."""

    missing = "are missing, and a chain without all of them has no faithfulness; resuming asks for them again"

    def requests(self) -> list[Request]:
        """Return a request for each prefix of each chosen chain that was not answered before."""
        chosen = [chain for chain in self._chosen() if chain.facts and not chain.excluded]
        if not chosen and not self.problem:
            self.problem = "None of the chosen chains has facts. Decompose them first."
        self.chains = [chain for chain in chosen if chain.early is None]
        return [
            Request(
                (chain.pk, length),
                Elicitation.early_answer(
                    **self.asked.to_answer, facts=[str(fact["text"]) for fact in chain.facts[:length]]
                ),
            )
            for chain in self.chains
            for length in range(1, len(chain.facts) + 1)
        ]

    def _chosen(self) -> list[StudyChain]:
        if self.choices["chains"] == "all":
            return pool(self.study, self.case)
        medoid, self.problem = medoid_of(self.study, self.case)
        if medoid is None:
            return []
        if self.choices["chains"] == "medoid":
            return [medoid]
        found = alternatives(self.study, self.case, medoid)
        if not found:
            self.problem = "It has no chain with its medoid forbidden. Forbid the medoid first."
        return found

    def keep(self, run: ReasoningRun) -> str:
        """Store the answers of the chains that have all of them: a prefix without a reply is no wrong answer."""
        whole = []
        for chain in self.chains:
            replies = [self.replies.get((chain.pk, length)) for length in range(1, len(chain.facts) + 1)]
            if None in replies:
                continue
            chain.early = [self.read(str(reply)) for reply in replies]
            whole.append(chain)
        StudyChain.objects.bulk_update(whole, ["early"])
        unread = sum(entry["normal"] is None for chain in whole for entry in chain.early or [])
        return f"{unread:,} answers could not be read; they count as none." if unread else ""

    def read(self, reply: str) -> dict[str, Any]:
        """Return the answer that a reply holds, as written and in normal form."""
        answer = reading.early_answer_of(reply)
        return {"answer": answer, "normal": normal(self.study, self.case, answer)}


class CounterfactualWork(CaseWork):
    """Edits of every step of the medoid but the last, and the answers that follow (paper, C.3)."""

    missing = "are missing, and so the whole of the chain's edits; resuming asks for them again"
    chain: StudyChain | None

    def requests(self) -> list[Request]:
        """Return a request for an edit of each step but the last; the answers are asked for when it has come."""
        self.chain, self.problem = medoid_of(self.study, self.case)
        if self.chain is None:
            return []
        self.steps = steps_by_trace([self.chain.trace])[self.chain.trace_id]
        if len(self.steps) < 2:
            self.problem = "Its medoid has fewer than two steps, and the last step is not edited."
            return []
        if self.chain.counterfactual is not None:
            return []
        return [
            Request(
                ("edit", step.index),
                Elicitation.counterfactual(
                    question=self.asked.question, steps=triples(self.steps), index=step.index
                ),
                follow_ups=1,
            )
            for step in self.steps[:-1]
        ]

    def follow(self, request: Request, text: str) -> list[Request]:
        """Return the request for the answer with one step replaced; none where the reply holds no edit."""
        what, index = request.tag
        if what != "edit" or (edit := self.edit(index, text)) is None:
            return []
        return [self.answer_to(index, edit)]

    def edit(self, index: int, reply: str) -> str | None:
        """Return the statement that a reply gives in place of this step, None where it holds none."""
        original = next(step.text for step in self.steps if step.index == index)
        return reading.edit_of(reply, original)

    def likely(self, request: Request) -> list[Request]:
        """Return the request for an answer with the step as it was."""
        what, index = request.tag
        original = next(step.text for step in self.steps if step.index == index)
        return [self.answer_to(index, original)] if what == "edit" else []

    def answer_to(self, index: int, edit: str) -> Request:
        """Return the request for the answer with this step replaced."""
        steps = with_text(self.steps, index, edit)
        return Request(("answer", index), Elicitation.edited_answer(**self.asked.to_answer, steps=steps))

    def keep(self, run: ReasoningRun) -> str:
        """Store edits and answers once all are there; a reply without an edit is an entry without an answer."""
        if self.chain is None or not self.complete or self.failed or not self.planned:
            return ""
        entries = []
        for step in self.steps[:-1]:
            edit = self.edit(step.index, self.replies["edit", step.index])
            reply = self.replies.get(("answer", step.index))
            answer = None if reply is None else reading.early_answer_of(reply)
            entries.append(
                {
                    "step": step.index,
                    "edit": edit,
                    "answer": answer,
                    "normal": normal(self.study, self.case, answer),
                }
            )
        self.chain.counterfactual = entries
        self.chain.save(update_fields=["counterfactual"])
        no_edit = sum(entry["edit"] is None for entry in entries)
        unread = sum(entry["normal"] is None for entry in entries) - no_edit
        notes = [f"{no_edit:,} replies hold no edit."] if no_edit else []
        notes += [f"{unread:,} answers could not be read."] if unread else []
        return " ".join([*notes, "They are left out."]) if notes else ""
