"""Every option: one table of name, type, default, bounds and a sentence."""

from rcv_py.base.record import Value

VARIABLE = "RCV_LANGUAGE"  # names the language of shown texts
SYSTEM = "system"  # follows the desktop


class Option(Value):
    """One setting of the viewer.  `choices`, if any, limits text; `low` and `high` limit numbers."""

    name: str
    default: bool | int | str
    text: str
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Whether the value has the right type and lies within the bounds."""
        if type(value) is not type(self.default):
            return False
        if isinstance(value, int) and not isinstance(value, bool):
            return self.low <= value <= self.high
        return not self.choices or value in self.choices


OPTIONS = (
    Option(
        "look.language",
        SYSTEM,
        "Language of the window, from its next start on; commands have --language.",
        choices=(SYSTEM, "en", "zh_CN"),
    ),
    Option("look.theme", SYSTEM, "Colours of the window.", choices=(SYSTEM, "light", "dark")),
    Option("look.preset", "rcv", "Colours of token kinds and states.", choices=("rcv", "reference")),
    Option("look.font_size", 10, "Size of code and numbers, in points.", 7, 24),
    Option("look.text_size", 0, "Points to enlarge all text by: menus, tables and code.", -3, 14),
    Option("look.dense_rows", False, "Rows of code and tables of 14 pixels, with smaller letters."),
    Option("timeline.row_height", 18, "Height of a wave row, in pixels.", 6, 48),
    Option("timeline.global_row_height", 3, "Height of a row of the global timeline, in pixels.", 2, 32),
    Option("timeline.units", "cycles", "Unit of the time axis.", choices=("cycles", "ns")),
    Option("isa.whole_text", False, "Scroll sideways for long instructions, never cut them."),
    Option("isa.registers", False, "Show how many registers are held at each instruction of the listing."),
    Option(
        "isa.description",
        "",
        "A machine-readable ISA file of AMD (XML), whose words the panel Instruction shows; "
        "empty: what rcv isa-docs keeps of the GPU's family.",
    ),
    Option("isa.cold_permille", 5, "Blocks below this share of all cost are cold, in thousandths.", 0, 500),
    Option("isa.show_idle", True, "Count the idle time before an instruction in its cost bar."),
    Option(
        "findings.predict",
        True,
        "Replay the recording with the remedy of each finding when nothing else is being "
        "computed, and rank findings by limit, else prediction.",
    ),
    Option(
        "findings.predict_on_battery",
        False,
        "Replay remedies of findings on battery, too; What if and --predict always replay.",
    ),
    Option("hotspot.bins", 32, "Number of bars of the hotspot histogram.", 4, 100),
    Option(
        "notes.beside",
        False,
        "Keep notes in annotations.json in the folder of the capture, where that can be written.",
    ),
    Option(
        "sources.map",
        "",
        "Where sources lie that a capture has no copy of: FROM=TO; FROM=TO … as --source-map has it.",
    ),
    Option(
        "sources.editor",
        "",
        "Editor for source lines: code, clion or vim, or a command with {file} and {line} such "
        "as code --goto {file}:{line}; empty: $RCV_EDITOR, or the first editor that is found.",
    ),
    Option("load.workers", 0, "Processes that read waves; 0: as many as there are processors.", 0, 64),
    Option(
        "load.budget_gb",
        0,
        "Memory for waves, in gigabytes; 0: half of all. Waves beyond it are read again when needed.",
        0,
        256,
    ),
)
BY_NAME = {option.name: option for option in OPTIONS}
