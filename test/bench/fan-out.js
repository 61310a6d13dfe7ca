/** P9: one event for 10,000 webhooks. */
import { randomBytes } from 'node:crypto'
import { repeat, spread } from './numbers.js'
import { ROOM, startProcess } from './processes.js'

const WEBHOOKS = 10_000
const GOALS = { memory: 50, sqlite: 150, postgres: 150 }
/** Of the second part: few, that their deliveries do not hide what bodies take. */
const FEW_WEBHOOKS = 300
/** Distinct bodies that these get: JSON, a form, JSON with data of their owner's. */
const FORMS = 3
/** Bytes of a part of an event that no store can compress: others have the larger one. */
const [SMALL, LARGE] = [1_000, 61_000]
const EVENTS = 20

/** @param {{ name: string, rounds: number, profile: string | false, places: import('./places.js').Places }} options */
export async function measureFanOut(options) {
  const { name, rounds, profile, places } = options
  const publisher = startProcess('publisher', { nodeOptions: ROOM, profile })
  try {
    await publisher.ask('prepare', { place: places.fresh(), accounts: 1, webhooks: WEBHOOKS })
    const first = await publisher.ask('one')
    const results = await repeat(Math.max(rounds, 7), () => publisher.ask('one'))
    const count = WEBHOOKS.toLocaleString('en')
    const accepted = {
      row: name,
      what: `one event to ${count} webhooks, ${places.title} (the first: ${Math.round(first)} ms)`,
      baseline: '–',
      unit: 'ms',
      goal: GOALS[places.kind],
      ...spread(results),
    }
    return places.bytesOf ? [accepted, await bodies(options)] : [accepted]
  } finally {
    await publisher.stop()
  }
}

/** How often a body is stored: what larger events take more, of what their distinct bodies have more. */
async function bodies({ name, places }) {
  const publisher = startProcess('publisher', { nodeOptions: ROOM })
  try {
    const place = places.fresh()
    await publisher.ask('prepare', { place, accounts: 1, webhooks: FEW_WEBHOOKS, forms: true })
    const grown = async (size) => {
      const before = await places.bytesOf(place)
      for (let event = 0; event < EVENTS; event += 1) {
        await publisher.ask('one', { text: randomBytes(size).toString('base64url').slice(0, size) })
      }
      return (await places.bytesOf(place)) - before
    }
    await grown(SMALL)
    const small = await grown(SMALL)
    const large = await grown(LARGE)
    return {
      row: name,
      what: `bodies stored of an event for ${FEW_WEBHOOKS} webhooks in ${FORMS} forms, ${places.title}`,
      baseline: 'one of each form',
      unit: '×',
      goal: 1.2,
      ...spread([(large - small) / (EVENTS * (LARGE - SMALL) * FORMS)]),
      seen:
        `${Math.round(large / EVENTS / 1_000)} KB for an event of ${LARGE / 1_000} KB, ` +
        `${Math.round(small / EVENTS / 1_000)} KB for one of ${SMALL / 1_000} KB`,
    }
  } finally {
    await publisher.stop()
  }
}
