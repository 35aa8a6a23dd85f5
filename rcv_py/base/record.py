"""Base classes of records: named, typed and immutable fields.

They are structs of msgspec: making such a class takes a twentieth of the time of a `dataclass`, and a window
makes some four hundred until its findings stand.
"""

from typing import dataclass_transform

from msgspec import Struct, field


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Record(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """A record that equals itself alone.  A `cached_property` keeps its value, which is not pickled."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """A record that equals any other of its class with equal fields; hashable if its fields are."""
