"""What the audit of a study's chains says: faithful wins by people and judges, agreement, and where they differ."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

from django.contrib.auth import get_user_model
from django.urls import reverse

from auditing.core.grapheval.agreement import (
    CRITERIA,
    WORDS,
    FaithfulReport,
    faithful_report,
    joint_words,
    word_agreement,
)
from auditing.core.grapheval.decoding import Wins
from auditing.core.grapheval.study_records import IMPORTED, PERSON
from auditing.models import ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import SHORT, by_source, disputed_questions
from auditing.selectors.reasoning_words import source_words

PEOPLE = "people"
MOST_DIFFERENCES = 100

Words = dict[int, str]


def audit_results(
    study: ReasoningStudy,
    kind: str,
    *,
    viewer: Any = None,
    names: bool = True,
    chains: Collection[int] | None = None,
) -> dict[str, Any]:
    """The results of one kind of judgement.

    Parameters
    ----------
    viewer
        The person who looks; called "You".
    names
        Whether other people are called by name; else Person A, Person B.
    chains
        Only what was said of these chains; of all by default. Who still judges is told of no others.

    Returns
    -------
    ``sources``: who judged, with ``judged`` and ``unsure`` counts by criterion; ``faithful`` (soundness only): wins
    and shares by source, all people together first; ``kappa``: each pair with a person in it, by criterion;
    ``differences``: chains on which a person and a judge differ, at most `MOST_DIFFERENCES` of ``differing``.
    """
    said = {
        source: kept
        for source, words in by_source(study, kind).items()
        if (kept := {chain: one for chain, one in words.items() if chains is None or chain in chains})
    }
    people = [source for source in said if _is_person(source)]
    title = _names(people, viewer, names)
    title |= {source: source_words(source) for source in said if source not in title}
    ordered = [*people, *(source for source in said if source not in people)]
    by_criterion: dict[str, dict[str, Words]] = {
        one: {source: _words(said[source], one) for source in ordered} for one in CRITERIA[kind]
    }
    differences = _differences(by_criterion, people, title)
    return {
        "kind": kind,
        "sources": [_source(source, title[source], said[source], by_criterion) for source in ordered],
        "faithful": _faithful(study, by_criterion["sound"], people, title) if kind == "soundness" else [],
        "kappa": _kappa(by_criterion, people, ordered, title),
        "differing": len(differences),
        "differences": _located(study, differences[:MOST_DIFFERENCES]),
    }


def _is_person(source: str) -> bool:
    return source.startswith(PERSON)


def _words(said: Mapping[int, Mapping[str, str]], criterion: str) -> Words:
    return {chain: answers[criterion] for chain, answers in said.items() if criterion in answers}


def _names(people: Sequence[str], viewer: Any, names: bool) -> dict[str, str]:
    users = {
        f"{PERSON}{user.pk}": user for user in get_user_model().objects.filter(pk__in=map(_user_id, people))
    }
    found, letters = {}, 0
    for source in people:
        if viewer is not None and source == f"{PERSON}{viewer.pk}":
            found[source] = "You"
        elif names:
            user = users[source]
            found[source] = user.get_full_name() or user.get_username()
        else:
            letters += 1
            found[source] = f"Person {letters if letters > 26 else chr(64 + letters)}"
    return found


def _user_id(source: str) -> int:
    return int(source.removeprefix(PERSON))


def _source(
    source: str, title: str, said: Mapping[int, Any], by_criterion: Mapping[str, Mapping[str, Words]]
) -> dict[str, Any]:
    kind = "person" if _is_person(source) else "imported" if source.startswith(IMPORTED) else "judge"
    return {
        "source": source,
        "name": title,
        "kind": kind,
        "chains": sum(1 for answers in said.values() if answers),
        "criteria": [_counts(one, list(words[source].values())) for one, words in by_criterion.items()],
    }


def _counts(criterion: str, words: Sequence[str]) -> dict[str, Any]:
    counts = {word: words.count(word) for word in WORDS}
    judged = sum(counts.values())
    return {
        "criterion": criterion,
        "name": SHORT[criterion],
        **counts,
        "judged": judged,
        "share": counts["yes"] / judged if judged else None,
    }


def _faithful(
    study: ReasoningStudy, words: Mapping[str, Words], people: Sequence[str], title: Mapping[str, str]
) -> list[dict[str, Any]]:
    disputes = [question.dispute for question in disputed_questions(study)]
    rows = []
    if len(people) > 1:
        report = faithful_report(disputes, joint_words(words[source] for source in people))
        rows.append(_faithful_row(PEOPLE, f"All {len(people)} people, by majority", report))
    rows += [
        _faithful_row(source, title[source], faithful_report(disputes, said))
        for source, said in words.items()
    ]
    return rows


def _faithful_row(source: str, name: str, report: FaithfulReport) -> dict[str, Any]:
    wins = report.wins
    return {
        "source": source,
        "name": name,
        "sc_only": None if wins is None else _wins(wins.sc_only),
        "gsc_only": None if wins is None else _wins(wins.gsc_only),
        "difference_pp": None if wins is None or wins.difference is None else 100 * wins.difference,
        "unjudged_wins": report.unjudged_wins,
        "unjudged_paths": report.unjudged_paths,
        "unsure_paths": report.unsure_paths,
    }


def _wins(wins: Wins) -> dict[str, Any]:
    return {
        "wins": wins.wins,
        "faithful": wins.faithful,
        "share": wins.share,
        "path_share": wins.path_share,
    }


def _kappa(
    by_criterion: Mapping[str, Mapping[str, Words]],
    people: Sequence[str],
    ordered: Sequence[str],
    title: Mapping[str, str],
) -> list[dict[str, Any]]:
    rows = []
    for criterion, words in by_criterion.items():
        for first, second in combinations(ordered, 2):
            if first not in people:
                continue
            found = word_agreement(words[first], words[second])
            rows.append(
                {
                    "a": first,
                    "b": second,
                    "a_name": title[first],
                    "b_name": title[second],
                    "criterion": criterion,
                    "name": SHORT[criterion],
                    "n": found.kappa.n,
                    "kappa": found.kappa.kappa,
                    "agreement": found.kappa.agreement,
                    "why_not": found.why_not,
                }
            )
    return rows


def _differences(
    by_criterion: Mapping[str, Mapping[str, Words]], people: Sequence[str], title: Mapping[str, str]
) -> list[tuple[int, str, list[dict[str, str]]]]:
    """Chains on which a person and a judge (or an imported word) differ, by criterion, with everybody's word."""
    found = []
    for criterion, words in by_criterion.items():
        for chain in sorted({chain for said in words.values() for chain in said}):
            by_people = {words[source][chain] for source in people if chain in words[source]}
            by_judges = {said[chain] for name, said in words.items() if name not in people and chain in said}
            if by_people and by_judges and len(by_people | by_judges) > 1:
                everybody = [
                    {"name": title[source], "word": said[chain]}
                    for source, said in words.items()
                    if chain in said
                ]
                found.append((chain, criterion, everybody))
    return found


def _located(
    study: ReasoningStudy, differences: Sequence[tuple[int, str, list[dict[str, str]]]]
) -> list[dict[str, Any]]:
    chains = (
        StudyChain.objects.filter(pk__in={chain for chain, *_ in differences})
        .select_related("case")
        .only("number", "case__external_id", "case__title")
        .in_bulk()
    )
    return [
        {
            "chain": chains[chain].number,
            "case": chains[chain].case_id,
            "title": chains[chain].case.title,
            "criterion": SHORT[criterion],
            "words": words,
            "url": reverse("auditing:reasoning_question", args=[study.slug, chains[chain].case_id])
            + f"#chain-{chains[chain].number}",
        }
        for chain, criterion, words in differences
    ]
