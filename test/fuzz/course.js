// @ts-check
/** Requests that are good, then spoilt, through every face at once: each answer is judged, and all must be the same. */
import { seededRandom } from 'hookswitch/testkit'
import { BROKEN } from './broken.js'
import { isExempt } from './exemptions.js'
import { openMembers } from './members.js'
import { PART_MUTATIONS } from './mutations.js'
import { KEYS, learnFrom, nothingKnown, PASSWORDS } from './operations.js'
import { comparable, flaws, isOfParser } from './oracle.js'
import { bytesOf, goodRequest, operationsOf, replay, written } from './request.js'
import { changedBody } from './values.js'
import { WIRE_MUTATIONS } from './wire-mutations.js'
import { SERVICE_SECRET } from './world.js'

/** Requests to services that then begin anew. */
export const STEPS = 100
/** What a service is brought to first. */
const FIRST = [
  'signInByApiKey',
  'createWebhook',
  'createWebhook',
  'publishEvents',
  'signInByCredentials',
  'listWebhooks',
]
/** Never sent, or never to be told again. */
const SECRETS = [SERVICE_SECRET, KEYS.other, PASSWORDS.ada, PASSWORDS.eve, 'hidden-by-us']
const WEIGHTS = {
  signInByApiKey: 3,
  signInByCredentials: 2,
  createWebhook: 3,
  publishEvents: 3,
  signOut: 0.3,
}
/** After so many changes for them alone, those who are asked what a face may take otherwise begin anew. */
const MOST_ASIDE = 10
const BROKEN_SHARE = 0.06
const TIME_SHARE = 0.1

/**
 * @typedef {object} Finding
 * @property {string} what
 * @property {number} epoch
 * @property {string} replay
 *
 * @typedef {object} How
 * @property {string} seed
 * @property {number} epoch which of the run's: it depends on the seed and this number alone
 * @property {number} steps at most `STEPS`
 * @property {Readonly<Record<string, import('../adapters/http/faces.js').Face>>} faces the first is what the others are compared with
 * @property {import('./link.js').Raw} raw
 * @property {number} [most] findings after which it ends
 * @property {{ face: string, service: (service: import('hookswitch').HttpService) => import('hookswitch').HttpService }} [doctor]
 */

/** @param {How} how */
export async function runEpoch({ seed, epoch, steps, faces, raw, doctor, most = 20 }) {
  const random = seededRandom(`${seed}/${epoch}`)
  /** @type {Finding[]} */
  const findings = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  const count = (/** @type {string} */ what) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const worldSeed = `${seed}/${epoch}/world`
  const members = await openMembers({ faces, raw, ...(doctor && { doctor }) }, worldSeed)
  /** Asked in their place where a face may take something otherwise. @type {import('./members.js').Members | undefined} */
  let aside
  let changesAside = 0
  /** What the service was brought to first. @type {{ bytes: Buffer, seed: string }[]} */
  const opening = []
  const { hs } = /** @type {import('./members.js').Member} */ (members.all[0]).world
  const document = JSON.parse((await hs.handle({ method: 'GET', url: '/v2/openapi.json', headers: {} })).body)
  const operations = operationsOf(document)
  const weights = Object.fromEntries(operations.map(({ operation }) => [operation, 1]))
  const known = nothingKnown()

  const found = (
    /** @type {string} */ what,
    /** @type {Buffer} */ bytes,
    /** @type {import('./request.js').Request} */ request,
  ) => findings.push({ what, epoch, replay: replay(bytes, request) })

  /** @param {number} step */
  function nextRequest(step) {
    const wanted = FIRST[step] ?? random.weighted({ ...weights, ...WEIGHTS })
    const operation = operations.find((one) => one.operation === wanted)
    if (!operation) throw new Error(`no operation ${wanted}`)
    const parts = goodRequest(random, operation, known)
    return step < FIRST.length ? written(parts) : spoilt(parts, random, known)
  }

  /** Those who stand beside, brought to the same beginning. */
  async function thoseAside() {
    changesAside += 1
    if (aside && changesAside <= MOST_ASIDE) return aside
    await aside?.close()
    changesAside = 1
    aside = await openMembers({ faces, raw, ...(doctor && { doctor }) }, worldSeed)
    for (const { bytes, seed: step } of opening) {
      aside.reseed(step)
      // One that does not answer has been found among the others.
      await Promise.all(aside.all.map(({ link }) => link.ask(bytes, false).catch(() => {})))
      await aside.settle()
    }
    return aside
  }

  /** @param {number} step */
  async function ordinary(step) {
    const request = nextRequest(step)
    const bytes = bytesOf(request)
    const isOurs = hs.owns(request.target)
    count(request.spoilt.length === 0 ? 'good requests' : 'spoilt requests')
    const stepSeed = `${seed}/${epoch}/${step}`
    if (step < FIRST.length) opening.push({ bytes, seed: stepSeed })
    const isChange = !/^(GET|HEAD|OPTIONS)$/.test(request.method)
    const isAside = isChange && Object.keys(faces).some((name) => isExempt(name, request, isOurs))
    const asked = isAside ? await thoseAside() : members
    asked.reseed(stepSeed)
    const answers = await Promise.all(
      asked.all.map(async ({ world, link }) => {
        const answer = await link.ask(bytes, request.method === 'HEAD').catch((error) => String(error))
        if (typeof answer === 'string') found(`${world.name}: ${answer}`, bytes, request)
        return answer
      }),
    )
    const [reference] = answers
    if (reference === undefined || typeof reference === 'string') return
    count(`answers ${reference.status}`)
    const sent = request.headers.filter(([name]) => /^x-request-id$/i.test(name)).map(([, value]) => value)
    const expected = comparable(reference, sent)
    const isParsed = !isOfParser(reference)
    if (!isParsed) count('requests that the parser refused')
    for (const [at, member] of asked.all.entries()) {
      const answer = answers[at]
      if (answer === undefined || typeof answer === 'string') {
        member.isInStep = false
        continue
      }
      const { name } = member.world
      // The parser of Node 20.18 takes a byte above 127 in a target or refuses it, by where in its buffer the byte stands.
      const isWhim = /[^\0-\x7f]/.test(request.target) && (answer.status === 400 || reference.status === 400)
      const exempt = isExempt(name, request, isOurs) || !isParsed || isWhim
      const isForeign = name !== 'server' && (exempt || !isOurs)
      const how = { method: request.method, isForeign, secrets: SECRETS }
      for (const flaw of flaws(answer, how))
        found(`${name}: ${flaw} (${request.spoilt.join(', ')})`, bytes, request)
      if (exempt) {
        count('answers exempt')
        if (isChange && isParsed) member.isInStep = false
      } else if (!member.isInStep) count('answers not compared')
      else if (comparable(answer, sent) === expected) count('answers compared')
      else {
        member.isInStep = false
        found(
          `${name} differs (${request.spoilt.join(', ')}):\n${comparable(answer, sent)}\nfor\n${expected}`,
          bytes,
          request,
        )
      }
    }
    if (reference.status < 400 && request.spoilt.length === 0) count(`succeeded: ${request.operation}`)
    if (!isAside && reference.body.startsWith('{'))
      learnFrom(known, request.operation, JSON.parse(reference.body))
  }

  async function broken() {
    const name = random.pick(Object.keys(BROKEN))
    const made = BROKEN[name]?.(random) ?? ''
    const bytes = typeof made === 'string' ? Buffer.from(made, 'latin1') : made
    count('broken requests')
    await Promise.all(
      members.all.map(async ({ world, link }) => {
        const what = `${world.name}, ${name}`
        try {
          for (const answer of await link.tell(bytes)) {
            const asked = { method: 'GET', isForeign: world.name !== 'server', secrets: SECRETS }
            for (const flaw of flaws(answer, asked))
              findings.push({ what: `${what}: ${flaw}`, epoch, replay: replay(bytes, undefined) })
          }
        } catch (error) {
          findings.push({ what: `${what}: ${error}`, epoch, replay: replay(bytes, undefined) })
        }
      }),
    )
  }

  try {
    for (let step = 0; step < steps && findings.length < most; step += 1) {
      if (step >= FIRST.length && random.chance(TIME_SHARE)) {
        const ms = random.pick([1, 2_000, 30_000, 3_600_000])
        for (const some of [members, aside]) await some?.advance(ms)
      }
      if (step >= FIRST.length && random.chance(BROKEN_SHARE)) await broken()
      else await ordinary(step)
      for (const some of [members, aside]) await some?.settle()
    }
  } finally {
    for (const some of [members, aside]) await some?.close()
  }
  return { findings, counts }
}

/**
 * @param {import('./request.js').Wanted} parts
 * @param {import('./operations.js').Random} random
 * @param {import('./operations.js').Known} known
 */
function spoilt(parts, random, known) {
  const layers = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 3]) }, () =>
    random.pick(['parts', 'values', 'wire', 'wire']),
  )
  /** @type {string[]} */
  const done = []
  for (const layer of layers) {
    if (layer === 'parts') {
      const name = random.pick(Object.keys(PART_MUTATIONS))
      PART_MUTATIONS[name]?.(parts, random, known)
      done.push(name)
    } else if (layer === 'values') {
      parts.body = changedBody(parts.body, random)
      done.push('values of the body')
    }
  }
  const request = written(parts)
  for (const layer of layers) {
    if (layer !== 'wire') continue
    const name = random.pick(Object.keys(WIRE_MUTATIONS))
    WIRE_MUTATIONS[name]?.(request, random)
    done.push(name)
  }
  return { ...request, spoilt: done }
}
