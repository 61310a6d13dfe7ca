// @ts-check
/**
 * A node: a process that publishes and delivers until it is killed. It receives commands as lines of JSON on its standard
 * input and reports on file descriptor 3. Reports are written synchronously and in order, so none precedes what it
 * reports: an acknowledgement is written only after `publish` resolved.
 */
import { writeSync } from 'node:fs'
import { createHookswitch, memoryStore } from 'hookswitch'
import { ATTEMPT_MS, DRAIN_MS, IN_FLIGHT_PER_ENDPOINT } from './load.js'
import { fillDisk, freeDisk } from './node-disk.js'
import { finish } from './node-finish.js'
import { createPublisher } from './node-publisher.js'
import { setUp } from './node-setup.js'
import { createClock, loadStore } from './open-store.js'

const node = Number(process.argv[2])
/** @type {Awaited<ReturnType<typeof loadStore>>} */
let openStore

/** @param {readonly unknown[]} line */
const report = (...line) => void writeSync(3, `${JSON.stringify(line)}\n`)

/** @param {string} level */
const logger = (level) => (/** @type {object} */ fields, /** @type {string} */ message) =>
  report('log', `${level} ${message} ${JSON.stringify(fields)}`)
const noop = () => {}
const logError = logger('error')
const log = {
  debug: noop,
  info: noop,
  warn: logger('warn'),
  /** @param {{ lost?: number, returned?: number }} fields @param {string} message */
  error(fields, message) {
    if (message.startsWith('the store has lost commits')) report('loss', fields.lost, fields.returned)
    logError(fields, message)
  },
}

/** Identifies the sending node in every request. */
const traceparent = `00-${'1'.padStart(32, '0')}-${node.toString(16).padStart(16, '0')}-01`
/** @type {import('hookswitch/adapter').Tracing} */
const tracing = {
  begin: (name) => ({ traceparent: name === 'attempt' ? traceparent : undefined, end: noop }),
}

/** @type {import('hookswitch').Hookswitch | undefined} */
let hs
/** @type {ReturnType<typeof createPublisher> | undefined} */
let publisher
/** The file of an SQLite store. */
let path = ''
/** Aborted by SIGTERM. */
const terminated = new AbortController()
/** How far the clock of the store is behind that of the node, ms. */
let behindMs = 0
/** Speed of the node's clock, as a factor. */
let speed = 1
/** Number of deliveries that have not ended. @type {() => Promise<number>} */
let countPending = async () => Number.NaN

/** @param {import('hookswitch/adapter').Metrics['watch'] extends (read: infer Read) => void ? Read : never} read */
function watch(read) {
  countPending = async () => {
    const gauge = (await read()).find(({ name }) => name === 'hookswitch_deliveries_pending')
    return gauge?.value ?? Number.NaN
  }
}

/** The store, which reports each new lease of this node. @param {import('hookswitch/store').Store} store @returns {import('hookswitch/store').Store} */
function reportingLeases(store) {
  let last = 0
  /** @param {'own' | 'renew'} method @returns {import('hookswitch/store').Store['deliveries']['own']} */
  const reporting =
    (method) =>
    async (...args) => {
      const lease = await store.deliveries[method](...args)
      if (lease.fence !== last) report('lease', lease.fence)
      last = lease.fence
      return lease
    }
  const deliveries = { ...store.deliveries, own: reporting('own'), renew: reporting('renew') }
  return Object.create(store, { deliveries: { value: deliveries } })
}

const commands = {
  /** @param {import('./nodes.js').NodePlan} plan */
  async start(plan) {
    if (plan.location.kind === 'sqlite') path = plan.location.path
    const time = plan.location.kind === 'postgres' ? plan.location : { speed }
    const clock = createClock(time)
    speed = time.speed
    const instance = createHookswitch({
      store: reportingLeases(openStore(plan.location, { ...clock, now: () => clock.now() - behindMs })),
      clock,
      secret: 'the secret of all crash runs',
      allowLocal: true,
      inFlightPerEndpoint: IN_FLIGHT_PER_ENDPOINT,
      attemptTimeoutMs: ATTEMPT_MS,
      retryPolicy: { kind: 'constant', delayMs: 40, jitter: 0, retryOn: 'failure', retriesCountTries: false },
      pauses: false,
      autoDisable: false,
      metrics: { count: noop, observe: noop, watch },
      tracing,
      log,
    })
    hs = instance
    await instance.start()
    if (plan.setUp) await setUp(instance, plan.setUp)
    publisher = createPublisher(instance, node, plan, report)
    report('started')
    await publisher.run()
    report('published')
  },
  /** Waits for all deliveries to end and replays those that were not delivered, which it reports. */
  async finish() {
    const stuck = setTimeout(() => report('log', 'the publisher does not stop'), 10_000)
    await publisher?.stop()
    clearTimeout(stuck)
    const countUnfinished = () => countPending().catch(() => Number.NaN)
    const instance = /** @type {import('hookswitch').Hookswitch} */ (hs)
    const log = (/** @type {string} */ line) => report('log', line)
    report('finished', await finish(instance, countUnfinished, terminated.signal, log))
  },
  /** The clock of another server of the store. @param {number} ms how far it is behind */
  setStoreClockBack(ms) {
    behindMs = ms
    report('storeClockSet')
  },
  fillDisk() {
    fillDisk(path)
    report('full')
  },
  freeDisk() {
    freeDisk(path)
    report('free')
  },
}

/** Closes the service; afterwards nothing keeps the process alive. */
async function close() {
  terminated.abort()
  process.stdin.destroy()
  const published = publisher?.stop()
  await hs?.close({ drainMs: DRAIN_MS * speed })
  await published
  report('closed')
}
process.once('SIGTERM', () => void close())

/** @param {string} line */
async function execute(line) {
  const [command, input] = JSON.parse(line)
  try {
    await commands[/** @type {keyof typeof commands} */ (command)](input)
  } catch (thrown) {
    report('log', `${command} failed: ${thrown instanceof Error ? thrown.stack : thrown}`)
    // `Closing`: it was terminated while it was starting, which is not a failure.
    if (/** @type {any} */ (thrown)?.code !== 'Closing') process.exitCode = 1
    report('failed', String(thrown))
  }
}

let text = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (text + chunk).split('\n')
  text = lines.pop() ?? ''
  for (const line of lines) void execute(line)
})
// The parent process has exited.
process.stdin.on('end', () => process.exit(1))

/** Loads the code that an instance needs before the start command arrives, because a cycle is short. */
async function warmUp() {
  openStore = await loadStore(String(process.argv[3]))
  const instance = createHookswitch({ store: memoryStore() })
  await instance.start()
  await instance.close()
  report('ready')
}
export const ready = warmUp()
