"""What is refused of objects of classes."""

OBJECTS = {
    "What a property keeps, written into": """
import functools

class Model:
    def __init__(self, w):
        self.w = w
    @functools.cached_property
    def row(self):
        return self.w * np.ones(3)

def f(x):
    model = Model(x)
    model.row[0] = 1.0
    return np.sum(model.row)

srcdiff.grad(f)(2.0)
""",
    "An object that is its own iterator": """
class Items:
    def __init__(self, xs):
        self.xs = xs
        self.at = 0
    def __iter__(self):
        return self
    def __next__(self):
        if self.at >= 2:
            raise StopIteration
        self.at += 1
        return self.xs[self.at - 1]

def f(x):
    total = 1.0
    for v in Items(x):
        total = total * v
    return total

srcdiff.grad(f)(np.ones(2))
""",
    "A property that keeps its value, of an object that changes": """
import functools

class Model:
    def __init__(self, w):
        self.w = w
    @functools.cached_property
    def square(self):
        return self.w**2

def f(x):
    model = Model(x)
    y = model.square
    model.w = x * y
    return model.square

srcdiff.grad(f)(2.0)
""",
    "A property that keeps its value, of an object that a recursive function gets": """
import functools

class Model:
    def __init__(self, w):
        self.w = w
    @functools.cached_property
    def square(self):
        return self.w**2

def squared(model, n):
    return model.square if n == 0 else 2.0 * squared(model, n - 1)

def f(x, model):
    return squared(model, 2) * x + model.square * x

srcdiff.grad(f)(2.0, Model(2.0))
""",
    "`vars` of an object": """
class Model:
    def __init__(self, w):
        self.w = w

def f(x):
    model = Model(x)
    vars(model)["w"] = x * x
    return model.w

srcdiff.grad(f)(2.0)
""",
    "An object's class that is assigned": """
class Model:
    def __init__(self, w):
        self.w = w

def f(x):
    model = Model(x)
    model.__class__ = Model
    return model.w

srcdiff.grad(f)(2.0)
""",
    "`del` of an attribute": """
def f(x):
    del x.real
    return x

srcdiff.grad(f)(np.ones(3))
""",
    "Objects that are stored into in a list, and returned": """
def f(x):
    points = [Point(x), Point(2.0 * x)]
    for p in points:
        p.value = p.value * x
    return points

class Point:
    def __init__(self, value):
        self.value = value

srcdiff.grad(f)(2.0)
""",
    "Assignment to an attribute of an object in a list of the caller": """
def f(points, x):
    for p in points[1:]:
        p.value = p.value * x
    return points[1].value

class Point:
    def __init__(self, value):
        self.value = value

srcdiff.grad(f, "x")([Point(1.0), Point(2.0)], 2.0)
""",
    "A method that calls itself on the same object": """
class Power:
    def of(self, x, n):
        return x if n == 1 else x * self.of(x, n - 1)

srcdiff.grad(Power().of)(2.0, 3)
""",
    "A class of your own with a `__new__`": """
class Pair:
    def __new__(cls, a, b):
        return object.__new__(cls)

def f(x):
    return Pair(x, 2.0 * x)

srcdiff.grad(f)(2.0)
""",
    "`super`": """
class A:
    def f(self, x): return x

class B(A):
    def f(self, x):
        base = super()
        return base.f(x) * x

srcdiff.grad(B().f)(2.0)
""",
    "Assignment to an attribute of an object from outside": """
class Point:
    def __init__(self, value):
        self.value = value

point = Point(1.0)

def f(x):
    point.value = x
    return x * x

srcdiff.grad(f)(2.0)
""",
    "Assignment to an attribute of one of two objects": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x, p, q):
    r = p if x > 0.0 else q
    r.value = x
    return r.value * p.value

srcdiff.grad(f)(2.0, Point(1.0), Point(2.0))
""",
    "An attribute that becomes an object from outside": """
class Point:
    def __init__(self, value):
        self.value = value

point = Point(3.0)

def f(x):
    p = Point(Point(x))
    p.value = point
    return p.value.value * x

srcdiff.grad(f)(2.0)
""",
    "An object from a list that changes": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x, points, n):
    p = points[n]
    points[n] = Point(x)
    return p.value * points[0].value

srcdiff.grad(f)(2.0, [Point(1.0), Point(2.0)], 0)
""",
    "A list of objects of which one changes": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x, points):
    points[0].value = x
    total = 0.0
    for p in points:
        total = total + p.value
    return total

srcdiff.grad(f)(2.0, [Point(1.0), Point(2.0)])
""",
    "An operator in place on an attribute that is an object": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x):
    p = Point(Point(x))
    p.value += x
    return p.value * x

srcdiff.grad(f)(2.0)
""",
    "A variable for objects of two classes": """
class A:
    def __init__(self, value):
        self.value = value

    def next(self, x):
        return B(x * self.value)

class B(A):
    def next(self, x):
        return A(x * self.value)

def f(x):
    p = A(x)
    for k in range(3):
        p = p.next(x)
    return p.value

srcdiff.grad(f)(2.0)
""",
    "An attribute that `__getattr__` makes up": """
class Point:
    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        return 2.0

def f(x):
    p = Point(x)
    return p.size * x

srcdiff.grad(f)(2.0)
""",
    "An item of an object without `__setitem__`": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x):
    p = Point(x)
    p[0] = x
    return p.value

srcdiff.grad(f)(2.0)
""",
    "A property without a setter": """
class Point:
    def __init__(self, value):
        self.value = value

    @property
    def double(self):
        return 2.0 * self.value

def f(x):
    p = Point(x)
    p.double = x
    return p.value

srcdiff.grad(f)(2.0)
""",
    "An array before an object with an operator": """
class Scaled:
    def __init__(self, value):
        self.value = value

    def __rmul__(self, other):
        return other * self.value

def f(x):
    return np.sum(x * Scaled(x))

srcdiff.grad(f)(np.ones(3))
""",
    "A class with an `__init__` from elsewhere": """
class Point:
    __init__ = dict.__init__

def f(x):
    p = Point(x)
    return p.value

srcdiff.grad(f)(2.0)
""",
    "A class that derives from a container": """
class Points(list):
    def __init__(self, value):
        self.value = value

def f(x):
    return Points(x).value

srcdiff.grad(f)(2.0)
""",
    "Arguments that a class does not take": """
from dataclasses import dataclass

@dataclass
class Pair:
    a: float
    b: float

def f(x):
    return Pair(x).a

srcdiff.grad(f)(2.0)
""",
    "A class method that assigns its class": """
class Point:
    @classmethod
    def scaled(cls, x):
        cls = 2.0
        return cls * x

srcdiff.grad(Point.scaled)(2.0)
""",
    "A derivative of a method of an object": """
class Cubes:
    @srcdiff.jacobian(inputs="x")
    def rows(self, x):
        return x**3

srcdiff.grad(Cubes().rows)(np.ones(3))
""",
    "A function in an object of which not all is known": """
class Solver:
    def __init__(self, f):
        self.f, self.u = f, None

    def run(self, u, steps):
        self.u = u
        for _ in range(steps):
            self.u = self.u + 0.1 * self.f(self.u)
        return self.u

def g(u, k):
    return Solver(lambda v: k * v).run(u, 3)

srcdiff.grad(g)(2.0, 3.0)
""",
    "An object that is made of any number of values": """
class Line:
    def __init__(self, slope, shift=0.0):
        self.slope, self.shift = slope, shift

    def at(self, t):
        return self.slope * t + self.shift

def f(x):
    return Line(*x).at(2.0)

srcdiff.grad(f)(np.ones(2))
""",
    "An object that is made of any keywords": """
class Line:
    def __init__(self, slope, shift=0.0):
        self.slope, self.shift = slope, shift

def f(x, names):
    return Line(**{name: x for name in names}).slope

srcdiff.grad(f)(2.0, ["slope"])
""",
    "Whether an object is another one": """
class Node:
    def __init__(self, value):
        self.value = value

def f(x):
    node = Node(x)
    nodes = [node, Node(2.0)]
    return x * x if nodes[0] is node else x

srcdiff.grad(f)(2.0)
""",
    "Whether two objects of a list are the same": """
class Node:
    def __init__(self, value):
        self.value = value

def f(x):
    node = Node(x)
    nodes = [node, node]
    return x * x if nodes[0] is nodes[1] else x

srcdiff.grad(f)(2.0)
""",
    "A loop over the attributes of an object": """
class Point:
    def __init__(self, a, b):
        self.a, self.b = a, b

def f(x):
    p = Point(x, x * x)
    return sum(value for value in p.__dict__.values())

srcdiff.grad(f)(2.0)
""",
    "An attribute that is asked for and assigned": """
class Model:
    def loss(self, x):
        if not hasattr(self, "scale"):
            self.scale = x
        return x * self.scale

def f(x):
    return Model().loss(x)

srcdiff.grad(f)(2.0)
""",
    "`setattr` by a name that is not known": """
class Model:
    def __init__(self, scale):
        self.scale = scale

def f(x, model, names):
    for name in names[1:]:
        setattr(model, name, x)
    return model.scale * x

srcdiff.grad(f)(2.0, Model(1.0), ["shift", "scale"])
""",
    "The dict of an object's attributes": """
class Options:
    def __init__(self, **options):
        self.__dict__.update(options)

def f(x):
    return Options(rate=x).rate

srcdiff.grad(f)(2.0)
""",
    "The dict of an object's attributes, assigned": """
class Options:
    def __init__(self, **options):
        self.__dict__ = options

def f(x):
    return Options(rate=x).rate

srcdiff.grad(f)(2.0)
""",
    "A descriptor": """
class Double:
    def __get__(self, instance, owner):
        return 2.0 * instance.kept

    def __set__(self, instance, value):
        instance.kept = value

class Model:
    w = Double()

def f(x):
    model = Model()
    model.w = x
    return model.w

srcdiff.grad(f)(2.0)
""",
    "A list of the items of an object without `__iter__`": """
class Powers:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 2

    def __getitem__(self, k):
        if k > 1:
            raise IndexError
        return self.x ** (k + 1)

def f(x):
    return list(Powers(x))[1]

srcdiff.grad(f)(2.0)
""",
    "A store into an object that a list of the module holds": """
class Layer:
    def forward(self, x):
        self.seen = x
        return 2.0 * x

layers = [Layer(), Layer()]

def f(x):
    for layer in layers:
        x = layer.forward(x)
    return np.sum(x)

srcdiff.grad(f)(np.array([2.0, 3.0]))
""",
    "The greatest of several objects": """
class Score:
    def __init__(self, value):
        self.value = value

    def __gt__(self, other):
        return self.value > other.value

def f(x):
    return max(Score(x), Score(2.0 * x)).value

srcdiff.grad(f)(2.0)
""",
    "Whether there is an object, of those that are stored into in a list": """
class Point:
    def __init__(self, value):
        self.value = value

def f(x):
    points = [Point(x), Point(2.0 * x)]
    last = None
    for p in points:
        p.value = p.value * x
        if last:
            p.value = p.value + last.value
        last = p
    return last.value

srcdiff.grad(f)(2.0)
""",
}
