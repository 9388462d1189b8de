"""The offline audit from files to documents: labelling, audit, manifest. No database, no settings.

The steps are separate so that each command takes what it needs: `label_traces` gives hypergraphs, `audited`
the documents of one setting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.formats.records import Problem, TraceRecord
from auditing.core.hypergraph import Hypergraph
from auditing.core.parameters import AuditParameters
from auditing.llm.reply_store import ReplyStore
from auditing.nli.protocol import RelationLabeller
from auditing.services.offline.answer_cache import AnswerCache
from auditing.services.offline.documents import audit_trace, relation_rows, trace_document
from auditing.services.offline.errors import LabellerError, OfflineError, UsageError
from auditing.services.offline.labelling import Coverage, LabelledTrace, Labelling, Tally, in_scope, label
from auditing.services.relations import Scope, effective_parameters, refusal, stored_relations

STORED = "stored"
KINDS = ("local", "openai", "scripted", "replay")
STORED_NOTE = "Relations that came with the data; no model was asked."


@dataclass(frozen=True, slots=True)
class LabellerChoice:
    """Which labeller to use and how.

    Attributes
    ----------
    spec
        `stored`, or what `auditing.nli.factory.make_labeller` takes.
    cache
        Folder for replies and labels; None asks always.
    api_key
        From the environment, never from the command line.
    """

    spec: str = STORED
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    allowed_hosts: Collection[str] = ()
    concurrency: int | None = None
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Everything else that decides what an audit says.

    Attributes
    ----------
    max_premises
        Cap on the size of a premise set; None asks for the sets of the parameters and takes stored ones of
        any size.
    window
        Only premises among so many segments before the target, and the context; None for all. Not exact.
    max_calls
        A trace that would need more relations than this is refused.
    """

    parameters: AuditParameters = field(default_factory=AuditParameters)
    max_premises: int | None = None
    order: str = "eager"
    window: int | None = None
    max_calls: int = 200_000


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Labelled traces, and what the labeller said of itself."""

    traces: list[LabelledTrace]
    identity: Mapping[str, object]
    quality_note: str = ""
    remarks: tuple[str, ...] = ()


def label_traces(
    traces: Sequence[TraceRecord],
    choice: LabellerChoice,
    settings: AuditSettings,
    progress: Callable[[Tally], None] | None = None,
) -> LabelledSet:
    """Give every trace its hypergraph, from stored relations or from a labeller.

    Raises
    ------
    UsageError, OfflineError, LabellerError
        With a sentence that says what to do.
    """
    if choice.spec == STORED:
        return _stored(traces, settings)
    refused = too_large(traces, settings)
    if refused:
        raise OfflineError(str(refused[0][1]))
    prepared = [
        (trace, effective_parameters(settings.parameters, trace.context_segments)) for trace in traces
    ]
    return _asked(prepared, choice, settings, progress)


def too_large(traces: Sequence[TraceRecord], settings: AuditSettings) -> list[tuple[TraceRecord, Problem]]:
    """Return the traces that would need too many relation calls, each with the ways out."""
    found = []
    for trace in traces:
        parameters = effective_parameters(settings.parameters, trace.context_segments)
        scope = Scope(len(trace.segments), trace.context_segments, parameters, settings.window)
        if sentence := refusal(scope, settings.max_calls):
            remedy = "The flags are --max-premises K and --window W."
            found.append((trace, Problem(f"trace {trace.id}", None, "", sentence, remedy)))
    return found


def _stored(traces: Sequence[TraceRecord], settings: AuditSettings) -> LabelledSet:
    bare = [trace.id for trace in traces if not trace.relations and not trace.meta.get("relations_given")]
    if bare and len(bare) == len(traces):
        raise OfflineError(
            f"{_names(bare)} no stored relations. Get some with --labeller local or --labeller openai:MODEL."
        )
    # Without relations every segment would count as an Orphan, which nobody has said.
    remarks = (f"{_names(bare)} no stored relations; left out. Another --labeller can audit them.",)
    return LabelledSet(
        [_stored_trace(trace, settings) for trace in traces if trace.id not in set(bare)],
        {"kind": STORED},
        STORED_NOTE,
        remarks if bare else (),
    )


def _stored_trace(trace: TraceRecord, settings: AuditSettings) -> LabelledTrace:
    """Return a trace with the relations it came with; premise sets of any size, unless capped."""
    stored = stored_relations(
        [(r.premises, r.target, r.label, r.probabilities or {}) for r in trace.relations],
        trace.context_segments,
        settings.max_premises,
    )
    largest = max((len(premises) for (premises, _), _, _ in stored), default=None)
    parameters = effective_parameters(settings.parameters, trace.context_segments, largest)
    scope = Scope(len(trace.segments), trace.context_segments, parameters, settings.window)
    allowed = [item for item in stored if len(item[0][0]) >= parameters.m_min and in_scope(item[0], scope)]
    try:
        graph = Hypergraph.from_labels(scope.n, ((*relation, label) for relation, label, _ in allowed))
    except ValueError as error:
        raise OfflineError(f"Trace {trace.id}: {error}") from None
    probabilities = {relation: value for relation, _, value in allowed if value is not None}
    return LabelledTrace(
        trace, parameters, graph, Coverage(len(graph), len(graph)), probabilities=probabilities
    )


def _names(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
    return f"Trace {shown} has" if len(ids) == 1 else f"Traces {shown} have"


def _asked(
    prepared: Sequence[tuple[TraceRecord, AuditParameters]],
    choice: LabellerChoice,
    settings: AuditSettings,
    progress: Callable[[Tally], None] | None,
) -> LabelledSet:
    labeller = make(choice)
    identity = dict(labeller.identity())
    cache = reply_cache(choice, labeller)
    stored = None if choice.cache is None else known_answers(choice, labeller)
    try:
        traces = label(
            Labelling(
                prepared,
                labeller,
                order=settings.order,
                window=settings.window,
                cache=cache,
                stored=stored if cache is None else None,
                progress=progress,
            )
        )
    finally:
        if cache is not None:
            cache.close()
    remarks = []
    if truncated := getattr(labeller, "truncated", 0):
        remarks.append(f"{truncated:,} inputs were longer than the model reads and were cut.")
    return LabelledSet(traces, identity, labeller.quality_note, tuple(remarks))


def reply_cache(choice: LabellerChoice, labeller: RelationLabeller) -> AnswerCache | None:
    """Return the file of labels for a labeller that keeps no replies itself, or None."""
    if choice.cache is None or keeps_replies(choice.spec):
        return None
    return AnswerCache(choice.cache, labeller.identity())


def known_answers(choice: LabellerChoice, labeller: RelationLabeller) -> Callable[[str], bool]:
    """Return what tells whether the answer to a key is in the cache."""
    if choice.cache is None:
        return lambda key: False
    source: ReplyStore | AnswerCache = reply_cache(choice, labeller) or ReplyStore(choice.cache)
    return lambda key: source.get(key) is not None


def keeps_replies(spec: str) -> bool:
    """Tell whether a labeller stores raw replies itself, given a folder."""
    return spec.startswith(("openai:", "scripted:"))


def make(choice: LabellerChoice) -> RelationLabeller:
    """Return the labeller of a choice; every reason why it cannot be made becomes one sentence.

    Raises
    ------
    UsageError
        If the name is none, or the key is missing for a server that is not on this machine.
    LabellerError
        If what it needs is not there.
    """
    from auditing.nli import factory

    kind = choice.spec.partition(":")[0]
    options: dict[str, Any] = {}
    if kind == "openai":
        options |= {
            "base_url": choice.base_url,
            "api_key": choice.api_key or None,
            "allowed_hosts": choice.allowed_hosts,
            "concurrency": choice.concurrency,
        }
    elif choice.base_url is not None:
        raise UsageError(f"--base-url goes with --labeller openai:MODEL, not with {choice.spec}.")
    if keeps_replies(choice.spec) and choice.cache is not None:
        options["cache_dir"] = choice.cache
    try:
        return factory.make_labeller(choice.spec, **options)
    except factory.LabellerError as error:
        also = "" if kind in KINDS else " Or 'stored', for relations that come with the file."
        raise UsageError(f"{error}{also}") from None
    except ImportError as error:
        raise LabellerError(
            f"The labeller {choice.spec} needs the Python package {error.name}. {_EXTRA}"
        ) from None
    except (RuntimeError, ValueError, OSError) as error:
        raise LabellerError(_without(str(error), choice.api_key)) from None


_EXTRA = "Install the optional packages by: make setup-models."


def _without(text: str, secret: str) -> str:
    return text.replace(secret, "***") if secret else text


def audited(labelled: Sequence[LabelledTrace], *, with_relations: bool = False) -> list[dict[str, Any]]:
    """Audit labelled traces and return their documents, in the order given."""
    documents = []
    for trace in labelled:
        result = audit_trace(trace)
        document = trace_document(trace, result)
        if with_relations:
            document["relations"] = relation_rows(trace, result)
        documents.append(document)
    return documents


def with_parameters(labelled: LabelledTrace, parameters: AuditParameters) -> LabelledTrace:
    """Return a trace that was labelled for several settings with the parameters of one of them.

    Stored relations keep the premise size they came with.
    """
    if not labelled.calls:
        return labelled
    return replace(labelled, parameters=effective_parameters(parameters, labelled.record.context_segments))
