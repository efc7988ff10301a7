"""Translation validation: a pass that changes a value is named; the corpus has none."""

import functools
import logging
import operator
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.analysis.points_to import PointsTo
from srcdiff.autodiff import forward
from srcdiff.driver import pipeline
from srcdiff.driver.options import VALIDATE
from srcdiff.errors import ValidationError
from srcdiff.optimize import simplify
from tests.corpus.validate import MODES, check, validating
from tests.fuzz.judge import WRONG, judge_text
from tests.programs import PROGRAMS
from tests.support.part import part

CHECKED = part(PROGRAMS, lambda p: p.name, 8)


@pytest.mark.parametrize("program", CHECKED, ids=lambda p: p.name)
def test_no_pass_changes_what_the_corpus_computes(program):
    with validating() as counts:
        try:
            check(program)
        except ValidationError:
            raise
        except srcdiff.SrcdiffError:
            return  # refused
    assert counts.compared or counts.left_out


@pytest.mark.parametrize("mode", MODES)
def test_much_is_compared(mode):
    """What is left out for a reason is little."""
    with validating() as counts:
        for name in ("golden_programs-tanh_recurrence", "views-rows", "golden_programs-mlp"):
            for program in PROGRAMS:
                if program.name == name:
                    check(program, mode)
    assert counts.compared > 100
    assert not counts.left_out


def test_tangents_of_several_results_read_no_tangent_before_it_is_there():
    """Lines of a `@forward` template begin without items of what they compute."""
    program = next(p for p in PROGRAMS if p.name == "linear_algebra-eigenpairs_of_a_triangle")
    with validating() as counts:
        check(program, "jvp")
    assert counts.compared


# --- passes broken on purpose --------------------------------------------------------------------


@pytest.fixture
def broken(monkeypatch):
    """Puts something wrong in the place of what a pass gives."""
    monkeypatch.setenv(VALIDATE, "1")

    def put(module, name, change):
        right = getattr(module, name)

        @functools.wraps(right)
        def wrong(*args, **kwargs):
            made = right(*args, **kwargs)
            if isinstance(made, tuple):
                return (change(made[0]), *made[1:])
            return change(made)

        monkeypatch.setattr(module, name, wrong)

    return put


def changed_body(change):
    return lambda function: replace(function, body=change(function.body))


def without_first(kind):
    """A body without its first statement of some kind, inside as well."""

    def change(body):
        gone = next((s for s in ir.walk(body) if kind(s)), None)

        def block(inner):
            return tuple(ir.map_blocks(s, block) for s in inner if s is not gone)

        return block(body)

    return changed_body(change)


def with_swapped_operands(body):
    """A body in which every difference is the other way round."""

    def stmt(s):
        call = ir.call_of(s)
        if isinstance(s, ir.Assign) and call is not None and call.fn is operator.sub:
            return replace(s, rhs=replace(call, args=call.args[::-1]))
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    return tuple(map(stmt, body))


def with_stores_last(body):
    """A body whose stores come after all that reads."""
    stores = tuple(s for s in body if isinstance(s, ir.Store))
    return (*(s for s in body[:-1] if not isinstance(s, ir.Store)), *stores, body[-1])


def is_store(s):
    return isinstance(s, ir.Store)


def is_product(s):
    return isinstance(s, ir.Assign) and getattr(s.rhs, "fn", None) is operator.mul


def stored_and_read():
    def f(x):
        y = np.zeros(3)
        y[0] = x[1] * x[2]
        y[1:] = x[:2] - x[1:] * x[1:]
        return np.sum(y * y * y)

    return f


def through_an_alias():
    def f(x):
        y = x * 2.0
        first = y[:2]
        first += x[1:]
        return np.sum(y * y * x)

    return f


X = np.array([0.3, 0.5, 0.8])


def failed(f, call=lambda f: srcdiff.grad(f)(X)):
    with pytest.raises(ValidationError) as caught:
        call(f)
    return caught.value


def test_a_dropped_store_is_found_in_live_ranges(broken):
    broken(pipeline, "webs", without_first(is_store))
    error = failed(stored_and_read())
    assert error.step == "webs: webs"


def test_swapped_operands_are_found_in_the_specialiser(broken):
    broken(pipeline, "with_bodies", changed_body(with_swapped_operands))
    error = failed(stored_and_read())
    assert error.step == "inline: with_bodies"
    assert error.function == "f" and error.loc.file == __file__


def test_a_forgotten_alias_is_found_in_place(monkeypatch):
    monkeypatch.setenv(VALIDATE, "1")
    monkeypatch.setattr(PointsTo, "linked", lambda *_: frozenset())
    assert failed(through_an_alias()).step == "inplace: inplace"


def test_a_lost_summand_is_found_in_differentiation(broken):
    broken(pipeline, "seeds", lambda f: replace(f, body=without_accumulation(f.body)))
    assert failed(stored_and_read()).step == "differentiation (tape)"


def without_accumulation(body):
    """A body with one contribution to an adjoint less: that of its first pair."""
    done = []

    def stmt(s):
        if isinstance(s, ir.Pair):
            kept = tuple(a for a in s.adjoint if done or not isinstance(a, ir.Accum))
            if len(kept) < len(s.adjoint):
                done.append(s)
            return replace(s, adjoint=kept)
        return s

    return tuple(map(stmt, body))


def test_a_tangent_too_large_is_found_in_forward_mode(broken):
    def doubled(body):
        last = body[-1]
        value, tangent = last.value.items
        twice = ir.Assign(ir.Name("_twice"), ir.Call(operator.add, (tangent, tangent)))
        return (*body[:-1], twice, replace(last, value=ir.Tup((value, ir.Name("_twice")))))

    broken(forward, "forward", changed_body(doubled))
    error = failed(stored_and_read(), lambda f: srcdiff.jvp(f, (X,), (X,)))
    assert error.step == "differentiation (tangents)"


def test_a_live_product_that_is_dropped_is_found_in_simplify(broken):
    def change(function):
        names = ir.used(function.body)
        made = [s for s in ir.walk(function.body) if is_product(s) and s.target.id in names]
        zero = {id(s) for s in made[-1:]}

        def stmt(s):
            if id(s) in zero:
                return replace(s, rhs=ir.Call(operator.mul, (s.rhs.args[0], ir.Const(0.0))))
            return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

        return replace(function, body=tuple(map(stmt, function.body)))

    broken(simplify, "without_copies", change)
    assert failed(stored_and_read()).step == "simplify: without_copies"


def test_a_view_that_is_moved_past_a_write_is_found(broken):
    broken(pipeline, "sink", changed_body(with_stores_last))
    assert failed(through_an_alias()).step == "simplify: sink"


def test_what_names_do_to_values_is_found(broken):
    broken(pipeline, "name", changed_body(with_swapped_operands))

    def f(x):
        return np.sum(np.sin(x[0] - x * x) * x)

    assert failed(f).step in ("name: name", "simplify: name")


def test_the_two_parts_of_a_pullback_are_run(broken):
    broken(pipeline, "spell", changed_body(with_stores_last))
    assert failed(through_an_alias(), lambda f: srcdiff.vjp(f, X)).step == "pair: spell"


def test_batches_are_run(broken):
    broken(pipeline, "remove_dead", changed_body(with_swapped_operands))

    def f(x):
        return np.tanh(x) * np.tanh(x)

    assert failed(f, lambda f: srcdiff.jacobian(f)(X)).step == "batch: remove_dead"


def countdown(n, x):
    return x * x if n == 0 else np.sin(countdown(n - 1, x)) * x


def test_callees_are_run(broken):
    broken(pipeline, "finish", lambda f: f)
    with validating() as counts:
        srcdiff.grad(countdown, inputs="x")(3, 0.5)
    assert counts.functions["countdown_grad"] and counts.functions["countdown"]


def test_the_fuzzer_names_the_pass(broken):
    broken(pipeline, "with_bodies", changed_body(with_swapped_operands))
    text = "import numpy as np\ndef f(x):\n    return np.sum((x - x * x) ** 3)\n"
    verdict = judge_text(text, (X,))
    assert verdict.label == f"{WRONG} inline: with_bodies"


# --- what is run is run in a world of its own ----------------------------------------------------


def test_the_message_says_where_and_what(broken):
    broken(pipeline, "with_bodies", changed_body(with_swapped_operands))
    text = str(failed(stored_and_read()))
    assert "the pass `inline: with_bodies` of srcdiff changes what `f` computes" in text
    assert "test_validation.py:" in text and "y[1:] = x[:2] - x[1:] * x[1:]" in text
    assert "before it:" in text and "after it:" in text and "report" in text


RNG = np.random.default_rng(3)


def draws(x):
    return np.sum(x * RNG.standard_normal(3)) * np.random.random()


def test_random_numbers_are_those_of_a_run_without(monkeypatch):
    def run():
        RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
        np.random.seed(5)
        return srcdiff.value_and_grad(lambda x: draws(x))(X), RNG.random(), np.random.random()

    plain = run()
    monkeypatch.setenv(VALIDATE, "1")
    checked = run()
    np.testing.assert_equal(checked, plain)


def test_prints_once(monkeypatch, capsys):
    monkeypatch.setenv(VALIDATE, "1")

    def f(x):
        print("here", x[0])
        return np.sum(x * x)

    srcdiff.grad(f)(X)
    assert capsys.readouterr().out == "here 0.3\n"


def test_files_are_written_once(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv(VALIDATE, "1")
    place = tmp_path / "log"

    def note(x):
        with open(place, "a") as file:
            file.write(f"{x}\n")

    def f(x):
        np.savetxt(place, [1.0])
        return np.sum(x * x)

    with caplog.at_level(logging.INFO, "srcdiff.validation"):
        srcdiff.grad(f)(X)
    assert place.read_text().count("\n") == 1
    assert "the function is not run" in caplog.text and "savetxt" in caplog.text


def test_arguments_that_share_memory_do_so_in_every_run(monkeypatch):
    monkeypatch.setenv(VALIDATE, "1")

    def f(x, table):
        table[0] = 2.0
        return np.sum(x * table[0])

    table = np.ones(3)
    assert np.array_equal(srcdiff.grad(f)(X, table), [2.0, 2.0, 2.0])
    assert np.array_equal(table, np.ones(3))


def test_nothing_is_read_when_nothing_is_asked():
    code = (
        "import sys\nimport numpy as np, srcdiff\nfrom tests.programs.golden_programs import mlp\n"
        "from tests.programs import PROGRAMS\n"
        "p = next(p for p in PROGRAMS if p.function is mlp)\n"
        "srcdiff.grad(mlp, inputs=p.inputs)(*p.arguments())\n"
        "print('srcdiff.driver.validation' in sys.modules, 'srcdiff.ir.interpreter' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
