/** P9: one event for 10,000 webhooks. */
import { randomBytes } from 'node:crypto'
import { LARGE_HEAP, startProcess } from './processes.js'
import { repeat, summarize } from './statistics.js'

const WEBHOOKS = 10_000
const GOALS = { memory: 50, sqlite: 150, postgres: 150 }
/** For the measurement of stored bodies: few, so that delivery rows do not hide the size of the bodies. */
const FEW_WEBHOOKS = 300
/** Distinct bodies of an event for them: JSON, form, JSON with custom data. */
const BODY_VARIANTS = 3
/** Sizes in bytes of an incompressible part of the event. */
const [SMALL, LARGE] = [1_000, 61_000]
const EVENTS = 20

/** @param {{ name: string, rounds: number, profile: string | false, stores: import('./stores.js').Stores }} options */
export async function measureFanOut(options) {
  const { name, rounds, profile, stores } = options
  const publisher = startProcess('publisher', { nodeOptions: LARGE_HEAP, profile })
  try {
    await publisher.request('prepare', { location: stores.newLocation(), accounts: 1, webhooks: WEBHOOKS })
    const first = await publisher.request('publishOne')
    const results = await repeat(Math.max(rounds, 7), () => publisher.request('publishOne'))
    const count = WEBHOOKS.toLocaleString('en')
    const accepted = {
      row: name,
      measurement: `one event to ${count} webhooks, ${stores.title} (the first: ${Math.round(first)} ms)`,
      baseline: '–',
      unit: 'ms',
      goal: GOALS[stores.kind],
      ...summarize(results),
    }
    return stores.bytesOf ? [accepted, await measureStoredBodies(options)] : [accepted]
  } finally {
    await publisher.stop()
  }
}

/**
 * How often a body is stored: growth of the store from small to large events, divided by the growth of their distinct
 * bodies.
 */
async function measureStoredBodies({ name, stores }) {
  const publisher = startProcess('publisher', { nodeOptions: LARGE_HEAP })
  try {
    const location = stores.newLocation()
    await publisher.request('prepare', { location, accounts: 1, webhooks: FEW_WEBHOOKS, bodyVariants: true })
    const growthBy = async (size) => {
      const before = await stores.bytesOf(location)
      for (let event = 0; event < EVENTS; event += 1) {
        await publisher.request('publishOne', {
          text: randomBytes(size).toString('base64url').slice(0, size),
        })
      }
      return (await stores.bytesOf(location)) - before
    }
    await growthBy(SMALL)
    const small = await growthBy(SMALL)
    const large = await growthBy(LARGE)
    return {
      row: name,
      measurement: `stored bodies of an event for ${FEW_WEBHOOKS} webhooks in ${BODY_VARIANTS} variants, ${stores.title}`,
      baseline: 'one of each variant',
      unit: '×',
      goal: 1.2,
      ...summarize([(large - small) / (EVENTS * (LARGE - SMALL) * BODY_VARIANTS)]),
      details:
        `${Math.round(large / EVENTS / 1_000)} KB for an event of ${LARGE / 1_000} KB, ` +
        `${Math.round(small / EVENTS / 1_000)} KB for one of ${SMALL / 1_000} KB`,
    }
  } finally {
    await publisher.stop()
  }
}
