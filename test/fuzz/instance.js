// @ts-check
/**
 * One hookswitch instance behind one server. Its clock moves only when a step advances it, and its random numbers are
 * reseeded with each step.
 */
import { createHash } from 'node:crypto'
import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { ACCOUNTS } from './operations.js'

/** Block size of `values/ids.ts`. */
const BLOCK_BYTES = 1_024

export const SERVICE_SECRET = 'the encryption secret of the service'

/** @type {readonly import('hookswitch/adapter').Observation[]} */
const OBSERVATIONS = [
  {
    kind: 'response',
    status: 200,
    headers: ['x-token', 'hidden-by-us', 'content-type', 'text/plain'],
    body: 'ok',
    bodyEnd: 'complete',
  },
  { kind: 'response', status: 500, headers: [], body: '\u0000<b>\ufffd', bodyEnd: 'broken' },
  { kind: 'response', status: 302, headers: ['location', 'http://10.0.0.1/'], body: '', bodyEnd: 'complete' },
  { kind: 'response', status: 429, headers: ['retry-after', '1'], body: '', bodyEnd: 'truncated' },
  { kind: 'response', status: 410, headers: [], body: '', bodyEnd: 'complete' },
  { kind: 'no_response', failure: 'timeout', detail: 'no answer in time' },
  { kind: 'no_response', failure: 'blocked_address', detail: 'the host is private' },
]

/**
 * The observation of a request to a receiver; it depends on the request alone, so that it is the same in all instances.
 *
 * @param {import('hookswitch/adapter').SendRequest} request
 */
function receiverObservation({ url, headers }) {
  const attempt = headers[headers.findIndex((name) => name.toLowerCase() === 'x-hook-attempt') + 1]
  const digest = createHash('sha1').update(`${url} ${attempt}`).digest()
  return /** @type {import('hookswitch/adapter').Observation} */ (
    OBSERVATIONS[(digest[0] ?? 0) % OBSERVATIONS.length]
  )
}

/**
 * @typedef {object} Instance
 * @property {string} name
 * @property {import('hookswitch').Hookswitch} hs
 * @property {import('../adapters/http/servers.js').RunningServer} server
 * @property {(seed: string) => void} reseed
 * @property {(ms: number) => Promise<void>} advance
 * @property {() => Promise<void>} settle runs the work that a request has started
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} name
 * @param {import('../adapters/http/servers.js').StartServer} startServer
 * @param {string} seed
 * @param {(service: import('hookswitch/adapter').HttpService) => import('hookswitch/adapter').HttpService} injectFault wraps the service
 * @returns {Promise<Instance>}
 */
export async function startInstance(name, startServer, seed, injectFault = (service) => service) {
  let random = seededRandom(seed)
  const clock = manualClock()
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random: {
      // Ids come from blocks, one per kind of id. A block depends on the step alone, not on which kinds ran out in it.
      bytes: (count) => (count === BLOCK_BYTES ? seededRandom(random.seed) : random).bytes(count),
      fraction: () => random.fraction(),
    },
    secret: SERVICE_SECRET,
    cors: ['https://ui.example.com'],
    ingest: true,
    operators: ['parent'],
    loginBurst: 1_000,
    sender: { send: async (request) => receiverObservation(request), close: async () => {} },
  })
  await hs.start()
  for (const account of ACCOUNTS) await hs.accounts.create(account)
  /** A stream ends at once: a response without end cannot be compared. @param {import('hookswitch/adapter').RequestRecord} request */
  const handle = async (request) => {
    const response = await hs.handle(request)
    response.stream?.close()
    return response
  }
  const service = injectFault({ handlesPath: hs.handlesPath, node: hs.node, handle })
  const server = await startServer(service, '')
  return {
    name,
    hs,
    server,
    reseed(stepSeed) {
      random = seededRandom(stepSeed)
    },
    advance: (ms) => clock.advance(ms),
    settle: () => clock.settle(),
    async close() {
      await server.close()
      await hs.close({ drainMs: 0 })
    },
  }
}
