"""Page of one question of a GraphEVAL study: its chains, distances, medoid, faithfulness and scores."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.models import Case
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_words import counted
from auditing.services.grapheval.question_pages import question_document
from auditing.views.reasoning_parameters import setting_rows

# The document of more chains is fetched by the page instead of standing in its HTML.
INLINE_CHAINS = 40
# Answers that the bar of votes tells apart; the others are one part.
MOST_ANSWERS = 5
LONGEST_ANSWER = 18
# The narrowest bar, the space beside its words, and the width of a letter, in pixels.
BAR_PIXELS, BAR_PADDING, LETTER_PIXELS = 268, 3, 7.4
STALE = "Out of date: chains, facts or settings changed after this score. Run “Compare and score” again."
ALIKE = 0.005  # mean distances are written with two decimals


def reasoning_question(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One question: head and a table of chains from the server, the drawings by the island."""
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    question = get_object_or_404(Case, pk=pk, dataset=study.dataset_id)
    page = question_document(study, question)
    document = page["document"]
    context: dict[str, Any] = {
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "case": question,
        "page": page,
        "document": document,
        "ranked": sorted(document["chains"], key=lambda entry: entry["rank"]) if document else [],
        "out": [chain for chain in page["chains"] if chain["excluded"]],
        "payload": page if len(page["chains"]) <= INLINE_CHAINS else None,
        "source": reverse("api:reasoning-question", args=[study.slug, question.pk]),
        "trace_link": reverse("auditing:trace_detail", args=[0]),
        "counts": counts(page),
        "takeaway": takeaway(document) if document else "",
        "votes": list(vote_parts(document)) if document else [],
        "settings": setting_rows(study),
        "stale": STALE if page["stale"] else "",
    }
    return render(request, "auditing/reasoning_question.html", context)


def counts(page: Mapping[str, Any]) -> str:
    """Chains, their steps and facts in words, of the pool."""
    pool = [chain for chain in page["chains"] if not chain["excluded"]]
    steps = sorted(len(chain["steps"]) for chain in pool)
    facts = sum(len(chain["facts"]) for chain in pool)
    said = [counted(len(pool), "chain")]
    if steps:
        span = f"{steps[0]}" if steps[0] == steps[-1] else f"{steps[0]} to {steps[-1]}"
        said = [f"{said[0]} of {span} step{'' if steps[-1] == 1 else 's'}", counted(facts, "fact")]
    if out := len(page["chains"]) - len(pool):
        said.append(f"{out:,} more not in the pool")
    return ", ".join(said)


def takeaway(document: Mapping[str, Any]) -> str:
    """One sentence about how the two rules decide, and the distances that tell why."""
    gsc, vote = document["gsc"]["answer"], document["votes"]["answer"]
    inside = {group["answer"]: group for group in document["groups"]}
    if document["medoid"] is None:
        return "There is no medoid: no chain is in the pool."
    if gsc is None:
        return "The medoid has no answer that could be read, so it counts as wrong."
    if vote == gsc:
        share = next((entry["count"] for entry in document["votes"]["counts"] if entry["answer"] == gsc), 0)
        return (
            f"Vote and medoid agree on “{gsc}”, with {share} of {document['votes']['valid']} valid answers."
        )
    near, far = (_inside(inside.get(answer)) for answer in (gsc, vote))
    start = f"Vote and medoid disagree: the vote says “{vote}”, the medoid “{gsc}”."
    if near is None or far is None:
        return start
    ours, theirs = f"the “{gsc}” chains {near:.2f}", f"inside the “{vote}” chains {far:.2f}"
    if abs(near - far) < ALIKE:
        return f"{start} Mean distance inside {ours}, {theirs}: alike."
    tight = "the medoid lies in the tighter group" if near < far else "the medoid lies in the looser group"
    return f"{start} Mean distance inside {ours}, {theirs}: {tight}."


def vote_parts(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Parts of the bar of votes, most first, as percentages of all chains in the pool."""
    votes, n = document["votes"], document["n"]
    if not n:
        return
    shown = votes["counts"][:MOST_ANSWERS]
    rest = sum(entry["count"] for entry in votes["counts"][MOST_ANSWERS:])
    entries = [
        {
            "words": entry["answer"],
            "count": entry["count"],
            "look": {True: "good", False: "bad", None: "plain"}[entry["correct"]],
            "chosen": entry["answer"] == votes["answer"],
        }
        for entry in shown
    ]
    if rest:
        entries.append({"words": "others", "count": rest, "look": "plain", "chosen": False})
    if none := n - votes["valid"]:
        entries.append({"words": "no answer", "count": none, "look": "none", "chosen": False})
    at = 0
    for entry in entries:
        width = 100 * entry["count"] / n
        yield {
            **entry,
            "x": round(100 * at / n, 3),
            "width": round(width, 3),
            "label": vote_label(entry, width),
        }
        at += entry["count"]


def vote_label(entry: Mapping[str, Any], width: float) -> str:
    """What is written in a part of the bar that is `width` per cent wide: as much as has room, whole words only."""
    mark = {"good": "✓ ", "bad": "✕ "}.get(entry["look"], "")
    words = (
        entry["words"]
        if len(entry["words"]) <= LONGEST_ANSWER
        else f"{entry['words'][: LONGEST_ANSWER - 1]}…"
    )
    count = f"{entry['count']:,}"
    chosen = " · SC" if entry["chosen"] else ""
    room = width * BAR_PIXELS / 100 - 2 * BAR_PADDING
    tried = (f"{mark}{words}: {count}{chosen}", f"{mark}{words}: {count}", f"{words}: {count}", count)
    return next((label for label in tried if len(label) * LETTER_PIXELS <= room), "")


def _inside(group: Mapping[str, Any] | None) -> float | None:
    return None if group is None else group["mean_distance"]
