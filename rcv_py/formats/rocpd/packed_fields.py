"""Read the packed fields of PC samples: blobs by event, whose layout the database describes.

`rocpd_info_blob_schema` gives size and byte order of a blob, `rocpd_info_blob_field` offset, size and sign of
each field; all are checked, because a database is untrusted.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.columns import whole_number
from rcv_py.formats.rocpd.sampled import UNSURE

STATED = ("wave_issued", "stall_reason", "wave_count", "exec_mask", "exec")
_FIELDS = {  # of a blob: the column that it stands for
    **{name: at for at, name in enumerate(STATED)},
    "reason_not_issued": 1,
    "wave_cnt": 2,
}
_SIZES = (1, 2, 4, 8)  # bytes of an integer
_MAX_STRUCT = 1 << 16  # bytes of a blob; writers need fewer than a hundred
_MAX_FIELDS = 1 << 12
_AT_ONCE = 20_000  # rows
_ORDER = {"big": ">", "little": "<"}
Rows = Callable[..., Iterator[tuple[Any, ...]]]


def chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in lists that fit into caches."""
    while part := list(islice(rows, _AT_ONCE)):
        yield part


class _Field(NamedTuple):
    column: int  # of STATED
    offset: int
    kind: np.dtype[Any]


class _Layout(NamedTuple):
    size: int  # bytes
    order: str
    fields: list[_Field]


class PackedFields:
    """The blobs of a process, decoded at once if a schema has a field that matters."""

    def __init__(self, rows: Rows, name: str, problems: Problems) -> None:
        layouts, others = self._layouts(rows)
        self._found: dict[Any, tuple[int | None, ...]] = {}
        wrong = undescribed = 0
        for part in chunks(rows("blob_event", "guid", "event_id", "schema_id", "blob")):
            for key in {(guid, schema) for guid, _, schema, _ in part} - others:
                layout = layouts.get(key)
                of = [row for row in part if (row[0], row[2]) == key]
                if layout is None or not layout.fields:
                    undescribed += len(of)
                    continue
                whole = [row for row in of if isinstance(row[3], bytes) and len(row[3]) == layout.size]
                wrong += len(of) - len(whole)
                self._take(layout, whole)
        if wrong:
            problems.warn(
                name,
                Message(
                    "{0} of PC samples have another size than their schema says; what they say is unknown.",
                    plural(wrong, "blob"),
                ),
            )

        if undescribed:
            problems.warn(
                name,
                Message(
                    "{0} of PC samples cannot be read: the database does not describe the fields; whether "
                    "these samples issued, and why not, is unknown.",
                    plural(undescribed, "blob"),
                ),
            )

    def _layouts(self, rows: Rows) -> tuple[dict[Any, _Layout], set[Any]]:
        """The layouts of PC samples, and the keys of those of other tables."""
        found: dict[Any, _Layout] = {}
        others = set()
        for guid, id, table, order, size in rows(
            "info_blob_schema", "guid", "id", "source_table", "byte_order", "struct_size"
        ):
            bytes_of = whole_number(size, 0)
            if table is not None and "pc_sample" not in str(table):
                others.add((guid, id))
            elif order in _ORDER and 0 < bytes_of <= _MAX_STRUCT:
                found[guid, id] = _Layout(bytes_of, _ORDER[order], [])
        listed = rows(
            "info_blob_field", "guid", "schema_id", "name", "offset", "size", "is_signed", "data_type"
        )
        for guid, id, name, offset, size, is_signed, kind in islice(listed, _MAX_FIELDS):
            layout, column = found.get((guid, id)), _FIELDS.get(name)
            begin, bytes_of = whole_number(offset, -1), whole_number(size, 0)
            if layout is None or column is None or "float" in str(kind):
                continue
            if begin >= 0 and bytes_of in _SIZES and begin + bytes_of <= layout.size:
                kind_of = f"{layout.order}{'i' if is_signed else 'u'}{bytes_of}"
                layout.fields.append(_Field(column, begin, np.dtype(kind_of)))
        return found, others

    def _take(self, layout: _Layout, rows: list[tuple[Any, ...]]) -> None:
        table = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.uint8).reshape(
            len(rows), layout.size
        )
        columns: list[Sequence[int | None]] = [[None] * len(rows)] * len(STATED)
        for field in reversed(layout.fields):  # the first of a name counts
            part = table[:, field.offset : field.offset + field.kind.itemsize]
            columns[field.column] = np.ascontiguousarray(part).view(field.kind)[:, 0].tolist()
        keys = ((guid, event) for guid, event, *_ in rows)
        self._found.update(zip(keys, zip(*columns, strict=True), strict=True))

    def stated(
        self, guid: Sequence[object], event: Sequence[object], columns: Sequence[Sequence[object]]
    ) -> tuple[Sequence[object], ...]:
        """Return whether samples issued, stall reasons, waves and EXEC: from columns, else from blobs."""
        if self._found:
            nothing = (None,) * len(STATED)
            packed = zip(
                *(self._found.get(key, nothing) for key in zip(guid, event, strict=True)), strict=True
            )
            columns = [_filled(own, inside) for own, inside in zip(columns, packed, strict=True)]
        issued, reason, waves, mask, lanes = columns
        unsure = [UNSURE] * len(issued)  # host traps do not record it
        return _filled(issued, unsure), reason, waves, _filled(mask, lanes)


def _filled(column: Sequence[object], otherwise: Sequence[object]) -> Sequence[object]:
    """The column, with values of another one where it has none."""
    if None not in column:
        return column
    return [b if a is None else a for a, b in zip(column, otherwise, strict=True)]
