"""The text rules as records: what ``reflexion rules`` and the documentation say of T001 to T009."""

from reflexion.evidence.rules.rule import Rule

CHATTER = Rule(
    "T001",
    "chatter",
    "error",
    "The document speaks to the person who asked for it.",
    """A greeting or announcement at the start, or an offer or farewell at the end, written by the model to its user.
It is an error at the very start or end of the document, and a warning where it stands alone in the middle or opens a
long first paragraph.

Wrong: `Sure! Here is the documentation for the module:` above the title.

Right: the document begins with its title.

Why: readers of a page did not ask for it to be written, and the sentence says nothing about the code.""",
)
VERDICT = Rule(
    "T002",
    "leftover-verdict",
    "error",
    "A reviewer's verdict or score was left in the document.",
    """A score, an approval or a statement about the document's own faults. It is an error as a paragraph at the start
or end, as a list item that scores technical accuracy or completeness, and as a verdict's JSON outside of code;
elsewhere, and inside a code block, a warning.

Wrong: `No formatting errors or contradictions were found.` as the last paragraph.

Right: the document ends with its last section about the code.

Why: it is part of the review, and a reader takes it for a statement about the code.""",
)
REPETITION = Rule(
    "T003",
    "repetition",
    "error",
    "The text repeats itself without end.",
    """The same line four times in a row, the same short piece of text sixteen times in a row, sections that are mostly
copies of earlier ones, the same title three times, or a long text made of very few different lines or words. In a code
block the same line fifty times in a row counts; twenty times is a warning.

Wrong: `../../../../../../../../../../../../../../../../../../../../` or one sentence over and over.

Right: each statement once. Equal lines under different functions ("Returns `None`.") are fine.

Why: a small model that loses its thread loops, and nothing in a loop is documentation.""",
)
UNCLOSED_FENCE = Rule(
    "T004",
    "unclosed-fence",
    "error",
    "A fenced code block is never closed.",
    """A code fence that runs to the end of the document is an error; one that only the end of its list item or block
quote closes is a warning.

Wrong: a block that opens with three backticks and `python`, and no line of three backticks after it.

Right: the closing fence stands in a line of its own, at least as long as the opening one, with no text after it.

Why: everything below it is shown as code.""",
)
TRUNCATED = Rule(
    "T005",
    "truncated",
    "error",
    "The text ends in the middle of something.",
    """An error when the document ends with an article, preposition or conjunction, with a list marker that has no
item, inside inline code or a bracket, in an unfinished table row, or inside an HTML comment. A warning when it ends
with a heading, a comma or colon, or without a full stop.

Wrong: `The function returns the`

Right: `The function returns the sum.`

Why: a reply that was cut leaves out what came after, and nobody sees what that was.""",
)
EMPTY = Rule(
    "T006",
    "empty",
    "error",
    "The document says nothing.",
    """An error when there is no text, or nothing but headings and a few words; a warning when a document has no
heading at all.

Wrong: `# compound_interest` and nothing else.

Right: a title, and at least one paragraph, list, table or example below it.

Why: an empty page counts as documented, and nobody looks again.""",
)
LEAK = Rule(
    "T007",
    "leaked-prompt",
    "error",
    "Parts of the prompt, thinking tags or control tokens are in the text.",
    """Delimiter lines and instructions of our own prompts, thinking tags, and control tokens of chat templates outside
of code are errors. A line that gives the writer its role, or only names one (`assistant:`), is a warning.

Wrong: `</think>` in a line of its own, or a line that begins with three angle brackets and `BEGIN SOURCE`.

Right: the document alone. A page that explains such a tag puts it in code.

Why: it shows what the reader should not see, and usually more of the wrong text stands beside it.""",
)
WRAPPER = Rule(
    "T008",
    "outer-wrapper",
    "error",
    "The whole page is wrapped in a code fence.",
    """The page stands inside a fence tagged `markdown` (or an untagged one, with a title and sections inside).

Wrong: the first line is three backticks and `markdown`, the last line is three backticks.

Right: the first line is the title.

Why: the page is shown as source text, without headings, tables or links.""",
)

BARE_CODE = Rule(
    "T009",
    "bare-code",
    "error",
    "A definition of Python stands in the text outside of a code block.",
    """A line of a paragraph, not indented, that begins a function or a class, with its body behind or below it.

Wrong: `def area(width, height):` and below it `    return width * height`, with no fence around them.

Right: the same lines between two code fences, or the signature in a heading or a code span.

Why: Markdown shows it as a sentence, without its lines and indentation; and nothing in it is told about the code.""",
)

TEXT_RULES: tuple[Rule, ...] = (
    CHATTER,
    VERDICT,
    REPETITION,
    UNCLOSED_FENCE,
    TRUNCATED,
    EMPTY,
    LEAK,
    WRAPPER,
    BARE_CODE,
)
