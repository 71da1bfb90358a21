"""Where readers' texts go in the code of pages: calls with a text that somebody typed, sent or put into a link.

By names, and from above: a name holds a reader's text in all of its function's body or nowhere in it; a list, a
dataclass or a string with such a text is one, as is what a page's own function makes of it. What other code makes of it
is none, unless it was read in a reader's process or is said to be one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property

from blindspot.settings import PACKAGE

CORE = PACKAGE
BOXES = {"text_input", "text_area", "chat_input", "file_uploader"}
OF_TEXTS = {name for kind in (str, bytes, list, dict, set, tuple) for name in dir(kind)} | {"getvalue", "getbuffer"}
# What returns none, of Python's own functions and of those methods.
NO_TEXT = {"len", "bool", "int", "float", "isinstance", "any", "all", "sum", "hash", "range"} | {
    name for name in OF_TEXTS if name.startswith(("is", "find", "index", "count", "startswith", "endswith"))
}
HANDED, OWN = 1, 2
Target = list["Function"] | None  # the page's functions that a call may mean; None if it is of no page


def draws(place: str) -> bool:
    """Whether a file is of the pages, by the folder or file that it is in."""
    return re.search(r"(^ui/|^workspace/|/page(/|\.py))", place) is not None


@dataclass(frozen=True, order=True)
class Use:
    """A call with a reader's text, of what no page defines; ``is_within`` a reader's process or their turn."""

    called: str
    place: str
    line: int
    is_within: bool


@dataclass(eq=False)
class Module:
    place: str
    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict)  # what a name is, with dots
    functions: list[Function] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)  # of boxes for text, as they are written

    @property
    def dotted(self) -> str:
        return "blindspot." + self.place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(eq=False)
class Function:
    """A function or method of a page, with those in it."""

    module: Module
    node: ast.FunctionDef
    texts: dict[str, int] = field(default_factory=dict)  # names that hold a reader's text: ``HANDED`` or ``OWN``
    returns: int = 0  # likewise
    name: str = ""  # with its class

    @cached_property
    def parameters(self) -> list[str]:
        given = self.node.args
        names = [one.arg for one in (*given.posonlyargs, *given.args)]
        return names[1:] if names[:1] in (["self"], ["cls"]) else names

    def named(self, place: int) -> set[str]:
        """The parameter at a place of a call."""
        rest = self.node.args.vararg
        return set(self.parameters[place : place + 1]) or ({rest.arg} if rest else set())

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in ast.walk(self.node) if isinstance(node, ast.Call)]

    @cached_property
    def values(self) -> list[tuple[ast.expr | None, ast.expr]]:
        """What is given to which target; to None, what is returned."""
        found: list[tuple[ast.expr | None, ast.expr]] = []
        for node in ast.walk(self.node):
            match node:
                case ast.Assign(targets=targets, value=value):
                    found += [(target, value) for target in targets]
                case ast.AnnAssign() | ast.NamedExpr() | ast.AugAssign() if node.value is not None:
                    found.append((node.target, node.value))
                case ast.For() | ast.comprehension():
                    found.append((node.target, node.iter))
                case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                    found.append((target, value))
                case ast.Return(value=ast.expr() as value):
                    found.append((None, value))
        return found


class Flow:
    """Names of readers' texts in all pages.

    Args:
        passing: functions of other code that return the text that they are given.
    """

    def __init__(self, passing: Set[str] = frozenset()) -> None:
        places = [path.relative_to(CORE).as_posix() for path in sorted(CORE.rglob("*.py"))]
        self.modules = [_module(place, (CORE / place).read_text("utf-8")) for place in places if draws(place)]
        self._passing = passing
        self._named: dict[str, list[Function]] = {}
        self._imports = {
            f"{module.dotted}.{name}": what for module in self.modules for name, what in module.imports.items()
        }
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    self._named[f"{module.dotted}.{node.name}"] = []
            for function in module.functions:
                self._named.setdefault(f"{module.dotted}.{function.name}", []).append(function)
        # Whatever has such a name, but for those of texts: of what class something is, nobody knows.
        self._methods: dict[str, list[Function]] = {}
        for function in (one for module in self.modules for one in module.functions if "." in one.name):
            if function.node.name not in OF_TEXTS:
                self._methods.setdefault(function.node.name, []).append(function)
        self._targets: dict[ast.expr, Target] = {}
        self._dots: dict[ast.expr, str] = {}
        functions = [function for module in self.modules for function in module.functions]
        while sum([self._spread(function) for function in functions]):
            pass

    def uses(self) -> Iterator[Use]:
        for function in (one for module in self.modules for one in module.functions):
            within = {inner for outer in ast.walk(function.node) if _is_wrapper(outer) for inner in ast.walk(outer)}
            for call in function.calls:
                called = self._name_of_other(call, function)
                if called and self._level_given(call, function):
                    yield Use(called, function.module.place, call.lineno, call in within)
                if call in within and _is_wrapper(call):
                    yield Use(self._dotted(call.args[0], function), function.module.place, call.lineno, True)

    def _spread(self, function: Function) -> bool:
        """Add what holds a text because something else does; whether there was more."""
        before, changed = (dict(function.texts), function.returns), False
        for target, value in function.values:
            if level := self._level(value, function):
                if target is None:
                    function.returns = max(level, function.returns)
                else:
                    _raise(function.texts, {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}, level)
        for call in function.calls:
            for called, given in _asked(call):
                held = [(name, value) for name, value in given if self._level(value, function)]
                for target in self._target(called, function) or () if held else ():
                    names: set[str] = set()
                    for name, value in held:
                        if isinstance(name, str):
                            names.add(name)
                        elif isinstance(value, ast.Starred):
                            names |= {*target.parameters[name:], *target.named(len(target.parameters))}
                        else:
                            names |= target.named(name)
                    changed |= _raise(target.texts, names, HANDED)
        return changed or (function.texts, function.returns) != before

    def _level(self, node: ast.AST, function: Function) -> int:
        """Whether an expression holds a text: one handed to the function, or one that it gets itself."""
        match node:
            case ast.Name(id=name):
                return function.texts.get(name, 0)
            case ast.Compare() | ast.Constant() | ast.Lambda() | ast.UnaryOp(op=ast.Not()):
                return 0
            case ast.IfExp(body=body, orelse=orelse):
                return max(self._level(body, function), self._level(orelse, function))
            case ast.Call() | ast.Subscript() if _is_source(node, function):
                return OWN
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                return self._level(value, function)
            case ast.Call(func=called):
                return self._level_of_result(node, called, function)
        return max((self._level(child, function) for child in ast.iter_child_nodes(node)), default=0)

    def _level_of_result(self, call: ast.Call, called: ast.expr, function: Function) -> int:
        targets, name = self._target(called, function), self._dotted(called, function)
        last = name.rpartition(".")[2]
        if targets:
            returned = max(target.returns for target in targets)
            return returned if returned != HANDED else self._level_given(call, function)
        if targets is None and name.startswith("blindspot."):
            holds_it = last[:1].isupper() or name in self._passing  # a class, or said to
        elif targets is None and isinstance(called, ast.Attribute):
            holds_it = last in OF_TEXTS - NO_TEXT
        else:
            holds_it = name not in NO_TEXT
        return self._level_given(call, function) if holds_it else 0

    def _level_given(self, call: ast.Call, function: Function) -> int:
        given: list[ast.AST] = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        return max((self._level(one, function) for one in given), default=0)

    # --- what is called

    def _target(self, called: ast.expr, function: Function) -> Target:
        if called not in self._targets:
            self._targets[called] = self._found(called, function)
        return self._targets[called]

    def _found(self, called: ast.expr, function: Function) -> Target:
        name = self._dotted(called, function)
        if name in self._named:
            return self._named[name]
        match called:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
                return [one for one in function.module.functions if one.node.name == attr] or None
            case ast.Attribute(attr=attr):
                return self._methods.get(attr)
        return None

    def _dotted(self, called: ast.expr, function: Function) -> str:
        if called not in self._dots:
            text = ast.unparse(called)
            first, dot, rest = text.partition(".")
            name = function.module.imports.get(first)
            text = text if name is None else name + dot + rest
            if name is None and f"{function.module.dotted}.{text}" in self._named:
                text = f"{function.module.dotted}.{text}"
            while text in self._imports:  # a package has it from one of its modules
                text = self._imports[text]
            self._dots[called] = text
        return self._dots[called]

    def _name_of_other(self, call: ast.Call, function: Function) -> str:
        """The name of what is called, with dots; "" if it is a page's, Python's, Streamlit's or a method of texts."""
        if self._target(call.func, function) is not None:
            return ""
        name = self._dotted(call.func, function)
        if name.startswith("streamlit") or name in self._named:
            return ""
        if isinstance(call.func, ast.Name):
            return name if call.func.id in function.module.imports else ""
        if not isinstance(call.func, ast.Attribute):
            return ""
        root = re.split(r"\W", ast.unparse(call.func))[0]
        if root in function.module.imports:
            return name
        return (
            f"….{call.func.attr}" if call.func.attr not in OF_TEXTS and self._level(call.func.value, function) else ""
        )


def _module(place: str, text: str) -> Module:
    module = Module(place, ast.parse(text))
    inner: set[ast.AST] = set()
    methods: dict[ast.FunctionDef, str] = {}
    for node in ast.walk(module.tree):
        match node:
            case ast.ImportFrom(module=str(source)):
                module.imports |= {one.asname or one.name: f"{source}.{one.name}" for one in node.names}
            case ast.Import():
                module.imports |= {one.asname or one.name: one.name for one in node.names}
            case ast.Call() if is_box(node):
                module.keys |= {ast.unparse(one.value) for one in node.keywords if one.arg == "key"}
            case ast.ClassDef(name=kind, body=body):
                methods |= {one: f"{kind}.{one.name}" for one in body if isinstance(one, ast.FunctionDef)}
            case ast.FunctionDef() if node not in inner:
                inner |= set(ast.walk(node))
                module.functions.append(Function(module, node, name=methods.get(node, node.name)))
    return module


def is_box(call: ast.Call) -> bool:
    """Whether it draws a box that takes what no list offers."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in BOXES or any(keyword.arg == "accept_new_options" for keyword in call.keywords)


def _raise(texts: dict[str, int], names: set[str], level: int) -> bool:
    changed = {name: level for name in names if texts.get(name, 0) < level}
    texts |= changed
    return bool(changed)


def _is_source(node: ast.Call | ast.Subscript, function: Function) -> bool:
    """Whether it is a box's value, by the box or by its key in the session, or a part of the address."""
    match node:
        case ast.Call() if is_box(node):
            return True
        case (
            ast.Call(func=ast.Attribute(value=held, attr="get" | "get_all" | "pop"), args=[key, *_])
            | ast.Subscript(value=held, slice=key)
        ):
            text = ast.unparse(held)
            return text.endswith("query_params") or (
                text.endswith(("session_state", "state")) and ast.unparse(key) in function.module.keys
            )
    return False


def _asked(call: ast.Call) -> Iterator[tuple[ast.expr, list[tuple[str | int, ast.expr]]]]:
    """A call and those that it asks for: ``partial(f, a)``, ``for_reader(f, a)``, ``on_click=f, args=(a,)``; each with
    its arguments by name or place."""
    keywords: list[tuple[str | int, ast.expr]] = [(one.arg, one.value) for one in call.keywords if one.arg]
    yield call.func, [*enumerate(call.args), *keywords]
    if call.args and isinstance(call.args[0], ast.Name | ast.Attribute):
        yield call.args[0], [*enumerate(call.args[1:]), *keywords]
    named = dict(keywords)
    for name in {"on_click", "on_change"} & set(named):
        if isinstance(held := named.get("args"), ast.Tuple):
            yield named[name], list(enumerate(held.elts))


def _is_wrapper(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="for_reader")):
            return True
        case ast.With():
            return any(ast.unparse(item.context_expr) == "turn()" for item in node.items)
    return False
