// @ts-check
/**
 * One epoch of a fuzz run: valid requests are mutated and sent through every server at once. The oracle checks each
 * response, and all responses to a request must be equal.
 */
import { seededRandom } from 'hookswitch/testkit'
import { isExempt } from './exemptions.js'
import { SERVICE_SECRET } from './instance.js'
import { MALFORMED_REQUESTS } from './malformed-requests.js'
import { emptyKnownValues, KEYS, learnFrom, PASSWORDS } from './operations.js'
import { comparable, findViolations, isParserResponse } from './oracle.js'
import { PART_MUTATIONS } from './part-mutations.js'
import { buildRequest, documentedOperations, replayCommand, requestBytes, validRequest } from './request.js'
import { startServerGroup } from './server-group.js'
import { mutateBody } from './value-mutations.js'
import { WIRE_MUTATIONS } from './wire-mutations.js'

/** Requests per epoch; each epoch starts with new instances. */
export const STEPS = 100
/** The first, unmutated requests of an epoch, which create some state. */
const SETUP_OPERATIONS = [
  'signInByApiKey',
  'createWebhook',
  'createWebhook',
  'publishEvents',
  'signInByCredentials',
  'listWebhooks',
]
/** Values that no response may contain. */
const SECRETS = [SERVICE_SECRET, KEYS.other, PASSWORDS.ada, PASSWORDS.eve, 'hidden-by-us']
const WEIGHTS = {
  signInByApiKey: 3,
  signInByCredentials: 2,
  createWebhook: 3,
  publishEvents: 3,
  signOut: 0.3,
}
/** Requests to the second server group after which it is restarted. */
const MAX_SIDE_CHANGES = 10
const MALFORMED_SHARE = 0.06
const CLOCK_SHARE = 0.1

/**
 * @typedef {object} Violation
 * @property {string} message
 * @property {number} epoch
 * @property {string} replay shell command that sends the request again
 *
 * @typedef {object} EpochOptions
 * @property {string} seed
 * @property {number} epoch its number in the run; its requests depend only on the seed and this number
 * @property {number} steps at most `STEPS`
 * @property {Readonly<Record<string, import('../adapters/http/servers.js').StartServer>>} servers the others are compared with the first
 * @property {import('./connection.js').Raw} raw
 * @property {number} [maxViolations] the epoch ends after this many. Default 20
 * @property {{ server: string, inject: (service: import('hookswitch/adapter').HttpService) => import('hookswitch/adapter').HttpService }} [fault]
 */

/** @param {EpochOptions} options */
export async function runEpoch({ seed, epoch, steps, servers, raw, fault, maxViolations = 20 }) {
  const random = seededRandom(`${seed}/${epoch}`)
  /** @type {Violation[]} */
  const violations = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  const count = (/** @type {string} */ name) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const groupSeed = `${seed}/${epoch}/world`
  const groupOptions = { servers, raw, ...(fault && { fault }) }
  const mainGroup = await startServerGroup(groupOptions, groupSeed)
  /** Receives requests that some server may handle differently. @type {import('./server-group.js').ServerGroup | undefined} */
  let sideGroup
  let sideChanges = 0
  /** The requests of `SETUP_OPERATIONS`. @type {{ bytes: Buffer, seed: string }[]} */
  const setupRequests = []
  const { hs } = /** @type {import('./server-group.js').GroupMember} */ (mainGroup.all[0]).instance
  const { bytes } = await hs.handle({ method: 'GET', url: '/v2/openapi.json', headers: {} })
  const document = JSON.parse(Buffer.from(bytes ?? []).toString())
  const operations = documentedOperations(document)
  const weights = Object.fromEntries(operations.map(({ operation }) => [operation, 1]))
  const known = emptyKnownValues()

  const addViolation = (
    /** @type {string} */ message,
    /** @type {Buffer} */ bytes,
    /** @type {import('./request.js').Request | undefined} */ request,
  ) => violations.push({ message, epoch, replay: replayCommand(bytes, request) })

  /** @param {number} step */
  function nextRequest(step) {
    const id = SETUP_OPERATIONS[step] ?? random.weighted({ ...weights, ...WEIGHTS })
    const operation = operations.find((candidate) => candidate.operation === id)
    if (!operation) throw new Error(`no operation ${id}`)
    const parts = validRequest(random, operation, known)
    return step < SETUP_OPERATIONS.length ? buildRequest(parts) : mutateRequest(parts, random, known)
  }

  /** Returns the second server group, restarted and set up if necessary. */
  async function useSideGroup() {
    sideChanges += 1
    if (sideGroup && sideChanges <= MAX_SIDE_CHANGES) return sideGroup
    await sideGroup?.close()
    sideChanges = 1
    sideGroup = await startServerGroup(groupOptions, groupSeed)
    for (const { bytes, seed: stepSeed } of setupRequests) {
      sideGroup.reseed(stepSeed)
      // A missing response has been reported for the main group.
      await Promise.all(
        sideGroup.all.map(({ connection }) => connection.request(bytes, false).catch(() => {})),
      )
      await sideGroup.settle()
    }
    return sideGroup
  }

  /** @param {number} step */
  async function sendRequest(step) {
    const request = nextRequest(step)
    const bytes = requestBytes(request)
    const isApiPath = hs.handlesPath(request.target)
    const mutations = request.mutations.join(', ')
    count(request.mutations.length === 0 ? 'valid requests' : 'mutated requests')
    const stepSeed = `${seed}/${epoch}/${step}`
    if (step < SETUP_OPERATIONS.length) setupRequests.push({ bytes, seed: stepSeed })
    const isChange = !/^(GET|HEAD|OPTIONS)$/.test(request.method)
    const isSide = isChange && Object.keys(servers).some((name) => isExempt(name, request, isApiPath))
    const group = isSide ? await useSideGroup() : mainGroup
    group.reseed(stepSeed)
    const responses = await Promise.all(
      group.all.map(async ({ instance, connection }) => {
        const response = await connection
          .request(bytes, request.method === 'HEAD')
          .catch((error) => String(error))
        if (typeof response === 'string') addViolation(`${instance.name}: ${response}`, bytes, request)
        return response
      }),
    )
    const [reference] = responses
    if (reference === undefined || typeof reference === 'string') return
    count(`responses ${reference.status}`)
    const sentIds = request.headers.filter(([name]) => /^x-request-id$/i.test(name)).map(([, value]) => value)
    const expected = comparable(reference, sentIds)
    const isParsed = !isParserResponse(reference)
    if (!isParsed) count('requests rejected by the parser')
    for (const [index, member] of group.all.entries()) {
      const response = responses[index]
      if (response === undefined || typeof response === 'string') {
        member.isInSync = false
        continue
      }
      const { name } = member.instance
      // The parser of Node 20.18 accepts or rejects a byte above 127 in a target depending on its position in the buffer.
      const isUndecided =
        /[^\0-\x7f]/.test(request.target) && (response.status === 400 || reference.status === 400)
      const exempt = isExempt(name, request, isApiPath) || !isParsed || isUndecided
      const isHostResponse = name !== 'server' && (exempt || !isApiPath)
      const context = { method: request.method, isHostResponse, secrets: SECRETS }
      for (const violation of findViolations(response, context))
        addViolation(`${name}: ${violation} (${mutations})`, bytes, request)
      if (exempt) {
        count('responses exempt')
        if (isChange && isParsed) member.isInSync = false
      } else if (!member.isInSync) count('responses not compared')
      else if (comparable(response, sentIds) === expected) count('responses compared')
      else {
        member.isInSync = false
        addViolation(
          `${name} differs (${mutations}):\n${comparable(response, sentIds)}\nexpected\n${expected}`,
          bytes,
          request,
        )
      }
    }
    if (reference.status < 400 && request.mutations.length === 0) count(`succeeded: ${request.operation}`)
    if (!isSide && reference.body.startsWith('{'))
      learnFrom(known, request.operation, JSON.parse(reference.body))
  }

  async function sendMalformedRequest() {
    const name = random.pick(Object.keys(MALFORMED_REQUESTS))
    const request = MALFORMED_REQUESTS[name]?.(random) ?? ''
    const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request
    count('malformed requests')
    await Promise.all(
      mainGroup.all.map(async ({ instance, connection }) => {
        const prefix = `${instance.name}, ${name}`
        try {
          for (const response of await connection.sendAndClose(bytes)) {
            const context = { method: 'GET', isHostResponse: instance.name !== 'server', secrets: SECRETS }
            for (const violation of findViolations(response, context))
              addViolation(`${prefix}: ${violation}`, bytes, undefined)
          }
        } catch (error) {
          addViolation(`${prefix}: ${error}`, bytes, undefined)
        }
      }),
    )
  }

  try {
    for (let step = 0; step < steps && violations.length < maxViolations; step += 1) {
      if (step >= SETUP_OPERATIONS.length && random.chance(CLOCK_SHARE)) {
        const ms = random.pick([1, 2_000, 30_000, 3_600_000])
        for (const group of [mainGroup, sideGroup]) await group?.advance(ms)
      }
      if (step >= SETUP_OPERATIONS.length && random.chance(MALFORMED_SHARE)) await sendMalformedRequest()
      else await sendRequest(step)
      for (const group of [mainGroup, sideGroup]) await group?.settle()
    }
  } finally {
    for (const group of [mainGroup, sideGroup]) await group?.close()
  }
  return { violations, counts }
}

/**
 * Applies random mutations and returns the request.
 *
 * @param {import('./request.js').RequestParts} parts
 * @param {import('./operations.js').Random} random
 * @param {import('./operations.js').KnownValues} known
 */
function mutateRequest(parts, random, known) {
  const layers = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 3]) }, () =>
    random.pick(['parts', 'values', 'wire', 'wire']),
  )
  /** @type {string[]} */
  const mutations = []
  for (const layer of layers) {
    if (layer === 'parts') {
      const name = random.pick(Object.keys(PART_MUTATIONS))
      PART_MUTATIONS[name]?.(parts, random, known)
      mutations.push(name)
    } else if (layer === 'values') {
      parts.body = mutateBody(parts.body, random)
      mutations.push('values of the body')
    }
  }
  const request = buildRequest(parts)
  for (const layer of layers) {
    if (layer !== 'wire') continue
    const name = random.pick(Object.keys(WIRE_MUTATIONS))
    WIRE_MUTATIONS[name]?.(request, random)
    mutations.push(name)
  }
  return { ...request, mutations }
}
