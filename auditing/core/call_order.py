"""Which relation to ask next: every one (eager), or only those that can still change the result (lazy).

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.1
scores every candidate; the paper has no cheaper order, so the lazy one is ours. It is exact for what it
promises, and its rules, in words, are:

- T1: a combination with an Entailment component is redundant or dominated whatever its label, so it is not
  asked unless it could contradict. Keeps retained edges, trees and breakpoints; the unstable flag may be
  lost.
- T2: stop at the first retained edge whose premises all ground, if no label that is still open can
  contradict.
- T3: skip sets with a premise that does not ground, once an edge is known (or for y_hat from the start).
- T4: stop at the first contradiction in scope, where it decides the label and blocks the segment as a
  premise.

T2 and T3 need pattern rules that never change a label (`AuditParameters.label_neutral`) and a depth bound
that cannot bind; else they are left out. With contradictions in scope "any" nearly every set must be asked:
one that is not asked might contradict. Order: targets ascending; singletons before combinations; grounding
sets first, then the closest.

With `limit=1` and an answer before the next question the number of calls is smallest. Larger batches ask
more at once and so may ask what an answer in flight would have made unnecessary; the result is the same, in
any order of arrival.
"""

from itertools import pairwise
from typing import Literal

from auditing.core.hypergraph import describe, is_candidate
from auditing.core.nli import Label, Premises, Relation, candidates
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import edge_usable

Order = Literal["eager", "lazy"]
Want = Literal["all", "labels", "y_hat"]


class _Target:
    """What is known about the relations into one segment, and which of them to ask next."""

    def __init__(self, index: int, relations: list[Premises]) -> None:
        self.index = index
        self.queue = sorted(relations, key=lambda premises: (len(premises), index - premises[-1], premises))
        self.started = False
        self.labels: dict[Premises, Label] = {}
        self.contradicted = False
        self.has_edge = False
        self.has_tree = False
        self.open_grounding = 0
        # Both only move forward: what cannot matter now cannot matter later. Starting a target rewinds them.
        self.next_to_ask = 0
        self.next_to_hear = 0


class CallPlan:
    """Decides which relation to ask next; usable one at a time, in batches, and with answers in any order.

    Examples
    --------
    >>> plan = CallPlan(3, AuditParameters())
    >>> plan.next_batch(2)
    [((1,), 2), ((1,), 3)]
    """

    def __init__(
        self, n: int, parameters: AuditParameters, *, order: Order = "eager", want: Want = "all"
    ) -> None:
        """Plan the calls of one trace.

        Parameters
        ----------
        n : int
            Number of segments, the context included.
        parameters : AuditParameters
            The parameters the audit will be run with.
        order : {"eager", "lazy"}
            Ask every candidate, or leave out what cannot change the result.
        want : {"all", "labels", "y_hat"}
            What must be exact in a lazy plan: "all" means labels, retained edges, trees, breakpoints and the
            contradicting sets; "labels" the audit labels; "y_hat" the binary labels.

        Raises
        ------
        ValueError
            If `order` or `want` is unknown.
        """
        if order not in ("eager", "lazy"):
            raise ValueError(f"Unknown order {order!r}; use eager or lazy.")
        if want not in ("all", "labels", "y_hat"):
            raise ValueError(f"Unknown want {want!r}; use all, labels or y_hat.")
        self._n = n
        self._parameters = parameters
        self._want = want
        self._told: dict[Relation, Label | None] = {}
        self._asked: set[Relation] = set()
        self._eager = order == "eager"
        self._relations = list(candidates(n, parameters)) if self._eager else []
        self._position = 0
        self._set_rules()
        grouped: dict[int, list[Premises]] = {}
        if not self._eager:
            grouped = {target: [] for target in range(2, n + 1)}
            for premises, target in candidates(n, parameters):
                grouped[target].append(premises)
        self._open = {target: _Target(target, sets) for target, sets in grouped.items()}
        self._grounds = [index <= parameters.early_accept for index in range(n + 1)]
        if self._stop_at_tree:
            self._start(self._open.get(2))
        self._close()

    def _set_rules(self) -> None:
        parameters = self._parameters
        exact_all = self._want == "all"
        in_scope = parameters.contradiction_scope != "none"
        self._overrides = in_scope and parameters.contradiction_policy == "override"
        self._blocks = in_scope and parameters.contradicted_blocks
        depth_is_free = self._n - 1 <= parameters.max_depth
        self._stop_at_tree = not exact_all and parameters.label_neutral and depth_is_free
        self._stop_at_contradiction = not exact_all and self._overrides and self._blocks
        contradictions_matter = self._overrides or self._blocks or (exact_all and in_scope)
        self._skip_redundant = parameters.unstable_policy == "flag" and not (
            contradictions_matter and parameters.contradiction_scope == "any"
        )
        # A target whose premises are not settled yet may still be asked for contradictions, which it needs
        # in any case when it is to get the label Contradicted.
        self._look_ahead = not self._stop_at_tree or (self._want == "labels" and self._overrides)

    @property
    def finished(self) -> bool:
        """Whether the result is decided; answers still on their way change nothing then."""
        return len(self._told) == len(self._relations) if self._eager else not self._open

    @property
    def labels(self) -> dict[Relation, Label]:
        """The labels told so far, without the relations that could not be labelled."""
        return {relation: label for relation, label in self._told.items() if label is not None}

    def next_batch(self, limit: int) -> list[Relation]:
        """Return up to `limit` relations to ask now.

        Returns
        -------
        list of Relation
            Empty when the plan is finished, or when answers on their way must come first.
        """
        batch: list[Relation] = []
        if self._eager:
            while len(batch) < limit and self._position < len(self._relations):
                relation = self._relations[self._position]
                self._position += 1
                if relation not in self._told:
                    batch.append(relation)
        for target in self._open.values():
            while len(batch) < limit:
                premises = self._ask(target)
                if premises is None:
                    break
                batch.append((premises, target.index))
                self._asked.add((premises, target.index))
            if len(batch) >= limit or not self._look_ahead:
                break
        return batch

    def tell(self, relation: Relation, label: Label | None) -> None:
        """Record an answer, asked for or not (from a cache, for example).

        Parameters
        ----------
        relation : Relation
            A candidate relation.
        label : Label or None
            Its label; None if it could not be labelled, which counts as Neutral.

        Raises
        ------
        ValueError
            If the relation is no candidate of this plan, or was told another label before.
        """
        premises, target = relation
        if relation in self._told:
            if self._told[relation] is not label:
                raise ValueError(f"Relation {describe(relation)} was told another label before.")
            return
        fits = premises and all(a < b for a, b in pairwise((0, *premises, target))) and target <= self._n
        if not fits or not is_candidate(relation, self._parameters):
            raise ValueError(f"Relation {describe(relation)} is no candidate of this plan.")
        self._told[relation] = label
        if target in self._open:
            self._record(self._open[target], premises, Label.NEUTRAL if label is None else label)
            self._close()

    def _record(self, target: _Target, premises: Premises, label: Label) -> None:
        target.labels[premises] = label
        if label is Label.CONTRADICTION and self._in_scope(premises):
            target.contradicted = True
        if target.started:
            self._count(target, premises, label)

    def _count(self, target: _Target, premises: Premises, label: Label) -> None:
        """Update what a target knows about its edges and trees; its premises are settled."""
        grounding = self._grounding(premises)
        target.open_grounding -= grounding
        if edge_usable(premises, target.index, label, self._parameters):
            target.has_edge = True
            target.has_tree = target.has_tree or grounding

    def _start(self, target: _Target | None) -> None:
        """Order the questions of a target whose premises are all settled."""
        if target is None:
            return
        target.started = True
        target.queue.sort(key=lambda premises: (len(premises), not self._grounding(premises)))
        target.next_to_ask = target.next_to_hear = 0
        target.open_grounding = sum(map(self._grounding, target.queue))
        for premises, label in target.labels.items():
            self._count(target, premises, label)

    def _close(self) -> None:
        """Drop the targets whose result is decided."""
        if not self._stop_at_tree:
            for index in [index for index, target in self._open.items() if self._decided(target)]:
                del self._open[index]
            return
        while self._open:
            index, target = next(iter(self._open.items()))
            if not self._decided(target):
                return
            blocked = self._blocks and target.contradicted
            self._grounds[index] = self._grounds[index] or (target.has_tree and not blocked)
            del self._open[index]
            self._start(self._open.get(index + 1))

    def _decided(self, target: _Target) -> bool:
        queue = target.queue
        while target.next_to_hear < len(queue):
            premises = queue[target.next_to_hear]
            if premises not in target.labels and self._matters(target, premises):
                return False
            target.next_to_hear += 1
        return True

    def _ask(self, target: _Target) -> Premises | None:
        queue = target.queue
        while target.next_to_ask < len(queue):
            premises = queue[target.next_to_ask]
            known = premises in target.labels or (premises, target.index) in self._asked
            if not known and self._matters(target, premises):
                if self._skip_redundant and len(premises) > 1 and self._awaits_part(target, premises):
                    return None
                target.next_to_ask += 1
                return premises
            target.next_to_ask += 1
        return None

    def _awaits_part(self, target: _Target, premises: Premises) -> bool:
        """Whether a component is asked but not answered; its answer may make the combination needless."""
        parts = (((part,), target.index) for part in premises)
        return any(part in self._asked and part not in self._told for part in parts)

    def _matters(self, target: _Target, premises: Premises) -> bool:
        """Whether a label that is not known yet can still change what is wanted of a target."""
        if self._stop_at_contradiction and target.contradicted:
            return False
        if not self._stop_at_tree:
            return not (
                self._skip_redundant and len(premises) > 1 and self._has_strong_part(target, premises)
            )
        no_tree = target.started and not target.has_tree and not target.open_grounding
        if self._in_scope(premises) and not target.contradicted:
            if self._overrides and not (no_tree and self._want == "y_hat"):
                return True
            if self._blocks and not no_tree:
                return True
        if not target.started or target.has_tree:
            return False
        label_settled = self._overrides and target.contradicted
        premise_settled = (self._blocks and target.contradicted) or target.index == self._n
        if not (label_settled and premise_settled) and self._grounding(premises):
            return True
        return self._want == "labels" and not label_settled and not target.has_edge

    def _has_strong_part(self, target: _Target, premises: Premises) -> bool:
        return any(target.labels.get((part,)) is Label.ENTAILMENT for part in premises)

    def _in_scope(self, premises: Premises) -> bool:
        scope = self._parameters.contradiction_scope
        return scope == "any" or (scope == "singleton" and len(premises) == 1)

    def _grounding(self, premises: Premises) -> bool:
        return all(self._grounds[premise] for premise in premises)
