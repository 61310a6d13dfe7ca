// @ts-check
/**
 * One node: a process that publishes and delivers until it is killed. Told what to do by lines of JSON on its standard
 * input, tells by such lines on file descriptor 3: written at once and in order, so that what was told is never more
 * than was done, and an acknowledgement is told only after `publish` resolved.
 */
import { writeSync } from 'node:fs'
import { createHookswitch, memoryStore } from 'hookswitch'
import { ATTEMPT_MS, DRAIN_MS, IN_FLIGHT_PER_ENDPOINT } from './load.js'
import { fillDisk, freeDisk } from './node-disk.js'
import { finish } from './node-finish.js'
import { createPublisher } from './node-publisher.js'
import { setUp } from './node-setup.js'
import { clockOf, loadStore } from './open-store.js'

const node = Number(process.argv[2])
/** @type {Awaited<ReturnType<typeof loadStore>>} */
let openStore

/** @param {readonly unknown[]} line */
const say = (...line) => void writeSync(3, `${JSON.stringify(line)}\n`)

/** @param {string} level */
const logger = (level) => (/** @type {object} */ fields, /** @type {string} */ message) =>
  say('log', `${level} ${message} ${JSON.stringify(fields)}`)
const silent = () => {}
const log = { debug: silent, info: silent, warn: logger('warn'), error: logger('error') }

/** Every request says which node sent it. */
const traceparent = `00-${'1'.padStart(32, '0')}-${node.toString(16).padStart(16, '0')}-01`
/** @type {import('hookswitch').Tracing} */
const tracing = {
  begin: (name) => ({ traceparent: name === 'attempt' ? traceparent : undefined, end: silent }),
}

/** @type {import('hookswitch').Hookswitch | undefined} */
let hs
/** @type {ReturnType<typeof createPublisher> | undefined} */
let publisher
/** The file of its store, where it is one. */
let path = ''
/** Aborted when it is asked to end. */
const ending = new AbortController()
/** How much faster its clock goes. */
let speed = 1
/** How many deliveries have not ended. @type {() => Promise<number>} */
let pending = async () => Number.NaN

/** @param {import('hookswitch').Metrics['watch'] extends (read: infer Read) => void ? Read : never} read */
function watch(read) {
  pending = async () => {
    const gauge = (await read()).find(({ name }) => name === 'hookswitch_deliveries_pending')
    return gauge?.value ?? Number.NaN
  }
}

const verbs = {
  /** @param {import('./nodes.js').Plan} plan */
  async start(plan) {
    if (plan.where.kind === 'sqlite') path = plan.where.path
    const time = plan.where.kind === 'postgres' ? plan.where : { aheadMs: 0, speed }
    const clock = clockOf(time)
    speed = time.speed
    const instance = createHookswitch({
      store: openStore(plan.where, clock),
      clock,
      secret: 'the secret of all crash runs',
      allowLocal: true,
      inFlightPerEndpoint: IN_FLIGHT_PER_ENDPOINT,
      attemptTimeoutMs: ATTEMPT_MS,
      retryPolicy: { kind: 'constant', delayMs: 40, jitter: 0, retryOn: 'failure', retriesCountTries: false },
      breaker: false,
      autoDisable: false,
      metrics: { count: silent, observe: silent, watch },
      tracing,
      log,
    })
    hs = instance
    await instance.start()
    if (plan.setUp) await setUp(instance, plan.setUp)
    publisher = createPublisher(instance, node, plan, say)
    say('up')
    await publisher.run()
    say('published')
  },
  /** Waits for all deliveries to end; tells which ended otherwise than delivered, after those were sent again. */
  async finish() {
    await publisher?.done()
    const unfinished = () => pending().catch(() => Number.NaN)
    const instance = /** @type {import('hookswitch').Hookswitch} */ (hs)
    say('finished', await finish(instance, unfinished, ending.signal))
  },
  fillDisk() {
    fillDisk(path)
    say('full')
  },
  freeDisk() {
    freeDisk(path)
    say('free')
  },
}

/** Ends as a well-behaved process does: nothing of it is left that would hold the process. */
async function end() {
  ending.abort()
  process.stdin.destroy()
  const published = publisher?.done()
  await hs?.close({ drainMs: DRAIN_MS * speed })
  await published
  say('closed')
}
process.once('SIGTERM', () => void end())

/** @param {string} line */
async function obey(line) {
  const [verb, input] = JSON.parse(line)
  try {
    await verbs[/** @type {keyof typeof verbs} */ (verb)](input)
  } catch (thrown) {
    say('log', `${verb} failed: ${thrown instanceof Error ? thrown.stack : thrown}`)
    // One that is asked to end while it starts ends all the same.
    if (/** @type {any} */ (thrown)?.code !== 'Closing') process.exitCode = 1
    say('failed', String(thrown))
  }
}

let text = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (piece) => {
  const lines = (text + piece).split('\n')
  text = lines.pop() ?? ''
  for (const line of lines) void obey(line)
})
// Whoever started it is gone.
process.stdin.on('end', () => process.exit(1))

/** Loads what an instance takes to start, before it is told to: a cycle is short. */
async function warmUp() {
  openStore = await loadStore(String(process.argv[3]))
  const instance = createHookswitch({ store: memoryStore() })
  await instance.start()
  await instance.close()
  say('ready')
}
export const ready = warmUp()
