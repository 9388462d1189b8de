"""What `grapheval` and `grapheval_study` write: one JSON document, or text that fits a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from auditing.core.grapheval.baselines import BASELINES
from auditing.core.grapheval.study_document import study_document
from auditing.core.grapheval.uncertainty import METRICS
from auditing.core.statistics import mean_of
from auditing.services.manifest import code_version
from auditing.services.offline.grapheval import Question, ScoredSet, Settings, material_of
from auditing.services.offline.loading import Loaded
from auditing.services.offline.report import NONE, WIDTH, counted, number, table

SCHEMA = "reasonaudit.grapheval/1"
MOST_CHAINS = 10
MOST_NOTE = 500
TITLES = {metric.name: metric.title for metric in METRICS + BASELINES}


def manifest(scored: ScoredSet, settings: Settings, loaded: Loaded) -> dict[str, Any]:
    """Return what the numbers follow from, and what the readers remarked on the data."""
    return {
        "code": dict(code_version()),
        "inputs": [entry.to_dict() for entry in loaded.inputs],
        "notes": [note for entry in loaded.inputs for note in entry.notes],
        "problems_skipped": len(loaded.problems),
        "embedder": dict(scored.embedder),
        "decomposer": "sentences" if settings.sentences else "stored",
        "parameters": settings.parameters.to_dict(),
    }


def result_document(scored: ScoredSet, settings: Settings, loaded: Loaded, name: str) -> dict[str, Any]:
    """Return everything that `grapheval --json` prints; the same files give the same bytes."""
    return {
        "schema": SCHEMA,
        "manifest": manifest(scored, settings, loaded),
        "questions": [_question(question, result.document) for question, result in scored.questions],
        "summary": summary(scored, settings, name),
    }


def _question(question: Question, document: Mapping[str, Any]) -> dict[str, Any]:
    names = dict(zip((chain.number for chain in question.chains), question.names, strict=True))
    return {
        **document,
        "case_id": question.case_id,
        "title": question.title,
        "gold": {"written": question.gold_written or None, "normal": question.gold},
        "answer_kind": question.kind,
        "facts_from": dict(question.fact_sources),
        "chains": [{**row, "trace": names[row["chain"]]} for row in document["chains"]],
    }


def summary(scored: ScoredSet, settings: Settings, name: str) -> dict[str, Any]:
    """Return counts, decoding and means over all questions."""
    study = study_document(material_of(scored, settings, name), resamples=0)
    documents = [result.document for _, result in scored.questions]
    return {
        "counts": study["counts"],
        "decoding": study["decoding"],
        "votes": votes_cast(documents),
        "collapse": study["collapse"],
        "decomposition": study["decomposition"],
        "facts_from": dict(
            sum((Counter(question.fact_sources) for question, _ in scored.questions), Counter())
        ),
        "facts": scored.facts,
        "texts_embedded": scored.texts,
        "metrics": {
            metric: {
                "mean": mean_of(document["metrics"][metric] for document in documents),
                "n": sum(document["metrics"][metric] is not None for document in documents),
            }
            for metric in TITLES
        },
    }


def votes_cast(documents: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many chains of the pools have an answer that can be read, and so a vote, and how many there are."""
    found = [(document["votes"]["valid"], document["n"]) for document in documents]
    return {"cast": sum(cast for cast, _ in found), "chains": sum(n for _, n in found)}


def text(document: Mapping[str, Any], *, seconds: float) -> str:
    """Return the result as text: a block for each question, then the summary."""
    blocks = [question_text(question) for question in document["questions"]]
    blocks += notes_text(document["manifest"])
    return "\n\n".join([*blocks, summary_text(document["summary"], seconds=seconds)])


def notes_text(found: Mapping[str, Any]) -> list[str]:
    """Return what the manifest says of the data, as one block; none where it says nothing."""
    lines = list(found.get("notes", ()))
    if skipped := found.get("problems_skipped"):
        lines.append(f"{counted(skipped, 'problem')}: what has them was left out and is counted nowhere.")
    wrapped = [
        line for note in lines for line in textwrap.wrap(clip(note, MOST_NOTE), WIDTH, subsequent_indent="  ")
    ]
    return ["\n".join(["Notes on the data", *wrapped])] if lines else []


def question_text(question: Mapping[str, Any]) -> str:
    """Return one question: its scores with reasons for what is missing, votes, medoid and best chains."""
    lines = [clip(f"{question['case_id']}: {question['title']}", WIDTH)]
    gold = question["gold"]["normal"]
    excluded = Counter(entry["reason"] for entry in question["excluded"])
    left_out = "".join(
        f", {count} left out ({reason.replace('_', ' ')})" for reason, count in sorted(excluded.items())
    )
    sources = ", ".join(f"{source} for {count}" for source, count in sorted(question["facts_from"].items()))
    lines.append(
        f"{counted(question['n'], 'chain')}{left_out}; gold {_short(gold)}; facts: {sources or NONE}"
    )
    metrics = question["metrics"]
    known = [
        f"{title} {number(metrics[name])}" for name, title in TITLES.items() if metrics[name] is not None
    ]
    lines += textwrap.wrap(", ".join(known), WIDTH, initial_indent="  ", subsequent_indent="  ")
    reasons: dict[str, list[str]] = {}
    for name, title in TITLES.items():
        if metrics[name] is None:
            reasons.setdefault(question["missing"].get(name, "not computed"), []).append(title)
    for reason, names in reasons.items():
        lines += textwrap.wrap(
            f"{NONE} {', '.join(names)}: {reason}", WIDTH, initial_indent="  ", subsequent_indent="    "
        )
    lines += list(_votes(question))
    lines += [f"  ! {flag['code'].replace('_', ' ')}: {flag['message']}" for flag in question["flags"]]
    if question["n"]:
        lines += ["", _chains(question)]
    return "\n".join(lines)


def _votes(question: Mapping[str, Any]) -> Iterator[str]:
    votes, medoid = question["votes"], question["gsc"]
    counts = ", ".join(f"{_short(row['answer'])} {row['count']}" for row in votes["counts"][:5])
    more = len(votes["counts"]) - 5
    tie = ", a tie" if votes["tie"] else ""
    yield (
        f"  vote   {_short(votes['answer'])}{_mark(votes['correct'])}{tie}  ({counts or 'no answer can be read'}"
        + (f" and {more} more)" if more > 0 else ")")
    )
    lead = (
        "" if question["lead"] is None else f", {question['lead']:.4f} ahead of chain {question['runner_up']}"
    )
    name = NONE if question["medoid"] is None else f"chain {question['medoid']}"
    yield f"  medoid {_short(medoid['answer'])}{_mark(medoid['correct'])}  ({name}{lead})"


def _chains(question: Mapping[str, Any]) -> str:
    rows = sorted(question["chains"], key=lambda row: (row["rank"] is None, row["rank"] or 0))
    body = [
        [
            f"  {NONE if row['rank'] is None else row['rank']}",
            str(row["chain"]),
            _short(row["answer"]),
            str(row["facts"]),
            str(len(row["edges"])),
            number(row["centrality_term"]),
            number(row["consensus"]),
            number(row["score"], 4),
        ]
        for row in rows[:MOST_CHAINS]
    ]
    header = ["  rank", "chain", "answer", "facts", "edges", "centrality", "consensus", "score"]
    lines = table(header, body, left=3)
    rest = len(rows) - MOST_CHAINS
    return lines if rest <= 0 else f"{lines}\n  and {counted(rest, 'chain')} more; --json has them all"


def summary_text(document: Mapping[str, Any], *, seconds: float) -> str:
    """Return the summary over all questions."""
    counts = document["counts"]
    lines = [
        "Summary",
        f"{counted(counts['questions'], 'question')}, {counted(counts['chains'], 'chain')}; left out: "
        + (", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in counts["excluded"].items()) or "none"),
        f"{counted(document['facts'], 'fact')}, {counted(document['texts_embedded'], 'distinct text')} embedded; "
        f"facts: "
        + (", ".join(f"{a} for {counted(n, 'chain')}" for a, n in document["facts_from"].items()) or NONE),
    ]
    rows = [
        [TITLES[name], number(entry["mean"]), f"{entry['n']:,}"]
        for name, entry in document["metrics"].items()
    ]
    lines += ["", table(["metric", "mean", "questions"], rows), ""]
    lines.append(decoding_text(document["decoding"], document["votes"]))
    if counts["flags"]:
        flags = (f"{code.replace('_', ' ')} {count:,}" for code, count in counts["flags"].items())
        lines.append("flags, in so many questions: " + ", ".join(flags))
    if document["collapse"]["why"]:
        lines += textwrap.wrap(f"! {document['collapse']['why']}", WIDTH)
    lines.append(f"seconds {seconds:.1f}")
    return "\n".join(lines)


def decoding_text(found: Mapping[str, Any], votes: Mapping[str, int]) -> str:
    """Return accuracy of vote and medoid in two lines, and who did not vote."""
    if not found["n"]:
        return f"accuracy {NONE}: {found['why']}"
    test = found["mcnemar"]
    lines = [
        f"accuracy of the vote {number(found['sc_acc'])}, of the medoid {number(found['gsc_acc'])} "
        f"({found['delta_pp']:+.1f} points) on {counted(found['n'], 'question')}",
        f"only the vote right {found['sc_only']}, only the medoid right {found['gsc_only']}; "
        f"McNemar ({test['method']}) p = {number(test['p'], 4)}",
    ]
    if votes["cast"] < votes["chains"]:
        lines += textwrap.wrap(
            f"! {votes['cast']:,} of {votes['chains']:,} chains voted: one without an answer that can be read casts "
            "no vote, but counts as wrong if it is the medoid.",
            WIDTH,
        )
    return "\n".join(lines)


def clip(text: object, width: int) -> str:
    """Return a text as one line of at most `width` signs that a terminal can show."""
    line = " ".join(str(text).split())
    shown = "".join(sign if sign.isprintable() else "?" for sign in line)
    return shown if len(shown) <= width else f"{shown[: width - 3]}..."


def _short(answer: str | None) -> str:
    return NONE if answer is None else clip(answer, 24)


def _mark(correct: bool | None) -> str:
    return "" if correct is None else " (right)" if correct else " (wrong)"
