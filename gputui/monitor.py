"""The loop that ties a source of readings, the kernel log and the incident engine.

Everything that shows or prints goes through here: the screen, ``--once``, ``--stream``, exports.

    monitor = Monitor(MonitorOptions(interval_s=1.0))
    monitor.launch()                   # the sampler starts at once (before Textual is imported)
    monitor.start(on_snapshot)         # Snapshots arrive on the monitor's own daemon thread
    ...
    monitor.stop()                     # within half a second, also while the driver hangs

``on_snapshot`` is called after every sample, at once after a log line that means something, and
about once a second while readings fail to come, so that ages grow and states turn. It must be
quick, and never touch the screen itself: hand the snapshot over to the screen's own thread.

One class, although a long one: it owns the one thread, the one lock and every stream there is, so
that in which order they meet can be read in one place. What it decides is decided elsewhere.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gputui.assess import Assessor
from gputui.captures import Captures, open_for_recording
from gputui.errors import SourceError
from gputui.logs.choice import AUTO, JOB_LOG_VARIABLE, NONE
from gputui.logs.find import ENVIRONMENT, KernelLog, boot_s
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KERNEL, KernelEvent, KernelParser
from gputui.logs.nvml import NVML, parse_xid_line
from gputui.model import Incident, LogLine, NodeSample, Snapshot
from gputui.monitor_options import MonitorOptions
from gputui.notebook import Notebook
from gputui.recording import CaptureWriter, LogRecord, Record, SampleRecord, StartRecord
from gputui.silence import Silence, patience_s
from gputui.sources.files import system_root
from gputui.sources.guarded import guarded
from gputui.sources.open import open_source
from gputui.sources.playback import Playback
from gputui.sources.source import Source
from gputui.state import NodeState

if TYPE_CHECKING:
    from gputui.logs.jobs import JobLogs

__all__ = ["Monitor", "MonitorOptions", "SourceError"]

_LOG_EVERY_S = 0.5
"""How often a kernel log that is a file is looked at."""

_TICK_S = 1.0
_HURRIES_EVERY_S = 0.5
_JOIN_S = 0.3
_AFTER_FAULT_S = 0.1
_READ_BACK_S = 86_400.0
_URGENT = frozenset({"xid", "gpu_lost"})


class Monitor:
    """Watches one node and tells what it knows, snapshot by snapshot.

    ``captures`` receive everything in the capture format, as ``--record`` does. ``source`` is one
    that is open already: whoever is in a hurry starts the sampler before importing this module.
    """

    def __init__(
        self,
        options: MonitorOptions,
        captures: Sequence[CaptureWriter] = (),
        source: Source | None = None,
    ) -> None:
        self.options = options
        self.ended = threading.Event()
        """Set when nothing more will come: the source is at its end, or nobody reads a capture."""
        self._captures = Captures(captures)
        self._notebook = Notebook(options.state)
        self._assessor = self._new_assessor()
        self._lock = threading.Lock()
        self._boot_s = boot_s()
        self._parser = KernelParser(self._boot_s)
        self._log = KernelLog(NONE)
        self._job_logs: JobLogs | None = None
        self._source = source
        self._launched_already = False
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._wake_r, self._wake_w = os.pipe()
        self._on_snapshot: Callable[[Snapshot], None] = _nobody
        self._waiting: list[Record] = []
        self._host = os.uname().nodename
        self._fault = ""
        self._sample_time_s: float | None = None
        self._recalled = False
        self._sampled_s = 0.0
        self._ticked_s = 0.0
        self._hurried_s = 0.0
        self._heard = False
        self._restarts = 0

    # --- for whoever uses it --------------------------------------------------------------------

    def launch(self) -> None:
        """Start the source without listening to it yet. Calling it twice does nothing.

        Raises :class:`SourceError` when the source or the file to record into cannot be opened.
        """
        if self._launched_already:
            return
        self._launched_already = True
        if self._source is None:
            self._source = open_source(
                self.options.source, self.options.interval_s, self.options.kernel_log
            )
        if self._source.playback is not None:
            self._source.playback.wake = self._wake
        self._sampled_s = time.monotonic()
        if self.options.record is not None:
            self._captures.add(CaptureWriter(open_for_recording(self.options.record)))
        if self._source.is_here:
            self._captures.write(lambda capture: capture.start(self._host, time.time()))

    def wait_for_first(self, timeout_s: float) -> NodeSample | None:
        """Return the first sample, before ``start``; None if none comes in time.

        It is delivered all the same once the monitor is started.
        """
        self.launch()
        source = self._launched()
        until_s = time.monotonic() + timeout_s
        while (left_s := until_s - time.monotonic()) > 0 and not source.ended:
            self._waiting += source.read(time.monotonic())
            for record in self._waiting:
                if isinstance(record, SampleRecord):
                    return record.sample
            self._wait(source, min(left_s, 0.1))
        return None

    def start(self, on_snapshot: Callable[[Snapshot], None]) -> None:
        """Begin to deliver snapshots from a daemon thread; launches the source if need be."""
        self.launch()
        self._on_snapshot = on_snapshot
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and the sampler, within half a second. Calling it twice does nothing."""
        self._stopping = True
        self._wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_S)
        source, self._source = self._source, None
        if source is not None:
            source.close()
        self._log.close()
        if self._job_logs is not None:
            self._job_logs.close()
        self.ended.set()
        if self._thread is None or not self._thread.is_alive():
            self._notebook.write(self._state, time.monotonic(), at_end=True)
            self._close_wake()

    def acknowledge(self, incident_id: str) -> bool:
        """Mark an open incident as seen; False if it is no longer open."""
        with self._lock:
            found = self._assessor.acknowledge(incident_id)
            self._notebook.changed()
        self._wake()
        return found

    def snooze(self, incident_id: str, for_s: float) -> bool:
        """Let nobody be called for an open incident for a while; False if it is no longer open."""
        with self._lock:
            found = self._assessor.snooze(incident_id, self._now_s() + for_s)
            self._notebook.changed()
        self._wake()
        return found

    @property
    def undecided(self) -> bool:
        """Whether one more sample may open an incident that is only suspected now."""
        with self._lock:
            return self._assessor.undecided

    @property
    def finite(self) -> bool:
        """Whether the source comes to its end by itself, so that its last word is what counts."""
        return self._source is not None and self._source.finite

    @property
    def playback(self) -> Playback | None:
        """The knobs of a recording that is played; None where the source is no such thing."""
        return None if self._source is None else self._source.playback

    # --- the loop -------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._log = self._chosen_log()
            while not self._stopping:
                try:
                    self._step()
                except BrokenPipeError:
                    break
                except Exception as error:
                    # A fault of our own is told on the screen, rather than freezing what it shows.
                    self._fault = f"The monitor failed: {type(error).__name__}: {error}."
                    time.sleep(_AFTER_FAULT_S)
        finally:
            self.ended.set()

    def _step(self) -> None:
        source = self._launched()
        records = [*self._waiting, *source.read(time.monotonic())]
        self._waiting.clear()
        if source.restarts != self._restarts:
            self._begin_anew(source.restarts)
        self._follow_log()
        self._follow_jobs()
        for record in records:
            self._take(record)
        self._flush()
        if source.ended:
            self.ended.set()
        self._tick_if_silent(source)
        self._wait(source, self._wait_s(source))

    def _new_assessor(self) -> Assessor:
        options = self.options
        return Assessor(
            interval_s=options.interval_s,
            gpus=options.gpus,
            rules_off=options.rules_off,
            thresholds=options.thresholds,
            maintenance=options.maintenance,
            expected=options.expected_gpus,
        )

    def _begin_anew(self, restarts: int) -> None:
        """A recording begins again: nothing is known yet."""
        self._restarts = restarts
        with self._lock:
            self._assessor = self._new_assessor()
        self._parser = KernelParser(self._boot_s)
        self._sample_time_s = None
        self._heard = False

    def _wake(self) -> None:
        if self._wake_w >= 0:
            os.write(self._wake_w, b"x")

    def _close_wake(self) -> None:
        if self._wake_w >= 0:
            os.close(self._wake_r)
            os.close(self._wake_w)
            self._wake_r = self._wake_w = -1

    def _launched(self) -> Source:
        if self._source is None:
            raise BrokenPipeError("the monitor was stopped")
        return self._source

    def _wait(self, source: Source, seconds: float) -> None:
        """Wait for the source, for being woken, or for the time to pass."""
        poll = select.poll()
        poll.register(self._wake_r, select.POLLIN)
        for descriptor in (*source.descriptors(), self._log.descriptor()):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        ready = poll.poll(max(seconds, 0.0) * 1000)
        if any(number == self._wake_r for number, _ in ready):
            os.read(self._wake_r, 4096)
            with self._lock:
                snapshot = self._assessor.refreshed()
            if snapshot is not None and not self._stopping:
                self._tell(snapshot)

    def _wait_s(self, source: Source) -> float:
        """How long to sleep if nothing comes."""
        now_s = time.monotonic()
        waits = [self._overdue_s(now_s) or _TICK_S]
        if self._log.is_polled:
            waits.append(_LOG_EVERY_S)
        due_s = source.due_s(now_s)
        if due_s is not None:
            waits.append(due_s)
        return min(waits)

    # --- what comes in --------------------------------------------------------------------------

    def _take(self, record: Record) -> None:
        if not self._launched().is_here:
            record = guarded(record)  # of this machine it is read without secrets
        if isinstance(record, SampleRecord):
            if not self._recalled:
                self._recall(record.sample)
            self._sampled_s = time.monotonic()
            self._sample_time_s = record.sample.time_s
            with self._lock:
                snapshot = self._assessor.sample(record.sample)
            self._captures.write(lambda capture: capture.sample(snapshot.sample, snapshot.statuses))
            self._heard = False
            if not self._launched().is_passing_over:
                self._tell(snapshot)
            self._listen_to_jobs(record.sample)
        elif isinstance(record, LogRecord):
            self._take_line(record.line)
        elif isinstance(record, StartRecord):
            self._host = record.host
            if not self._launched().is_here:
                self._captures.write(lambda capture: capture.start(record.host, record.epoch_s))

    def _recall(self, first: NodeSample) -> None:
        """What is remembered of this node, now that its name is known."""
        source = self._launched()
        if not source.is_live or (first.error is not None and not source.is_here):
            return
        self._recalled = True
        state = self._notebook.open(first.host)
        with self._lock:
            self._assessor.recall(state, first)

    def _take_line(self, line: LogLine) -> None:
        """A line of a log, from the source."""
        if line.source == KERNEL:
            self._hear(line.text, line.time_s, live=True)
        elif line.source == NVML:
            event = parse_xid_line(line.text, line.time_s)
            if event is not None:
                self._take_event(event, line)
        else:
            from gputui.logs.jobs import job_word

            word = job_word(line.text, line.time_s, line.source, self._host)
            if word is not None:
                self._take_word(word, line)

    def _chosen_log(self) -> KernelLog:
        """The kernel log of this machine; one elsewhere comes by the stream."""
        choice, source = self.options.kernel_log, self._launched()
        unasked = choice == AUTO and ENVIRONMENT not in os.environ
        if not source.is_here and (source.is_live or unasked):
            choice = NONE
        return KernelLog(choice)

    def _follow_log(self) -> None:
        for line in self._log.read():
            self._hear(line.text, self._now_s(), live=line.live)

    def _listen_to_jobs(self, sample: NodeSample) -> None:
        """Follow the logs of the jobs of this machine, once there may be any."""
        if self._job_logs is None:
            choice = self.options.job_logs
            unasked = choice == AUTO and JOB_LOG_VARIABLE not in os.environ
            if not self._launched().is_here or choice == NONE or (unasked and not sample.processes):
                return
            from gputui.logs.jobs import JobLogs  # there may be no job all day

            self._job_logs = JobLogs(choice, os.fspath(system_root() / "proc"), self._wake)
        self._job_logs.meet(sample)

    def _follow_jobs(self) -> None:
        if self._job_logs is None:
            return
        for word in self._job_logs.take():
            event = word.event
            self._take_word(event, LogLine(event.time_s, event.job or "job", event.text))

    def _take_word(self, event: JobEvent, line: LogLine) -> None:
        """A job's log said something."""
        self._captures.write(lambda capture: capture.log(line, self._host))
        with self._lock:
            self._assessor.hear_job(event)
            self._heard = True

    def _hear(self, line: str, time_s: float, *, live: bool) -> None:
        event = self._parser.parse(line, time_s, live=live)
        if event is None or (not live and event.time_s < self._oldest_s(time_s)):
            return
        self._take_event(event, LogLine(event.time_s, KERNEL, line), live=live)
        if live:
            self._hurry(event)

    def _oldest_s(self, time_s: float) -> float:
        """What is read back may be a day old, and of this boot."""
        return max(time_s - _READ_BACK_S, self._boot_s or 0.0)

    def _take_event(self, event: KernelEvent, line: LogLine, *, live: bool = True) -> None:
        self._captures.write(lambda capture: capture.log(line, self._host))
        with self._lock:
            self._heard |= self._assessor.hear(event, live=live)

    def _hurry(self, event: KernelEvent) -> None:
        """Read the GPUs at once: what the kernel just said should show in their readings."""
        now_s = time.monotonic()
        if event.kind in _URGENT and now_s - self._hurried_s >= _HURRIES_EVERY_S:
            self._hurried_s = now_s
            self._launched().poke()

    def _flush(self) -> None:
        """Tell what the log said: once for all the lines that came together."""
        if not self._heard:
            return
        self._heard = False
        with self._lock:
            snapshot = self._assessor.refreshed()
        if snapshot is not None:
            self._tell(snapshot)

    # --- what goes out --------------------------------------------------------------------------

    def _tell(self, snapshot: Snapshot) -> None:
        now_s = self._now_s()
        with self._lock:
            changes = self._assessor.changes()
        if changes:
            self._notebook.changed()
            self._captures.write(lambda capture: _write_all(capture, changes, now_s))
        source_notice = self._source.notice if self._source else ""
        own = (
            self._log.notice,
            self._job_logs.notice if self._job_logs else "",
            source_notice,
            self._captures.notice,
            self._notebook.notice,
            self._fault,
            *self.options.notices,
        )
        notices = (*snapshot.notices, *(text for text in own if text))
        self._on_snapshot(replace(snapshot, notices=notices))
        self._notebook.write(self._state, time.monotonic())

    def _state(self) -> NodeState:
        with self._lock:
            return self._assessor.state

    def _tick_if_silent(self, source: Source) -> None:
        now_s = time.monotonic()
        if self._overdue_s(now_s) > 0 or now_s - self._ticked_s < _TICK_S:
            return
        if source.playback is not None:
            return  # a recording may stand still: its silences are in it
        self._ticked_s = now_s
        silence = Silence(now_s - self._sampled_s, elsewhere=not source.is_here)
        hang = source.hang(now_s)
        if hang is not None:
            silence = replace(silence, asked=hang.asked, whole_driver=hang.whole_driver)
        time_s = self._now_s()
        with self._lock:
            snapshot = self._assessor.silent(time_s, silence, self._host)
        told = NodeSample(snapshot.sample.host, time_s, error=silence.text)
        self._captures.write(lambda capture: capture.sample(told))
        self._tell(snapshot)

    def _overdue_s(self, monotonic_s: float) -> float:
        """In how many seconds the next sample is so late that it has to be said."""
        late_s = self._sampled_s + patience_s(self.options.interval_s)
        return max(late_s - monotonic_s, 0.0)

    def _now_s(self) -> float:
        """The time at the source: that of the last sample, and what has passed since."""
        if self._sample_time_s is None:
            return time.time()
        return self._sample_time_s + time.monotonic() - self._sampled_s


def _nobody(_: Snapshot) -> None:
    """Nobody listens."""


def _write_all(capture: CaptureWriter, incidents: list[Incident], time_s: float) -> None:
    for incident in incidents:
        capture.incident(incident, time_s)
