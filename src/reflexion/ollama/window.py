"""How many tokens a prompt is, before it is sent, and whether the server read all of it, afterwards.

There is no endpoint that counts tokens, so the estimate is made from characters and errs on the large side:
source code on common tokenizers takes about 3.0 to 3.6 characters a token (measured with SmolLM2 on this
project's own sources); a character outside ASCII is counted as a token of its own. What a server counts of whole
prompts then corrects the estimate, model by model.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

from reflexion.errors import PromptTooLarge

CHARACTERS_PER_TOKEN = 3.0
# No tokenizer in use packs more than this on average; whitespace runs, which some do pack, are folded first.
MOST_CHARACTERS_PER_TOKEN = 10.0
TOKENS_PER_MESSAGE = 8
SMALLEST_REPLY = 1024

# A learned estimate stays between these shares of the first one: 5 characters a token and 1.
LEAST_SHARE, MOST_SHARE = 0.6, 3.0
# What is added to the largest share seen, before an estimate is lowered to it.
MARGIN = 1.05
# Of a shorter prompt the template around the messages is too large a part.
LEAST_TO_LEARN_FROM = 500
PROMPTS_TO_LOWER = 3
PROMPTS_KEPT = 32
BEGINNINGS_KEPT = 256

Estimate = Callable[[Iterable[str]], int]


def estimate_tokens(texts: Iterable[str]) -> int:
    """Return about how many tokens a conversation of these message texts takes, rather too many than too few."""
    return int(_estimate(texts)) + 1


def _estimate(texts: Iterable[str]) -> float:
    total = 0.0
    for text in texts:
        ascii_count = sum(map(len, re.findall(r"[\x00-\x7f]+", text)))
        total += ascii_count / CHARACTERS_PER_TOKEN + (len(text) - ascii_count) + TOKENS_PER_MESSAGE
    return total


class TokenEstimate:
    """``estimate_tokens`` for one model, corrected by what its server counted. Safe to use from several threads.

    It begins as ``estimate_tokens``. A prompt that took more tokens than thought raises it at once. It is lowered only
    after several prompts, to the largest share of them and a margin. It says too many rather than too few.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._share = 1.0
        self._shares: deque[float] = deque(maxlen=PROMPTS_KEPT)
        self._beginnings: deque[int] = deque(maxlen=BEGINNINGS_KEPT)

    @property
    def share(self) -> float:
        """What was learned, as a share of ``estimate_tokens``: 1.0 at first."""
        return self._share

    def expect(self, share: float) -> None:
        """Begin from what another run has learned; what this one learned already stays."""
        with self._lock:
            if not self._shares:
                self._share = min(max(share, LEAST_SHARE), MOST_SHARE)

    def __call__(self, texts: Iterable[str]) -> int:
        """Return about how many tokens a conversation of these message texts takes."""
        return int(_estimate(texts) * self._share) + 1

    def learn(self, texts: Sequence[str], prompt_tokens: int, window: int) -> None:
        """Take in what a server counted of a prompt that it answered; of ``window`` tokens or more, it was cut.

        Nothing is learned from a short prompt. Some servers leave out of the count what they had in their cache, so a
        prompt that begins as an earlier one never lowers the estimate, and a count that no tokenizer can reach is
        left aside.
        """
        thought = _estimate(texts)
        if not 0 < prompt_tokens < window or thought < LEAST_TO_LEARN_FROM or prompt_tokens < thought * LEAST_SHARE:
            return
        share = min(prompt_tokens / thought, MOST_SHARE)
        with self._lock:
            beginning = hash(tuple(texts[:2]))
            if beginning not in self._beginnings:
                self._beginnings.append(beginning)
                self._shares.append(share)
            elif share > self._share:
                self._shares.append(share)
            self._share = self._learned(share)

    def _learned(self, share: float) -> float:
        largest = max(self._shares, default=1.0)
        if share > self._share or len(self._shares) >= PROMPTS_TO_LOWER:
            return min(max(largest * MARGIN, LEAST_SHARE), MOST_SHARE)
        return self._share


class TokenEstimates:
    """The estimates of a run, one a model. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_model: dict[str, TokenEstimate] = {}

    def of(self, model: str) -> TokenEstimate:
        """Return the model's own estimate, the same object every time."""
        with self._lock:
            return self._by_model.setdefault(model, TokenEstimate())


def room_for_reply(
    texts: Iterable[str], window: int, num_predict: int, what: str, estimate: Estimate = estimate_tokens
) -> int:
    """Return the reply's token limit: ``num_predict``, or what the prompt leaves of the window if that is less.

    Raises PromptTooLarge when less than a useful reply is left.
    """
    prompt = estimate(texts)
    room = window - prompt
    if room < min(num_predict, SMALLEST_REPLY):
        raise PromptTooLarge(
            f"{what}: the prompt is about {prompt} tokens, too many for a window of {window} with room for a reply"
            f" of {min(num_predict, SMALLEST_REPLY)}; raise num_ctx or split the file"
        )
    return min(num_predict, room)


def check_read_whole(texts: Iterable[str], prompt_tokens: int, window: int, what: str) -> None:
    """Raise PromptTooLarge when the server evaluated clearly fewer tokens than were sent: it cut the prompt."""
    least = sum(len(re.sub(r"\s+", " ", text)) for text in texts) / MOST_CHARACTERS_PER_TOKEN
    if prompt_tokens >= window:
        raise PromptTooLarge(f"{what}: the prompt filled the window of {window} tokens and was cut by the server")
    if prompt_tokens < least:
        raise PromptTooLarge(
            f"{what}: the server read {prompt_tokens} tokens of a prompt of at least {int(least)}: it was cut"
        )
