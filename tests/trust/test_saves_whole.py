"""A change happens as a whole or not at all, and never over what was handed in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection

from reasonaudit.lib.chain import verify_all
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code
from tests.trust.saving import everything, first_save, later_save, notes, recall, reveal, revise, submit


class FailAfter:
    """Lets `number` statements through, raises right after the last of them, and is quiet from then on."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.raised = False

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if not self.raised and not str(sql).startswith(("ROLLBACK", "RELEASE")):
            self.left -= 1
            if self.left == 0:
                self.raised = True
                raise DatabaseError("a fault, for the test")
        return result


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("prepare", [first_save, later_save, submit, recall, reveal, revise, notes])
def test_ds_07_a_fault_after_any_statement_leaves_nothing_half_done(prepare: Callable[[Desk], Any]) -> None:
    desk = Desk(make.study_with_work(items=1, physicians=2).work[0][0])
    do = prepare(desk)
    before = everything()
    for number in range(1, 200):
        fail = FailAfter(number)
        with connection.execute_wrapper(fail):
            response = do()
        if not fail.raised:
            break
        assert response.status_code >= 500, f"after statement {number}"
        assert everything() == before, f"after statement {number}"
        connection.close()
    assert number > 10
    assert response.status_code == 200
    assert everything() != before
    assert all(problem is None for _stream, problem in verify_all())


@pytest.mark.django_db
def test_ds_07_a_draft_never_overwrites_what_was_handed_in() -> None:
    desk = Desk(make.study_with_work(items=1).work[0][0])
    desk.hand_in()
    before = everything()
    assert code(desk.save(2, "incorrect", comment="late")) == (409, "not_editable")
    assert everything() == before
