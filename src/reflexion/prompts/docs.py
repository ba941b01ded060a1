"""What each role of the documentation pipeline is told: the words of docs.toml around source, draft and fix."""

from typing import TYPE_CHECKING

from reflexion.config import Role
from reflexion.evidence.assemble import outline
from reflexion.ollama.reply import Message
from reflexion.rounds import Round, best_round
from reflexion.text import delimit

if TYPE_CHECKING:
    from reflexion.context import DocsContext
    from reflexion.pipelines.docs import DocsState

# The conversation is cut back to source, best draft and fix when it would pass this share of the window.
FULL = 0.7


def generator_messages(state: "DocsState", context: "DocsContext") -> list[Message]:
    """Return what the generator is told.

    Same beginning every round, so that the server's prompt cache holds; what changes comes last.
    """
    words = context.prompts
    source = delimit(state["source"], "SOURCE")
    beginning = [
        Message("system", words.fill("GENERATOR", "system")),
        Message(
            "user",
            words.fill("GENERATOR", "draft", name=state["name"], source=source, facts=outline(context.facts)),
        ),
    ]
    if not state["rounds"]:
        return beginning
    last, best = state["rounds"][-1], best_round(state["rounds"])
    so_far = [Message(**message) for message in state["conversation"]]  # type: ignore[arg-type]
    if best is None or not last["draft"]:
        asked = words.fill("GENERATOR", "redraft", trouble=last["trouble"])
        grown = [*so_far, Message("user", asked)]
        return grown if context.models.fits(Role.GENERATOR, grown, FULL) else [*beginning, Message("user", asked)]
    standing = _standing(best, context.quality_score_bar)
    revise = Message("user", words.fill("GENERATOR", "revise", standing=standing, fix=best["fix"]))
    latest = revise
    if best is not last:
        text = words.fill(
            "GENERATOR", "revise_best", standing=standing, fix=best["fix"], best=delimit(best["draft"], "PAGE")
        )
        latest = Message("user", text)
    grown = [*so_far, latest]
    if context.models.fits(Role.GENERATOR, grown, FULL):
        return grown
    return [*beginning, Message("assistant", best["draft"]), revise]


def _standing(best: Round, bar: int) -> str:
    if best["score"] is None:
        return f"There is no readable score yet; {bar} of 100 is needed."
    return f"The score is {best['score']} of 100; {bar} is needed."


def critic_messages(state: "DocsState", context: "DocsContext") -> list[Message]:
    """Return what the critic is told: rules and source first, the same every round, the document last."""
    return [
        Message("system", context.prompts.fill("CRITIC", "system")),
        Message(
            "user",
            context.prompts.fill(
                "CRITIC",
                "review",
                name=state["name"],
                source=delimit(state["source"], "SOURCE"),
                document=delimit(state["draft"], "DOCUMENT"),
            ),
        ),
    ]


def adjudicator_messages(state: "DocsState", context: "DocsContext", best: Round) -> list[Message]:
    """Return what the adjudicator is told: source, best draft and the last concern about it."""
    return [
        Message("system", context.prompts.fill("ADJUDICATOR", "system")),
        Message(
            "user",
            context.prompts.fill(
                "ADJUDICATOR",
                "settle",
                name=state["name"],
                source=delimit(state["source"], "SOURCE"),
                document=delimit(best["draft"], "DOCUMENT"),
                concern=best["fix"],
            ),
        ),
    ]
