"""Sliders and fields that define the first experiment."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QSlider, QSpinBox, QWidget

from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.changes import UNITS
from rcv_py.base.text import Message, translated
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.plain_text import PlainLabel, named, with_tip

STEPS = 10  # position of a slider for an unchanged latency
MAX_FACTOR = 3  # maximum factor
SLIDER_PX = 130
MAX_WAVES = 16
TITLES = {"vmem": "VMEM", "lds": "LDS", "smem": "SMEM"}


class Controls(QWidget):
    """Latencies by kind of memory, waves, barriers; `changed` fires when any of them changes."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sliders = {name: _slider(TITLES[name]) for name in UNITS}
        self.values = {name: PlainLabel() for name in UNITS}
        tip = "More waves on each SIMD, if registers and LDS had room for them: waves that queue come sooner."
        self.waves = with_tip(named(QSpinBox(), "More waves on each SIMD"), tip)
        self.waves.setRange(0, MAX_WAVES)
        self.waves.setPrefix("+")
        self.waves.setSuffix(translated(" waves"))
        tip = "No wave waits at a barrier: waves continue at once."
        self.barriers = with_tip(QCheckBox(translated("No barriers")), tip)
        units = (column(self.values[name], self.sliders[name], spacing=2) for name in UNITS)
        row(*units, self.waves, self.barriers, spacing=12, of=self)
        for slider in self.sliders.values():
            slider.valueChanged.connect(self._on_change)
        self.waves.valueChanged.connect(self._on_change)
        self.barriers.toggled.connect(self._on_change)
        self._on_change()

    def _on_change(self) -> None:
        for name, slider in self.sliders.items():
            factor = f"{slider.value() / STEPS:.1f}"
            label = self.values[name]
            label.setText(Message("{0} latency × {1}", TITLES[name], factor))
            label.setMinimumWidth(label.sizeHint().width())
        self.changed.emit()

    @property
    def asked(self) -> ChangeRequest | None:
        """Return the experiment, None while nothing is changed."""
        moved = {name: slider.value() for name, slider in self.sliders.items() if slider.value() != STEPS}
        asked = ChangeRequest(
            latency=tuple((name, value / STEPS) for name, value in moved.items()),
            no_barriers=self.barriers.isChecked(),
            more_waves=self.waves.value(),
        )
        return asked if asked.words else None

    def reset(self) -> None:
        """Set everything to unchanged."""
        self.blockSignals(True)
        for slider in self.sliders.values():
            slider.setValue(STEPS)
        self.waves.setValue(0)
        self.barriers.setChecked(False)
        self.blockSignals(False)
        self._on_change()


def _slider(title: str) -> QSlider:
    template = "Latency of {0} operations, times a factor: from none to {1} times as long."
    tip = Message(template, title, MAX_FACTOR)
    slider = with_tip(QSlider(Qt.Orientation.Horizontal), tip)
    slider.setAccessibleName(translated(Message("Latency of {0}, in tenths", title)))
    slider.setRange(0, MAX_FACTOR * STEPS)
    slider.setValue(STEPS)
    slider.setPageStep(STEPS // 2)
    slider.setFixedWidth(SLIDER_PX)
    return slider
