// @ts-check
/** One run: the real sender sends every case, and the servers record which addresses were reached. */
import { openCanaries } from './canaries.js'
import { casesOf } from './cases.js'
import { openNameServer } from './name-server.js'
import { connectionsBegun } from './network.js'
import { isForbidden, isSame } from './ranges.js'

const CONCURRENCY = 64
const DEADLINE_MS = 3_000
/** Short, so that silence is cheap. More lookups time out on a slow machine; the run only counts them. */
const LOOKUP_MS = 1_000
/** From this many records on, an answer exceeds 512 bytes and is truncated over UDP. */
const TRUNCATED_FROM = 25
/** Most running cases that a violation without a request names. */
const MAX_NAMED = 5

/**
 * @typedef {object} Running a case in progress
 * @property {import('./cases.js').Case} testCase
 * @property {{ A: number, AAAA: number }} lookups so far
 */

/**
 * @param {object} how
 * @param {string} how.seed
 * @param {number} how.cases
 * @param {ReturnType<typeof import('hookswitch/testkit').compileAddressPolicy>} how.policy
 * @param {typeof import('../../src/send/index.js').createDefaultSender} how.createDefaultSender
 */
export async function runGuard({ seed, cases, policy, createDefaultSender }) {
  /** @type {Map<number, Running>} */
  const running = new Map()
  /** @type {string[]} */
  const violations = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  let connections = 0
  const count = (/** @type {string} */ what, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by)
  const addViolation = (
    /** @type {string} */ sentence,
    /** @type {import('./cases.js').Case | undefined} */ testCase,
  ) => {
    const under = testCase ? [testCase] : [...running.values()].map((each) => each.testCase)
    const named = under.map(({ number, what, url }) => `case ${number} ${JSON.stringify(url)} (${what})`)
    violations.push(`${sentence}: ${named.slice(0, MAX_NAMED).join(', or ')}`)
  }

  const canaries = await openCanaries({
    connected(address) {
      connections += 1
      if (isForbidden(address)) addViolation(`a connection to ${address}`, undefined)
    },
    requested(address, path) {
      const current = running.get(Number(/\/c(\d+)/.exec(path)?.[1]))
      count('requests to public addresses')
      if (!current) {
        addViolation(`a request to ${address} that belongs to no case: ${path}`, undefined)
        return 'close'
      }
      if (current.lookups.A > 0 && !isAnswered(current, address))
        addViolation(`${address}, which no allowed answer contained`, current.testCase)
      return current.testCase.responseKind
    },
  })
  const names = await openNameServer((type, name) => {
    const current = running.get(Number(/^n(\d+)\.test$/.exec(name)?.[1]))
    if (!current) return { four: [], six: [] }
    count('DNS queries')
    const answer =
      current.testCase.answers[Math.min(current.lookups[type], current.testCase.answers.length - 1)]
    current.lookups[type] += 1
    return answer ?? { four: [], six: [] }
  })
  const begunBefore = connectionsBegun()
  const sender = createDefaultSender({
    addressPolicy: policy,
    dns: { servers: ['127.0.0.1'], hostsPath: '/nowhere', lookupMs: LOOKUP_MS },
  })

  async function play(/** @type {import('./cases.js').Case} */ testCase) {
    running.set(testCase.number, { testCase, lookups: { A: 0, AAAA: 0 } })
    count('cases')
    for (let n = 0; n < testCase.sends; n += 1) {
      const observation = await sender.send({
        method: 'POST',
        url: testCase.url,
        headers: ['content-type', 'application/json'],
        body: '{}',
        deadlineMs: DEADLINE_MS,
        group: `c${testCase.number % 7}`,
      })
      count('sends')
      count(observation.kind === 'no_response' ? observation.failure : observation.kind)
    }
    running.delete(testCase.number)
  }

  const all = casesOf(seed, cases)
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const testCase of all) await play(testCase)
    }),
  )
  await sender.close()
  const begun = connectionsBegun() - begunBefore - names.tcpConnections()
  count('connections, all to public addresses or listed below', connections)
  if (begun !== connections)
    violations.push(
      `${begun} connections were started but only ${connections} arrived: some went to an address without a server`,
    )
  // A run proves something only if requests succeeded, were blocked and used DNS.
  for (const what of ['response', 'blocked_address', 'dns', 'DNS queries'])
    if (!counts.has(what)) violations.push(`nothing ended as "${what}"`)
  canaries.close()
  names.close()
  return { violations, counts }
}

/**
 * Whether this case received an answer that contains the address and no forbidden one. The resolver repeats the query of
 * one family after a malformed answer or one too large for UDP; then each family is checked separately.
 *
 * @param {Running} running
 * @param {string} address
 */
function isAnswered({ testCase, lookups }, address) {
  const familiesTogether = testCase.answers.every(
    ({ four, trick }) => trick === undefined && four.length < TRUNCATED_FROM,
  )
  const family = address.includes(':') ? 'six' : 'four'
  const given = testCase.answers.slice(0, family === 'four' ? lookups.A : lookups.AAAA)
  return given.some((answer) => {
    if (answer.trick === 'corrupted') return true
    const checked = familiesTogether ? [...answer.four, ...answer.six] : answer[family]
    const isRefused = answer.trick === undefined && checked.some(isForbidden)
    return !isRefused && answer[family].some((ip) => isSame(ip, address))
  })
}
