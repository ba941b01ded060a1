"""Calls that wait for their turn, and calls that are counted: the gate and the budget where a model is asked."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reflexion.budget import Budget
from reflexion.config import Role, RoleSettings, ServerSettings
from reflexion.errors import BudgetSpent, Cancelled, StreamBroken
from reflexion.ollama.gate import Gate
from reflexion.ollama.reply import Binding, CallStats, Message
from reflexion.ollama.roles import Backoff, Models
from reflexion.verdict import Critique
from tests.ollama_double import OllamaDouble, no_final, reply, status
from tests.support import verdict

ASKED = [Message("user", "Say something.")]


def models(
    double: OllamaDouble, gate: Gate | None = None, budget: Budget | None = None, total_s: float = 10.0
) -> Models:
    settings = RoleSettings(temperature=0, num_predict=64)
    names = {Role.GENERATOR: "gen:1b", Role.CRITIC: "critic:1b"}
    bindings = {role: Binding(role, name, settings, 8192) for role, name in names.items()}
    quick = Backoff(attempts=3, first_s=0.01, longest_s=0.02)
    return Models(bindings, double.base_url, ServerSettings(total_s=total_s), quick, gate=gate, budget=budget)


def test_a_deadline_does_not_run_while_a_call_waits_for_its_turn(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", reply("Something."))
    gate, log = Gate(tuple(Role)), list[CallStats]()
    asked = models(ollama_double, gate, total_s=0.5)
    with ThreadPoolExecutor(1) as pool:
        with gate.turn(Role.CRITIC, "critic:1b"):
            future = pool.submit(asked.ask, Role.GENERATOR, ASKED, log=log)
            threading.Event().wait(0.7)
            assert not ollama_double.chats()
        assert future.result(5).text == "Something."
    assert log[0].waited_s >= 0.7 > 0.5 > log[0].wall_s


def test_a_repair_round_and_a_retry_stay_inside_the_turn(ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", status(503), reply("no verdict"), verdict(90, 80))
    gate, log = Gate(tuple(Role)), list[CallStats]()
    with gate.window(1):
        answer = models(ollama_double, gate).ask(Role.CRITIC, ASKED, Critique, log=log)
        assert gate.state()[:3] == (1, 0, 0)
    assert answer.parsed == Critique(technical_accuracy=90, completeness=80, single_critical_fix="none")
    assert (len(log), gate.state().loads) == (3, 1)
    assert [item.waited_s for item in log[1:]] == [0.0, 0.0]


def test_a_closed_gate_asks_nothing_of_the_server(ollama_double: OllamaDouble) -> None:
    gate = Gate(tuple(Role))
    gate.close(lambda: Cancelled("stopped: the same command takes up the rest"))
    with pytest.raises(Cancelled, match="takes up the rest"):
        models(ollama_double, gate).ask(Role.GENERATOR, ASKED)
    assert ollama_double.chats() == []


def test_every_request_counts_also_the_unusable_ones(ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("no verdict", prompt_eval_count=50, eval_count=5), verdict(90, 80))
    budget, log = Budget(), list[CallStats]()
    models(ollama_double, budget=budget).ask(Role.CRITIC, ASKED, Critique, log=log)
    assert budget.tokens == sum(item.prompt_tokens + item.reply_tokens for item in log) > 55


def test_a_reply_that_breaks_off_counts_with_its_prompt(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", *[no_final("Some")] * 3)
    budget, log = Budget(), list[CallStats]()
    with pytest.raises(StreamBroken):
        models(ollama_double, budget=budget).ask(Role.GENERATOR, ASKED, log=log)
    assert budget.tokens > sum(item.reply_tokens for item in log) > 0


def test_a_spent_budget_stops_a_call_before_its_next_request(ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("no verdict", prompt_eval_count=50, eval_count=5))
    asked = models(ollama_double, budget=Budget(max_tokens=55))
    with pytest.raises(BudgetSpent, match="55 of 55 tokens"):
        asked.ask(Role.CRITIC, ASKED, Critique)
    with pytest.raises(BudgetSpent):
        asked.ask(Role.GENERATOR, ASKED)
    assert len(ollama_double.chats()) == 1
