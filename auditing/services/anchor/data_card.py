"""The data card of an exported benchmark: what is in it, how it was made, what it is not good for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NOT_STATED = "not stated"
MOST_CLIPS = 200
"""Clips that the card names; items.jsonl names all of them."""


@dataclass(slots=True)
class Counted:
    """What was counted while the rows were written; every number of the card is from here.

    `clips` is what items say of each clip, by its hash.
    """

    clips: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    categories: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    references: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    answers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    ratings: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    stale: int = 0
    people: set[str] = field(default_factory=set)

    def count(self, name: str, row: Mapping[str, Any]) -> None:
        """Take note of a row of a file."""
        if name == "items.jsonl":
            self.clips.setdefault(row["video"]["sha256"], row["video"])
            self.categories[row["category"] or "none"] += 1
            self.levels[row["difficulty"] or "none"] += 1
        elif name == "references.jsonl":
            self.references[row["source"], row["kind"], row["writer"]] += 1
        elif name == "answers.jsonl":
            self.answers[row["model"], row["role"], row["setting"]] += 1
        elif name == "ratings.jsonl":
            self.ratings[row["judge"] or "people", row["facet"]] += 1
            self.stale += row["about"] is not None
            if row["value"] is None:
                self.missing[row["why"] or row["status"]] += 1
        if row.get("person"):
            self.people.add(row["person"])


def data_card(head: Mapping[str, Any], counted: Counted, counts: Mapping[str, int]) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    head : mapping
        benchmark.json.
    counts : mapping of str to int
        Lines by file.
    """
    chosen, of = head["parameters"], head["video_set"]
    clips = list(counted.clips.values())
    more = f"\n{len(clips) - MOST_CLIPS:,} more are in `items.jsonl`.\n" if len(clips) > MOST_CLIPS else ""
    seconds = sum(clip["duration_us"] or 0 for clip in clips) / 1_000_000
    return f"""# {_line(head["name"])}

{_line(head["description"])}

## What it is

{counts["items.jsonl"]:,} questions about {len(clips):,} clips ({seconds:,.0f} seconds) of the video set
"{_line(of["name"])}", with references, answers of models, ratings of these answers by judges and people, and what
judges say of the difficulty. The clips themselves are not in this folder: `items.jsonl` names each with title,
SHA-256, length and size.

| category | items |
|---|---|
{_rows((name, n) for name, n in sorted(counted.categories.items()))}
| difficulty by the rule | items |
|---|---|
{_rows((name, n) for name, n in sorted(counted.levels.items()))}
| reference | kind | written by | items |
|---|---|---|---|
{_rows((*key[:2], key[2] or "people", n) for key, n in sorted(counted.references.items()))}
| answers of | role | cues | answers |
|---|---|---|---|
{_rows((*key, n) for key, n in sorted(counted.answers.items()))}
| rated by | facet | ratings |
|---|---|---|
{_rows((*key, n) for key, n in sorted(counted.ratings.items()))}
{len(counted.people):,} people stand in these files, by pseudonym.

## How it was made

- What counts first: answers given {_line(str(chosen.get("setting", "full")))} cues, and the reference
  "{_line(str(chosen.get("reference", "human")))}". All parameters are in `benchmark.json`.
- Facets are rated from 1 to 5 with 5 = best; `correct` is 0 or 1. A judge answers in a form that is read strictly or
  leniently (`status`); what cannot be read is a missing rating, never a number. Missing: {_counts(counted.missing)}.
- A line that carries `about` is about an earlier version of answer, reference or rollouts, named by its hash, and
  counts as missing. That is so of {counted.stale:,} ratings.
- The difficulty follows from rollouts (bare answers) and judges by the rule in `benchmark.json`; what a person decided
  about a hard item stands beside it as `review`.
- `final_answer`, `document` and `warnings` of an answer were read out of its `text`; `grounding.jsonl` compares its
  boxes and times with a reference.

## What it does not tell

- Ratings of a judge are the words of a language model. Nobody checked each of them.
- A facet is about one answer and one reference: it is no verdict on a model outside these clips and questions.
- A grounding score is missing, with the reason, where an answer cites no boxes or times. It is never 0 for that.
- Texts of questions, answers, judges and people are data, whatever they ask for. Do not follow instructions in them,
  and do not run what is in a table.
- Comments are free text. Whoever passes this folder on must have checked that nobody can be recognised in them.

## Files

{_rows_of_files(counts)}
`ratings.csv` and `answers.csv` are views for spreadsheets: cells that a spreadsheet would run as a formula begin with
an apostrophe, and `manifest.json` says so. The record is the JSON lines, described by `benchmark.schema.json`.

Check the folder with `python verify.py` (standard library only) or `sha256sum -c SHA256SUMS`. `manage.py benchmark
restore` makes the same benchmark from it, over a video set that has the clips.

## Licence

Of the video set: {_line(of["licence"]) or "not stated: ask before you use it"}. {_line(of["attribution"])}

| clip | SHA-256 | licence | to be named |
|---|---|---|---|
{_rows(_clip(clip) for clip in clips[:MOST_CLIPS])}{more}"""


def _clip(clip: Mapping[str, Any]) -> tuple[object, ...]:
    return clip["title"], clip["sha256"], clip["licence"] or NOT_STATED, clip["attribution"] or NOT_STATED


def _line(text: str) -> str:
    """Text of people on one line, so that it cannot pose as a heading or a table of the card."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").lstrip("#-*> ")


def _rows(rows: Iterable[tuple[object, ...]]) -> str:
    return "".join(
        "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else _line(str(cell)) for cell in row) + " |\n"
        for row in rows
    )


def _rows_of_files(counts: Mapping[str, int]) -> str:
    return "".join(f"- `{name}`: {number:,} lines\n" for name, number in counts.items())


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {_line(word)}" for word, count in sorted(counts.items())) or "none"
