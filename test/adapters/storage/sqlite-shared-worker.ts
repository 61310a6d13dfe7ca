/**
 * The worker threads of SQLite stores as guests of one thread: starting a thread takes five times as long as most tests. The
 * built worker runs there unchanged, once for each store. How threads start and end is left to `sqlite-built-thread`,
 * `sqlite-built-process` and `sqlite-built-exit`.
 */
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import threads, { MessageChannel, type MessagePort, type WorkerOptions } from 'node:worker_threads'
import { afterAll, beforeAll } from 'vitest'

/** Runs the file of a worker with a port and data in place of those of the thread. */
const GUESTS = `
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const threads = require('node:worker_threads')
const compiled = new Map()
function compile(path) {
  const text = readFileSync(path, 'utf8')
  return require('node:vm').compileFunction(text, ['exports', 'require', '__filename'], { filename: path })
}
threads.parentPort.on('message', ({ path, parentPort, workerData }) => {
  if (!compiled.has(path)) compiled.set(path, compile(path))
  const load = createRequire(path)
  const own = { ...threads, parentPort, workerData }
  compiled.get(path)({}, (name) => (/^(node:)?worker_threads$/.test(name) ? own : load(name)), path)
  // It could not open its database, and waits for nothing.
  if (parentPort.listenerCount('message') === 0) parentPort.close()
})
`

/** Replaces `Worker` of `node:worker_threads` until the end of the test file. */
export function shareWorkers(): void {
  const { Worker } = threads
  let thread: threads.Worker

  class Guest extends EventEmitter {
    readonly #port: MessagePort

    constructor(path: string, { workerData }: WorkerOptions) {
      super()
      const { port1, port2 } = new MessageChannel()
      this.#port = port1
      port1.on('message', (message) => this.emit('message', message))
      port1.on('close', () => this.emit('exit', 0))
      thread.postMessage({ path, parentPort: port2, workerData }, [port2])
    }
    postMessage(message: unknown, transfer: ArrayBuffer[]): void {
      this.#port.postMessage(message, transfer)
    }
    ref(): void {
      this.#port.ref()
    }
    unref(): void {
      this.#port.unref()
    }
  }
  const use = (replacement: unknown) => {
    Object.assign(threads, { Worker: replacement })
    syncBuiltinESMExports()
  }
  beforeAll(() => {
    thread = new Worker(GUESTS, { eval: true, execArgv: [] })
    thread.unref()
    use(Guest)
  })
  afterAll(async () => {
    use(Worker)
    await thread.terminate()
  })
}
