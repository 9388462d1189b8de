"""A study as one archive: JSON lines, a table, matrices, checksums, and a README that says what each file is.

What is written follows from the database alone: exporting twice gives the same bytes. People stand in it by number.
Files are packed one after the other, so that no more than one of them is held beside the archive.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from annotation.models import Case
from auditing.formats.canonical import json_document, json_line, json_lines
from auditing.formats.verify_bundle import MANIFEST, SUMS
from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.services.grapheval import chains, parts, results, results_reading, stored
from reasonaudit.lib.csv_view import Cell, write_csv
from reasonaudit.lib.errors import UserError

SCHEMA = "reasonaudit.grapheval-export/1"
CHAINS_AT_ONCE = 1000
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP can say: the archive holds none of its own."""

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
manifest.json     Every file with its size and SHA-256. SHA256SUMS has the same for `sha256sum -c SHA256SUMS`.

A value that could not be computed is null (an empty cell in the table), never 0.
GRCS is a coherence: high means that the chains agree, or that the model repeats itself.
Early answering against gold mostly measures accuracy; early_own compares with the chain's own answer.
"""

COLUMNS = (
    "question", "title", "gold", "chains", "excluded", "facts_mean", "edges_per_fact", "divergence", "grcs",
    "dispersion", "entropy", "n_bins", "topo_uq", "cota", "degree", "eigenvalues", "eccentricity", "semantic_entropy",
    "vote", "vote_correct", "tie", "medoid", "medoid_answer", "medoid_correct", "cell", "early_gold", "early_own",
    "counterfactual", "ablated_accuracy", "ablated_faithfulness", "ablated_distance", "quadrant", "flags", "stale",
)  # fmt: skip


def study_archive(study: ReasoningStudy) -> bytes:
    """Return a study as a ZIP.

    Raises
    ------
    UserError
        422 ``nothing_to_export``: the study has no chain.
    """
    if not study.chains.exists():
        raise UserError(
            "nothing_to_export",
            "The study has no chain yet.",
            "Take the stored chains or sample some first.",
            status=422,
        )
    buffer = io.BytesIO()
    listed: list[dict[str, Any]] = []
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in _files(study):
            _add(archive, name, data)
            listed.append({"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
        listed.sort(key=itemgetter("name"))
        manifest = json_document({"schema": SCHEMA, "study": results_reading.header(study), "files": listed})
        sums = {entry["name"]: entry["sha256"] for entry in listed}
        sums[MANIFEST] = hashlib.sha256(manifest).hexdigest()
        _add(archive, MANIFEST, manifest)
        _add(archive, SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode())
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.create_system, entry.external_attr = 3, 0o100644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def _files(study: ReasoningStudy) -> Iterator[tuple[str, bytes]]:
    yield "README.md", README.encode()
    yield (
        "study.json",
        json_document({**results_reading.header(study), "parameters": study.parameters}),
    )
    cases = list(Case.objects.filter(dataset=study.dataset_id).order_by("pk"))
    yield "questions.jsonl", json_lines(_question(study, case) for case in cases)
    names = {case.pk: case.external_id for case in cases}
    yield "chains.jsonl", b"".join(_chains(study, names))
    yield "judgements.jsonl", json_lines(_judgements(study, names))
    runs = ReasoningRun.objects.filter(study=study).order_by("pk")
    yield "runs.jsonl", json_lines(_run(run) for run in runs)
    document = results.study_document(study)
    yield "results.json", json_document(document)
    yield "questions.csv", write_csv(COLUMNS, map(_row, document["questions"])).data
    scores = QuestionScore.objects.filter(study=study).order_by("case_id")
    yield (
        "scores.jsonl",
        b"".join(
            json_line({"question": names[case], "inputs_sha256": sha256, **document})
            for case, sha256, document in scores.values_list(
                "case_id", "inputs_sha256", "document"
            ).iterator()
        ),
    )
    for number, score in enumerate(scores.only("document", "parts").iterator(chunk_size=10), 1):
        if matrices := _matrices(study, score):
            yield f"matrices/{number}.npz", matrices


def _question(study: ReasoningStudy, case: Case) -> dict[str, Any]:
    return {
        "question": case.external_id,
        "title": case.title,
        "context": case.context,
        "text": case.question,
        "gold": case.reference or None,
        "gold_normal": chains.gold_of(study, case),
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
    texts = chains.step_texts([row.trace for row in rows])
    for row in rows:
        steps = stored.steps_of(row.trace, texts[row.trace_id])
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
        _plain(question["external_id"]),
        _plain(question["title"]),
        _plain(question["gold"]),
        question["n"],
        question["excluded"],
        question["facts_mean"],
        question["edges_per_fact"],
        *(metrics[name] for name in COLUMNS[7:18]),
        _plain(question["sc"]["answer"]),
        question["sc"]["correct"],
        question["sc"]["tie"],
        question["gsc"]["chain"],
        _plain(question["gsc"]["answer"]),
        question["gsc"]["correct"],
        question["cell"],
        *(question[name] for name in ("early_gold", "early_own", "counterfactual")),
        *(ablated.get(name) for name in ("accuracy", "faithfulness", "distance")),
        question["quadrant"],
        " ".join(question["flags"]),
        question["stale"],
    ]


def _plain(text: str | None) -> str | None:
    return None if text is None else text.replace("\x00", "")


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
