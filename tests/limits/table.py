"""The table of what is refused: a topic, titles and programs."""

from __future__ import annotations

from . import Limit
from .containers import CONTAINERS, MEMORY
from .cupy import CUPY
from .files import FILES
from .foreign import FOREIGN
from .functions import FUNCTIONS, VALUES
from .interface import ARGUMENTS, OUTPUTS, SOURCES, VARIABLES
from .language import EXPRESSIONS, LOOPS, STATEMENTS
from .objects import OBJECTS
from .primitives import FORWARD, OWN_RULES, RULES

_TOPICS = {
    "Statements": STATEMENTS,
    "Loops": LOOPS,
    "Expressions and names": EXPRESSIONS,
    "Functions": FUNCTIONS,
    "Functions as values": VALUES,
    "Containers": CONTAINERS,
    "Objects": OBJECTS,
    "Memory": MEMORY,
    "Rules": RULES,
    "Rules of your own": OWN_RULES,
    "Forward mode": FORWARD,
    "Matrices and objects of SciPy": FOREIGN,
    "Arguments": ARGUMENTS,
    "Outputs": OUTPUTS,
    "Variables outside": VARIABLES,
    "Arrays of CuPy": CUPY,
    "Sources": SOURCES,
    "Files": FILES,
}

LIMITS = tuple(
    Limit(topic, title, program)
    for topic, programs in _TOPICS.items()
    for title, program in programs.items()
)
