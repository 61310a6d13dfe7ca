// @ts-check
/** One service behind one face: time stands still until a step moves it, and chance begins anew with each step. */
import { createHash } from 'node:crypto'
import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { ACCOUNTS } from './operations.js'

/** Of `values/ids.ts`. */
const BLOCK_BYTES = 1_024

export const SERVICE_SECRET = 'the secret of the whole service, never told'

/** @type {readonly import('hookswitch').Observation[]} */
const SEEN = [
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

/** The same answer to the same request, whoever sends it. @param {import('hookswitch').SendRequest} request */
function answerTo({ url, headers }) {
  const attempt = headers[headers.findIndex((name) => name.toLowerCase() === 'x-hook-attempt') + 1]
  const digest = createHash('sha1').update(`${url} ${attempt}`).digest()
  return /** @type {import('hookswitch').Observation} */ (SEEN[(digest[0] ?? 0) % SEEN.length])
}

/**
 * @typedef {object} World
 * @property {string} name
 * @property {import('hookswitch').Hookswitch} hs
 * @property {import('../adapters/http/faces.js').RunningFace} face
 * @property {(seed: string) => void} reseed
 * @property {(ms: number) => Promise<void>} advance
 * @property {() => Promise<void>} settle lets run what a request has set going
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} name
 * @param {import('../adapters/http/faces.js').Face} open
 * @param {string} seed
 * @param {(service: import('hookswitch').HttpService) => import('hookswitch').HttpService} doctor what is put before the service
 * @returns {Promise<World>}
 */
export async function openWorld(name, open, seed, doctor = (service) => service) {
  let chance = seededRandom(seed)
  const clock = manualClock()
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random: {
      // Ids come from blocks, one for each kind of id: a block depends on the step alone, not on which kinds ran out in it.
      bytes: (count) => (count === BLOCK_BYTES ? seededRandom(chance.seed) : chance).bytes(count),
      fraction: () => chance.fraction(),
    },
    secret: SERVICE_SECRET,
    cors: ['https://ui.example.com'],
    ingest: true,
    loginBurst: 1_000,
    sender: { send: async (request) => answerTo(request), close: async () => {} },
  })
  await hs.start()
  for (const account of ACCOUNTS) await hs.accounts.create(account)
  const face = await open(doctor({ owns: hs.owns, node: hs.node, handle: hs.handle }), '')
  return {
    name,
    hs,
    face,
    reseed(step) {
      chance = seededRandom(step)
    },
    advance: (ms) => clock.advance(ms),
    settle: () => clock.settle(),
    async close() {
      await face.close()
      await hs.close({ drainMs: 0 })
    },
  }
}
