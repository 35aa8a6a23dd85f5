"""A compute unit that runs waves: who issues when, who waits for what.

Waves take turns through a heap of moments.  At its moment a wave asks whether its next instruction can
issue now: units give one issue a SIMD at a time, shared pipes refuse when their queue is full, results of
the matrix unit must be there, counters must have come down, everybody must have reached the barrier.
If not, the wave comes back when it may be possible and the first question decides about the stall's begin.

    attempt ── stall ──► issue ── busy ──► end ── gap (fetch, arbitration) ──► next attempt
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

from rcv_py.model.kinds import TokenKind
from rcv_py.synth.capture import Cause
from rcv_py.synth.hardware import Hardware
from rcv_py.synth.program import Instruction
from rcv_py.synth.wave_state import Group, Launch, LiveWave

_SHARED = ("vmem", "lds", "smem")  # one pipe for all SIMDs
_MEET = ("barrier", "end")  # units whose moment of arrival counts for others
_DRAIN = 20  # cycles s_endpgm takes with nothing outstanding
_NOBODY: tuple[int, LiveWave | None] = (-1, None)  # holds a unit
# Members of an enum are looked up by name each time: what every token asks for is looked up once.
_NONE, _ARBITER, _FETCH, _IMMED = map(int, (Cause.NONE, Cause.ARBITER, Cause.FETCH, TokenKind.IMMED))
_FREE: tuple[int, int, int, int, LiveWave | None] = (0, _NONE, -1, -1, None)  # nothing blocked a wave yet


class ComputeUnit:
    """One compute unit; `run` simulates a launch and returns its waves in the order they began."""

    def __init__(self, hardware: Hardware, rng: random.Random) -> None:
        self._hw = hardware
        self._rng = rng
        self._heap: list[tuple[int, int, LiveWave]] = []
        self._tickets = 0
        self._port_free: dict[tuple[int, str], int] = {}  # (simd, unit): cycle
        self._pipe_free: dict[str, int] = {}  # shared pipe: cycle
        self._matrix_free: dict[int, int] = {}  # simd: cycle
        # (simd, unit), -1 for all SIMDs: instruction that took it last, and its wave
        self._held_by: dict[tuple[int, str], tuple[int, LiveWave | None]] = {}
        self._memory_free = 0.0
        self._fetched: dict[tuple[int, int], int] = {}  # (kernel, cache line): cycle
        self._slots: set[tuple[int, int]] = set()
        self._waiting_groups: list[Group] = []
        self._done: list[LiveWave] = []
        # (simd, instruction): hits, latency, stall, idle
        self.lines: dict[tuple[int, int], list[int]] = {}
        self._units = {
            "wait": self._wait,
            "none": self._sleep,
            "barrier": self._barrier,
            "end": self._end,
        }

    def run(self, launch: Launch) -> list[LiveWave]:
        """Run all workgroups of a launch to their end."""
        self._done = []
        numbers = range(launch.groups)
        self._waiting_groups = [Group(launch.first_group + launch.group_step * n) for n in numbers]
        begin: float = launch.begin
        while self._waiting_groups and self._has_room(launch):
            self._start_group(launch, self._hw.up(begin))
            begin += 90 + 60 * self._rng.random()
        while self._heap:
            now, _, wave = heapq.heappop(self._heap)
            self._ask(wave, now)
        return sorted(self._done, key=lambda wave: (wave.begin, wave.simd, wave.slot))

    # Workgroups come and go

    def _has_room(self, launch: Launch) -> bool:
        free = self._hw.simds * (launch.resident or self._hw.slots) - len(self._slots)
        return free >= launch.waves_per_group

    def _start_group(self, launch: Launch, begin: int) -> None:
        group = self._waiting_groups.pop(0)
        for number in range(launch.waves_per_group):
            wave = self._place(launch, group, self._hw.up(begin + 4 * number), number)
            wave.last_end = wave.begin
            group.waves.append(wave)
            self._schedule(wave, wave.begin + self._hw.up(self._hw.launch + 8 * self._rng.random()))
        group.alive = launch.waves_per_group

    def _place(self, launch: Launch, group: Group, begin: int, number: int) -> LiveWave:
        for turn in range(self._hw.simds * (launch.resident or self._hw.slots)):
            simd, slot = (number + turn) % self._hw.simds, turn // self._hw.simds
            if (simd, slot) not in self._slots:
                self._slots.add((simd, slot))
                return LiveWave(launch=launch, group=group, simd=simd, slot=slot, begin=begin, number=number)
        raise ValueError("a workgroup needs more slots than the compute unit has")

    def _leave(self, wave: LiveWave) -> None:
        self._slots.discard((wave.simd, wave.slot))
        self._done.append(wave)
        wave.group.alive -= 1
        if wave.group.left is None or wave.last_end > wave.group.left.last_end:
            wave.group.left = wave
        if self._hw.splits_barriers:
            self._signalled(wave.group)
        else:
            self._open_barrier(wave.group)
        if wave.group.alive == 0 and self._waiting_groups and self._has_room(wave.launch):
            latest = max(member.end for member in wave.group.waves)
            self._start_group(wave.launch, self._hw.up(latest + 60 + 240 * self._rng.random()))

    # Moments

    def _schedule(self, wave: LiveWave, attempt: int) -> None:
        """Let the wave ask for its next instruction as soon as that has been fetched."""
        fetched = self._fetch(wave, attempt)
        wave.blocked, wave.held, wave.holder = _FREE, {}, {}
        wave.attempt = fetched
        if fetched > attempt and self._hw.fetch_stalls and wave.instruction.meaning.unit not in _MEET:
            wave.attempt = attempt
            wave.stall(fetched - attempt, Cause.FETCH)
        elif fetched > attempt:
            wave.gap_cause = _FETCH
        wave.untold = 0
        if self._hw.untold and self._rng.random() < self._hw.untold:
            wave.untold = fetched + self._hw.step * (1 + int(self._hw.untold_turns * self._rng.random()))
        self._push(wave, fetched)

    def _push(self, wave: LiveWave, moment: int) -> None:
        self._tickets += 1
        heapq.heappush(self._heap, (moment, self._tickets, wave))

    def _fetch(self, wave: LiveWave, now: int) -> int:
        """When the instruction is there: the first wave to come along pays for the cache line."""
        line = wave.launch.cache_lines[wave.pc]
        key = (wave.launch.index, line)
        if key not in self._fetched:
            is_first = line == wave.launch.cache_lines[0]
            cost = self._hw.fetch_cold if is_first else self._hw.fetch_next
            self._fetched[key] = self._hw.up(now + cost * (0.6 + 0.4 * self._rng.random()))
        return max(now, self._fetched[key])

    def _ask(self, wave: LiveWave, now: int) -> None:
        instruction = wave.instruction
        special = self._units.get(instruction.meaning.unit)
        if special is not None:
            special(wave, instruction, now)
            return
        ready = self._ready(wave, instruction, now)
        if ready > now:
            self._push(wave, ready)
        elif instruction.meaning.unit == "branch":
            self._branch(wave, instruction, now)
        else:
            self._issue(wave, instruction, now)

    def _ready(self, wave: LiveWave, instruction: Instruction, now: int) -> int:
        """The first cycle at which everything known now would let the instruction pass."""
        ready = now
        longest: dict[Cause, tuple[int, int]] = {}
        for until, cause, producer, blamed, by in self._obstacles(wave, instruction, now - self._hw.step):
            moment = self._hw.up(until)
            if moment > now:
                wave.block(moment - now, cause, producer, blamed, by)
                if cause not in longest or moment - now > longest[cause][0]:
                    longest[cause] = (moment - now, blamed)
                ready = max(ready, moment)
        for cause, (cycles, blamed) in longest.items():
            wave.hold(cause, cycles, blamed)
        return ready

    def _obstacles(
        self, wave: LiveWave, instruction: Instruction, over: int
    ) -> Iterator[tuple[int, Cause, int, int, LiveWave | None]]:
        """What could be in the way: until when, why, for which token, held by which instruction and wave.

        What is `over` at the latest is left out, which is nearly all of it.
        """
        unit, simd = instruction.meaning.unit, wave.simd
        port = "valu" if unit == "matrix" else unit
        free = self._port_free.get((simd, port), 0)
        if free > over:
            holder = self._held_by.get((simd, port), _NOBODY)
            yield free, Cause.OWN_UNIT if holder[1] is wave else Cause.ARBITER, -1, *holder
        if wave.untold > over:
            yield wave.untold, Cause.UNTOLD, -1, *_NOBODY
        free, pipe = self._pipe(unit, simd)
        if free > over:
            yield free, Cause.PIPE, -1, *self._held_by.get(pipe, _NOBODY)
        reads = instruction.meaning.reads
        if wave.all_ready > over and not wave.ready.keys().isdisjoint(reads):
            cycle, token = max(wave.ready[name] for name in reads if name in wave.ready)
            yield cycle, Cause.DEPENDENCY, token, wave.instruction_of(token), wave

    def _pipe(self, unit: str, simd: int) -> tuple[int, tuple[int, str]]:
        """When the pipe behind a unit takes more, 0 without one, and who holds it in `_held_by`."""
        if unit in _SHARED:
            depth = self._hw.lds_queue if unit == "lds" else self._hw.vmem_queue
            return self._pipe_free.get(unit, 0) - depth, (-1, unit)
        return (self._matrix_free.get(simd, 0) if unit == "matrix" else 0), (simd, "matrix")

    def _issue(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        what = instruction.meaning
        busy = self._hw.busy(what.unit, self._rng)
        token = len(wave.rows)
        port = "valu" if what.unit == "matrix" else what.unit
        taken = busy if self._hw.generation == 9 else 1
        self._port_free[wave.simd, port] = now + max(taken, what.passes if what.unit == "valu" else 0)
        self._held_by[wave.simd, port] = (wave.pc, wave)
        returned = self._send(wave, instruction, now, token)
        if what.unit == "matrix":
            self._matrix_free[wave.simd] = now + what.passes
            self._held_by[wave.simd, "matrix"] = (wave.pc, wave)
        for name in what.writes:
            wave.ready.pop(name, None)
            if what.unit == "matrix":
                wave.ready[name] = (now + what.passes + 8, token)
                wave.all_ready = max(wave.all_ready, now + what.passes + 8)
        if "marker" in instruction.notes:
            wave.mark(now, int(instruction.notes["marker"], 0))
        self._record(wave, what.kind, now, busy, returned)
        self._advance(wave, wave.pc + 1, now + taken)

    # Memory

    def _send(self, wave: LiveWave, instruction: Instruction, now: int, token: int) -> int:
        """Put a memory operation on its way; return when it will be done, -1 for other instructions."""
        what = instruction.meaning
        if what.unit not in _SHARED:
            return -1
        conflict = int(instruction.notes.get("conflict", "1"))
        start = max(now, self._pipe_free.get(what.unit, 0))
        self._pipe_free[what.unit] = start + what.passes * conflict
        self._held_by[-1, what.unit] = (wave.pc, wave)
        done = self._answer(instruction, start + what.passes * conflict)
        for counter in what.counts:
            queue = wave.pending.setdefault(counter, [])
            # Vector memory and LDS each answer in the order of the questions; scalar loads do not.
            if queue and what.unit != "smem" and wave.unit_of(queue[-1][1]) == what.unit:
                done = max(done, queue[-1][0] + self._hw.step)
            queue.append((done, token))
        return done

    def _answer(self, instruction: Instruction, sent: int) -> int:
        what, hw = instruction.meaning, self._hw
        slow = float(instruction.notes.get("slow", "1"))
        if what.unit == "lds":
            return hw.up(sent) + hw.latency(slow * hw.lds_latency, self._rng)
        if what.unit == "smem":
            return hw.up(sent) + hw.latency(slow * hw.smem_latency, self._rng)
        self._memory_free = max(self._memory_free, float(sent)) + 64 * what.width / hw.bytes_per_cycle
        base = hw.store_latency if what.is_store else hw.far_latency
        base = hw.near_latency if "near" in instruction.notes else base
        return hw.up(self._memory_free) + hw.latency(slow * base, self._rng)

    # Instructions that are their own unit

    def _wait(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        """Wait until so few operations are outstanding; known at once, because issue is in order."""
        release, producer = now + self._hw.step, -1
        for counter, keep in instruction.meaning.waits:
            queue = sorted(wave.pending.get(counter, ()))
            split = max(0, len(queue) - keep)
            due = queue[:split]
            wave.pending[counter] = queue[split:]
            if due and due[-1][0] > release:
                release, producer = self._hw.up(due[-1][0]), due[-1][1]
        cause = Cause.COUNTER if producer >= 0 else Cause.SLEEP
        wave.stall(release - now, cause, producer, wave.instruction_of(producer), wave)
        if wave.untold > now:
            wave.stall(wave.untold - now, Cause.UNTOLD)
        self._immediate(wave, max(release, wave.untold))

    def _sleep(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        words = instruction.text.split()
        if self._hw.splits_barriers and words[0] == "s_barrier_signal":
            wave.signals.append(wave.attempt)
            self._signalled(wave.group)
        turns = int(words[1], 0) + 1 if words[0] == "s_nop" else 1
        wave.stall(turns * self._hw.step, Cause.SLEEP)
        self._immediate(wave, now + turns * self._hw.step)

    def _immediate(self, wave: LiveWave, release: int) -> None:
        """Record a token that is all stall, and go on after it."""
        self._record(wave, TokenKind.IMMED, release, 0, -1)
        self._advance(wave, wave.pc + 1, release)

    def _barrier(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        wave.group.arrived.append(wave)
        if self._hw.splits_barriers:
            self._pass_split(wave.group)
        else:
            self._open_barrier(wave.group)

    def _signalled(self, group: Group) -> None:
        """Open a split barrier once every wave that is left has signalled it."""
        alive = [wave for wave in group.waves if not wave.end]
        turn = len(group.opened)
        if alive and all(len(wave.signals) > turn for wave in alive):
            latest = max(alive, key=lambda wave: wave.signals[turn])
            group.opened.append((latest.signals[turn], latest))
            self._pass_split(group)

    def _pass_split(self, group: Group) -> None:
        """Let waves go on whose barrier is open; one that comes later is not held at all."""
        for wave in [wave for wave in group.arrived if wave.waits < len(group.opened)]:
            group.arrived.remove(wave)
            opened, latest = group.opened[wave.waits]
            wave.waits += 1
            release = max(opened, wave.attempt) + self._hw.step
            is_held = latest is not wave and opened > wave.attempt
            cause = Cause.BARRIER if is_held else Cause.SLEEP
            wave.stall(release - wave.attempt, cause, by=latest)
            self._immediate(wave, release)

    def _open_barrier(self, group: Group) -> None:
        """Let all pass when as many have arrived as are left: the last one came, or another one ended."""
        if not group.arrived or len(group.arrived) < group.alive:
            return
        latest = max(group.arrived, key=lambda wave: wave.attempt)
        last, left = latest.attempt, group.left
        if left is not None and self._hw.up(left.last_end) > last:
            latest, last = left, self._hw.up(left.last_end)
        arrived, group.arrived = group.arrived, []
        for wave in arrived:
            spread = self._hw.barrier_spread  # some SIMDs see it later
            opened = last + self._hw.step * (1 + (spread and int((spread + 1) * self._rng.random())))
            cause = Cause.SLEEP if wave is latest else Cause.BARRIER
            wave.stall(opened - wave.attempt, cause, by=latest)
            self._immediate(wave, opened)

    def _branch(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        busy = self._hw.busy("branch", self._rng)
        self._port_free[wave.simd, "branch"] = now + busy
        self._held_by[wave.simd, "branch"] = (wave.pc, wave)
        is_taken = wave.takes_branch(instruction, self._rng)
        self._record(wave, TokenKind.JUMP if is_taken else TokenKind.NEXT, now, busy, -1)
        away = self._hw.up(self._hw.fetch_branch * (1 + self._rng.random())) if is_taken else 0
        self._advance(wave, instruction.target if is_taken else wave.pc + 1, now + busy, away)

    def _end(self, wave: LiveWave, instruction: Instruction, now: int) -> None:
        """Drain what is outstanding: mostly in the token, now and then before it."""
        pending = [item for queue in wave.pending.values() for item in queue]
        drained, producer = max(pending, default=(now, -1))
        drained = self._hw.up(max(drained, now + _DRAIN, wave.last_end))
        if self._rng.random() < 0.08 and drained - now > 4 * _DRAIN:
            wave.gap_cause, wave.attempt = int(Cause.DRAIN), drained - _DRAIN
            wave.stall(self._hw.step, Cause.DRAIN, producer, wave.instruction_of(producer), wave)
            self._record(wave, TokenKind.MSG, wave.attempt + self._hw.step, _DRAIN - self._hw.step, -1)
        else:
            self._record(wave, TokenKind.MSG, now, drained - now, -1)
        wave.last_end = wave.rows[-1][0] + wave.rows[-1][3]
        wave.end = wave.last_end + self._end_skew()
        self._leave(wave)

    def _end_skew(self) -> int:
        """Wave end and last token differ by a step at times, as in real captures."""
        draw = self._rng.random()
        if draw < 0.3:
            return -self._hw.step
        return self._hw.step * (1 + int(6 * self._rng.random())) if draw > 0.98 else 0

    # Tokens

    def _record(self, wave: LiveWave, kind: int, issued: int, busy: int, returned: int) -> None:
        attempt, pc = wave.attempt, wave.pc
        stall = issued - attempt
        _, cause, producer, blamed, by = wave.blocked if stall else _FREE
        duration = stall if kind == _IMMED else stall + busy
        gap = max(0, attempt - wave.last_end)
        self._count(wave.simd, pc, duration, stall, gap)
        reason = wave.gap_cause if gap else _NONE
        wave.rows.append((attempt, int(kind), stall, duration, pc, cause, reason, producer, returned, blamed))
        wave.blamed_waves.append(by)
        held = wave.held
        wave.held_rows.append({cause: min(held[cause], stall) for cause in held} if held else held)
        holder = wave.holder if stall else {}
        wave.holder_rows.append({cause: holder[cause][1] for cause in holder} if holder else {})
        wave.last_end = max(wave.last_end, attempt + stall + busy)

    def _count(self, simd: int, pc: int, duration: int, stall: int, gap: int) -> None:
        totals = self.lines.get((simd, pc))
        if totals is None:
            totals = self.lines[simd, pc] = [0, 0, 0, 0]
        totals[0] += 1
        totals[1] += duration
        totals[2] += stall
        totals[3] += gap

    def _advance(self, wave: LiveWave, target: int, end: int, away: int = 0) -> None:
        """Go to the next instruction; memory units take a moment longer to be asked."""
        before, busy = wave.instruction.meaning, wave.rows[-1][3] - wave.rows[-1][2]
        wave.pc = target
        after = wave.instruction.meaning
        gap = away
        if before.unit == "valu" and after.unit in ("lds", "vmem"):
            gap += self._hw.step * (1 + int(2 * self._rng.random()))
        elif before.unit == "salu" and busy > self._hw.step == 4 and after.kind == _IMMED:
            gap -= self._hw.step  # the one overlap that real gfx9 captures show
        wave.gap_cause = _FETCH if away else _ARBITER if gap else _NONE
        self._schedule(wave, end + gap)
