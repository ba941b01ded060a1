"""ask(role, messages): the one way in which reflexion calls a model."""

import contextlib
import copy
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from reflexion.budget import Budget
from reflexion.config import Role, ServerSettings
from reflexion.errors import (
    PromptTooLarge,
    ReflexionError,
    ReplyCut,
    ReplyEmpty,
    ReplyRejected,
    StreamBroken,
)
from reflexion.ollama import structured
from reflexion.ollama.client import Clients
from reflexion.ollama.faults import ThinkingUnsupported, translate
from reflexion.ollama.gate import Gate
from reflexion.ollama.guard import Deadlines, RunawayDetector, Watchdog
from reflexion.ollama.reply import Binding, CallStats, Message, Progress, Received, Reply, Request
from reflexion.ollama.window import TokenEstimates, estimate_tokens, room_for_reply

if TYPE_CHECKING:
    from reflexion.journal import Answers, Journal

# What is shown to a model of its own unreadable reply: enough to see the mistake, never a runaway's megabytes.
LONGEST_QUOTE = 1_000


@dataclass(frozen=True, slots=True)
class Backoff:
    """How passing faults (refused, reset, 503, a stream that ends early) are retried."""

    attempts: int = 5
    first_s: float = 0.5
    longest_s: float = 8.0


class _PassingFault(Exception):
    """A fault that is worth another try; ``error`` is what to raise when there are no more."""

    def __init__(self, error: ReflexionError) -> None:
        super().__init__(str(error))
        self.error = error


class _Reading(NamedTuple):
    """What one structured request gave: a valid reply, or the text and what is wrong with it."""

    reply: Reply | None
    text: str
    trouble: str
    rejected: ReplyRejected | None = None


class Models:
    """The models of a run, by role. Safe to use from several threads."""

    def __init__(
        self,
        bindings: Mapping[Role, Binding],
        base_url: str,
        server: ServerSettings | None = None,
        backoff: Backoff | None = None,
        *,
        gate: Gate | None = None,
        budget: Budget | None = None,
        journal: "Journal | None" = None,
    ) -> None:
        self.bindings = bindings
        self._gate = gate
        self._journal = journal
        self._answers: Answers | None = None
        self._budget = budget or Budget()
        server = server or ServerSettings()
        self._url = base_url
        self._backoff = backoff or Backoff()
        self._deadlines = Deadlines(server.first_token_s, server.idle_s, server.total_s)
        self._clients = Clients(base_url, server)
        self._estimates = TokenEstimates()
        self._cannot_think: set[str] = set()
        self._ignores_schema: set[str] = set()

    def at(self, thread: str) -> "Models":
        """Return these models for one file, named by the thread of its checkpoints.

        What its step under way has asked before is answered from the journal. Without a journal, or with thread "",
        nothing is kept. Raises sqlite3.Error.
        """
        models = copy.copy(self)
        models._answers = self._journal.begin(thread) if self._journal and thread else None
        return models

    def abreast(self, wanted: int) -> int:
        """Return how many of ``wanted`` parts of a file may be asked about side by side: one after another is 1."""
        return self._gate.window_size(wanted) if self._gate else 1

    @contextlib.contextmanager
    def parts(self, count: int) -> Iterator[Sequence[contextlib.AbstractContextManager[object]]]:
        """Yield a place at the gate for each part of a file that is asked about in a thread of its own."""
        if self._gate is None:
            yield [contextlib.nullcontext()] * count
            return
        with self._gate.parts(count) as seats:
            yield seats

    def fits(self, role: Role, messages: Sequence[Message], share: float = 1.0) -> bool:
        """Return whether a conversation stays within ``share`` of the role's window, by the estimate."""
        binding = self.bindings[role]
        return self._estimates.of(binding.model)(message.text for message in messages) <= binding.window * share

    @property
    def learned(self) -> dict[str, float]:
        """What was learned about the tokens of each model, for ``expect`` of another run."""
        return {binding.model: self._estimates.of(binding.model).share for binding in self.bindings.values()}

    def expect(self, learned: Mapping[str, float]) -> None:
        """Begin from what another run has learned about tokens."""
        for model, share in learned.items():
            self._estimates.of(model).expect(share)

    def estimate(self, texts: Iterable[str]) -> int:
        """Return about how many tokens these texts take for the model that takes most of them."""
        kept = list(texts)
        return max(self._estimates.of(binding.model)(kept) for binding in self.bindings.values())

    def ask(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: type[BaseModel] | None = None,
        *,
        repair: str = "",
        attempt: int = 1,
        progress: Progress | None = None,
        log: list[CallStats] | None = None,
    ) -> Reply:
        """Send a conversation to the role's model and return its whole reply.

        With ``schema`` an unreadable reply gets one repair round, which quotes it and says ``repair``; after that
        ``Reply.parsed`` is None and ``Reply.trouble`` says why. ``attempt`` counts from 1 and varies the seed, so
        that a repeated question is not the same draw. Every request made is appended to ``log``.

        Raises PromptTooLarge, ReplyRejected and its kinds, DeadlineExceeded, ServerFault, ServerError and its kinds,
        BudgetSpent, and what the gate was closed with.
        """
        binding = self.bindings[role]
        settings = binding.settings
        request = Request(
            binding,
            messages,
            num_predict=self._room(binding, messages, settings.num_predict or 1),
            seed=None if settings.seed is None else settings.seed + attempt - 1,
            think=self._think(binding),
            progress=progress,
            log=[] if log is None else log,
        )
        self._budget.check()
        # The turn holds retries and the repair round too; deadlines begin inside of it.
        with self._turn(binding) as request.waited_s:
            if schema is None:
                return self._ask_text(request)
            return self._ask_structured(request, schema, repair)

    def _turn(self, binding: Binding) -> contextlib.AbstractContextManager[float]:
        return self._gate.turn(binding.role, binding.model) if self._gate else contextlib.nullcontext(0.0)

    def _room(self, binding: Binding, messages: Sequence[Message], num_predict: int) -> int:
        texts, what = [message.text for message in messages], f"{binding.role} ({binding.model})"
        return room_for_reply(texts, binding.window, num_predict, what, self._estimates.of(binding.model))

    def _ask_text(self, request: Request) -> Reply:
        try:
            return self._send(request)
        except (ReplyCut, ReplyEmpty) as error:
            larger = self._larger(request, error)
            if larger is None:
                raise
            return self._send(larger)

    def _larger(self, request: Request, error: ReplyRejected) -> Request | None:
        """Plan the second chance of a reply that ran out of tokens or held nothing: more room, no thinking."""
        estimate = self._estimates.of(request.binding.model)
        room = request.binding.window - estimate(message.text for message in request.messages)
        more = min(request.num_predict * 2, room)
        stops_thinking = bool(request.think) and request.binding.can_think
        if more <= request.num_predict and not stops_thinking and isinstance(error, ReplyCut):
            return None
        return replace(
            request, num_predict=max(more, request.num_predict), think=False if stops_thinking else request.think
        )

    def _ask_structured(self, request: Request, schema: type[BaseModel], repair: str) -> Reply:
        model = request.binding.model
        if model not in self._ignores_schema:
            request.schema = structured.schema_for(schema)
        first = self._read(request, schema)
        if first.reply is not None:
            return first.reply
        try:
            second = self._read(self._repair(request, first, repair), schema)
        except PromptTooLarge as error:
            return Reply(first.text, "", request.log[-1], trouble=str(error))
        return second.reply or Reply(second.text, "", request.log[-1], trouble=second.trouble)

    def _repair(self, request: Request, failed: "_Reading", repair: str) -> Request:
        """Plan the repair round: quote the reply, say what is wrong, and give way where that was the cause."""
        if failed.rejected is not None:
            # More room would only make a verdict that was cut longer; without thinking it may fit.
            request = replace(request, think=False) if request.think else request
        elif request.schema is not None and not structured.holds_json(failed.text):
            # Some models drop the schema in silence, most often with thinking off: ask in words from now on.
            self._ignores_schema.add(request.binding.model)
            request = replace(request, schema=None, think=None if request.think is False else request.think)
        messages = [
            *request.messages,
            Message("assistant", failed.text[:LONGEST_QUOTE] or "(no answer)"),
            Message("user", f"{repair}\n{failed.trouble}".strip()),
        ]
        binding = request.binding
        return replace(request, messages=messages, num_predict=self._room(binding, messages, request.num_predict))

    def _read(self, request: Request, schema: type[BaseModel]) -> "_Reading":
        try:
            reply = self._send(request)
        except StreamBroken:
            raise
        except ReplyRejected as error:
            return _Reading(None, error.text, str(error), error)
        value, trouble = structured.read(reply.text, schema)
        return _Reading(reply._replace(parsed=value) if value is not None else None, reply.text, trouble)

    def _think(self, binding: Binding) -> bool | str | None:
        if not binding.can_think or binding.model in self._cannot_think:
            return None
        wanted = binding.settings.thinking
        return {"off": False, "on": True}.get(wanted or "off", wanted)

    def _send(self, request: Request) -> Reply:
        try:
            return self._send_with_retries(request)
        except ThinkingUnsupported:
            self._cannot_think.add(request.binding.model)
            return self._send_with_retries(replace(request, think=None))

    def _send_with_retries(self, request: Request) -> Reply:
        backoff = self._backoff
        retrying = Retrying(
            stop=stop_after_attempt(backoff.attempts),
            wait=wait_exponential_jitter(max=backoff.longest_s, multiplier=backoff.first_s, jitter=backoff.first_s),
            retry=retry_if_exception_type(_PassingFault),
            reraise=True,
        )
        try:
            return retrying(self._send_once, request)
        except _PassingFault as fault:
            raise fault.error from fault

    def _send_once(self, request: Request) -> Reply:
        self._budget.check()
        if self._gate is not None:
            self._gate.check_open()
        started = time.monotonic()
        outcome = "failed"
        received = self._kept(request)
        try:
            if not received.is_whole:
                with Watchdog(self._deadlines, request.what) as watchdog:
                    self._stream(request, watchdog, received, started)
            received.check(request)
            outcome = "ok"
            self._learn(request, received)
        except (ReplyRejected, _PassingFault) as error:
            outcome = type(error.error if isinstance(error, _PassingFault) else error).__name__
            raise (_PassingFault(error) if isinstance(error, StreamBroken) else error) from error.__cause__
        finally:
            stats = received.stats(request, outcome, time.monotonic() - started)
            request.waited_s = 0.0  # Only the first request of a turn has waited for it.
            request.log.append(stats)
            self._budget.spend(_tokens_of(request, received, stats))
        return Reply(received.text, received.thinking, stats)

    def _kept(self, request: Request) -> Received:
        """Return what the journal has for a request, nothing received where it has nothing."""
        kept = self._answers.find(_question(request)) if self._answers else None
        return Received() if kept is None else Received.from_json(kept)

    def _keep(self, request: Request, received: Received, wall_s: float) -> None:
        """Put a whole reply into the journal, be it fit for use or not: nobody has to give it twice."""
        received.wall_s = wall_s
        if self._answers:
            self._answers.keep(_question(request), received.as_json())

    def _learn(self, request: Request, received: Received) -> None:
        """Correct the model's estimate by what the server counted of a prompt that it read whole."""
        texts = [message.text for message in request.messages]
        self._estimates.of(request.binding.model).learn(texts, received.prompt_tokens, request.binding.window)

    def _stream(self, request: Request, watchdog: Watchdog, received: Received, started: float) -> None:
        chunks = self._clients.stream(request, watchdog)
        runaway = RunawayDetector(request.what)
        try:
            for chunk in chunks:
                watchdog.beat()
                runaway.feed(received.take(chunk))
                if received.is_whole and not received.wall_s:
                    self._keep(request, received, time.monotonic() - started)
                if request.progress:
                    request.progress(received.records, time.monotonic() - started, received.tail)
        except ReplyRejected as error:
            error.text = received.text
            raise
        except Exception as error:  # translate() raises what it does not know
            watchdog.check()
            fault = translate(error, self._url, request.binding.model)
            raise (_PassingFault(fault.error) if fault.passing else fault.error) from error
        finally:
            chunks.close()
        watchdog.check()


def _tokens_of(request: Request, received: Received, stats: CallStats) -> int:
    """Return what a request cost; where it broke off, nobody counted the prompt, so that is an estimate.

    What the journal answered cost an earlier run, and nothing now.
    """
    if received.is_kept:
        return 0
    prompt = stats.prompt_tokens
    if received.records and not prompt:
        prompt = estimate_tokens(message.text for message in request.messages)
    return prompt + stats.reply_tokens


def _question(request: Request) -> str:
    """Return what a request asks, as the journal knows it.

    How much room and thinking it has is left out: that follows from what was learned since the process began.
    """
    asked = [request.binding.role.value, request.seed, *request.messages]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
