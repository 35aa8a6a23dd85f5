"""Base classes of records: named, typed and immutable fields.

They are structs of msgspec, whose classes take a twentieth of the time of a `dataclass` to make.  The program
makes some two hundred before its first picture.
"""

from typing import dataclass_transform

from msgspec import Struct, field


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Record(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """A record that equals itself alone.  A `cached_property` keeps its value, which is not pickled."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """A record that equals any other of its class with equal fields; hashable if its fields are."""
