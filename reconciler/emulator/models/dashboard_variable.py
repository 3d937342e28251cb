"""Variables of a dashboard, of both generations."""

from typing import ClassVar

from pydantic import Field

from reconciler.emulator.models.enumerations import (
    OrderDirection,
    VariableDisplay,
    VariableDisplayV2,
)
from reconciler.emulator.models.wire import Identifier, WireObject


class ConstantDefinition(WireObject):
    """A fixed value."""

    value: str = ""


class VariableDefinition(WireObject):
    """Where the value of a variable comes from; only constants are documented."""

    constant: ConstantDefinition | None = None


class Variable(WireObject):
    """A variable of the first generation, known by its name."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    display_type: VariableDisplay = "VARIABLE_DISPLAY_TYPE_UNSPECIFIED"
    definition: VariableDefinition | None = None


class AllOption(WireObject):
    """Whether all values may be chosen at once."""

    include_all: bool = False
    label: str = ""


class StaticValue(WireObject):
    """One value to choose."""

    is_default: bool = False
    label: str = ""
    value: str = ""


class StaticSource(WireObject):
    """A written list of values."""

    all_option: AllOption | None = None
    values: list[StaticValue] = Field(default_factory=list)
    values_order_direction: OrderDirection = "ORDER_DIRECTION_UNSPECIFIED"


class VariableSource(WireObject):
    """Where the values come from; only static lists are documented."""

    static: StaticSource | None = None


class LabelledValue(WireObject):
    """A value and what it is called."""

    label: str = ""
    value: str = ""


class IntervalValue(WireObject):
    """A chosen interval."""

    value: LabelledValue | None = None


class VariableValue(WireObject):
    """What is chosen."""

    interval: IntervalValue | None = None


class VariableV2(WireObject):
    """A variable of the second generation, known by its id."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Identifier | None = None
    name: str = ""
    display_name: str = ""
    description: str = ""
    display_full_row: bool = False
    display_type: VariableDisplayV2 = "VARIABLE_DISPLAY_TYPE_V2_UNSPECIFIED"
    source: VariableSource | None = None
    value: VariableValue | None = None
