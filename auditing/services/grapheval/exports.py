"""A study as files: JSON lines, a table, matrices, checksums, and a README that says what each file is.

What is written follows from the database alone: exporting twice gives the same bytes. People stand in it by number.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction

from annotation.models import Case
from auditing.core.grapheval.findings import METRIC_NAMES
from auditing.formats import verify_bundle
from auditing.formats.bundle import BundleError, verify, write_bundle
from auditing.formats.canonical import json_document, json_line, json_lines
from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_steps import steps_by_trace
from auditing.services.exports import Export
from auditing.services.grapheval import parts, results, results_reading
from auditing.services.grapheval.answers import gold_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.csv_view import Cell, write_csv
from reasonaudit.lib.errors import UserError

SCHEMA = "reasonaudit.grapheval-export/1"
VERIFIER = Path(verify_bundle.__file__)
CHAINS_AT_ONCE = 1000
SCORES_AT_ONCE = 10

README = """\
A GraphEVAL study of reasonaudit
================================

study.json        The study: data set, models, parameters, the kind of answers.
questions.jsonl   A question a line: text, options, gold answer as written and in normal form.
chains.jsonl      A chain a line, alternatives too: steps, answer, facts, what was odd, answers to prefixes of
                  its facts (early) and to edited steps (counterfactual). `excluded` says why it is not in the pool.
scores.jsonl      The document of a question a line: graphs, votes, medoid, metrics, what is missing and why.
judgements.jsonl  What people (by number), judges and the data's authors say of chains.
runs.jsonl        A run a line with its manifest: code, libraries, models, options.
results.json      Everything over all questions: decoding, faithful wins, correlations, ablation, topology.
questions.csv     One row a question, for spreadsheets. Text that could be run as a formula has an apostrophe in
                  front; the JSON lines beside it have none.
matrices/N.npz    Of the question in line N of scores.jsonl: chain (numbers), distances, nged, terminal,
                  node_cost, edge_cost, each of shape (chains, chains). numpy.load reads them.
manifest.json     Every file with its size and SHA-256. SHA256SUMS has the same for `sha256sum -c SHA256SUMS`;
                  `python verify.py .` also finds files that do not belong here.

A value that could not be computed is null (an empty cell in the table), never 0.
GRCS is a coherence: high means that the chains agree, or that the model repeats itself.
Early answering against gold mostly measures accuracy; early_own compares with the chain's own answer.
"""

COLUMNS = (
    "question", "title", "gold", "chains", "excluded", "facts_mean", "edges_per_fact", *METRIC_NAMES,
    "vote", "vote_correct", "tie", "medoid", "medoid_answer", "medoid_correct", "cell", "early_gold", "early_own",
    "counterfactual", "ablated_accuracy", "ablated_faithfulness", "ablated_distance", "quadrant", "flags", "stale",
)  # fmt: skip


def export_study(study: ReasoningStudy, folder: Path, *, by: Any) -> Export:
    """Write a study; the export is done only when its checksums hold.

    Parameters
    ----------
    folder
        Made if it is not there; it must hold nothing but an earlier export.
    by
        Who asked, for the record.

    Raises
    ------
    UserError
        422 ``nothing_to_export``: the study has no chain. ``folder_unusable``, ``export_failed``: the folder cannot be
        used, or does not hold what was written.
    """
    if not study.chains.exists():
        raise UserError(
            "nothing_to_export",
            "The study has no chain yet.",
            "Take the stored chains or sample some first.",
            status=422,
        )
    files, escaped = _files(study)
    counts = {
        name.removesuffix(".jsonl"): data.count(b"\n")
        for name, data in files.items()
        if name.endswith(".jsonl")
    }
    manifest = {"schema": SCHEMA, "study": results_reading.header(study), "counts": counts}
    try:
        written = write_bundle(folder, files, manifest, escaped=escaped)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    if problems := verify(folder):
        raise UserError(
            "export_failed",
            f"The export in {folder} is not whole: {problems[0]}",
            "Export again.",
            status=409,
        )
    with transaction.atomic():
        record_event(
            stream="exports",
            actor=by,
            action="export",
            subject_type="reasoning_study",
            subject_id=study.slug,
            data={"counts": counts},
        )
    return Export(folder, written)


def _files(study: ReasoningStudy) -> tuple[dict[str, bytes], list[str]]:
    """Return the files by name, and the names of the tables in which cells were changed for spreadsheets."""
    cases = list(Case.objects.filter(dataset=study.dataset_id).order_by("pk"))
    names = {case.pk: case.external_id for case in cases}
    runs = ReasoningRun.objects.filter(study=study).order_by("pk")
    document = results.study_document(study)
    table = write_csv(COLUMNS, map(_row, document["questions"]))
    files = {
        "README.md": README.encode(),
        "verify.py": VERIFIER.read_bytes(),
        "study.json": json_document({**results_reading.header(study), "parameters": study.parameters}),
        "questions.jsonl": json_lines(_question(study, case) for case in cases),
        "chains.jsonl": b"".join(_chains(study, names)),
        "judgements.jsonl": json_lines(_judgements(study, names)),
        "runs.jsonl": json_lines(_run(run) for run in runs),
        "results.json": json_document(document),
        "questions.csv": table.data,
    }
    lines = []
    scores = QuestionScore.objects.filter(study=study).order_by("case_id")
    for number, score in enumerate(scores.iterator(chunk_size=SCORES_AT_ONCE), 1):
        head = {"question": names[score.case_id], "inputs_sha256": score.inputs_sha256}
        lines.append(json_line({**head, **score.document}))
        if matrices := _matrices(study, score):
            files[f"matrices/{number}.npz"] = matrices
    files["scores.jsonl"] = b"".join(lines)
    return files, ["questions.csv"] if table.escaped else []


def _question(study: ReasoningStudy, case: Case) -> dict[str, Any]:
    return {
        "question": case.external_id,
        "title": case.title,
        "context": case.context,
        "text": case.question,
        "gold": case.reference or None,
        "gold_normal": gold_of(study, case),
        "meta": case.meta,
    }


def _chains(study: ReasoningStudy, names: Mapping[int, str]) -> Iterator[bytes]:
    rows = (
        StudyChain.objects.filter(study=study)
        .select_related("trace")
        .defer("trace__raw_text", "trace__stored_relations")
        .order_by("case_id", "role", "number")
    )
    numbers = dict(StudyChain.objects.filter(study=study).values_list("pk", "number"))
    some: list[StudyChain] = []
    for row in rows.iterator(chunk_size=CHAINS_AT_ONCE):
        some.append(row)
        if len(some) == CHAINS_AT_ONCE:
            yield json_lines(_chain_rows(some, names, numbers))
            some = []
    yield json_lines(_chain_rows(some, names, numbers))


def _chain_rows(
    rows: Sequence[StudyChain], names: Mapping[int, str], numbers: Mapping[int, int]
) -> Iterator[dict[str, Any]]:
    steps_of = steps_by_trace([row.trace for row in rows])
    for row in rows:
        steps = steps_of[row.trace_id]
        yield {
            "question": names[row.case_id],
            "role": row.role,
            "chain": row.number,
            "forbidden": None if row.forbidden_id is None else numbers.get(row.forbidden_id),
            "trace": row.trace.external_id,
            "generator": row.trace.generator,
            "steps": [
                {"index": step.index, "text": step.text, "depends_on": list(step.depends_on)}
                for step in steps
            ],
            "answer": row.answer,
            "normal_answer": row.normal_answer,
            "excluded": row.excluded or None,
            "facts": row.facts,
            "fact_source": row.fact_source,
            "fact_warnings": row.fact_warnings,
            "early": row.early,
            "counterfactual": row.counterfactual,
        }


def _judgements(study: ReasoningStudy, names: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    rows = ChainJudgement.objects.filter(study=study).select_related("chain")
    people: dict[int, int] = {}
    for row in rows.order_by("chain__case_id", "chain__role", "chain__number", "kind", "pk"):
        who = row.source
        if row.user_id is not None:
            who = f"person {people.setdefault(row.user_id, len(people) + 1)}"
        yield {
            "question": names[row.chain.case_id],
            "role": row.chain.role,
            "chain": row.chain.number,
            "kind": row.kind,
            "by": who,
            "answers": row.answers,
            "note": row.note,
        }


def _run(run: ReasoningRun) -> dict[str, Any]:
    return {
        "run": run.pk,
        "step": run.step,
        "model": run.model,
        "options": run.options,
        "choices": run.choices,
        "state": run.state,
        "manifest": run.manifest,
    }


def _row(question: Mapping[str, Any]) -> list[Cell]:
    metrics, ablated = question["metrics"], question["ablation"] or {}
    return [
        question["external_id"],
        question["title"],
        question["gold"],
        question["n"],
        question["excluded"],
        question["facts_mean"],
        question["edges_per_fact"],
        *(metrics[name] for name in METRIC_NAMES),
        question["sc"]["answer"],
        question["sc"]["correct"],
        question["sc"]["tie"],
        question["gsc"]["chain"],
        question["gsc"]["answer"],
        question["gsc"]["correct"],
        question["cell"],
        *(question[name] for name in ("early_gold", "early_own", "counterfactual")),
        *(ablated.get(name) for name in ("accuracy", "faithfulness", "distance")),
        question["quadrant"],
        " ".join(question["flags"]),
        question["stale"],
    ]


def _matrices(study: ReasoningStudy, score: QuestionScore) -> bytes:
    found = parts.unpack(bytes(score.parts))
    if found is None:
        return b""
    distance = study.parameters.get("distance", {})
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        chain=np.array([row["chain"] for row in score.document["chains"]], dtype=np.int64),
        distances=found.distances(distance.get("beta", 0.4), distance.get("gamma", 5.0)),
        nged=found.nged,
        terminal=found.terminal,
        node_cost=found.node_cost,
        edge_cost=found.edge_cost,
    )
    return buffer.getvalue()
