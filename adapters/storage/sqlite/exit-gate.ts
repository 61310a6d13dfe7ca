/**
 * Lets a process end between two calls of the worker's database, never within one. Node ends worker threads wherever they
 * are, and a driver whose native code is just then at work aborts the process (SIGABRT in place of the exit code).
 *
 * The 'exit' event is the last time that the host's thread runs. Its listener closes the gate, waits until the worker is
 * outside of the database, and lets Node end it there. A process that does not end after all opens it again.
 */

const WORKING = 0
const CLOSED = 1

/** Longest wait for the worker, ms: one group takes milliseconds, opening a large file some seconds. */
const MAX_WAIT_MS = 60_000

/** Shared by both threads: whether the worker is at work, and whether the gate is closed. */
export type ExitGate = Int32Array<SharedArrayBuffer>

export const createExitGate = (): ExitGate => new Int32Array(new SharedArrayBuffer(8))

/** The worker's side: runs a call of the database, unless the process is ending; then it waits for its end. */
export function throughGate<Result>(gate: ExitGate, call: () => Result): Result {
  enter(gate)
  try {
    return call()
  } finally {
    leave(gate)
  }
}

function enter(gate: ExitGate): void {
  for (;;) {
    Atomics.store(gate, WORKING, 1)
    if (Atomics.load(gate, CLOSED) === 0) return
    leave(gate)
    Atomics.wait(gate, CLOSED, 1)
  }
}

function leave(gate: ExitGate): void {
  Atomics.store(gate, WORKING, 0)
  Atomics.notify(gate, WORKING)
}

/** The host's side: closes the gate, and waits until the worker is outside. */
function closeGate(gate: ExitGate): void {
  Atomics.store(gate, CLOSED, 1)
  Atomics.wait(gate, WORKING, 1, MAX_WAIT_MS)
}

/** The host's side: the process goes on. */
function openGate(gate: ExitGate): void {
  Atomics.store(gate, CLOSED, 0)
  Atomics.notify(gate, CLOSED)
}

const gates = new Set<ExitGate>()

/** Closes this gate when the process ends, until the returned function is called. */
export function closeOnExit(gate: ExitGate): () => void {
  // Before the host's listeners: one that calls `process.exit()` ends the process without calling the rest.
  if (gates.size === 0) process.prependListener('exit', closeAll)
  gates.add(gate)
  return () => {
    gates.delete(gate)
    if (gates.size === 0) process.removeListener('exit', closeAll)
  }
}

function closeAll(): void {
  for (const gate of gates) closeGate(gate)
  // Only reached by a host that emits the event without ending.
  setImmediate(() => {
    for (const gate of gates) openGate(gate)
  })
}
