/**
 * Identifies this process, and tells whether a process of the same machine still runs. Processes of other machines and
 * containers, and those of systems without `/proc`, are unknown.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** `unknown`: it cannot be seen from here. */
type ProcessState = 'running' | 'gone' | 'unknown'

/** One boot of a machine, and one space of process ids on it (a container has its own). */
function space(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
}

/** State and start time, in ticks since the boot: an id may be used again. The name before them may contain anything. */
function stat(pid: number): { readonly state: string; readonly start: string } {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0]!, start: fields[19]! }
}

/**
 * The identity of a process; null where it cannot be determined.
 *
 * @param pid of another process of this machine or container. Default: this process
 */
export function processIdentity(pid = process.pid): string | null {
  try {
    return `${space()} ${pid} ${stat(pid).start}`
  } catch {
    return null
  }
}

/** @param identity of `processIdentity` there; null: it could not be determined */
export function processStateOf(identity: string | null): ProcessState {
  const [, place, digits, start] = /^(\S+ \S+) (\d+) (\d+)$/.exec(identity ?? '') ?? []
  try {
    if (place === undefined || place !== space()) return 'unknown'
    const pid = Number(digits)
    if (!exists(pid)) return 'gone'
    const found = stat(pid)
    // Z, X: it has ended, and its parent has not asked for its exit code yet.
    return found.start === start && !'ZX'.includes(found.state) ? 'running' : 'gone'
  } catch {
    return 'unknown'
  }
}

/** Also of processes that `/proc` hides from this user. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
