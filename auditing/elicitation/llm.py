"""Asking a language model for chains, facts, answers, edits, judgements and ratings.

Chains and brief answers are sampled at a temperature, each with its number as the seed; all else is decoded greedily
(GraphEVAL's paper, section 3: the decomposer at T = 0). Neither makes a reply certain to come again: servers batch, and
many ignore the seed. What is repeatable is what was stored. At most 4096 output tokens.
"""

import dataclasses
import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

from auditing.core.anchor.judge_reply import MOST_REASKS
from auditing.core.grapheval.agreement import CRITERIA
from auditing.core.grapheval.chains import parse_chain, without_thought
from auditing.elicitation.anchor_reading import rating_reply, verdict_reply, verdict_schema
from auditing.elicitation.prompts import elicitation_prompts
from auditing.elicitation.protocol import ElicitAnswer, Elicitation
from auditing.elicitation.reading import (
    PARSER_VERSION,
    judgement_fields,
    judgement_schema,
)
from auditing.elicitation.tasks import (
    CHAIN_TASKS,
    CHECKED_TASKS,
    DRAWN_TASKS,
    FRAMED_TASKS,
    JUDGING_TASKS,
    RATING_TASKS,
    SETTINGS,
    TASKS,
    VERDICT_TASKS,
    Task,
)
from auditing.elicitation.wording import (
    ANSWER_FORMS,
    BOXES_FORM,
    FENCED_AS,
    NO_BOXES_FORM,
    NOT_GIVEN,
    WITHHELD,
)
from auditing.llm.asking import TextReading, ask_until_valid, invalid
from auditing.llm.batch import ask_each
from auditing.llm.completion import Completion
from auditing.llm.json_reply import BadReply
from auditing.llm.pictures import announcement, characters_of, for_the_record, key_of, pictures_of
from auditing.llm.protocol import MAX_OUTPUT_TOKENS, VALID, ChatProvider, ChatRequest, Message
from auditing.prompts.fence import FENCE_VERSION, fence, fence_code
from auditing.prompts.templates import Prompt
from videos.core.cot import format_clock

TEMPERATURE = 0.7
"""The paper's for chains (its appendix B.6 prints 7, a slip)."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_OPENED_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


class LLMElicitor:
    """Asks a chat completion provider.

    Parameters
    ----------
    provider
        Where to ask.
    name
        Model name as the server knows it; ``revision`` is added to the identity where known.
    temperature
        Of the tasks that are sampled, 0 or more; the others have 0.
    max_tokens
        Upper bound on output tokens of every task, hidden thought included.
    prompts
        One for each task; None takes ours, see `elicitation_prompts`.
    reasks
        How often an invalid reply is asked again, with the same parameters; each is an attempt of its own. A rating
        is asked again `MOST_REASKS` times at most, and by default.
    fence_secret
        The installation's key for fence and check codes.
    extra
        Further request fields, sent as they are and part of the key.

    Raises
    ------
    ValueError
        An empty name, a negative number, or a task without a prompt.
    """

    batch_size = 1

    def __init__(
        self,
        provider: ChatProvider,
        name: str,
        *,
        revision: str = "",
        temperature: float = TEMPERATURE,
        top_p: float | None = None,
        max_tokens: int = MAX_OUTPUT_TOKENS,
        prompts: Mapping[Task, Prompt] | None = None,
        reasks: int | None = None,
        fence_secret: bytes = b"",
        extra: Mapping[str, object] | None = None,
    ) -> None:
        if not name:
            raise ValueError("the name of the model is empty")
        if not temperature >= 0:
            raise ValueError(f"temperature must be 0 or more, not {temperature}")
        if reasks is not None and reasks < 0:
            raise ValueError(f"reasks must be 0 or more, not {reasks}")
        self._prompts = dict(elicitation_prompts() if prompts is None else prompts)
        if missing := [task for task in TASKS if task not in self._prompts]:
            raise ValueError(f"there is no prompt for {', '.join(missing)}")
        self.kind = provider.kind
        self.remote = provider.remote
        self.concurrency = provider.concurrency
        self.name = name
        self._provider = provider
        self._revision = revision
        self._temperature = float(temperature)
        self._top_p = top_p
        self._max_tokens = max_tokens
        self._reasks = reasks
        self._secret = fence_secret
        self._extra = dict(extra or {})

    def identity(self) -> Mapping[str, object]:
        """Return model, revision, prompts, parameters and endpoint (never the key)."""
        return {
            "task": "elicit",
            **self._source(),
            "prompts": {task: self.prompt(task) for task in self._prompts},
            "params": {
                "temperature": self._temperature,
                "top_p": self._top_p,
                "max_tokens": self._max_tokens,
                "fence": FENCE_VERSION,
                "parser": PARSER_VERSION,
                **self._extra,
            },
        }

    def prompt(self, task: Task) -> dict[str, str]:
        """Return name and hash of the prompt of a task."""
        prompt = self._prompts[task]
        return {"id": prompt.id, "sha256": prompt.sha256}

    def _source(self) -> dict[str, object]:
        source = self._provider.identity()
        return {
            "kind": self.kind,
            "model": self.name,
            "revision": self._revision or source.get("revision", ""),
            "endpoint": source.get("endpoint", ""),
        }

    def parameters(self, elicitation: Elicitation) -> dict[str, object]:
        """Return all that is sent beside model and messages: how the task is decoded, and its form."""
        return self._chat(elicitation, (Message("user", ""),)).parameters()

    def _chat(
        self,
        elicitation: Elicitation,
        messages: tuple[Message, ...],
        key: str = "",
        inputs: Mapping[str, tuple[str, ...]] | None = None,
    ) -> ChatRequest:
        task, drawn = elicitation.task, elicitation.task in DRAWN_TASKS
        schema = None
        with_check = "check" in self._prompts[task].fields
        if task in JUDGING_TASKS:
            schema = judgement_schema(CRITERIA[task], with_check=with_check)
        elif task in VERDICT_TASKS:
            schema = verdict_schema(task, with_check=with_check)
        return ChatRequest(
            model=self.name,
            messages=messages,
            max_tokens=self._max_tokens,
            temperature=self._temperature if drawn else 0.0,
            top_p=self._top_p if drawn else None,
            seed=elicitation.take if drawn else None,
            response_format=schema,
            extra=self._extra,
            key=key,
            inputs=inputs or {},
        )

    def key(self, elicitation: Elicitation) -> str:
        """Return the cache key: SHA-256 over source, the task's prompt, its parameters, its values, take and pictures.

        The prompts of other tasks are left out, so that a changed one leaves the rest known; so is the version of the
        parsers, since the stored text is read again. Texts are put in Unicode normal form C and stripped.
        """
        content: dict[str, object] = {
            "kind": f"elicit:{elicitation.task}",
            "source": self._source(),
            "fence": FENCE_VERSION,
            "prompt": self.prompt(elicitation.task),
            "params": self.parameters(elicitation),
            "values": {name: unicodedata.normalize("NFC", text).strip() for name, text in elicitation.values},
            "take": elicitation.take,
        }
        if elicitation.task in FRAMED_TASKS:
            content["frames"] = key_of(elicitation.frames)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()

    def request(self, elicitation: Elicitation) -> ChatRequest:
        """Return the chat request: the same question gives the same bytes."""
        messages, check = self._messages(elicitation)
        inputs = {"task": (elicitation.task,), **{name: (text,) for name, text in elicitation.values}}
        if check:
            inputs["check"] = (check,)
        return self._chat(elicitation, messages, self.key(elicitation), inputs)

    def _messages(self, elicitation: Elicitation) -> tuple[tuple[Message, ...], str]:
        prompt = self._prompts[elicitation.task]
        code = fence_code(elicitation.texts, purpose="fence", secret=self._secret)
        check = ""
        if elicitation.task in CHECKED_TASKS and "check" in prompt.fields:
            check = fence_code(elicitation.texts, purpose="check", secret=self._secret, digits=8)
        given = dict(elicitation.values)
        missing = NOT_GIVEN | {cue: WITHHELD[cue] for cue in given.get("withheld", "").split(",") if cue}
        values = {
            name: fence(FENCED_AS[name], text, code) if text.strip() else missing[name]
            for name, text in given.items()
            if name not in SETTINGS
        }
        values |= {name: given[name] for name in SETTINGS if name in given}
        values["answer_form"] = ANSWER_FORMS.get(given.get("answer_kind", ""), "")
        values["check"] = check
        frames = elicitation.frames
        if elicitation.task in FRAMED_TASKS:
            duration = int(given["duration"])
            values["duration"] = format_clock(duration, 1) if duration else "for a time not known"
            values["pictures"] = announcement(frames) if frames else missing["pictures"]
            values["boxes_form"] = BOXES_FORM if frames else NO_BOXES_FORM
        filled = prompt.fill(values)
        last = len(filled) - 1
        return tuple(
            Message(role, text, pictures_of(frames) if place == last else ())
            for place, (role, text) in enumerate(filled)
        ), check

    def prompt_characters(self, elicitation: Elicitation) -> int:
        """Return how long the messages are, pictures as in `characters_of`, for estimates."""
        messages, _ = self._messages(elicitation)
        return sum(len(message.content) + characters_of(message.pictures) for message in messages)

    async def ask_batch(self, elicitations: Sequence[Elicitation]) -> list[ElicitAnswer]:
        """Ask, `concurrency` at a time; raises `LLMPaused` when the run must stop."""
        return await ask_each(elicitations, self._ask, concurrency=self.concurrency)

    async def _ask(self, elicitation: Elicitation) -> ElicitAnswer:
        request = self.request(elicitation)
        check = request.inputs.get("check", ("",))[0]
        asked = await ask_until_valid(
            self._provider,
            request,
            lambda completion: read_reply(elicitation, completion, check),
            reasks=self._reasks_of(elicitation.task),
        )
        return ElicitAnswer(
            status=asked.reading.status,
            value=asked.reading.value,
            error=asked.reading.message,
            model_reported=asked.model_reported,
            prompt_tokens=asked.prompt_tokens,
            completion_tokens=asked.completion_tokens,
            attempts=tuple(
                dataclasses.replace(attempt, raw_request=for_the_record(request, attempt.raw_request))
                for attempt in asked.attempts
            ),
            requests=asked.requests,
            seconds=asked.seconds,
        )

    def _reasks_of(self, task: Task) -> int:
        if task not in RATING_TASKS:
            return 1 if self._reasks is None else self._reasks
        return MOST_REASKS if self._reasks is None else min(self._reasks, MOST_REASKS)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()


def read_reply(elicitation: Elicitation, completion: Completion, check: str = "") -> TextReading:
    """Return the text of a completion, or why it does not count.

    A text is valid whatever it says, with two exceptions. A judgement, a rating or a verdict must be in the form that
    was asked for, with the check code: what a judged text dictated is none. A rating's text is returned without that
    code. A reply that was cut off is valid only as a chain with a step; its last line is left out if it is the
    answer's, which may be half an answer.
    """
    if completion.refusal:
        return invalid("refusal", "The model refused to answer.")
    if completion.finish_reason == "content_filter":
        return invalid("refusal", "The server's content filter stopped the answer.")
    text = _UNSTORABLE.sub("", completion.content)
    is_chain = elicitation.task in CHAIN_TASKS
    if completion.finish_reason == "length":
        if (
            not is_chain
            or _OPENED_THOUGHT.search(said := without_thought(text))
            or not parse_chain(said).steps
        ):
            return invalid("truncated", "The answer was cut off at the output limit. Raise max_tokens.")
        text = _without_cut_answer(text)
    said = without_thought(text).strip()
    if not said:
        if text.strip() or completion.reasoning.strip():
            return invalid("reasoning_only", "The model gave hidden thought but no answer. Raise max_tokens.")
        return invalid("empty", "The answer is empty.")
    try:
        said = _checked(elicitation, said, check)
    except BadReply as bad:
        return invalid(bad.why, bad.message)
    return TextReading(VALID, text.strip() if is_chain else said)


def _checked(elicitation: Elicitation, said: str, check: str) -> str:
    """Return what is kept of a reply; raises `BadReply` where it is not in the form that its task has."""
    task, texts = elicitation.task, elicitation.texts
    if task in JUDGING_TASKS:
        judgement_fields(said, CRITERIA[task], check, texts)
    elif task in VERDICT_TASKS:
        verdict_reply(task, said, dict(elicitation.values), check, texts)
    return rating_reply(said, check, texts) if task in RATING_TASKS else said


def _without_cut_answer(text: str) -> str:
    before, line_end, last = text.rstrip(" \t").rpartition("\n")
    return before + line_end if parse_chain(last).answer is not None else text
