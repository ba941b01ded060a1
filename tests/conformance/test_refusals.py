"""What is refused, with which status and in which words, and what is accepted without a word."""

from tests.conformance.subjects import TOOL, WINDOW, Body, Case, Subject, cases

RUNNER_DIED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)
THINK_WORDS = 'invalid think value: "hard" (must be "high", "medium", "low", true, or false)'
XML = 'invalid format: "\\"xml\\""; expected "json" or a valid JSON Schema object'
NUMBER = 'invalid format: "5"; expected "json" or a valid JSON Schema object'
SCHEMA = "invalid JSON schema in format"
TOO_LONG = "the input length exceeds the context length"
GENERATE, EMBED, SHOW = "/api/generate", "/api/embed", "/api/show"
INTEGERS = [
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "num_thread",
    "num_keep",
    "num_predict",
    "repeat_last_n",
    "seed",
    "top_k",
]
FLOATS = ["temperature", "top_p", "min_p", "typical_p", "repeat_penalty", "presence_penalty", "frequency_penalty"]
LONG = "word " * (2 * WINDOW)


def message(**more: object) -> list[Body]:
    return [{"role": "user", "content": "Say one word."} | more]


def with_pattern(pattern: str) -> Body:
    return {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}


NAMES = [
    Case("unknown", 404, "model 'zz' not found", body={"model": "zz"}),
    Case("without its tag", 404, "model 'STEM' not found", body={"model": "STEM"}),
    Case("none", 400, "model is required", body={"model": ""}),
    Case("null", 400, "model is required", body={"model": None}),
    Case("with a blank", 400, "model is required", body={"model": "a b"}),
    Case(
        "unknown, and more is wrong",
        404,
        "model 'zz' not found",
        body={"model": "zz", "think": True, "options": {"seed": "x"}},
    ),
    Case(
        "unknown, a bad keep_alive",
        400,
        'time: missing unit in duration "-1"',
        body={"model": "zz", "keep_alive": "-1"},
    ),
    Case("generate: unknown", 404, "model 'zz' not found", GENERATE, {"model": "zz"}),
    Case("generate: none", 404, "model '' not found", GENERATE, {"model": ""}),
    Case("generate: with a blank", 404, "model 'a b' not found", GENERATE, {"model": "a b"}),
    Case("embed: unknown", 404, 'model "zz" not found, try pulling it first', EMBED, {"model": "zz"}),
    Case("embed: none", 500, "unqualified name: ...", EMBED, {"model": ""}),
    Case("show: unknown", 404, "model 'zz' not found", SHOW, {"model": "zz"}),
    Case("show: none", 400, "model is required", SHOW, {"model": ""}),
    Case("show: with a blank", 500, "unqualified name: ...a b:latest", SHOW, {"model": "a b"}),
]
OPTIONS = [
    *[Case(n, 500, f'option "{n}" must be of type integer', body={"options": {n: "9"}}) for n in INTEGERS],
    *[Case(n, 500, f'option "{n}" must be of type float32', body={"options": {n: "hot"}}) for n in FLOATS],
    Case("a truth for an integer", 500, 'option "seed" must be of type integer', body={"options": {"seed": True}}),
    Case("a list for an integer", 500, 'option "seed" must be of type integer', body={"options": {"seed": [1]}}),
    Case("stop", 500, 'option "stop" must be of type array', body={"options": {"stop": "end"}}),
    Case(
        "a number among the stops", 500, 'option "stop" must be of an array of strings', body={"options": {"stop": [1]}}
    ),
    Case("use_mmap", 500, 'option "use_mmap" must be of type boolean', body={"options": {"use_mmap": 1}}),
    Case("of a preload", 500, 'option "seed" must be of type integer', body={"messages": [], "options": {"seed": "x"}}),
    Case("after thinking", 400, '"NAME" does not support thinking', body={"think": True, "options": {"seed": "x"}}),
    Case("generate: an option", 500, 'option "seed" must be of type integer', GENERATE, {"options": {"seed": "x"}}),
    Case("embed: an option", 500, 'option "seed" must be of type integer', EMBED, {"options": {"seed": "x"}}),
]
KEEP_ALIVE = [
    Case("no unit", 400, 'time: missing unit in duration "-1"', body={"keep_alive": "-1"}),
    Case("unknown unit", 400, 'time: unknown unit "x" in duration "5x"', body={"keep_alive": "5x"}),
    Case("a blank in it", 400, 'time: unknown unit " m" in duration "5 m"', body={"keep_alive": "5 m"}),
    Case("empty", 400, 'time: invalid duration ""', body={"keep_alive": ""}),
    Case("a word", 400, 'time: invalid duration "soon"', body={"keep_alive": "soon"}),
    Case("beyond 292 years", 400, 'time: invalid duration "9999999h"', body={"keep_alive": "9999999h"}),
    Case("a truth", 400, "Unsupported type: 'bool'", body={"keep_alive": True}),
    Case("a list", 400, "Unsupported type: '[]interface {}'", body={"keep_alive": []}),
    Case("an object", 400, "Unsupported type: 'map[string]interface {}'", body={"keep_alive": {}}),
    Case("generate: no unit", 400, 'time: missing unit in duration "-1"', GENERATE, {"keep_alive": "-1"}),
    Case("embed: no unit", 400, 'time: missing unit in duration "-1"', EMBED, {"keep_alive": "-1"}),
]
FORMATS = [
    Case("another word", 500, XML, body={"format": "xml"}),
    Case("a number", 500, NUMBER, body={"format": 5}),
    Case("an unknown type", 500, SCHEMA, body={"format": {"type": "banana"}}),
    Case("a loose pattern", 500, SCHEMA, body={"format": with_pattern("a+")}),
    Case("a class in a pattern", 500, RUNNER_DIED, body={"format": with_pattern(r"^\d+$")}),
    Case("3000 repetitions", 500, RUNNER_DIED, body={"format": {"type": "string", "minLength": 3000}}),
    Case("a lost reference", 500, SCHEMA, body={"format": {"$ref": "#/$defs/b"}}),
    Case("not", 500, SCHEMA, body={"format": {"not": {"type": "null"}}}),
    Case("streamed", 500, XML, body={"format": "xml", "stream": True}),
    Case("generate: another word", 500, XML, GENERATE, {"format": "xml"}),
    Case("generate: a loose pattern", 500, SCHEMA, GENERATE, {"format": with_pattern("a+")}),
]
ABILITIES = [
    Case("thinking", 400, '"NAME" does not support thinking', body={"think": True}),
    Case("a level of thinking", 400, '"NAME" does not support thinking', body={"think": "high"}),
    Case("an unknown level", 400, THINK_WORDS, body={"think": "hard"}),
    Case("tools", 400, "...NAME does not support tools", body={"tools": [TOOL]}),
    Case(
        "an image that is none", 400, "illegal base64 data at input byte 0", body={"messages": message(images=["***"])}
    ),
    Case("too many logprobs", 400, "top_logprobs must be between 0 and 20", body={"top_logprobs": 50}),
    Case("generate: thinking", 400, '"NAME" does not support thinking', GENERATE, {"think": True}),
    Case("generate: a level", 400, "...", GENERATE, {"think": "high"}),
    Case("generate: an unknown level", 400, THINK_WORDS, GENERATE, {"think": "hard"}),
    Case("generate: a broken template", 500, "template: ...", GENERATE, {"template": "{{ .Prompt"}),
    Case("generate: a suffix", 400, "...NAME does not support insert", GENERATE, {"suffix": "x"}),
    Case(
        "generate: raw with a system text",
        400,
        "raw mode does not support template, system, or context",
        GENERATE,
        {"raw": True, "system": "x"},
    ),
    Case(
        "generate: raw with a context",
        400,
        "raw mode does not support template, system, or context",
        GENERATE,
        {"raw": True, "context": [1]},
    ),
]
WINDOWS = [
    Case("chat", 400, TOO_LONG, body={"content": LONG, "truncate": False}),
    Case("streamed", 400, TOO_LONG, body={"content": LONG, "truncate": False, "stream": True}),
    Case("generate", 400, TOO_LONG, GENERATE, {"prompt": LONG, "truncate": False}),
    Case("generate: raw", 400, TOO_LONG, GENERATE, {"prompt": LONG, "raw": True, "truncate": False}),
    Case("embed", 400, TOO_LONG, EMBED, {"input": LONG, "truncate": False}),
]


@cases(NAMES)
def test_names(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


@cases(OPTIONS)
def test_options_of_a_wrong_type(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


@cases(KEEP_ALIVE)
def test_forms_of_keep_alive_that_are_none(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


@cases(FORMATS)
def test_formats_that_cannot_be_kept(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


@cases(ABILITIES)
def test_what_the_models_cannot_do(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


@cases(WINDOWS)
def test_too_long_and_not_to_be_cut(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))


ACCEPTED = [
    Case("think false", 200, body={"think": False}),
    Case("think null", 200, body={"think": None}),
    Case("an unknown option", 200, body={"options": {"num_contxt": 5}}),
    Case("an old option of any type", 200, body={"options": {"mirostat": "x"}}),
    Case("a fraction for an integer", 200, body={"options": {"num_predict": 1.9}}),
    Case("null options", 200, body={"options": {"stop": None, "use_mmap": None, "seed": None}}),
    Case("a negative seed", 200, body={"options": {"seed": -7}}),
    Case("a large seed", 200, body={"options": {"seed": 2**40}}),
    Case("one less than nothing to look back", 200, body={"options": {"repeat_last_n": -1}}),
    Case("less than nothing to look back", 200, body={"options": {"repeat_last_n": -5}}),
    Case("any top_k and top_p", 200, body={"options": {"top_k": -1, "top_p": 5}}),
    Case("no stops", 200, body={"options": {"stop": []}}),
    Case("an unknown field", 200, body={"zzz": 1}),
    Case("another case of the name", 200, body={"model": "UPPER"}),
    Case("empty format", 200, body={"format": ""}),
    Case("null format", 200, body={"format": None}),
    Case("no tools", 200, body={"tools": []}),
    Case("no images", 200, body={"messages": message(images=[])}),
    Case("an image for a model without eyes", 200, body={"messages": message(images=["aGk="])}),
    Case("an unknown role", 200, body={"messages": message(role="robot")}),
    Case("no role", 200, body={"messages": [{"content": "x"}]}),
    Case("a tool's message", 200, body={"messages": message(role="tool")}),
    Case("a system message alone", 200, body={"messages": message(role="system")}),
    Case("the assistant's message last", 200, body={"messages": [*message(), {"role": "assistant", "content": "The"}]}),
    Case("two of the assistant's last", 200, body={"messages": [*message(), *2 * message(role="assistant")]}),
    Case("an empty one of the assistant's alone", 200, body={"messages": [{"role": "assistant"}]}),
    Case("no content", 200, body={"messages": [{"role": "user"}]}),
    Case("null content", 200, body={"messages": message(content=None)}),
    Case("empty content", 200, body={"messages": message(content="")}),
    Case("all of Unicode", 200, body={"messages": message(content="naïve 漢字 🙂 \u202e \ud800")}),
    Case("a null byte", 200, body={"messages": message(content="a\0b")}),
    Case("a line without end", 200, body={"messages": message(content="abcdefgh" * 10_000)}),
    Case("an unknown word in a schema", 200, body={"format": {"type": "boolean", "zzz": 1}}),
    Case("a pattern of letters", 200, body={"format": with_pattern("^a+$")}),
    Case("a reference into $defs", 200, body={"format": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}}),
    Case("a date", 200, body={"format": {"type": "string", "format": "date"}}),
    Case("an empty schema", 200, body={"format": {}}),
    Case("logprobs", 200, body={"logprobs": True, "top_logprobs": 2}),
    Case("generate: logprobs", 200, "", GENERATE, {"logprobs": True}),
    Case("generate: a template", 200, "", GENERATE, {"template": "{{ .Prompt }}"}),
    Case("generate: a system text", 200, "", GENERATE, {"system": "Be brief."}),
    Case("generate: an image", 200, "", GENERATE, {"images": ["aGk="]}),
    Case("generate: think false", 200, "", GENERATE, {"think": False}),
    Case("generate: raw", 200, "", GENERATE, {"raw": True}),
]


@cases(ACCEPTED)
def test_what_is_accepted_without_a_word(subject: Subject, case: Case) -> None:
    body = dict(case.body)
    if body.get("model") == "UPPER":
        body["model"] = subject.model.upper()
    answer = case._replace(body=body).ask(subject)
    case.holds(subject, answer)
    assert (answer.json()["done"], answer.json()["model"]) == (True, body.get("model", subject.model))


REPEAT_PENALTY = Case("", 500, "...", body={"options": {"repeat_penalty": 0}})


def test_a_penalty_of_nothing_is_no_reply(subject: Subject) -> None:
    REPEAT_PENALTY.holds(subject, REPEAT_PENALTY.ask(subject))
