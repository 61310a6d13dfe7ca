/**
 * P19: what becomes of events for receivers that are away for a while. Some receivers refuse connections meanwhile, some accept
 * them and never answer. Their customers have 0.05, 1 and 10 events a second, before the outage, during it and after it.
 */
import { sleep, startProcess } from './processes.js'
import { median, repeat, summarize } from './statistics.js'

/** Customers of each rate with receivers of each kind. */
const GROUPS = [
  { perSecond: 0.05, customers: 20 },
  { perSecond: 1, customers: 4 },
  { perSecond: 10, customers: 2 },
]
const KINDS = [
  { kind: 'refuses', refuses: true, text: 'that refuse connections' },
  { kind: 'hangs', refuses: false, text: 'that never answer' },
]

/** Every customer has an event in this time. */
const BEFORE_MS = 20_000
const AFTER_MS = 20_000
/** Longest wait for the rest of the events after the last one was published. */
const MAX_WAIT_MS = 120_000
/** A first event that is still missing then counts as this. */
const MISSING_MS = AFTER_MS + MAX_WAIT_MS

/** Up to this length of an outage the lower goal holds, s. */
const SHORT_OUTAGE = 300
const firstGoal = (seconds) => (seconds <= SHORT_OUTAGE ? 15 : 60)

const CUSTOMERS = KINDS.flatMap(({ kind, refuses }) =>
  GROUPS.flatMap(({ perSecond, customers }) =>
    Array.from({ length: customers }, (_, index) => ({
      accountId: `${kind}-${GROUPS.findIndex((group) => group.perSecond === perSecond)}-${index}`,
      kind,
      refuses,
      perSecond,
      phase: index / customers,
    })),
  ),
)

/** One round, with a new service and new receivers. Returns what became of the events of each customer. */
async function measureOnce({ stores, seconds }) {
  const receivers = startProcess('recovering-receivers')
  const publisher = startProcess('customer-publisher')
  try {
    const ports = await receivers.request('listen', { refuses: CUSTOMERS.map(({ refuses }) => refuses) })
    await publisher.request('prepare', {
      location: stores.newLocation(),
      webhooks: CUSTOMERS.map(({ accountId }, index) => ({
        accountId,
        uri: `http://${accountId}.localhost:${ports[index]}/`,
      })),
    })
    const published = publisher.request('publishSteadily', {
      loads: CUSTOMERS,
      ms: BEFORE_MS + seconds * 1000 + AFTER_MS,
    })
    await sleep(BEFORE_MS)
    await receivers.request('goAway')
    await sleep(seconds * 1000)
    const undelivered = await publisher.request('undelivered')
    await receivers.request('comeBack')
    await published
    const limit = performance.now() + MAX_WAIT_MS
    while ((await publisher.request('unfinished')) > 0 && performance.now() < limit) await sleep(100)
    const results = await publisher.request('results')
    const firstMs = await receivers.request('firstMs')
    return CUSTOMERS.map((customer, index) => ({
      ...customer,
      ...results[customer.accountId],
      // Nothing can come late where nothing was published.
      firstSeconds: undelivered[customer.accountId] > 0 ? (firstMs[index] ?? MISSING_MS) / 1000 : 0,
    }))
  } finally {
    await Promise.all([publisher, receivers].map((process) => process.stop()))
  }
}

const sumOf = (customers, field) => customers.reduce((sum, customer) => sum + customer[field], 0)

/** For each rate: one figure of its customers, as the median of the rounds. */
const byRate = (rounds, figureOf) =>
  GROUPS.map(({ perSecond }) => {
    const figures = rounds.map((customers) =>
      figureOf(customers.filter((customer) => customer.perSecond === perSecond)),
    )
    return `${perSecond}/s: ${median(figures).toFixed(1)}`
  }).join(', ')

/** @param {import('./measurements.js').Options} options */
export async function measureOutage({ name, rounds, stores, outageSeconds: seconds }) {
  const done = await repeat(rounds, () => measureOnce({ stores, seconds }))
  return KINDS.flatMap(({ kind, text }) => {
    const ofKind = done.map((customers) => customers.filter((customer) => customer.kind === kind))
    const row = (measurement, unit, goal, figureOf, details) => ({
      row: name,
      measurement: `${measurement}, receivers ${text} for ${seconds} s, ${stores.title}`,
      baseline: '–',
      unit,
      goal,
      ...summarize(ofKind.map(figureOf)),
      details,
    })
    const longest = (customers) => Math.max(...customers.map(({ firstSeconds }) => firstSeconds))
    const perCustomer = (field) => (customers) => sumOf(customers, field) / customers.length
    return [
      row(
        'events lost',
        'events',
        0,
        (customers) => sumOf(customers, 'lost'),
        `of ${median(ofKind.map((customers) => sumOf(customers, 'published')))}, by rate of the customer ` +
          `${byRate(ofKind, (customers) => sumOf(customers, 'lost'))}; ` +
          `still waiting ${median(ofKind.map((customers) => sumOf(customers, 'waiting')))}`,
      ),
      row(
        'longest time from their return to the first event of before',
        's',
        firstGoal(seconds),
        longest,
        `p50 by rate ${byRate(ofKind, (customers) =>
          median(customers.map(({ firstSeconds }) => firstSeconds)),
        )}`,
      ),
      row(
        'failed attempts of a customer',
        'attempts',
        undefined,
        perCustomer('failed'),
        `by rate ${byRate(ofKind, perCustomer('failed'))}`,
      ),
    ]
  })
}
