"""Logic-LM's chain-of-thought outputs: one model's reasoning and letter for each question (arXiv 2305.12295).

One JSON array of `id, question, answer, predicted_reasoning, predicted_answer`; the model is in the file's name, such
as CoT_FOLIO_dev_MODEL.json. The outputs of several models share their questions, so they can go into one data set. The
reasoning comes as it is, also where it is one line of noise.
"""

from __future__ import annotations

import re

from annotation.formats.chains import SENTENCES, chain_of_reply
from annotation.formats.fields import Row, accept_all, short_title, stem
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

_FILE_NAME = re.compile(r"(?:CoT|Direct)_[^_]+_(?:dev|test|train)_(.+)")
_LETTER = re.compile(r"[\W_]*([A-H])[\W_]*")
_OPTIONS = {
    "true, false, or uncertain": {"A": "True", "B": "False", "C": "Uncertain"},
    "true, false, or unknown": {"A": "True", "B": "False", "C": "Unknown"},
    "true or false": {"A": "True", "B": "False"},
}


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """One chain a question; S1 is the question, the reasoning is split by the caller."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        found = _FILE_NAME.fullmatch(stem(filename))
        generator = (found[1] if found else stem(filename))[:160]
        records = iter_records(text, collector, array_is_usual=True)
        accept_all(records, lambda row, _: _trace(row, generator), collector)
        if collector.traces:
            collector.note(None, "these outputs hold the questions without the premises they ask about.")
    return collector.result()


def _trace(row: Row, generator: str) -> TraceRecord:
    row.require("id", "question", "predicted_reasoning")
    question, case_id = row.text("question").strip(), row.text("id").strip()
    written = row.text("predicted_answer").strip()
    # Behind the letter the model often goes on with the next example of its prompt.
    letter = _LETTER.fullmatch(written.partition("\n")[0])
    raw_text, chain = chain_of_reply(
        SENTENCES,
        row.text("predicted_reasoning"),
        letter[1] if letter else None,
        "choice",
        1,
        warnings=[] if letter or not written else [{"code": "unreadable_answer"}],
        more={"answer_written": written[:200] or None},
    )
    lowered = question.casefold()
    options = next((given for words, given in _OPTIONS.items() if words in lowered), None)
    return TraceRecord(
        id=f"{case_id}-{generator}",
        case_id=case_id,
        domain=row.collector.options.domain or "general",
        title=short_title(question),
        segments=(SegmentRecord(question),),
        raw_text=raw_text,
        question=question,
        reference=row.text("answer").strip(),
        generator=generator,
        meta={"source": "Logic-LM outputs", "chain": chain},
        case_meta={"answer_kind": "choice", **({"options": options} if options else {})},
    )
