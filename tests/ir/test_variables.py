"""Roles of variables, and that one file alone reads them off the names."""

import re
from pathlib import Path

import pytest

import srcdiff
from srcdiff import ir
from srcdiff.ir import VariableRole as Role


@pytest.mark.parametrize(
    ("name", "role", "temporary", "unnamed"),
    [
        ("x", Role.OWN, False, False),
        ("_t_1", Role.TEMPORARY, True, True),
        ("_ret", Role.RESULT, True, True),
        ("d_x", Role.ADJOINT, False, False),
        ("d__t", Role.ADJOINT, False, True),
        ("d_d__t", Role.ADJOINT, False, True),
        ("d", Role.OWN, False, False),
        ("steps_2", Role.STEPS, False, False),
    ],
)
def test_roles(name, role, temporary, unnamed):
    assert ir.role_of(name) is role
    assert ir.is_temporary(name) is temporary
    assert ir.is_unnamed(name) is unnamed
    assert ir.is_adjoint(name) is (role is Role.ADJOINT)


def test_no_other_file_reads_a_role_off_a_name():
    begins = r"""startswith\(\(?|\[0\] [!=]= |\[:[12]\] [!=]= """
    looks = re.compile(rf"""({begins})["'](_t|_ret|d_|steps)["']""")
    folder = Path(srcdiff.__file__).parent
    found = [
        f"{path.relative_to(folder)}:{k}"
        for path in sorted(folder.rglob("*.py")) if path != folder / "ir/variables.py"
        for k, line in enumerate(path.read_text().splitlines(), 1) if looks.search(line)
    ]  # fmt: skip
    assert found == []


def test_names_that_no_other_has():
    fresh = ir.Fresh({"x", "_t_0"})
    assert [fresh("x").id, fresh("x").id, fresh().id, fresh("d_self.w").id] == [
        "x_1", "x_2", "_t_1", "d_w",
    ]  # fmt: skip
