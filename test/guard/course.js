// @ts-check
/** One run: every case is sent by the real sender; whoever answers at an address notes that it was reached. */
import { openCanaries } from './canaries.js'
import { casesOf } from './cases.js'
import { openNameServer } from './name-server.js'
import { connectionsBegun } from './network.js'
import { isForbidden, isSame } from './ranges.js'

const AT_ONCE = 64
const DEADLINE_MS = 3_000
/** Short: silence is to be cheap. On a slow machine more look-ups end in it, which the run only counts. */
const LOOKUP_MS = 1_000
/** Records that do not fit into 512 bytes. */
const CUT_FROM = 25
/** Of a connection that brought no request: the cases that were under way. */
const MOST_TOLD = 5

/**
 * @typedef {object} Running a case under way
 * @property {import('./cases.js').Case} one
 * @property {{ A: number, AAAA: number }} asked look-ups so far
 */

/**
 * @param {object} how
 * @param {string} how.seed
 * @param {number} how.cases
 * @param {ReturnType<typeof import('hookswitch').compilePolicy>} how.policy
 * @param {typeof import('../../src/send/index.js').createDefaultSender} how.createDefaultSender
 */
export async function runGuard({ seed, cases, policy, createDefaultSender }) {
  /** @type {Map<number, Running>} */
  const running = new Map()
  /** @type {string[]} */
  const findings = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  let connections = 0
  const count = (/** @type {string} */ what, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by)
  const found = (
    /** @type {string} */ sentence,
    /** @type {import('./cases.js').Case | undefined} */ one,
  ) => {
    const under = one ? [one] : [...running.values()].map((each) => each.one)
    const told = under.map(({ number, what, url }) => `case ${number} ${JSON.stringify(url)} (${what})`)
    findings.push(`${sentence}: ${told.slice(0, MOST_TOLD).join(', or ')}`)
  }

  const canaries = await openCanaries({
    connected(address) {
      connections += 1
      if (isForbidden(address)) found(`a connection to ${address}`, undefined)
    },
    requested(address, path) {
      const at = running.get(Number(/\/c(\d+)/.exec(path)?.[1]))
      count('requests that came to a public address')
      if (!at) {
        found(`a request to ${address} that no case made: ${path}`, undefined)
        return 'close'
      }
      if (at.asked.A > 0 && !isApproved(at, address)) found(`${address}, which no good answer had`, at.one)
      return at.one.manner
    },
  })
  const names = await openNameServer((type, name) => {
    const at = running.get(Number(/^n(\d+)\.test$/.exec(name)?.[1]))
    if (!at) return { four: [], six: [] }
    count('questions to the name server')
    const answer = at.one.answers[Math.min(at.asked[type], at.one.answers.length - 1)]
    at.asked[type] += 1
    return answer ?? { four: [], six: [] }
  })
  const begunBefore = connectionsBegun()
  const sender = createDefaultSender({
    policy,
    dns: { servers: ['127.0.0.1'], hostsPath: '/nowhere', lookupMs: LOOKUP_MS },
  })

  async function play(/** @type {import('./cases.js').Case} */ one) {
    running.set(one.number, { one, asked: { A: 0, AAAA: 0 } })
    count('cases')
    for (let n = 0; n < one.sends; n += 1) {
      const seen = await sender.send({
        method: 'POST',
        url: one.url,
        headers: ['content-type', 'application/json'],
        body: '{}',
        deadlineMs: DEADLINE_MS,
        group: `c${one.number % 7}`,
      })
      count('sends')
      count(seen.kind === 'no_response' ? seen.failure : seen.kind)
    }
    running.delete(one.number)
  }

  const all = casesOf(seed, cases)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of all) await play(one)
    }),
  )
  await sender.close()
  const begun = connectionsBegun() - begunBefore - names.tcpConnections()
  count('connections, all to public addresses or listed below', connections)
  if (begun !== connections)
    findings.push(
      `${begun} connections were begun and only ${connections} were to be: some went where nobody listens`,
    )
  // A run in which nothing was tried, or nothing got anywhere, shows nothing.
  for (const what of ['response', 'blocked_address', 'dns', 'questions to the name server'])
    if (!counts.has(what)) findings.push(`nothing ended as "${what}"`)
  canaries.close()
  names.close()
  return { findings, counts }
}

/**
 * Whether an answer that this case was given has the address, and none that is forbidden. A malformed answer, and one
 * too large for UDP, is asked for again by its family alone: where there are such, each family is judged by itself.
 *
 * @param {Running} running
 * @param {string} address
 */
function isApproved({ one, asked }, address) {
  const isInStep = one.answers.every(({ four, trick }) => trick === undefined && four.length < CUT_FROM)
  const family = address.includes(':') ? 'six' : 'four'
  const given = one.answers.slice(0, family === 'four' ? asked.A : asked.AAAA)
  return given.some((answer) => {
    if (answer.trick === 'spoilt') return true
    const judged = isInStep ? [...answer.four, ...answer.six] : answer[family]
    const isRefused = answer.trick === undefined && judged.some(isForbidden)
    return !isRefused && answer[family].some((ip) => isSame(ip, address))
  })
}
