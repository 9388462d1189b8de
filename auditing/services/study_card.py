"""The data card of an exported study: what is in it, how it was made, what it is not good for."""

from collections import Counter
from collections.abc import Mapping

from annotation.models import Study
from annotation.selectors.reference_labels import reference_labels, segments_of

# These grow by an import itself, and the card must stay the same.
NOT_COUNTED = ("events.jsonl",)
LABELS = ("correct", "uncertain", "incorrect")


def study_card(study: Study, files: Mapping[str, bytes]) -> str:
    """Return the card as Markdown; every number in it is counted, none is written by hand."""
    dataset = study.dataset
    segments = segments_of(study)
    references = reference_labels(study)
    by_label = Counter(row.label or "none yet" for row in references.values())
    by_status = Counter(row.status for row in references.values())
    unblinded = sum(not row.blinded for row in references.values())
    items = {segment.item_id for segment in segments}
    labelling = study.members.filter(part="physician").count()
    versions = ", ".join(str(row.number) for row in study.guidelines.exclude(published_at=None)) or "none"
    invented = "Cases and reasoning are invented for demonstration.\n\n" if dataset.invented else ""
    rows = "\n".join(f"| {label} | {by_label.get(label, 0)} |" for label in (*LABELS, "none yet"))
    return f"""# {_line(study.name)}

{invented}{_line(study.description)}

## What it is

{len(items)} cases with {len(segments)} judged segments from the data set "{_line(dataset.name)}", labelled by
{labelling} people (overlap {study.overlap} a case, blinding "{study.blinding}", guideline versions: {versions}).
The segments were written by language models; the labels were given by people who saw neither an audit nor each
other's labels before they handed theirs in, unless a label says `unblinded`.

| reference label | segments |
|---|---|
{rows}

Where they come from: {_counts(by_status)}. {unblinded} rest on a label or a decision that was made while the audit
could be seen.

## How the reference label of a segment is found

A final decision of an adjudicator, else the label on which all who labelled the case agree, else the only label where
one person was asked, else none. For the binary task Correct counts as 1 and Incorrect and Uncertain as 0; that mapping
is not stored in any label.

## What it does not tell

- A label says what a physician thought of one segment in its case. It is no medical advice and no verdict on a model.
- Audits (`audits.jsonl`) describe how a trace supports itself, not whether it is true.
- Comments are free text. Whoever passes this folder on must have checked that nobody can be recognised in them.
- People are named by pseudonyms; times of work are in the files, and the people knew that.

## Files

{_files(files)}
`labels.csv` is a view for spreadsheets: cells that a spreadsheet would run as a formula begin with an apostrophe, and
`manifest.json` says so. The record is the JSON lines, described by `study.schema.json`.

Check the folder with `python verify.py` (standard library only) or `sha256sum -c SHA256SUMS`. `manage.py import_study`
makes the same study from it.

## Licence

{_line(dataset.licence) or "Not stated: ask before you use it."} {_line(dataset.attribution)}
"""


def _line(text: str) -> str:
    """Text of people on one line, so that it cannot pose as a heading or a table of the card."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").lstrip("#-*> ")


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) or "none"


def _files(files: Mapping[str, bytes]) -> str:
    lines = []
    for name in sorted(files):
        counted = name.endswith((".jsonl", ".csv")) and name not in NOT_COUNTED
        rows = f": {files[name].count(bytes([10]))} lines" if counted else ""
        lines.append(f"- `{name}`{rows}\n")
    return "".join(lines)
