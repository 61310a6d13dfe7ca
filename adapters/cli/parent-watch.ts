/**
 * Notices that the parent process has ended while this process goes on: nobody stops this process then, and it holds its
 * port and its file. `npx` and `npm run` leave such a process behind: they run it in a shell, SIGTERM ends the shell, and
 * the shell does not pass the signal on.
 */
import { fstatSync } from 'node:fs'
import type { Log } from 'hookswitch'

/** The part of `process` that tells who started it and where its output goes. */
export interface Parentage {
  /** Id of the parent process; another id once the parent has ended. Absent: nothing is watched. */
  readonly ppid?: number
  /** Id of this process. */
  readonly pid?: number
  /** Where the output goes. */
  readonly stdout: {
    /** Its file descriptor. */
    readonly fd?: number
  }
  /** The environment, in which npm leaves its traces. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Interval in which the parent is looked at, ms. */
const INTERVAL_MS = 1_000

/**
 * Logs one warning when the parent has ended, if this process was started by npm or writes to a pipe: everybody else, such
 * as a shell that put it into the background, may end without anything being wrong. Keeps no process alive.
 *
 * @returns a function that stops watching
 */
export function watchParent(io: Parentage, log: Pick<Log, 'warn'>): () => void {
  const parent = io.ppid
  const starter = starterOf(io)
  // Process 1 adopts others and is adopted by none.
  if (parent === undefined || parent <= 1 || starter === undefined) return () => {}
  const timer = setInterval(() => {
    if (io.ppid === parent) return
    clearInterval(timer)
    log.warn(
      { pid: io.pid, startedBy: starter },
      'the process that started this one has ended, and this one goes on: stop it with SIGTERM. Started without npm or ' +
        'npx, by the path of the program, it gets the signals itself',
    )
  }, INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function starterOf({ env, stdout }: Parentage): 'npm' | 'a pipe' | undefined {
  if (env.npm_execpath !== undefined || env.npm_lifecycle_event !== undefined) return 'npm'
  return stdout.fd !== undefined && isPipe(stdout.fd) ? 'a pipe' : undefined
}

function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    // Node makes the pipes of its child processes of sockets.
    return stat.isFIFO() || stat.isSocket()
  } catch {
    // Closed meanwhile.
    return false
  }
}
