"""The rules between a document and its source, as records; codes are stable and never reused."""

from reflexion.evidence.rules.rule import Rule

UNDOCUMENTED_SYMBOL = Rule(
    "S101",
    "undocumented-symbol",
    "error",
    "A public symbol has no place in the document.",
    "Every public function, class, method, property and constant needs a heading, a signature, a row or an item of "
    "its own. What `__all__` leaves out, loggers, type variables and names with a leading underscore need none; nor "
    "do the members of a class that is missing itself, which is reported once. A constant whose name stands "
    "anywhere in the text passes. A name that prose only mentions in passing, and a class attribute, is a warning.\n\n"
    "Why: what has no place in the document does not exist for its readers. Wrong: a module with `open_account` and "
    "`close_account`, and a page with a section for one of them. Right: a section for each.",
)
PHANTOM_SYMBOL = Rule(
    "S102",
    "phantom-symbol",
    "error",
    "The document describes a symbol that the source does not define.",
    "Headings, signatures, rows and items that set out a function, class or method are looked up in the source. "
    "Names that the source imports, attributes that it sets, special methods, built-ins and parameters pass. A "
    "member of a class that inherits from outside of the module is a warning, since it may be inherited.\n\n"
    "Why: a caller of an invented function gets an `AttributeError`. Wrong: a section `close_all()` for a module "
    "that has only `close`. Right: no such section.",
)
WRONG_CONSTANT = Rule(
    "S103",
    "wrong-constant",
    "error",
    "The value or type of a constant is not the source's.",
    "Values are compared as Python reads them: `1_000` is `1000`, the style of quotes does not matter, `60 * 60` is "
    "`3600`, and the name of a constant is its value. Words that describe a value pass; what cannot be compared for "
    "sure is a warning.\n\n"
    "Why: callers plan with the number they read. Wrong: `MAX_RETRIES` is `5`, for `MAX_RETRIES = 3`. Right: "
    "`MAX_RETRIES` is `3`.",
)
WRONG_MEMBER = Rule(
    "S104",
    "wrong-enum-member",
    "error",
    "The members of an enumeration are not the source's.",
    "An invented member is an error, and so is one left out where others are listed. Where no member is listed at "
    "all the finding is a warning.\n\n"
    "Why: an invented member fails at run time, a missing one is never used. Wrong: a table of `RED` and `BLUE`, "
    "for an enumeration that has `GREEN` as well. Right: all three.",
)
WRONG_BASE = Rule(
    "S105",
    "wrong-base-class",
    "error",
    "A class is given a base class that it does not have.",
    "A base class passes when it is a direct one or, as far as the module and the built-in exceptions show, an "
    "indirect one. Base classes that the document leaves out are no finding.\n\n"
    "Why: whoever writes `except ValueError` relies on it. Wrong: `ParseError` extends `KeyError`, for `class "
    "ParseError(ValueError)`. Right: it extends `ValueError`.",
)
UNDOCUMENTED_PARAMETER = Rule(
    "P201",
    "undocumented-parameter",
    "error",
    "A list of parameters leaves one out.",
    "Where a list or table sets out the parameters of a function or constructor it must hold all of them, even "
    "where the signature shows the missing one. With overloads, only parameters that every signature has are "
    "demanded. A class whose attributes are listed, not its constructor's parameters, gives a warning for what is "
    "no field.\n\n"
    "Why: a reader takes a list for complete. Wrong: a table with `amount`, for `pay(amount, note=None)`. Right: a "
    "row for `note` as well.",
)
NO_PARAMETER_LIST = Rule(
    "P202",
    "no-parameter-list",
    "warning",
    "The document does not list a symbol's parameters.",
    "A function with parameters should have a list or table of them. A signature together with prose that names "
    "every parameter passes.\n\n"
    'Why: a signature names parameters and does not explain them. Wrong: only "Pays an amount." for `pay(amount, '
    "note=None)`. Right: a list of both.",
)
PHANTOM_PARAMETER = Rule(
    "P203",
    "phantom-parameter",
    "error",
    "A list holds a parameter or attribute that does not exist.",
    "Names are compared exactly. Where the function takes `**kwargs`, or the class inherits from outside of the "
    "module, the finding is a warning, or none if the source uses the name.\n\n"
    "Why: a call with an invented keyword is a `TypeError`. Wrong: a row `currency`, for `pay(amount, note=None)`. "
    "Right: no such row.",
)
WRONG_DEFAULT = Rule(
    "P204",
    "wrong-default",
    "error",
    "A default is not the source's.",
    "Values are compared as Python reads them (see S103); `field(default_factory=list)` is `[]`. A required "
    "parameter called optional, or the reverse, is this finding too, and so is a written signature that hides a "
    "default. A description in words passes.\n\n"
    "Why: the default is what most calls get. Wrong: `timeout` defaults to `30`, for `timeout=10`. Right: it "
    "defaults to `10`.",
)
WRONG_TYPE = Rule(
    "P205",
    "wrong-type",
    "error",
    "The type of a parameter or attribute is not the source's.",
    "`Optional[X]` is `X | None`, `List` is `list`, and an alias of the module is what it stands for. Words pass "
    'when they are true: "str or None", "list of str", "int, optional". A vaguer type ("number" for `float`, '
    "`Sequence` for `list`) is no finding. A union of which a part is left out, and a type from elsewhere, is a "
    "warning.\n\n"
    'Sentences count where they give one parameter one builtin type without a condition: "`amount` is an `int`", '
    '"takes `name`, a `str`", "`timeout` (float)". There `bool`, `int`, `float` and `complex` stand for each '
    "other.\n\n"
    "Why: callers convert to what they read. Wrong: `amount` (`int`), for `amount: Decimal`. Right: `amount` "
    "(`Decimal`).",
)
WRONG_KIND = Rule(
    "P206",
    "wrong-kind",
    "error",
    "A symbol is presented as something else than it is.",
    "Async or not, property or method, static method or class method, class or function: what the words and the "
    'written signature say is compared with the source. "Function" for an async function passes in words, not in a '
    "signature.\n\n"
    "Why: a coroutine that is not awaited does nothing, and a property that is called fails. Wrong: `def "
    "fetch(url)`, for `async def fetch(url)`. Right: `async def fetch(url)`.",
)
WRONG_SIGNATURE = Rule(
    "P207",
    "wrong-signature",
    "error",
    "A written signature is not the source's.",
    "Names, order and kinds of the parameters must be those of the source, or of one of its overloads. A signature "
    "that the document abridges itself (`f(a, ...)`) may leave out. A title that shows only names may leave out "
    "optional parameters, with a warning; a missing `/` is a warning as well.\n\n"
    "Why: positional arguments go where the signature says. Wrong: `copy(target, source)`, for `def copy(source, "
    "target)`. Right: `copy(source, target)`.",
)
UNDOCUMENTED_EXCEPTION = Rule(
    "E301",
    "undocumented-exception",
    "error",
    "An exception that a function raises is not documented.",
    "Counted are the function's own `raise` statements and those of private helpers that it calls. A documented "
    "base class covers its children. Where the class or the whole module is said to raise the type, the finding is "
    "a warning. A bare `NotImplementedError` of an abstract method needs no documentation.\n\n"
    "Why: what is not announced is not caught. Wrong: no word of `ValueError`, for a function with `raise "
    'ValueError("empty")`. Right: it raises `ValueError`.',
)
UNDOCUMENTED_INDIRECT = Rule(
    "E302",
    "undocumented-indirect-exception",
    "warning",
    "An exception that comes through another public function is not documented.",
    "The other function's own documentation speaks of it, so this never blocks.\n\n"
    "Why: callers meet it all the same. Wrong: no word of the `ValueError` of `parse` in the section of `load`, "
    "which calls it. Right: a mention of it, or of `parse`.",
)
WRONG_EXCEPTION = Rule(
    "E303",
    "wrong-exception",
    "error",
    "The stated exception type contradicts the source's own `raise`.",
    "Reported where the document gives the message of one `raise` to another type, or where a type that nothing "
    "raises stands in the place of the one that is raised.\n\n"
    'Why: the handler that is written from the page never runs. Wrong: raises `TypeError` with "empty", for `raise '
    'ValueError("empty")`. Right: raises `ValueError`.',
)
MISQUOTED_MESSAGE = Rule(
    "E304",
    "misquoted-message",
    "error",
    "A quoted message is not the one that is raised.",
    "Only text that the document presents as a quoted message is compared; a paraphrase is fine. A template matches "
    "by its fixed parts, with placeholders of any name or an example value in between. A final full stop, the style "
    "of quotation marks and line breaks do not matter, and an ellipsis may cut the quote short. Messages that the "
    "interpreter writes itself pass.\n\n"
    'Why: tests and log searches use the exact text. Wrong: "value is empty", for `raise ValueError("value must not '
    'be empty")`. Right: "value must not be empty".',
)
MESSAGE_LEFT_OUT = Rule(
    "E305",
    "message-left-out",
    "warning",
    "An exception is documented without its message.",
    "A caller who matches on messages needs the exact one. Computed messages without any fixed part need no quote.\n\n"
    'Wrong: `ValueError`: if it is empty. Right: `ValueError`: "value must not be empty".',
)
DENIED_EXCEPTION = Rule(
    "E306",
    "denied-exception",
    "error",
    "The document denies an exception that the source raises.",
    'Statements such as "does not raise any exception" are compared with every `raise` that the symbol can reach. A '
    "`raise` that comes through another public function, and a statement about no certain symbol, give a warning.\n\n"
    'Why: nobody guards against what is ruled out. Wrong: "No exceptions are raised.", for a function with a '
    "`raise`. Right: the exception.",
)
IMPOSSIBLE_EXCEPTION = Rule(
    "E307",
    "impossible-exception",
    "warning",
    "Nothing in the source shows how a documented exception could arise.",
    "An implicit `KeyError` or `ZeroDivisionError` can be true, so this never blocks; no finding where the code has "
    "an expression that can raise it.\n\n"
    "Wrong: `BlockingIOError` for a function that adds two numbers. Right: no such entry.",
)
WRONG_RETURN = Rule(
    "R401",
    "wrong-return-type",
    "error",
    "The stated return type is not the source's.",
    "Compared like the types of parameters (P205), also in sentences, with the return annotation; a property with its "
    "own. The element type of an iterator may stand for it. Leaving out `None` is a warning.\n\n"
    "Why: callers use the result as what they read. Wrong: returns `str`, for `-> int`. Right: returns `int`.",
)
WRONG_KEYS = Rule(
    "R402",
    "wrong-returned-keys",
    "error",
    "The keys of a returned dictionary are not the source's.",
    "Only where every `return` gives a dictionary literal with the same keys, and the document lists keys.\n\n"
    'Why: a wrong key is a `KeyError`. Wrong: keys `sum` and `mean`, for `return {"sum": s, "count": n}`. Right: '
    "`sum` and `count`.",
)
INVENTED_VERSION = Rule(
    "H501",
    "invented-version",
    "error",
    "The document states a version that the source does not hold.",
    "A version number must occur in the source. A statement about the Python that is required is a warning.\n\n"
    'Why: models like to make such lines up. Wrong: "Version: 1.0" for a source without a version. Right: no such '
    "line.",
)
INVENTED_AUTHOR = Rule(
    "H502",
    "invented-author",
    "error",
    "The document names an author that the source does not hold.",
    "More than half of the words of the statement must occur in the source.\n\n"
    'Wrong: "Author: Jane Roe" for a source that names nobody. Right: no such line.',
)
INVENTED_DATE = Rule(
    "H503",
    "invented-date",
    "error",
    "The document states a date that the source does not hold.",
    "Every number of the date must occur in the source in the same form.\n\n"
    'Wrong: "Last updated: 2024-05-01" for a source without dates. Right: no such line.',
)
INVENTED_CHANGELOG = Rule(
    "H504",
    "invented-history",
    "error",
    "The document tells a history that the source does not hold.",
    'A changelog, a revision table or an entry such as "0.1, initial version, TBD" must have its numbers and most '
    "of its words in the source.\n\n"
    'Wrong: a table "Revision history" that nothing in the source supports. Right: no such table.',
)
INVENTED_LICENCE = Rule(
    "H505",
    "invented-licence",
    "error",
    "The document states a licence that the source does not hold.",
    "More than half of the words of the statement must occur in the source.\n\n"
    'Why: a licence is a legal statement. Wrong: "Licensed under MIT" for a source that names none. Right: no such '
    "line.",
)
UNKNOWN_LINK = Rule(
    "H506",
    "unknown-link",
    "warning",
    "The document holds a web link that the source does not hold.",
    "Links inside the document and relative ones pass. A link can be right, so this never blocks.\n\n"
    "Wrong: an address that looks right and leads nowhere. Right: an address that the source gives.",
)

SOURCE_DRIFT = Rule(
    "D101",
    "source-drift",
    "warning",
    "The source has changed since the page was written.",
    "The comment that ends a page of `reflexion` remembers the code of every documented symbol. Reported are the "
    "symbols whose code changed, came or went; comments, indentation and blank lines do not count. What the page "
    "now says wrongly is reported by the other rules, as errors.",
)

FACT_RULES: tuple[Rule, ...] = (
    UNDOCUMENTED_SYMBOL,
    PHANTOM_SYMBOL,
    WRONG_CONSTANT,
    WRONG_MEMBER,
    WRONG_BASE,
    UNDOCUMENTED_PARAMETER,
    NO_PARAMETER_LIST,
    PHANTOM_PARAMETER,
    WRONG_DEFAULT,
    WRONG_TYPE,
    WRONG_KIND,
    WRONG_SIGNATURE,
    UNDOCUMENTED_EXCEPTION,
    UNDOCUMENTED_INDIRECT,
    WRONG_EXCEPTION,
    MISQUOTED_MESSAGE,
    MESSAGE_LEFT_OUT,
    DENIED_EXCEPTION,
    IMPOSSIBLE_EXCEPTION,
    WRONG_RETURN,
    WRONG_KEYS,
    INVENTED_VERSION,
    INVENTED_AUTHOR,
    INVENTED_DATE,
    INVENTED_CHANGELOG,
    INVENTED_LICENCE,
    UNKNOWN_LINK,
    SOURCE_DRIFT,
)
