"""Two calls to the model of each role, as a run makes them: one of one token, and one that is bound to a schema."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field

from reflexion.config import Config
from reflexion.doctor.report import Check, Fact
from reflexion.errors import ReflexionError, ReplyCut, ReplyEmpty, ServerError
from reflexion.ollama.address import ollama_command
from reflexion.ollama.binding import Fit
from reflexion.ollama.reply import Binding, CallStats, Message, total
from reflexion.ollama.roles import Backoff, Models

# Long enough to load a large model from a slow disk; a hanging server must not hold the doctor longer.
CALL_S = 120.0
BACKOFF = Backoff(attempts=2, first_s=0.2, longest_s=0.5)
SCHEMA_TOKENS = 64
SAY = [Message("user", "Say yes.")]
GRADE = [Message("user", 'Answer with a JSON object and nothing else, such as {"number": 7}.')]


class Number(BaseModel):
    """The smallest answer that has a schema with a range, as a verdict has."""

    model_config = ConfigDict(strict=True)

    number: int = Field(ge=0, le=100)


def check_calls(config: Config, base_url: str, fits: Sequence[Fit]) -> Iterator[Check]:
    """Call every role's model; when the server goes away the rest is not called."""
    gone = ""
    for fit in fits:
        if fit.binding is None:
            yield Check("call", "note", "not called: its model cannot be used", subject=fit.role)
        elif gone:
            yield Check("call", "note", f"not called: {gone}", subject=fit.role)
        else:
            text = _call_text(config, base_url, fit.binding)
            yield text
            gone = "the server went away" if text.facts.get("gone") else ""
            if text.level != "error":
                yield _call_schema(config, base_url, fit.binding)


def _models(config: Config, base_url: str, binding: Binding, tokens: int) -> Models:
    settings = binding.settings.model_copy(update={"num_predict": tokens})
    short = {name: min(getattr(config.server, name), CALL_S) for name in ("first_token_s", "idle_s", "total_s")}
    bound = Binding(binding.role, binding.model, settings, binding.window, binding.can_think, binding.digest)
    return Models({binding.role: bound}, base_url, config.server.model_copy(update=short), BACKOFF)


def _call_text(config: Config, base_url: str, binding: Binding) -> Check:
    log: list[CallStats] = []
    try:
        _models(config, base_url, binding, 1).ask(binding.role, SAY, log=log)
    except ReplyCut:
        pass  # It has more to say than the one token that it was asked for, which is as it should be.
    except ReplyEmpty as error:
        return Check("call", "warning", f"{error}", _other(binding), binding.role, seconds=total(log, "wall_s"))
    except ReflexionError as error:
        return _failed("call", error, binding, log, base_url)
    first = log[0]
    loading = f", {first.load_s:.1f} s of it loading" if first.load_s >= 0.1 else ""
    facts: dict[str, Fact] = {"load_s": first.load_s, "prompt_s": first.prompt_s, "prompt_tokens": first.prompt_tokens}
    message = f"{binding.model} answers{loading}"
    return Check("call", "ok", message, subject=binding.role, seconds=first.wall_s, facts=facts)


def _call_schema(config: Config, base_url: str, binding: Binding) -> Check:
    thinks = binding.can_think and binding.settings.thinking not in (None, "off")
    tokens = (binding.settings.num_predict or SCHEMA_TOKENS) if thinks else SCHEMA_TOKENS
    log: list[CallStats] = []
    try:
        reply = _models(config, base_url, binding, tokens).ask(binding.role, GRADE, Number, log=log)
    except ReflexionError as error:
        return _failed("schema", error, binding, log, base_url)
    took = total(log, "wall_s")
    facts: dict[str, Fact] = {"requests": len(log), "parsed": reply.parsed is not None}
    if reply.parsed is None:
        message = f"{binding.model} does not keep to a schema ({reply.trouble})"
        return Check("schema", "warning", message, _other(binding), binding.role, seconds=took, facts=facts)
    if len(log) > 1:
        message = f"{binding.model} keeps to a schema only when asked twice"
        return Check("schema", "warning", message, _other(binding), binding.role, seconds=took, facts=facts)
    message = f"{binding.model} keeps to a schema"
    return Check("schema", "ok", message, subject=binding.role, seconds=took, facts=facts)


def _failed(name: str, error: ReflexionError, binding: Binding, log: Sequence[CallStats], base_url: str) -> Check:
    gone = isinstance(error, ServerError)
    helps = ollama_command("serve", base_url) if gone else f"{_other(binding)}   (the server's log says more)"
    took = total(log, "wall_s") if log else None
    return Check(name, "error", str(error), helps, binding.role, 3, took, {"gone": gone})


def _other(binding: Binding) -> str:
    return f"reflexion docs --model {binding.role}=NAME"
