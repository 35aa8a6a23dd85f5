"""Simulation of a compute unit: when waves issue, and what they wait for.

Waves are scheduled by a heap of times.  At its time a wave tries to issue its next instruction: units accept
one issue a SIMD at a time, shared pipes refuse when their queue is full, results of the matrix unit must be
ready, counters must have dropped, and all waves must have reached the barrier.  If it cannot issue, the wave
tries again when it may be possible; the stall begins with the first attempt.

    attempt ── stall ──► issue ── busy ──► end ── gap (fetch, arbitration) ──► next attempt
"""

import heapq
import random
from typing import Any

from rcv_py.model.kinds import TokenKind
from rcv_py.synth.capture import SimulatedCause
from rcv_py.synth.hardware import Hardware
from rcv_py.synth.isa import InstructionTiming
from rcv_py.synth.program import SyntheticInstruction, block_words
from rcv_py.synth.wave_state import LiveWave, SyntheticLaunch, SyntheticWorkgroup

_SHARED = ("vmem", "lds", "smem")  # one pipe for all SIMDs
_MEET = ("barrier", "end")  # units whose time of arrival affects other waves
_DRAIN = 20  # cycles s_endpgm takes with nothing outstanding
_NO_HOLDER: tuple[int, LiveWave | None] = (-1, None)  # the holder of a free unit
# Enum members are slow to look up and hash: tokens are counted by plain integers.
_NONE, _FETCH, _DEPENDENCY, _COUNTER, _SLEEP, _BARRIER, *_others = map(int, SimulatedCause)  # in their order
_ARBITER, _PIPE, _DRAINING, _, _OWN_UNIT, _UNTOLD = _others
_IMMED, _MSG, _JUMP, _NEXT = map(int, (TokenKind.IMMED, TokenKind.MSG, TokenKind.JUMP, TokenKind.NEXT))
_FREE: tuple[int, int, int, int, LiveWave | None] = (0, _NONE, -1, -1, None)  # nothing has blocked a wave yet


class ComputeUnit:
    """A compute unit; `run` simulates a launch and returns its waves in the order of their begins."""

    def __init__(self, hardware: Hardware, rng: random.Random) -> None:
        self._hw = hardware
        self._step = hardware.step
        self._rng = rng
        # time, s_setprio and age if they count, ticket
        self._heap: list[tuple[int, int, int, int, LiveWave]] = []
        self._tickets = 0
        self._port_free: dict[tuple[int, str], int] = {}  # (simd, unit): cycle
        self._pipe_free: dict[str, int] = {}  # shared pipe: cycle
        self._matrix_free: dict[int, int] = {}  # simd: cycle
        # (simd, unit), -1 for all SIMDs: the last instruction that used it, and its wave
        self._held_by: dict[tuple[int, str], tuple[int, LiveWave | None]] = {}
        self._memory_free = 0.0
        self._cache_free = 0.0
        self._fetched: dict[tuple[int, int], int] = {}  # (kernel, cache line): cycle
        self._slots: set[tuple[int, int]] = set()
        self._waiting_groups: list[SyntheticWorkgroup] = []
        self._done: list[LiveWave] = []
        # (simd, instruction): hits, latency, stall, idle
        self.lines: dict[tuple[int, int], list[int]] = {}
        self._special = {"wait": self._wait, "none": self._sleep, "barrier": self._barrier, "end": self._end}

    def run(self, launch: SyntheticLaunch) -> list[LiveWave]:
        """Run all workgroups of a launch to their end."""
        self._done, first = [], launch.first_group
        numbers = range(first, first + launch.groups * launch.group_step, launch.group_step)
        self._waiting_groups = [SyntheticWorkgroup(number) for number in numbers]
        begin: float = launch.begin
        while self._waiting_groups and self._has_room(launch):
            self._start_group(launch, self._hw.up(begin))
            begin += 90 + 60 * self._rng.random()
        while self._heap:
            now, *_, wave = heapq.heappop(self._heap)
            self._ask(wave, now)
        return sorted(self._done, key=lambda wave: (wave.begin, wave.simd, wave.slot))

    # Start and end of workgroups

    def _has_room(self, launch: SyntheticLaunch) -> bool:
        free = self._hw.simds * (launch.resident or self._hw.slots) - len(self._slots)
        return free >= launch.waves_per_group

    def _start_group(self, launch: SyntheticLaunch, begin: int) -> None:
        group = self._waiting_groups.pop(0)
        for number in range(launch.waves_per_group):
            wave = self._place(launch, group, self._hw.up(begin + 4 * number), number)
            wave.last_end = wave.begin
            group.waves.append(wave)
            self._schedule(wave, wave.begin + self._hw.up(self._hw.launch + 8 * self._rng.random()))
        group.alive = launch.waves_per_group

    def _place(self, launch: SyntheticLaunch, group: SyntheticWorkgroup, begin: int, number: int) -> LiveWave:
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

    # Times

    def _schedule(self, wave: LiveWave, attempt: int) -> None:
        """Schedule the wave's next attempt as soon as its instruction has been fetched."""
        fetched = self._fetch(wave, attempt)
        wave.blocked, wave.held, wave.holder = _FREE, {}, {}
        wave.attempt = fetched
        wave.untold = 0
        if fetched > attempt:
            if self._hw.fetch_stalls and wave.instruction.meaning.unit not in _MEET:
                wave.attempt = attempt
                wave.stall(fetched - attempt, _FETCH)
            else:
                wave.gap_cause = _FETCH
        if self._hw.untold and self._rng.random() < self._hw.untold:
            wave.untold = fetched + self._step * (1 + int(self._hw.untold_turns * self._rng.random()))
        self._push(wave, fetched)

    def _push(self, wave: LiveWave, moment: int) -> None:
        self._tickets += 1
        rank = (-wave.priority, wave.begin) if self._hw.oldest_first else (0, 0)
        heapq.heappush(self._heap, (moment, *rank, self._tickets, wave))

    def _fetch(self, wave: LiveWave, now: int) -> int:
        """When the instruction is available; the first wave to need a cache line waits for its fetch."""
        launch = wave.launch
        line = launch.cache_lines[wave.pc]
        key = (launch.index, line)
        fetched = self._fetched.get(key)
        if fetched is None:
            cost = self._hw.fetch_cold if line == launch.cache_lines[0] else self._hw.fetch_next
            fetched = self._fetched[key] = self._hw.up(now + cost * (0.6 + 0.4 * self._rng.random()))
        return fetched if fetched > now else now

    def _ask(self, wave: LiveWave, now: int) -> None:
        instruction = wave.instruction
        unit = instruction.meaning.unit
        special = self._special.get(unit)
        if special is not None:
            special(wave, instruction, now)
            return
        ready = self._ready(wave, instruction.meaning, now)
        if ready > now:
            self._push(wave, ready)
        elif unit == "branch":
            self._branch(wave, instruction, now)
        else:
            self._issue(wave, instruction, now)

    def _ready(self, wave: LiveWave, what: InstructionTiming, now: int) -> int:
        """The first cycle at which the instruction could issue, by what is known now.

        Events that are over by now, which are most, are left out.
        """
        simd, ready = wave.simd, now
        over = now - self._step
        free = self._port_free.get((simd, what.port), 0)
        if free > over:
            blamed, by = self._held_by.get((simd, what.port), _NO_HOLDER)
            ready = self._held(wave, now, free, _OWN_UNIT if by is wave else _ARBITER, blamed=blamed, by=by)
        if wave.untold > over:
            ready = max(ready, self._held(wave, now, wave.untold, _UNTOLD))
        accepts, pipe = self._pipe(what.unit, simd)
        counts = what.counts if self._hw.outstanding else ()
        for free in (accepts, *(self._room(wave, counter, over) for counter in counts)):
            if free > over:
                blamed, by = self._held_by.get(pipe, _NO_HOLDER)
                ready = max(ready, self._held(wave, now, free, _PIPE, blamed=blamed, by=by))
        if wave.all_ready > over and not wave.ready.keys().isdisjoint(what.reads):
            free, token = max(wave.ready[name] for name in what.reads if name in wave.ready)
            blamed = wave.instruction_of(token)
            until = self._held(wave, now, free, _DEPENDENCY, producer=token, blamed=blamed, by=wave)
            ready = max(ready, until)
        return ready

    def _held(self, wave: LiveWave, now: int, until: int, cause: int, **why: Any) -> int:
        """Count what holds the instruction until a time, and return when it ends; now if nothing does."""
        moment = self._hw.up(until)
        if moment <= now:
            return now
        wave.stall(moment - now, cause, **why)
        return moment

    def _pipe(self, unit: str, simd: int) -> tuple[int, tuple[int, str]]:
        """When the pipe of a unit accepts more, 0 without a pipe, and its key in `_held_by`."""
        if unit in _SHARED:
            depth = self._hw.lds_queue if unit == "lds" else self._hw.vmem_queue
            return self._pipe_free.get(unit, 0) - depth, (-1, unit)
        return (self._matrix_free.get(simd, 0) if unit == "matrix" else 0), (simd, "matrix")

    def _room(self, wave: LiveWave, counter: str, over: int) -> int:
        """When the counter of a wave, which has few bits, can count another operation."""
        most = self._hw.outstanding.get(counter, 0)
        due = sorted(returned for returned, _ in wave.pending.get(counter, ()) if returned > over)
        return due[len(due) - most] if most and len(due) >= most else over

    def _issue(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        what = instruction.meaning
        busy = self._hw.busy(what.unit, self._rng)
        token = len(wave.rows)
        port = (wave.simd, what.port)
        taken = busy if self._hw.generation == 9 else 1
        self._port_free[port] = now + max(taken, what.passes if what.unit == "valu" else 0)
        self._held_by[port] = (wave.pc, wave)
        returned = self._send(wave, instruction, now, token)
        if what.unit == "matrix":
            self._matrix_free[wave.simd] = now + what.passes
            self._held_by[wave.simd, "matrix"] = (wave.pc, wave)
        latency = {"matrix": what.passes + 8, "valu": self._hw.valu_latency}.get(what.unit, 0)
        for name in what.writes:
            wave.ready.pop(name, None)
            if latency:
                wave.ready[name] = (now + latency, token)
                wave.all_ready = max(wave.all_ready, now + latency)
        if "marker" in instruction.notes:
            wave.mark(now, int(instruction.notes["marker"], 0))
        if "block" in instruction.notes:
            row = wave.visits.get(wave.pc, 0)
            wave.visits[wave.pc] = row + 1
            wave.words = block_words(instruction.notes["block"], wave.number, row)
        if "word" in instruction.notes:
            wave.markers.append((now, wave.words.pop(0)))
        self._record(wave, what.kind, now, busy, returned)
        self._advance(wave, wave.pc + 1, now + taken)

    # Memory

    def _send(self, wave: LiveWave, instruction: SyntheticInstruction, now: int, token: int) -> int:
        """Start a memory operation; return when it will be done, -1 for other instructions."""
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
            # Vector memory and LDS each return in order; scalar loads do not.
            if queue and what.unit != "smem" and wave.unit_of(queue[-1][1]) == what.unit:
                done = max(done, queue[-1][0] + self._step)
            queue.append((done, token))
        return done

    def _answer(self, instruction: SyntheticInstruction, sent: int) -> int:
        what, hw = instruction.meaning, self._hw
        slow = float(instruction.notes.get("slow", "1"))
        if what.unit == "lds":
            return hw.up(sent) + hw.latency(slow * hw.lds_latency, self._rng)
        if what.unit == "smem":
            return hw.up(sent) + hw.latency(slow * hw.smem_latency, self._rng)
        base = hw.store_latency if what.is_store else hw.far_latency
        if "near" in instruction.notes:
            base = hw.near_latency
            if hw.near_bytes_per_cycle:
                busy = 64 * what.width / hw.near_bytes_per_cycle
                self._cache_free = max(self._cache_free, float(sent)) + busy
                return hw.up(self._cache_free) + hw.latency(slow * base, self._rng)
        self._memory_free = max(self._memory_free, float(sent)) + 64 * what.width / hw.bytes_per_cycle
        return hw.up(self._memory_free) + hw.latency(slow * base, self._rng)

    # Instructions that are their own unit

    def _wait(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        """Wait until few enough operations are outstanding; known at once, because issue is in order."""
        release, producer = now + self._step, -1
        for counter, keep in instruction.meaning.waits:
            queue = sorted(wave.pending.get(counter, ()))
            split = max(0, len(queue) - keep)
            due = queue[:split]
            wave.pending[counter] = queue[split:]
            if due and due[-1][0] > release:
                release, producer = self._hw.up(due[-1][0]), due[-1][1]
        cause = _COUNTER if producer >= 0 else _SLEEP
        wave.stall(release - now, cause, producer, wave.instruction_of(producer), wave)
        if wave.untold > now:
            wave.stall(wave.untold - now, _UNTOLD)
        self._immediate(wave, max(release, wave.untold))

    def _sleep(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        words = instruction.text.split()
        if self._hw.splits_barriers and words[0] == "s_barrier_signal":
            wave.signals.append(wave.attempt)
            self._signalled(wave.group)
        if words[0] == "s_setprio":
            wave.priority = int(words[1], 0)
        turns = int(words[1], 0) + 1 if words[0] == "s_nop" else 1
        wave.stall(turns * self._step, _SLEEP)
        self._immediate(wave, now + turns * self._step)

    def _immediate(self, wave: LiveWave, release: int) -> None:
        """Record a token that is all stall, and continue after it."""
        self._record(wave, _IMMED, release, 0, -1)
        self._advance(wave, wave.pc + 1, release)

    def _barrier(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        wave.group.arrived.append(wave)
        if self._hw.splits_barriers:
            self._pass_split(wave.group)
        else:
            self._open_barrier(wave.group)

    def _signalled(self, group: SyntheticWorkgroup) -> None:
        """Open a split barrier once every remaining wave has signalled it."""
        alive = [wave for wave in group.waves if not wave.end]
        turn = len(group.opened)
        if alive and all(len(wave.signals) > turn for wave in alive):
            latest = max(alive, key=lambda wave: wave.signals[turn])
            group.opened.append((latest.signals[turn], latest))
            self._pass_split(group)

    def _pass_split(self, group: SyntheticWorkgroup) -> None:
        """Release waves whose barrier is open; a wave that comes later is not held at all."""
        for wave in [wave for wave in group.arrived if wave.waits < len(group.opened)]:
            group.arrived.remove(wave)
            opened, latest = group.opened[wave.waits]
            wave.waits += 1
            release = max(opened, wave.attempt) + self._step
            is_held = latest is not wave and opened > wave.attempt
            wave.stall(release - wave.attempt, _BARRIER if is_held else _SLEEP, by=latest)
            self._immediate(wave, release)

    def _open_barrier(self, group: SyntheticWorkgroup) -> None:
        """Release all waves when all remaining waves have arrived: the last came, or another wave ended."""
        if not group.arrived or len(group.arrived) < group.alive:
            return
        latest = max(group.arrived, key=lambda wave: wave.attempt)
        last, left = latest.attempt, group.left
        if left is not None and self._hw.up(left.last_end) > last:
            latest, last = left, self._hw.up(left.last_end)
        arrived, group.arrived = group.arrived, []
        for wave in arrived:
            spread = self._hw.barrier_spread  # some SIMDs see it later
            opened = last + self._step * (1 + (spread and int((spread + 1) * self._rng.random())))
            wave.stall(opened - wave.attempt, _SLEEP if wave is latest else _BARRIER, by=latest)
            self._immediate(wave, opened)

    def _branch(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        busy = self._hw.busy("branch", self._rng)
        self._port_free[wave.simd, "branch"] = now + busy
        self._held_by[wave.simd, "branch"] = (wave.pc, wave)
        is_taken = wave.takes_branch(instruction, self._rng)
        self._record(wave, _JUMP if is_taken else _NEXT, now, busy, -1)
        away = self._hw.up(self._hw.fetch_branch * (1 + self._rng.random())) if is_taken else 0
        self._advance(wave, instruction.target if is_taken else wave.pc + 1, now + busy, away)

    def _end(self, wave: LiveWave, instruction: SyntheticInstruction, now: int) -> None:
        """Drain outstanding operations: mostly in the token, sometimes before it."""
        pending = [item for queue in wave.pending.values() for item in queue]
        drained, producer = max(pending, default=(now, -1))
        drained = self._hw.up(max(drained, now + _DRAIN, wave.last_end))
        if self._rng.random() < 0.08 and drained - now > 4 * _DRAIN:
            wave.gap_cause, wave.attempt = _DRAINING, drained - _DRAIN
            wave.stall(self._step, _DRAINING, producer, wave.instruction_of(producer), wave)
            self._record(wave, _MSG, wave.attempt + self._step, _DRAIN - self._step, -1)
        else:
            self._record(wave, _MSG, now, drained - now, -1)
        wave.last_end = wave.rows[-1][0] + wave.rows[-1][3]
        wave.end, draw = wave.last_end, self._rng.random()  # they sometimes differ, as in real captures
        if draw < 0.3:
            wave.end -= self._step
        elif draw > 0.98:
            wave.end += self._step * (1 + int(6 * self._rng.random()))
        self._leave(wave)

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
        """Go to the next instruction; attempts at memory units start slightly later."""
        before, busy = wave.instruction.meaning, wave.rows[-1][3] - wave.rows[-1][2]
        wave.pc = target
        after = wave.instruction.meaning
        gap = away
        if before.unit == "valu" and after.unit in ("lds", "vmem"):
            gap += self._step * (1 + int(2 * self._rng.random()))
        elif before.unit == "salu" and busy > self._step == 4 and after.kind == _IMMED:
            gap -= self._step  # the only overlap in real gfx9 captures
        wave.gap_cause = _FETCH if away else _ARBITER if gap else _NONE
        self._schedule(wave, end + gap)
