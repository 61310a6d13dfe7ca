/**
 * P18: how much of the rate of a receiver is used that takes 1, 5 or 100 requests a second and answers 429 otherwise. All
 * events of a round are published at its beginning, and are more than the receivers take in it.
 */
import { sleep, startProcess } from './processes.js'
import { median, repeat, summarize } from './statistics.js'

/** Requests a second. */
const LIMITS = [1, 5, 100]
/** Events, against those that the receiver takes in a round. */
const EXCESS = 1.5

const accountOf = (limit) => `limit-${limit}`

/** One round, with a new service and new receivers. */
async function measureOnce({ stores, seconds }) {
  const receivers = startProcess('limited-receivers')
  const publisher = startProcess('customer-publisher')
  try {
    const ports = await receivers.request('listen', { limits: LIMITS })
    await publisher.request('prepare', {
      location: stores.newLocation(),
      webhooks: LIMITS.map((limit, index) => ({
        accountId: accountOf(limit),
        uri: `http://limit-${limit}.localhost:${ports[index]}/`,
      })),
    })
    const counts = LIMITS.map((limit) => [accountOf(limit), Math.ceil(limit * seconds * EXCESS)])
    const published = publisher.request('publish', { counts: Object.fromEntries(counts) })
    await sleep(seconds * 1000)
    const requests = await receivers.request('counts')
    await published
    // While deliveries end, those that wait cannot be counted.
    await receivers.stop()
    const results = await publisher.request('results')
    return LIMITS.map((limit, index) => ({
      ...requests[index],
      ...results[accountOf(limit)],
      used: requests[index].accepted / (limit * seconds),
    }))
  } finally {
    await Promise.all([publisher, receivers].map((process) => process.stop()))
  }
}

/** @param {import('./measurements.js').Options} options */
export async function measureRateLimits({ name, rounds, stores, limitSeconds: seconds }) {
  const done = await repeat(rounds, () => measureOnce({ stores, seconds }))
  const all = done.flat()
  return [
    ...LIMITS.map((limit, index) => {
      const medianOf = (field) => median(done.map((round) => round[index][field]))
      return {
        row: name,
        measurement: `used part of a receiver's limit of ${limit}/s, ${seconds} s, ${stores.title}`,
        baseline: `${limit}/s`,
        unit: 'ratio',
        goal: 0.8,
        ...summarize(done.map((round) => round[index].used)),
        details:
          `of ${medianOf('published')} events ${medianOf('accepted')} accepted, ${medianOf('refused')} × 429, ` +
          `${medianOf('lost')} given up`,
      }
    }),
    {
      row: name,
      measurement: `events given up because of these limits, ${stores.title}`,
      baseline: '–',
      unit: 'events',
      goal: 0,
      ...summarize(done.map((round) => round.reduce((sum, { lost }) => sum + lost, 0))),
      details: `of ${all.reduce((sum, { published }) => sum + published, 0) / rounds}`,
    },
  ]
}
