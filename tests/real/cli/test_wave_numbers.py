"""The numbers of tests/cli/test_wave_numbers.py, of real captures."""

from tests.cli.test_wave_numbers import (  # noqa: F401
    test_a_place_is_one_execution_and_what_it_waited_for,
    test_a_wave_and_its_instructions,
    test_resident_waves_are_those_of_the_record,
    test_search_finds_every_line,
    test_sources_are_charged_what_their_instructions_cost,
    test_spreadsheets_have_the_rows_of_the_document,
    test_states_count_to_the_end_of_what_was_recorded,
    test_units_were_busy_while_something_issued,
    test_waves_lived_and_did,
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

folder = fixture_of_each(captures.trace_path, ["pa_mqa_small", "flash_attn_small_before"])
mapped = fixture_of_each(
    captures.trace_path, ["flash_attn_small_before", "flash_attn_small_after", "vec_add"]
)
lasting = fixture_of(lambda: [captures.trace_path("pa_mqa_small"), captures.trace_path("vec_add")])
