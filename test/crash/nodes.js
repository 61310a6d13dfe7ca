// @ts-check
/** Node processes as seen by their parent: spawned, sent commands, listened to, and stopped. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { nowMicros } from './load.js'
import { buildNodeProgram } from './node-program.js'

/**
 * @typedef {object} NodePlan the input of the start command
 * @property {import('./open-store.js').StoreLocation} location
 * @property {number} accounts
 * @property {{ port: number, accounts: number }} [setUp] creates accounts and webhooks first
 * @property {(import('./load.js').EventPosition & { slot: number })[]} slots calls to continue, each in its own slot
 * @property {import('./load.js').EventPosition[]} republish events with a key that are published again
 * @property {number} events upper bound of other events to publish
 * @property {number} pauseMs between the events of a call
 */

const LOG_LINES = 30

const PROGRAM = await buildNodeProgram()

/** @type {Set<import('node:child_process').ChildProcess>} */
const alive = new Set()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/** @typedef {ReturnType<typeof spawnNode>} NodeProcess */

/**
 * Spawns a process that waits for the start command.
 *
 * @param {import('./history.js').History} history
 * @param {number} id 1, 2, …
 * @param {string} kind of its store
 * @param {readonly [string, ...string[]]} command runs it: Node, or a shell around it
 */
export function spawnNode(history, id, kind, command = [process.execPath]) {
  const [program, ...before] = command
  const child = spawn(program, [...before, ...PROGRAM, String(id), kind], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  /** @type {string[]} */
  const log = []
  history.logs.set(id, log)
  const addLogLine = (/** @type {string} */ line) => {
    log.push(line)
    if (log.length > LOG_LINES) log.shift()
  }
  const reports = new OneTimeReports()

  const recorders = {
    publish: (/** @type {string} */ call, /** @type {number} */ index) =>
      history.publishes.push({ kind: 'publish', at: nowMicros(), node: id, call, index }),
    ack: (
      /** @type {string} */ call,
      /** @type {number} */ index,
      /** @type {string} */ event,
      /** @type {number} */ sequence,
      /** @type {boolean} */ duplicate,
    ) =>
      history.acks.push({ kind: 'ack', at: nowMicros(), node: id, call, index, event, sequence, duplicate }),
    refusal: (/** @type {string} */ call, /** @type {number} */ index, /** @type {string} */ code) =>
      history.refusals.push({ kind: 'refusal', at: nowMicros(), node: id, call, index, code }),
    lease: (/** @type {number} */ fence) => void history.leases.push({ node: id, fence }),
    loss: (/** @type {number} */ lost, /** @type {number} */ returned) =>
      void history.countedLosses.push({ node: id, lost, returned }),
    log: addLogLine,
  }
  let acknowledged = 0
  /** Callers that wait for a number of acknowledgements. @type {{ count: number, resolve: () => void }[]} */
  let waiting = []
  function countAck() {
    acknowledged += 1
    waiting = waiting.filter(({ count, resolve }) => {
      if (acknowledged >= count) resolve()
      return acknowledged < count
    })
  }
  const lines = createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdio[3]) })
  lines.on('line', (line) => {
    const report = parseReport(line)
    if (!report) return
    const [name, ...args] = report
    if (name === 'ack') countAck()
    if (Object.hasOwn(recorders, name)) /** @type {any} */ (recorders)[name](...args)
    else reports.add(name, args[0])
  })
  createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stderr) }).on(
    'line',
    addLogLine,
  )
  // The process may have exited when a command is sent.
  child.stdin?.on('error', () => {})

  /** Resolves when it has exited and all its reports were read. @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('close', (code) => resolve(code)))
  alive.add(child)
  void exited.then(() => {
    alive.delete(child)
    reports.end()
  })

  /** @param {import('./history.js').NodeStop['how']} how @param {NodeJS.Signals} signal */
  function signalStop(how, signal) {
    /** @type {import('./history.js').NodeStop} */
    const stop = { kind: 'stop', at: nowMicros(), node: id, how, until: Number.POSITIVE_INFINITY }
    history.stops.push(stop)
    child.kill(signal)
    return stop
  }

  /** @param {'killed' | 'terminated'} how @param {NodeJS.Signals} signal */
  async function end(how, signal) {
    const stop = signalStop(how, signal)
    stop.code = await exited
    stop.until = nowMicros()
    return stop
  }

  return {
    id,
    exited,
    /** Waits for a report and returns its value; undefined if the process exits first. */
    waitFor: (/** @type {string} */ name) => reports.wait(name),
    /** Resolves after this many acknowledgements, if ever. @param {number} count @returns {Promise<void>} */
    waitForAcks: (count) =>
      new Promise((resolve) => {
        if (acknowledged >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    send: (/** @type {string} */ name, /** @type {unknown} */ input) =>
      void child.stdin?.write(`${JSON.stringify([name, input])}\n`),
    kill: () => end('killed', 'SIGKILL'),
    terminate: () => end('terminated', 'SIGTERM'),
    /** Ends a process that was never started. */
    dismiss() {
      child.stdin?.end()
      return exited
    },
    /** Stops the process (SIGSTOP); the returned function resumes it. */
    pause() {
      const stop = signalStop('paused', 'SIGSTOP')
      return () => {
        stop.until = nowMicros()
        child.kill('SIGCONT')
      }
    },
  }
}

/** Parses a report; undefined for the truncated last line of a killed node. @param {string} line */
function parseReport(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Reports that arrive once each, for callers that wait before or after. */
class OneTimeReports {
  /** @type {Map<string, unknown>} */
  #arrived = new Map()
  /** @type {Map<string, ((value: any) => void)[]>} */
  #waiting = new Map()
  #hasEnded = false

  /** @param {string} name @param {unknown} value */
  add(name, value) {
    this.#arrived.set(name, value ?? true)
    for (const resolve of this.#waiting.get(name) ?? []) resolve(value ?? true)
    this.#waiting.delete(name)
  }

  /** @param {string} name @returns {Promise<any>} */
  wait(name) {
    if (this.#hasEnded || this.#arrived.has(name)) return Promise.resolve(this.#arrived.get(name))
    return new Promise((resolve) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve])
    })
  }

  end() {
    this.#hasEnded = true
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(undefined)
    this.#waiting.clear()
  }
}
