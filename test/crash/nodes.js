// @ts-check
/** Nodes as their parent has them: processes that are told what to do, listened to and ended. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { micros } from './load.js'
import { makeNodeProgram } from './node-program.js'

/**
 * @typedef {object} Plan what a node is told when it starts
 * @property {import('./open-store.js').Where} where
 * @property {number} accounts
 * @property {{ port: number, accounts: number }} [setUp] makes accounts and webhooks first
 * @property {(import('./load.js').Place & { slot: number })[]} slots calls to go on with, each in a slot of its own
 * @property {import('./load.js').Place[]} again events with a key that are published once more
 * @property {number} events most that are published besides
 * @property {number} restMs between the events of a call
 */

const LOG_LINES = 30

const PROGRAM = await makeNodeProgram()

/** @type {Set<import('node:child_process').ChildProcess>} */
const alive = new Set()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/** @typedef {ReturnType<typeof spawnNode>} Node */

/**
 * Starts a process that waits to be told to start.
 *
 * @param {import('./ledger.js').Ledger} ledger
 * @param {number} id 1, 2, …
 * @param {string} kind of its store
 * @param {readonly [string, ...string[]]} command what runs it: Node, or a shell around it
 */
export function spawnNode(ledger, id, kind, command = [process.execPath]) {
  const [program, ...before] = command
  const child = spawn(program, [...before, ...PROGRAM, String(id), kind], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  /** @type {string[]} */
  const log = []
  ledger.logs.set(id, log)
  const note = (/** @type {string} */ line) => {
    log.push(line)
    if (log.length > LOG_LINES) log.shift()
  }
  /** What it tells once, by name: whoever waits, and what has come already. */
  const told = new Told()

  const hear = {
    try: (/** @type {string} */ call, /** @type {number} */ index) =>
      ledger.tries.push({ kind: 'try', at: micros(), node: id, call, index }),
    ack: (
      /** @type {string} */ call,
      /** @type {number} */ index,
      /** @type {string} */ event,
      /** @type {number} */ sequence,
      /** @type {boolean} */ duplicate,
    ) => ledger.acks.push({ kind: 'ack', at: micros(), node: id, call, index, event, sequence, duplicate }),
    no: (/** @type {string} */ call, /** @type {number} */ index, /** @type {string} */ code) =>
      ledger.refusals.push({ kind: 'no', at: micros(), node: id, call, index, code }),
    log: note,
  }
  let acknowledged = 0
  /** Whoever waits for so many acknowledgements. @type {{ count: number, resolve: () => void }[]} */
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
    const heard = heardLine(line)
    if (!heard) return
    const [what, ...rest] = heard
    if (what === 'ack') countAck()
    if (Object.hasOwn(hear, what)) /** @type {any} */ (hear)[what](...rest)
    else told.tell(what, rest[0])
  })
  createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stderr) }).on('line', note)
  // It may be gone when it is told something.
  child.stdin?.on('error', () => {})

  /** Gone, and all heard that it had told. @type {Promise<number | null>} */
  const gone = new Promise((resolve) => child.once('close', (code) => resolve(code)))
  alive.add(child)
  void gone.then(() => {
    alive.delete(child)
    told.end()
  })

  /** @param {import('./ledger.js').End['how']} how @param {NodeJS.Signals} signal */
  function stop(how, signal) {
    /** @type {import('./ledger.js').End} */
    const end = { kind: 'end', at: micros(), node: id, how, until: Number.POSITIVE_INFINITY }
    ledger.ends.push(end)
    child.kill(signal)
    return end
  }

  /** @param {'killed' | 'asked'} how @param {NodeJS.Signals} signal */
  async function end(how, signal) {
    const ended = stop(how, signal)
    ended.code = await gone
    ended.until = micros()
    return ended
  }

  return {
    id,
    gone,
    /** Waits until it told this: what it said of it; undefined when it ended first. */
    told: (/** @type {string} */ what) => told.wait(what),
    /** Resolves when it has acknowledged so many events, if it ever does. @param {number} count @returns {Promise<void>} */
    acknowledged: (count) =>
      new Promise((resolve) => {
        if (acknowledged >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    tell: (/** @type {string} */ verb, /** @type {unknown} */ input) =>
      void child.stdin?.write(`${JSON.stringify([verb, input])}\n`),
    kill: () => end('killed', 'SIGKILL'),
    terminate: () => end('asked', 'SIGTERM'),
    /** One that was never told to start ends when nobody can tell it any more. */
    dismiss() {
      child.stdin?.end()
      return gone
    },
    /** Stops it in its tracks; what comes back lets it go on. */
    pause() {
      const paused = stop('paused', 'SIGSTOP')
      return () => {
        paused.until = micros()
        child.kill('SIGCONT')
      }
    },
  }
}

/** A line; undefined for the last one of a node that was killed while it wrote. @param {string} line */
function heardLine(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Things that are told once each, to whoever waits for them, before or after. */
class Told {
  /** @type {Map<string, unknown>} */
  #come = new Map()
  /** @type {Map<string, ((what: any) => void)[]>} */
  #waiting = new Map()
  #isOver = false

  /** @param {string} what @param {unknown} of */
  tell(what, of) {
    this.#come.set(what, of ?? true)
    for (const resolve of this.#waiting.get(what) ?? []) resolve(of ?? true)
    this.#waiting.delete(what)
  }

  /** @param {string} what @returns {Promise<any>} */
  wait(what) {
    if (this.#isOver || this.#come.has(what)) return Promise.resolve(this.#come.get(what))
    return new Promise((resolve) => {
      this.#waiting.set(what, [...(this.#waiting.get(what) ?? []), resolve])
    })
  }

  end() {
    this.#isOver = true
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(undefined)
    this.#waiting.clear()
  }
}
