/**
 * SIZING: bytes per event, attempt, waiting delivery and account, bytes written per delivery, connections of a node. None of
 * these depends on the speed of the machine.
 */
import { startProcess } from './processes.js'
import { repeat, summarize } from './statistics.js'

const EVENTS = 10_000
const WARM_UP = 2_000
/** Enough for the difference of two numbers of webhooks to be that of their attempts. */
const WEBHOOKS = 4
const WAITING = 20_000
const ACCOUNTS = 100_000

/** A store that keeps everything, and waits for a slow machine. */
const newLocation = (stores) => ({
  ...stores.newLocation({ attemptsInAll: 10_000_000 }),
  ...(stores.kind === 'postgres' && { answerWithinMs: 120_000 }),
})

/** Runs `use` with a node and stops it. */
async function withNode(use) {
  const node = startProcess('sizing-node', { nodeOptions: ['--expose-gc'] })
  try {
    return await use(node)
  } finally {
    await node.stop()
  }
}

/** What a node has stored and written so far. */
async function readFigures(node, location, stores) {
  const objects = await node.request('memory')
  return {
    objects,
    stored: (await stores.bytesOf?.(location)) ?? objects,
    written: (await stores.writtenBytes?.()) ?? (await node.request('written')),
  }
}

const difference = (after, before, count) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / count]))

/** Figures per event of a run. */
const measureDelivered = ({ stores, port, webhooks, concurrency, options, events = EVENTS }) =>
  withNode(async (node) => {
    const location = newLocation(stores)
    await node.request('prepare', { location, port, webhooks, options })
    await node.request('deliver', { events: WARM_UP, concurrency: 64 })
    const before = await readFigures(node, location, stores)
    await node.request('deliver', { events, concurrency })
    const connections = await stores.connections?.()
    return { ...difference(await readFigures(node, location, stores), before, events), connections }
  })

/** Figures per event that is only published: its delivery waits, or nobody wants it (another `hook`). */
const measurePublished = ({ stores, port, hook }) =>
  withNode(async (node) => {
    const location = newLocation(stores)
    await node.request('prepare', { location, port, webhooks: 1 })
    await node.request('publish', { events: WARM_UP, hook })
    const before = await readFigures(node, location, stores)
    await node.request('publish', { events: WAITING, hook })
    return difference(await readFigures(node, location, stores), before, WAITING)
  })

/** Figures of 100,000 accounts, each with a user and a webhook. */
const measureAccounts = ({ stores }) =>
  withNode(async (node) => {
    const location = newLocation(stores)
    await node.request('createAccounts', { location, count: 1 })
    const before = await readFigures(node, location, stores)
    await node.request('createAccounts', { location, count: ACCOUNTS })
    return difference(await readFigures(node, location, stores), before, 1)
  })

/** @param {import('./measurements.js').Options} options */
export async function measureSizing({ name, rounds, stores }) {
  const receiver = startProcess('receiver')
  const failing = startProcess('failing-receivers')
  try {
    const { port } = await receiver.request('listen')
    const { closedPort: deadPort } = await failing.request('listen', { delayMs: 0 })
    const common = { stores, port }
    const done = await repeat(Math.min(rounds, 3), async () => ({
      few: await measureDelivered({ ...common, webhooks: 1, concurrency: 64 }),
      many: await measureDelivered({ ...common, webhooks: WEBHOOKS, concurrency: 64 }),
      unrecorded: await measureDelivered({
        ...common,
        webhooks: 1,
        concurrency: 64,
        options: { recordSuccesses: false },
      }),
      single: await measureDelivered({ ...common, webhooks: 1, concurrency: 1, events: WARM_UP }),
      waiting: await measurePublished({ stores, port: deadPort }),
      unwanted: await measurePublished({ stores, port, hook: 'channel_bridge' }),
      accounts: await measureAccounts({ stores }),
    }))
    const sample = await receiver.request('sample')
    const bodyBytes = sample.length - sample.indexOf('\r\n\r\n') - 4
    const row = (measurement, figureOf, { unit = 'bytes', ...others } = {}) => ({
      row: name,
      measurement: `${measurement}, ${stores.title}`,
      baseline: '–',
      unit,
      ...others,
      ...summarize(done.map(figureOf)),
    })
    const bounds = (goal, floor) => (stores.kind === 'postgres' ? { goal, floor } : {})
    const rows = [
      row(
        `stored: an event with one delivery (body of ${bodyBytes} bytes)`,
        ({ few }) => few.stored,
        bounds(1_600, 1_700),
      ),
      row(
        'stored: each further delivery of the event',
        ({ few, many }) => (many.stored - few.stored) / (WEBHOOKS - 1),
      ),
      row('stored: an event with one delivery, successes not recorded', (round) => round.unrecorded.stored),
      row('stored: an event with one waiting delivery', ({ waiting }) => waiting.stored),
      row('stored: an event that no webhook wants', ({ unwanted }) => unwanted.stored),
    ]
    if (stores.kind !== 'memory') {
      const written = stores.kind === 'postgres' ? 'write-ahead log' : 'written to the disk'
      rows.push(
        row(
          `${written}: an event with one delivery, 64 at once`,
          ({ few }) => few.written,
          bounds(2_000, 2_200),
        ),
        row(`${written}: the same, one at a time`, ({ single }) => single.written),
      )
    }
    if (stores.connections)
      rows.push(row('connections of a node', ({ few }) => few.connections, { unit: '' }))
    const of = `${ACCOUNTS.toLocaleString('en')} accounts with a user and a webhook`
    if (stores.kind !== 'memory')
      rows.push(row(`stored: ${of}`, ({ accounts }) => accounts.stored / 1e6, { unit: 'MB' }))
    rows.push(row(`memory of the node: ${of}`, ({ accounts }) => accounts.objects / 1e6, { unit: 'MB' }))
    return rows
  } finally {
    await Promise.all([receiver, failing].map((process) => process.stop()))
  }
}
