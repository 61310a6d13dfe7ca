// @ts-check
/**
 * Judges a round by what was seen from outside alone. Every rule gives its findings: what broke the promise, and whom
 * it concerns. Shares nothing with the service.
 *
 * @typedef {object} Finding
 * @property {string} rule
 * @property {string} what one sentence
 * @property {string} [call]
 * @property {string} [webhook]
 * @property {number} [node]
 *
 * @typedef {import('./ledger.js').Ledger} Ledger
 * @typedef {import('./ledger.js').Sight} Sight
 * @typedef {import('./ledger.js').Ack} Ack
 * @typedef {import('./book.js').Book} Book
 */
import { makeBook } from './book.js'
import { accountOf, WEBHOOKS } from './load.js'
import { duplicates, overlaps, repeatedAttempts } from './oracle-duplicates.js'
import { ends, refusals } from './oracle-ends.js'
import { acceptanceOrder, sendingOrder } from './oracle-order.js'

/** @typedef {(book: Book) => Iterable<Finding>} Rule */

const isSuccess = (/** @type {Sight} */ { status }) => status >= 200 && status < 300

/** Every acknowledged event reached every receiver; so did what was seen anywhere although nobody was told of it. */
function* loss(/** @type {Book} */ { placeOf, arrived, givenUp, acked }) {
  for (const [event, { call, index }] of placeOf) {
    for (const name of WEBHOOKS) {
      const webhook = `${accountOf(call)}/${name}`
      if (arrived.has(`${webhook} ${event}`)) continue
      const how = givenUp.get(`${webhook} ${event}`)
      const why = how ? `ended as ${how.state} (${how.reason}), and so did its repetition` : 'never did'
      const was = acked.has(event) ? 'was acknowledged' : 'reached another receiver'
      const what = `event ${event} (${call}, ${index}) ${was}, should have reached ${webhook}, and ${why}`
      yield { rule: 'lost', what, call, webhook }
    }
  }
}

/** What ended otherwise than delivered did so for a reason that was there: nodes died under it, three times in a row. */
function* abandonment(/** @type {Book} */ { ledger, placeOf, tried }) {
  for (const { delivery, webhook, event, state, reason } of ledger.givenUp) {
    const { call = '', index = 0 } = placeOf.get(event) ?? {}
    const since = tried.get(`${call}#${index}`) ?? 0
    const deaths = ledger.ends.filter(({ how, at }) => how !== 'asked' && at >= since)
    if (state === 'quarantined' && deaths.length >= 3) continue
    yield {
      rule: 'given up',
      what: `${delivery} of ${event} to ${webhook} ended as ${state}: ${reason}`,
      call,
      webhook,
    }
  }
}

/** Nothing arrives that nobody published, or that is another account's, or that is no event of ours. */
function* invention(/** @type {Book} */ { ledger, tried }) {
  for (const { what } of ledger.strange)
    yield { rule: 'invented', what: `a request that nobody meant: ${what}` }
  for (const { call, index, webhook, event } of ledger.sights) {
    const what = `event ${event} (${call}, ${index}) reached ${webhook}`
    if (!tried.has(`${call}#${index}`))
      yield { rule: 'invented', what: `${what}, and nobody published it`, call, webhook }
    if (!webhook.startsWith(`${accountOf(call)}/`)) {
      yield { rule: 'invented', what: `${what}, which is another account's`, call, webhook }
    }
  }
}

/** What is published once, or again under its key, is one event; what publishers were told of it is what arrives. */
function* identity(/** @type {Book} */ { ledger, events }) {
  for (const [place, all] of events) {
    const call = place.slice(0, place.indexOf('#'))
    if (all.size > 1)
      yield { rule: 'two for one', what: `${place} became ${all.size} events: ${[...all].join(', ')}`, call }
  }
  /** @type {Map<string, number>} */
  const told = new Map()
  for (const { event, sequence, call } of [...ledger.acks, ...ledger.sights]) {
    const before = told.get(event) ?? sequence
    told.set(event, before)
    if (before === sequence) continue
    yield {
      rule: 'two for one',
      what: `event ${event} is number ${before} of its call, and number ${sequence}`,
      call,
    }
  }
}

/** Requests of one delivery are the same bytes; one event is one delivery for each webhook. */
function* bytes(/** @type {Book} */ { deliveries, replays }) {
  /** @type {Map<string, string>} */
  const only = new Map()
  for (const [delivery, [first, ...more]] of deliveries) {
    if (!first) continue
    const { call, webhook, event } = first
    const other = more.find(({ body }) => body !== first.body)
    if (other)
      yield { rule: 'changed', what: `${delivery}: ${first.body} became ${other.body}`, call, webhook }
    if (replays.has(delivery)) continue
    const known = only.get(`${webhook} ${event}`) ?? delivery
    only.set(`${webhook} ${event}`, known)
    if (known === delivery) continue
    yield {
      rule: 'two for one',
      what: `event ${event} went to ${webhook} as ${known} and as ${delivery}`,
      call,
      webhook,
    }
  }
}

/** @type {readonly Rule[]} */
const RULES = [
  ends,
  refusals,
  loss,
  abandonment,
  invention,
  identity,
  bytes,
  acceptanceOrder,
  sendingOrder,
  overlaps,
  repeatedAttempts,
  duplicates,
]

/** @param {Ledger} ledger */
export function judge(ledger) {
  const book = makeBook(ledger)
  const findings = RULES.flatMap((rule) => [...rule(book)])
  const again = [...book.deliveries.values()].reduce(
    (sum, sights) => sum + Math.max(0, sights.filter(isSuccess).length - 1),
    0,
  )
  return {
    findings,
    counts: {
      acknowledged: book.acked.size,
      unacknowledged: [...book.placeOf.keys()].filter((event) => !book.acked.has(event)).length,
      requests: ledger.sights.length,
      deliveries: book.deliveries.size,
      duplicates: again,
      'given up, sent again': ledger.givenUp.length,
      'published again': ledger.acks.filter(({ duplicate }) => duplicate).length,
    },
  }
}
