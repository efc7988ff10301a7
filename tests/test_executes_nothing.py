"""Compiling runs nothing of a program and drops nothing that has an effect.

Programs with every sort of effect are compiled, not called: an audit hook, a snapshot of a folder
and of global state, and objects that say when they are asked for anything, show that nothing was
touched. Then they are called: every effect happens once, in its order.
"""

import contextlib
import importlib
import itertools
import linecache
import locale
import os
import pickle
import random
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

import srcdiff
from srcdiff.api.forward import forward_of
from srcdiff.driver.options import Options
from srcdiff.kinds.lattice import kind_of
from srcdiff.report import fragment

X = np.array([1.0, 2.0, 3.0])
NUMBER = itertools.count()


def program(text, **names):
    """The function `f` of a text, whose source can be found."""
    file = f"<program {next(NUMBER)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "srcdiff": srcdiff, "__name__": __name__, **names}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def report(f):
    """The report of a gradient; without Jinja2 what it is made of."""
    made = srcdiff.grad(f)
    try:
        return fragment(made, made.kinds((X,), {}))
    except srcdiff.SrcdiffError as error:
        return str(error)


def second(f):
    """The text of a gradient of the gradient."""
    return srcdiff.source(srcdiff.grad(lambda x: np.sum(srcdiff.grad(f)(x) ** 2)), example=(X,))


WAYS = {
    "source": lambda f: srcdiff.source(f, example=(X,)),
    "without an example": srcdiff.source,
    "stages": lambda f: srcdiff.aot.stages(f, example=(X,)),
    "forward": lambda f: forward_of(f, Options(), ("x",)).for_kinds({"x": kind_of(X, "x")}),
    "hessian": lambda f: srcdiff.hessian(f).source,
    "report": report,
    "inside": lambda f: srcdiff.source(lambda x: np.sum(srcdiff.grad(f)(x) * x), example=(X,)),
}


# --- what the interpreter and the system are asked for ------------------------------------------

QUIET = {
    "compile", "exec", "import", "open", "os.listdir", "os.scandir", "object.__getattr__",
    "sys._getframe", "code.__new__", "function.__new__", "marshal.loads", "object.__setattr__",
    "object.__delattr__", "marshal.load", "builtins.id", "gc.get_referrers", "pathlib.Path.glob",
}  # fmt: skip
"""What compiling may ask for: it reads source files and templates, and makes code."""

LISTENING, HEARD = [], []


def _listen(event, args):
    if LISTENING and (event not in QUIET or (event == "open" and _writes(args))):
        HEARD.append((event, args))


def _writes(args):
    """Whether a file is opened for writing."""
    mode, flags = args[1], args[2]
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    return any(c in (mode or "") for c in "wax+") or bool((flags or 0) & writing)


sys.addaudithook(_listen)


def _state(folder):
    """All that a program here could change."""
    return {
        "files": {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()},
        "here": os.getcwd(),
        "environment": dict(os.environ),
        "numpy": (np.geterr(), np.get_printoptions(), np.getbufsize(), np.geterrcall()),
        "drawn": (np.random.get_state()[1].tobytes(), random.getstate()),
        "threads": threading.active_count(),
        "filters": list(warnings.filters),
        "limit": sys.getrecursionlimit(),
        "path": list(sys.path),
        "locale": locale.setlocale(locale.LC_ALL),
        "modules": "this" in sys.modules,
    }


@contextlib.contextmanager
def untouched(folder, monkeypatch, capfd):
    """Nothing is printed, written, started, slept, asked or set in here."""
    monkeypatch.chdir(folder)
    before = _state(folder)
    HEARD.clear()
    LISTENING.append(True)
    began = time.monotonic()
    try:
        yield
    finally:
        LISTENING.clear()
    assert not HEARD
    assert not any(capfd.readouterr())
    assert _state(folder) == before
    assert time.monotonic() - began < 100.0


EFFECTS = """
    np.save("a.npy", x)
    np.savez("a.npz", x)
    np.savez_compressed("a.npz", x)
    np.savetxt("kept", np.ones(3))
    x.tofile("kept")
    np.ones(3).tofile("kept")
    x.dump("kept")
    m = np.memmap("kept", dtype=float, mode="w+", shape=(3,))
    m = np.lib.format.open_memmap("a.npy", mode="w+", dtype=float, shape=(3,))
    np.lib.format.write_array(open("kept", "wb"), np.ones(3))
    r = np.load("kept")
    r = np.loadtxt("kept")
    r = np.genfromtxt("kept")
    r = np.fromfile("kept")
    r = np.DataSource("downloads").open("kept")
    w = open("kept", "w")
    open("new", "x")
    pathlib.Path("kept").write_text("gone")
    pathlib.Path("kept").unlink()
    pathlib.Path("folder").mkdir()
    pathlib.Path("new").touch()
    shutil.copyfile("kept", "copied")
    shutil.move("kept", "moved")
    shutil.rmtree(".")
    json.dump([1], open("kept", "w"))
    pickle.dump([1], open("kept", "wb"))
    r = pickle.loads(DANGEROUS)
    io.open("kept", "w")
    r = tempfile.mkdtemp(dir=".")
    os.remove("kept")
    os.mkdir("folder")
    os.rename("kept", "renamed")
    os.system("touch new")
    r = os.open("kept", os.O_TRUNC)
    os.chdir("/")
    os.putenv("SRCDIFF_TOUCHED", "1")
    os.environ["SRCDIFF_TOUCHED"] = "1"
    os.environ.update(SRCDIFF_TOUCHED="1")
    os.environ.setdefault("SRCDIFF_TOUCHED", "1")
    subprocess.run(["touch", "new"])
    r = subprocess.Popen(["touch", "new"])
    r = subprocess.getstatusoutput("touch new")
    t = threading.Thread(target=touch)
    threading.Thread(target=touch).start()
    r = multiprocessing.Process(target=touch)
    r = socket.create_connection(("localhost", 1))
    r = urllib.request.urlopen("file:///kept")
    old = np.seterr(all="raise")
    old = np.seterrcall(touch)
    np.set_printoptions(precision=2)
    old = np.setbufsize(16384)
    np.set_string_function(touch)
    np.polynomial.set_default_printstyle("ascii")
    np.random.seed(3)
    r = np.random.rand(3)
    r = np.random.default_rng(0).normal()
    np.random.set_state(("MT19937", np.arange(624), 0))
    r = np.random.normal(size=3)
    np.random.shuffle(np.arange(3))
    random.seed(3)
    r = random.random()
    random.shuffle([1, 2])
    warnings.simplefilter("error")
    warnings.filterwarnings("error")
    warnings.warn("told")
    sys.setrecursionlimit(5000)
    sys.path.append("/nowhere")
    sys.settrace(touch)
    sys.stdout.write("told")
    time.sleep(1000.0)
    print("told")
    print(x)
    np.show_config()
    r = np.test()
    np.info(np.sum)
    r = input()
    exit(3)
    breakpoint()
    r = __import__("this")
    r = importlib.import_module("this")
    atexit.register(touch)
    r = signal.alarm(1000)
    gc.disable()
    logging.basicConfig(level=0)
    touch()
    r = touch()
    r = touch(2.0)
    r = disguised(2.0, 3.0)
    r = counted(2.0)
    r = [touch(k) for k in range(3)]
    r = max([1, 2], key=touch)
    r = list(map(touch, [1, 2]))
    r = np.vectorize(touch)(2.0)
    r = np.apply_along_axis(touch, 0, np.ones(3))
    r = np.fromfunction(touch, (2,))
    r = np.fromiter(generate(), float)
    r = np.piecewise(np.ones(3), [True], [touch])
    r = functools.reduce(touch, [1, 2])
    r = functools.partial(touch, 1.0)()
    r = operator.methodcaller("touch")(asked)
    scipy.io.savemat("kept", {"a": 1.0})
"""
NAMES = """
    atexit functools gc importlib io json locale logging multiprocessing operator os pathlib pickle
    random shutil signal socket subprocess sys tempfile threading time urllib.request warnings
    scipy.io scipy.integrate scipy.optimize
"""

CALLED = []


def touch(*args, **kwargs):
    """A function of the user's that says that it was called."""
    CALLED.append(args)
    return 1.0


class Danger:
    """What calls when it is read from a text."""

    def __reduce__(self):
        """A call."""
        return touch, (1,)


def _names():
    """The names of the programs."""
    names = {n.partition(".")[0]: importlib.import_module(n) for n in NAMES.split()}
    names = {n: sys.modules[n] for n in names}
    disguised = touch
    wrapped = types.FunctionType(touch.__code__, touch.__globals__, "dot")
    wrapped.__module__, wrapped.__wrapped__ = "numpy", np.dot
    return {
        **names, "touch": touch, "disguised": wrapped, "counted": np.frompyfunc(disguised, 1, 1),
        "DANGEROUS": pickle.dumps(Danger()), "generate": lambda: (touch() for _ in range(2)),
        "asked": types.SimpleNamespace(touch=touch),
    }  # fmt: skip


def _here(line):
    """Whether this version of NumPy has what a line asks for."""
    return "set_string_function" not in line or hasattr(np, "set_string_function")


LINES = [line.strip() for line in EFFECTS.strip().splitlines() if _here(line)]
PLACES = {
    "top": "def f(x):\n    {}\n    return np.sum(x * x)\n",
    "branch": "def f(x):\n    if x[0] > 0.0:\n        {}\n    return np.sum(x * x)\n",
    "helper": "def g(x):\n    {}\n    return x * x\n\n\ndef f(x):\n    return np.sum(g(x))\n",
}


def _called(line):
    """What stands in the text of a line that is kept."""
    head = line.partition("(")[0].partition("[\"")[0]
    return "touch(" if "methodcaller" in head else head.partition(" = ")[2] or head


WRITTEN_OUT = {"touch", "[touch", "max", "list", "np.vectorize", "functools.reduce",
               "functools.partial"}  # fmt: skip
"""What is written out: the body of `touch` stands in the text."""
MAY_GO = """
    r = x.dumps()
    r = sorted([1, 2], key=touch)
    r = scipy.optimize.minimize_scalar(touch)
    r = scipy.integrate.quad(touch, 0.0, 1.0)
"""
"""What has no effect itself may be left out, and so what a function does that it is given."""
LINES += [line.strip() for line in MAY_GO.strip().splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_compiling_runs_nothing_and_keeps_it(line, tmp_path, monkeypatch, capfd):
    (tmp_path / "kept").write_bytes(b"as it was")
    number = LINES.index(line)
    ways = list(WAYS) if number % 8 == 0 else ["source", "forward"]
    rarely = [("top", "inside"), ("branch", "source"), ("helper", "source")][number % 3]
    for place, way in [*(("top", w) for w in ways), rarely]:
        f = program(PLACES[place].format(line), **_names())
        CALLED.clear()
        text = None
        with untouched(tmp_path, monkeypatch, capfd), contextlib.suppress(srcdiff.SrcdiffError):
            text = WAYS[way](f)
        assert not CALLED, way
        if way == "source" and text is not None and line not in MAY_GO:
            told = "CALLED.append(" if _called(line) in WRITTEN_OUT else _called(line)
            assert told in text, text


METHODS_KEPT = """
    r = pathlib.Path("kept").replace("moved")
    r = asked.copy()
    r = asked.get("key")
    r = asked.sum()
"""


@pytest.mark.parametrize("line", METHODS_KEPT.strip().splitlines())
def test_methods_are_kept_whatever_they_are_called(line, tmp_path, monkeypatch, capfd):
    asked = types.SimpleNamespace(copy=touch, get=touch, sum=touch)
    (tmp_path / "kept").write_bytes(b"as it was")
    f = program(PLACES["top"].format(line.strip()), **{**_names(), "asked": asked})
    CALLED.clear()
    with untouched(tmp_path, monkeypatch, capfd):
        text = srcdiff.source(f, example=(X,))
    assert line.strip() in text and not CALLED


# --- objects of the user's that are asked for something -------------------------------------------

ASKED = []


def _noted(name, result):
    def method(self, *args, **kwargs):
        ASKED.append(name)
        return result(self) if callable(result) else result

    return method


METHODS = {
    "__call__": 1.0, "__array__": lambda s: np.ones(3), "__len__": 3, "__eq__": True,
    "__ne__": False, "__hash__": 5, "__bool__": True, "__iter__": lambda s: iter([1.0]),
    "__repr__": "R", "__str__": "S", "__format__": "F", "__getitem__": 1.0, "__setitem__": None,
    "__delitem__": None, "__contains__": True, "__float__": 2.0, "__int__": 2, "__index__": 1,
    "__complex__": 1j, "__add__": 1.0, "__radd__": 1.0, "__mul__": 2.0, "__rmul__": 2.0,
    "__lt__": True, "__gt__": True, "__neg__": 1.0, "__enter__": lambda s: s, "__exit__": None,
    "__copy__": lambda s: s, "__deepcopy__": lambda s: s, "__dir__": lambda s: ["a"],
    "__array_ufunc__": 1.0, "__array_function__": 1.0, "method": 2.0,
}  # fmt: skip


def _class(name, bases=(), **more):
    """A class whose methods say that they are called."""
    new = {n: _noted(n, r) for n, r in METHODS.items() if not bases or n in vars(bases[0])}
    if bases:
        new.pop("__array_ufunc__", None)
    new = {**new, "__module__": "programs", **more}
    return types.new_class(name, bases, {}, lambda space: space.update(new))


class Meta(type):
    """A class of classes that says when one is looked at."""

    def __getattribute__(cls, name):
        """An attribute; what every class has is the interpreter's."""
        if name not in vars(type) and name != "__module__":
            ASKED.append(f"class {name}")
        return type.__getattribute__(cls, name)

    __eq__, __hash__, __call__ = _noted("eq", True), _noted("hash", 1), _noted("call", 1.0)
    __len__, __instancecheck__ = _noted("len", 3), _noted("instancecheck", True)


def _attribute(self, name):
    ASKED.append(name)
    raise AttributeError(name)


def _every_attribute(self, name):
    ASKED.append(name)
    return object.__getattribute__(self, name)


class Descriptor:
    """What a class has for an attribute."""

    def __get__(self, instance, owner=None):
        """A value."""
        ASKED.append("__get__")
        return 2.0


class Lazy(types.ModuleType):
    """A module that makes up what it has."""

    def __getattr__(self, name):
        """An attribute."""
        ASKED.append(name)
        return 2.0


class Held:
    """An object of plain attributes with a property."""

    __module__ = "programs"
    d = Descriptor()

    def __init__(self):
        self.w = 2.0

    @property
    def p(self):
        """A property."""
        ASKED.append("p")
        return self.w

    __eq__, __hash__, __len__ = _noted("eq", True), _noted("hash", 1), _noted("len", 3)
    __call__, __getitem__, __bool__ = _noted("call", 1.0), _noted("item", 1.0), _noted("bool", True)


Slotted = _class("Slotted", __slots__=("w",), __getattr__=_attribute)
OBJECTS = {
    "everything": _class("Everything", p=property(_noted("p", 2.0)), d=Descriptor())(),
    "getattr": _class("Getattr", __getattr__=_attribute)(),
    "getattribute": _class("Getattribute", __getattribute__=_every_attribute)(),
    "class": Meta("C", (), {}), "of class": type.__call__(Meta("C", (), {})),
    "described": Held, "held": Held(), "slotted": Slotted(), "lazy": Lazy("lazy"),
    "list": _class("List", (list,))([1.0]), "tuple": _class("Tuple", (tuple,))((1.0,)),
    "dict": _class("Dict", (dict,))(a=1.0), "float": _class("Float", (float,))(2.0),
    "int": _class("Int", (int,))(1), "str": _class("Str", (str,))("a"),
    "array": np.ones(3).view(_class("Other", (np.ndarray,), __array_ufunc__=_noted("u", 1.0))),
    "inside": [_class("Inside")(), 1.0], "in dict": {"a": Held()},
}  # fmt: skip
USES = """
    o * np.sum(x)
    o(np.sum(x)) + np.sum(x)
    o.w * np.sum(x)
    o.p * np.sum(x)
    o.d * np.sum(x)
    o.method(2.0) * np.sum(x)
    len(o) * np.sum(x)
    o["a"] * np.sum(x)
    np.sum(np.asarray(o) * x)
    np.sum(x[o])
    np.sum(x) if o else np.sum(x * x)
    np.sum(x) if o == 1 else np.sum(x * x)
    np.sum(x) if isinstance(x, o) else np.sum(x * x)
    getattr(o, "w", 1.0) * np.sum(x)
    len(f"{o}") * np.sum(x)
    sum(v for v in o) * np.sum(x)
    np.sum(x.astype(o))
    np.sum(x) + np.vectorize(o)(1.0)
    np.sum(x) + functools.reduce(o, [1.0, 2.0])
    np.sum(x) + functools.partial(o, 1.0)()
"""
USES = [line.strip() for line in USES.strip().splitlines()]


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_asked_for_nothing(name):
    o = OBJECTS[name]
    names = {"o": o, "functools": importlib.import_module("functools")}
    heads = {"outside": "def f(x):", "default": "def f(x, o=o):", "argument": "def f(x, o):"}
    found = {}
    for use, (head, text) in itertools.product(USES, heads.items()):
        f = program(f"{text}\n    return {use}\n", **names)
        ASKED.clear()
        with contextlib.suppress(srcdiff.SrcdiffError):
            srcdiff.source(f, example=(X, o) if head == "argument" else (X,))
        found |= {(use, head): tuple(ASKED)} if ASKED else {}
    assert not found


# --- what is done when a derivative is called -----------------------------------------------------

EVENTS = []


def event(tag):
    """Something that happens."""
    EVENTS.append(tag)
    return tag


class Sink:
    """A file that says when it is opened and written into."""

    def __init__(self, k):
        event(("opened", k))
        self.k = k

    def write(self, text):
        """Something is written."""
        if text != "\n":
            event(("written", self.k, len(text)))

    def flush(self):
        """Nothing."""


SINK = Sink("told")


def helper(v):
    """A function with effects before and after its value."""
    print("helper", file=SINK)
    w = v * v
    EVENTS.append("helped")
    return w


def straight(x):
    """Effects in a loop, a branch and a helper, some of which use the values."""
    y = x * x
    event("start")
    total = 0.0
    for k in range(3):
        print("step", k, file=SINK)
        total = total + y[k] * x[k]
        if k == 1:
            EVENTS.append("middle")
        np.save(Sink(k), y)
    s = helper(total)
    r = np.random.normal(size=1)  # noqa: F841
    event("end")
    return s


def until(x):
    """Effects in tests, and before a loop is left."""
    n = 0
    y = x
    while n < 5 and event(("test", n)):
        y = y * x
        n += 1
        if event("inside") and n == 2:
            break
    else:
        event("never")
    return np.sum(y)


def unused(x):
    """Effects whose results nobody uses, in front of and behind those of others."""
    first = event(1)  # noqa: F841
    rows = [event(2 + k) for k in range(3)]  # noqa: F841
    found = {"a": event(5)}  # noqa: F841
    text = f"{event(6)}"  # noqa: F841
    event(7) or event(8)
    chosen = event(9) if x[0] > 0.0 else event(10)  # noqa: F841
    assert event(11)
    del rows, found
    return np.sum(x**3), event(12)


def _selected(f, run):
    """The outputs of a run that are differentiated."""
    return run[0] if f in OUTPUTS else run


CALLS = {
    "grad": lambda f: srcdiff.grad(f, outputs=OUTPUTS.get(f))(X),
    "value_and_grad": lambda f: srcdiff.value_and_grad(f, outputs=OUTPUTS.get(f))(X),
    "jvp": lambda f: srcdiff.jvp(f, (X,), (X,), outputs=OUTPUTS.get(f)),
    "vjp": lambda f: srcdiff.vjp(f, X, outputs=OUTPUTS.get(f))[1](),
    "run": lambda f: _selected(f, srcdiff.autograd.run(f, X)).grad(),
    "backward": lambda f: srcdiff.backward(f, outputs=OUTPUTS.get(f))(X, into={}),
    "hvp": lambda f: srcdiff.hvp(_first(f), (X,), X),
    "hessian": lambda f: srcdiff.hessian(_first(f))(X),
    "jacobian": lambda f: srcdiff.jacobian(lambda v: _first(f)(v) * v)(X),
    "twice": lambda f: _twice(_first(f)),
}
OUTPUTS = {unused: 0}


def _first(f):
    """The first output of a function."""
    return (lambda x: f(x)[0]) if f in OUTPUTS else f


def _twice(f):
    """A second derivative by reverse mode."""
    return srcdiff.grad(lambda v: np.sum(srcdiff.grad(f)(v)))(X)


@pytest.mark.parametrize("way", CALLS)
@pytest.mark.parametrize("f", [straight, until, unused])
def test_effects_happen_once_and_in_order(f, way):
    before = np.random.get_state()
    EVENTS.clear()
    f(X)
    expected, drawn = list(EVENTS), np.random.get_state()[2]
    np.random.set_state(before)
    EVENTS.clear()
    CALLS[way](f)
    assert expected and expected == EVENTS
    assert np.random.get_state()[2] == drawn


def recomputed(x):
    """What is computed again when it is needed."""
    event("again")
    return np.sin(x) * x


def checkpointed(x):
    """A call that is computed again."""
    y = srcdiff.checkpoint(recomputed)(x)
    event("after")
    return np.sum(y * x)


def test_what_is_recomputed_does_it_again():
    EVENTS.clear()
    srcdiff.grad(checkpointed)(X)
    assert EVENTS == ["again", "after", "again"]


def test_effects_in_checkpointed_loops_are_refused():
    f = program(
        "def f(x):\n    for k in srcdiff.checkpointed(range(4), slots=2):\n        event(k)\n"
        "        x = np.sin(x)\n    return np.sum(x)\n", event=event,
    )  # fmt: skip
    with pytest.raises(srcdiff.UnsupportedError, match="a call for its effect"):
        srcdiff.source(f, example=(X,))
