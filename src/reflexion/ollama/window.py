"""How many tokens a prompt is, before it is sent, and whether the server read all of it, afterwards.

There is no endpoint that counts tokens, so the estimate is made from characters and errs on the large side:
source code on common tokenizers takes about 3.0 to 3.6 characters a token (measured with SmolLM2 on this
project's own sources); a character outside ASCII is counted as a token of its own.
"""

import re
from collections.abc import Iterable

from reflexion.errors import PromptTooLarge

CHARACTERS_PER_TOKEN = 3.0
# No tokenizer in use packs more than this on average; whitespace runs, which some do pack, are folded first.
MOST_CHARACTERS_PER_TOKEN = 10.0
TOKENS_PER_MESSAGE = 8
SMALLEST_REPLY = 1024


def estimate_tokens(texts: Iterable[str]) -> int:
    """Return about how many tokens a conversation of these message texts takes, rather too many than too few."""
    total = 0.0
    for text in texts:
        ascii_count = sum(map(len, re.findall(r"[\x00-\x7f]+", text)))
        total += ascii_count / CHARACTERS_PER_TOKEN + (len(text) - ascii_count) + TOKENS_PER_MESSAGE
    return int(total) + 1


def room_for_reply(texts: Iterable[str], window: int, num_predict: int, what: str) -> int:
    """Return the reply's token limit: ``num_predict``, or what the prompt leaves of the window if that is less.

    Raises PromptTooLarge when less than a useful reply is left.
    """
    prompt = estimate_tokens(texts)
    room = window - prompt
    if room < min(num_predict, SMALLEST_REPLY):
        raise PromptTooLarge(
            f"{what}: the prompt is about {prompt} tokens, too many for a window of {window} with room for a reply;"
            f" raise num_ctx or split the file"
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
