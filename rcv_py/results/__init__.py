"""Results: the declaration of each field of each answer, from which every output form is made.

Contents: what all results use.  The `result.py` of a feature declares a `Spec` for each of its tables and the
facts of its document, and has the functions that make a `ResultTable` from a trace and what analyses return.
Allowed imports: `base`, `model`, `analysis` and numpy; no Qt, no argparse, no printing.

    kinds.py     kinds of values (`CYCLES`, `ROW`, `SHARE`, `INSTRUCTION`, `choice(...)`, `mapping(...)`):
                 unit, JSON type, dtype, alignment, how a value reads; `CYCLES("stall", "Stall")` is a field
                 and `CYCLES.maybe("stall", "Stall")` one that is null where it is unknown
    field.py     `Kind` and `Field`; `at=` says where a field is shown, by default everywhere; fields with
                 fields inside: `record_field`, `rows_field`
    table.py     `Spec` (what a row is, its fields, why there may be none), `ResultTable`, and `Schema`:
                 the documents of a command, and what every document begins with
    common.py    fields that several results share; places.py: columns of instructions, sources and waves
    json_types.py  the words that JSON Schemas are written with

**A column more** is one line in a Spec, such as `COUNT("taken", "Jumps")`: `ResultTable.of` reads the
attribute of that name, or of `key=`, of what an analysis returned.  Other values are made where the table is
made.  Documents, JSON Schema, CSV, text, reports, the window's table, `--sort`, "Copy as command", `help` of
the API and the reference pages take it from there.  `at=ShownIn.DATA` is for programs only (JSON, CSV, API,
`--sort`); `ShownIn.TEXT`, `.WINDOW` and `.REPORT` are for people.  A field with `of=` is a text made of the
other values of its row, for people only.  `Spec.order` names fields that people see in another order than
documents, `Spec.window` those of the window; `Spec.hide` omits fields that carry no information.

**A result more** is a module of a feature; then each outlet takes it in a line or two:

    JSON          `table.rows()` of the rows, the facts by hand as a dictionary that `FACTS` declares
    JSON Schema   a `Schema` in the module: `(*FACTS, SPEC.field())`; its manifest names the module
    text, CSV     `cli/answer.py`: `listing`, or a `CommandAnswer`
    API           `Answer.of(table, result, facts)`: columns with units and meanings
    window        `ui/table/result_columns.py`: `result_columns(table, trace)`
    reports       `export/report/cells.py`: `report_table(table, trace, caption)`

Values in a table are exact and have the dtype of their kind; what is not known is nan (a whole number that
may be unknown is a float for it), -1 of kinds that say so such as `ROW`, or "".  Documents round as kind and
field say (`digits`) and write null where a field `is_unknown`.
A `meaning` is a sentence without unit and full stop, such as `Stall of the first execution in each wave`.
"""
