"""The log of the program is of bounded length: a window that is open for days keeps its newest lines."""

from rcv_py.base.log import MAX_LINES, Log


def test_the_newest_lines_are_kept_and_no_more() -> None:
    log = Log()
    for number in range(MAX_LINES + 5):
        log.add("here", f"{number}")
    assert [entry.text for entry in log.lines()] == [str(number) for number in range(5, MAX_LINES + 5)]
    assert log.text(2).endswith(f"here: {MAX_LINES + 4}")
