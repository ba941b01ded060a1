"""Candidates that are wrong and want to pass. None of them knows how to double or halve a number."""

TAKEN_OVER = """
import json, os, socket, sys, threading, time

def descriptor():
    frame = sys._getframe()
    while frame is not None:
        if hasattr(frame.f_locals.get("self"), "_descriptor"):
            return frame.f_locals["self"]._descriptor
        frame = frame.f_back

FD = descriptor()

def raw(data):
    while data:
        data = data[os.write(FD, data):]

def text(data):
    raw(len(data).to_bytes(4, "big") + data)

def say(*message):
    text(json.dumps(message).encode())

def hear():
    def exactly(size):
        data = b""
        while len(data) < size:
            part = os.read(FD, size - len(data))
            if not part:
                os._exit(0)
            data += part
        return data
    return json.loads(exactly(int.from_bytes(exactly(4), "big")))

def names(*more):
    token = hear()[0]
    say(token, "names", [["double", "function", None], ["halve", "function", None], *more], [], [])

def answer(kind, payload, changed=(), kept=()):
    names()
    while True:
        say(hear()[0], kind, payload, list(changed), list(kept))
"""

# What the suite asks: double(2) == 4, double(-3) == -6, halve(4) == 2, halve(3) raises ValueError with "odd".
WRONG = "\ndef double(x): return None\ndef halve(x): return None\n"

# Ordinary modules, without a hand on the channel.
PLAIN = {
    "exit-at-import": "import os; os._exit(0)",
    "exit-in-call": "import os\ndef double(x): os._exit(0)\nhalve = double",
    "system-exit": "def double(x): raise SystemExit(0)\nhalve = double",
    "keyboard-interrupt": "def double(x): raise KeyboardInterrupt\nhalve = double",
    "generator-exit": "def double(x): raise GeneratorExit\nhalve = double",
    "skip": "import pytest\ndef double(x): pytest.skip('no')\nhalve = double",
    "unittest-skip": "import unittest\ndef double(x): raise unittest.SkipTest('no')\nhalve = double",
    "pytest-exit": "import pytest\ndef double(x): pytest.exit('fine', 0)\nhalve = double",
    "lying-int": """
class Any(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
def double(x): return Any(0)
halve = double""",
    "lying-object": """
class Any:
    __eq__ = lambda self, other: True
    __class__ = int
def double(x): return Any()
halve = double""",
    "lying-inside": """
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
def double(x): return [Any()]
halve = double""",
    "mock": "from unittest.mock import ANY\ndef double(x): return ANY\nhalve = double",
    "lying-exception": """
class Odd(Exception):
    __class__ = ValueError
    def __str__(self): return "odd"
def double(x): raise Odd
halve = double""",
    "exception-without-text": """
class Odd(ValueError):
    def __str__(self): raise SystemExit
def double(x): raise Odd
halve = double""",
    "exception-with-a-lying-text": """
class Text(str):
    def __contains__(self, what): return True
class Odd(ValueError):
    def __str__(self): return Text("odd")
def double(x): raise Odd
halve = double""",
    "always-the-expected-error": "def double(x): raise ValueError('odd')\nhalve = double",
    "every-error-at-once": """
class Every(ValueError, AssertionError, KeyError): pass
def double(x): raise Every("odd")
halve = double""",
    "patched-builtins": """
import builtins
builtins.AssertionError = builtins.Exception = ValueError
builtins.isinstance = builtins.issubclass = lambda *_: True
builtins.type = lambda *_: int
"""
    + WRONG,
    "patched-pytest": """
import _pytest.outcomes, _pytest.python_api, _pytest.reports, pytest
pytest.raises = None
_pytest.reports.TestReport.from_item_and_call = None
"""
    + WRONG,
    "patched-codec": """
import reflexion_isolated.plain as plain, reflexion_isolated.server as server
class Any:
    __eq__ = lambda self, other: True
plain._TAKE[Any] = ("i", lambda value: ["*"])
def double(x): return Any()
halve = double""",
    "patched-json": "import json\njson.dumps = lambda *_, **__: '[null]'" + WRONG,
    "kill-parent": "import os\ndef double(x): os.kill(os.getppid(), 9); os.kill(1, 9)\nhalve = double",
    "kill-all": "import os, signal\ndef double(x): os.kill(-1, 9); os.kill(0, 9)\nhalve = double",
    "exec": """
import os, sys
def double(x): os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])
halve = double""",
    "forged-result": """
import json, os
def double(x):
    os.write(int(os.environ["REFLEXION_RESULT_FD"]), b'[{"test_a": "passed"}, []]')
    print("1 passed in 0.01s")
    os._exit(0)
halve = double""",
    "memory": "def double(x): return 'x' * 10**10\nhalve = double",
    "threads": """
import threading, time
def double(x):
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(60,)).start()
halve = double""",
    "daemon": """
import os, time
def double(x):
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
halve = double""",
    "processor": "def double(x):\n    while True: pass\nhalve = double",
    "looks-for-the-expected": """
import gc, inspect, sys
def double(x):
    for frame in inspect.stack():
        for value in frame.frame.f_locals.values():
            if value == 2 * x: return value
    for item in gc.get_objects():
        if item == "expected": return item
halve = double""",
    "changes-its-arguments": "def double(x): x.append(0) if isinstance(x, list) else None\nhalve = double",
    "no-function": "double = halve = 4",
    "exception-as-function": "class double(Exception):\n    __eq__ = lambda self, other: True\nhalve = double",
    "function-missing": "def halve(x): raise ValueError('odd')",
}

# With a hand on the channel: what they say there is what they like.
OVER = {
    "speaks-first": "raw(b'x' * 100)\nnames()\nanswer('value', 4)",
    "names-before-asked": """
say('x', 'names', [['double', 'function', None], ['halve', 'function', None]], [], [])
hear()""",
    "huge-length": "names(); hear(); raw(b'\\xff\\xff\\xff\\xff')\ntime.sleep(60)",
    "largest-garbage": "names(); hear(); text(b'[' * (8 * 1024 * 1024))\ntime.sleep(60)",
    "deep-json": "names(); hear(); text(b'[' * 100_000 + b']' * 100_000)\ntime.sleep(60)",
    "deep-value": "form = 1\nfor _ in range(300): form = ['t', form]\nanswer('value', form)",
    "no-json": "names(); hear(); text(b'cos\\nsystem\\n(S\"true\"\\ntR.')\ntime.sleep(60)",
    "not-a-number": 'names(); token = hear()[0]; text(b\'["%s","value",NaN,[],[]]\' % token.encode())\ntime.sleep(60)',
    "half-a-frame": "names(); hear(); raw(b'\\0\\0\\1\\0[')\nos._exit(0)",
    "closes": "names(); hear(); os.close(FD)\nos._exit(0)",
    "shuts-down": "names(); hear(); socket.socket(fileno=FD).shutdown(2)\ntime.sleep(60)",
    "wrong-token": "names(); hear(); say('0' * 16, 'value', 4, [], [])\ntime.sleep(60)",
    "old-token": """
token = hear()[0]
say(token, 'names', [['double', 'function', None]], [], [])
hear(); say(token, 'value', 4, [], [])""",
    "no-token": "names(); hear(); say(True, 'value', 4, [], [])\ntime.sleep(60)",
    "answers-twice": """
names()
while True:
    token = hear()[0]
    for value in (4, -6, 2):
        say(token, 'value', value, [], [])""",
    "forks-and-both-answer": """
names(); token = hear()[0]; os.fork(); say(token, 'value', 4, [], [])
hear(); say(token, 'value', -6, [], [])""",
    "unknown-kind": "answer('pass', 4)",
    "names-for-a-call": "answer('names', [4])",
    "too-short": "names(); say(hear()[0], 'value', 4)\ntime.sleep(60)",
    "too-long": "names(); say(hear()[0], 'value', 4, [], [], [])\ntime.sleep(60)",
    "unknown-tag": "answer('value', ['o', 'os.system', 'true'])",
    "unknown-factory": "answer('value', ['E', 1, 'exec'])",
    "number-of-another": "answer('value', ['l', 2, None])",
    "change-of-nothing": "answer('value', None, [[2, [None]]])",
    "change-that-is-none": "answer('value', None, [[True, [None]]])",
    "keeps-nothing-there": "answer('value', None, [], [2, 4])",
    "wrong-exceptions": "answer('raise', ['BaseException', ['odd'], '', []])",
    "exception-group": "answer('raise', ['ExceptionGroup', ['odd', ['t']], '', []])",
    "no-exception": "answer('raise', ['print', ['odd'], '', []])",
    "broken-itself": "answer('raise', [['u', 'Broken', ['Broken']], ['odd'], 'odd', []])",
    "class-of-no-bases": "answer('raise', [['u', 'Odd', []], ['odd'], 'odd', []])",
    "class-of-all-bases": "answer('raise', [['u', 'Odd', ['OSError', 'SyntaxError', 'UnicodeError']], [], 'odd', []])",
    "class-of-itself": "answer('raise', [['n', 'double'], [], 'odd', []])",
    "private-attributes": "answer('raise', [['u', 'Odd', ['ValueError']], [], 'odd', [['__class__', 1]]])",
    "deep-classes": """
form = 'ValueError'
for _ in range(200): form = ['u', 'Odd', [form]]
answer('raise', [form, [], 'odd', []])""",
    "text-that-is-none": "answer('raise', [['u', 'Odd', ['ValueError']], [], ['odd'], []])",
    "more-names": "names(['__builtins__', 'function', None])\nanswer('value', 4)",
    "names-of-no-sort": "names(['halve', 'value', 4])\nanswer('value', 4)",
    "name-twice": "names(['double', 'also', 'ValueError'])\nanswer('value', 4)",
    "other-file": """
names()
channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=FD)
while True:
    message = json.dumps([hear()[0], "value", 0, [], []]).encode()
    socket.send_fds(channel, [len(message).to_bytes(4, "big") + message], [1, 1, 1, 2, 2])""",
    "slow-drip": "names(); hear(); raw(b'\\0\\1\\0\\0')\nwhile True:\n    raw(b'['); time.sleep(0.05)",
    "flood": "names(); hear()\nwhile True: raw(b'x' * 65536)",
    "never-answers": "names(); time.sleep(600)",
    "never-reads": "time.sleep(600)",
}
