/**
 * P8a–P8d: how much many dead endpoints delay healthy ones from the first second on. Latency: from publishing to the
 * first byte received.
 *
 * Each round starts a new publisher with a new store, which knows nothing about any endpoint. 100 healthy endpoints get
 * an event every 5 s each. Every second, a tenant that comes new creates its first webhook and gets an
 * event. Beside them: 400 deliveries a second to dead endpoints, some of them in the accounts of healthy ones; ten
 * receivers that respond after 9 s; and a hostile tenant that keeps creating webhooks to silent ports that nobody used
 * before, and gets an event for all of them every second.
 */
import { sleep, startProcess } from './processes.js'
import { interleave, median, quantile, summarize } from './statistics.js'

const HEALTHY = { accounts: 100, perAccount: 1, ports: 20, hook: 'channel_answer' }
/** Events to each healthy endpoint, per second. */
const HEALTHY_RATE = 1 / 5
const FRESH = { perSecond: 1, hook: 'channel_answer' }

const DEAD_DELIVERIES = 400
const DEAD_HOOK = 'channel_create'
const DEAD_PORTS = 200
const DEAD_ON_PORTS = { accounts: 500, perAccount: 20, names: 10_000 }
const DEAD_NAMES = { accounts: 10, perAccount: 100, names: 1_000 }
/** Accounts that have a healthy endpoint beside dead ones, of each kind. */
const MIXED = 5

const SLOW = { accounts: 10, perSecond: 2, delayMs: 9_000 }
const HOSTILE = { account: 'hostile', perSecond: 20, ports: 200, hook: 'channel_destroy' }

const RUN_MS = 20_000
/** Longest wait for late deliveries; the latency of those still missing is counted as this. */
const MAX_WAIT_MS = 15_000

const range = (count) => Array.from({ length: count }, (_, index) => index)

/** The dead endpoints of each row: on ports that refuse or never answer, on names without an answer, or both. */
const KINDS = {
  P8A: { closed: DEAD_PORTS, silent: 0, names: false, text: '10,000 endpoints on 200 ports that refuse' },
  P8B: { closed: 0, silent: DEAD_PORTS, names: false, text: '10,000 endpoints on 200 silent ports' },
  P8C: { closed: 0, silent: 0, names: true, text: '1,000 dead host names in 10 accounts' },
  P8D: {
    closed: DEAD_PORTS / 2,
    silent: DEAD_PORTS / 2,
    names: true,
    text: '10,000 endpoints on 100 silent and 100 closed ports and 1,000 dead host names',
  },
}

/** The healthy webhooks. With a name server each has a host name in a zone of its own. */
function healthyWebhooks(ports, hasNames) {
  return range(HEALTHY.accounts * HEALTHY.perAccount).map((index) => {
    const host = hasNames ? `www.healthy-${index}.test` : `healthy-${index}.localhost`
    return {
      accountId: `healthy-${index % HEALTHY.accounts}`,
      uri: `http://${host}:${ports[index % ports.length]}/hooks/${index}`,
      hook: HEALTHY.hook,
    }
  })
}

const freshWebhooks = (ports, hasNames) =>
  range((RUN_MS / 1000) * FRESH.perSecond).map((index) => {
    const host = hasNames ? `www.fresh-${index}.test` : `fresh-${index}.localhost`
    const uri = `http://${host}:${ports[index % ports.length]}/fresh/${index}`
    return { accountId: `fresh-${index}`, uri, hook: FRESH.hook, publishes: true }
  })

/** Ids of the accounts of dead endpoints: the first ones also have healthy endpoints. */
const deadAccounts = (name, { accounts }, firstMixed) =>
  range(accounts).map((index) => (index < MIXED ? `healthy-${firstMixed + index}` : `${name}-${index}`))

function webhooksOnPorts(ports, accounts) {
  return range(DEAD_ON_PORTS.names).map((index) => ({
    accountId: accounts[index % accounts.length],
    uri: `http://dead-${index}.localhost:${ports[index % ports.length]}/dead/${index}`,
    hook: DEAD_HOOK,
  }))
}

/** The accounts with healthy endpoints have one dead zone each; of the others, each name is in its own zone. */
function webhooksOnNames(accounts) {
  return range(DEAD_NAMES.names).map((index) => {
    const account = index % accounts.length
    const host = account < MIXED ? `name-${index}.dead-${account}.example` : `www.dead-${index}.example`
    return { accountId: accounts[account], uri: `http://${host}/dead/${index}`, hook: DEAD_HOOK }
  })
}

const slowWebhooks = (port) =>
  range(SLOW.accounts).map((index) => ({
    accountId: `slow-${index}`,
    uri: `http://slow-${index}.localhost:${port}/slow/${index}`,
    hook: HEALTHY.hook,
  }))

const hostileWebhooks = (ports) =>
  range((RUN_MS / 1000) * HOSTILE.perSecond).map((index) => ({
    accountId: HOSTILE.account,
    uri: `http://${index < ports.length ? '127.0.0.1' : 'localhost'}:${ports[index % ports.length]}/new/${index}`,
    hook: HOSTILE.hook,
    publishes: false,
  }))

/** What the publisher needs for the healthy endpoints alone. */
function healthySide(ports, hasNames) {
  const webhooks = healthyWebhooks(ports, hasNames)
  const accounts = range(HEALTHY.accounts).map((index) => `healthy-${index}`)
  return {
    webhooks,
    loads: [{ accounts, hook: HEALTHY.hook, perSecond: HEALTHY.accounts * HEALTHY_RATE }],
    creations: [{ perSecond: FRESH.perSecond, webhooks: freshWebhooks(ports, hasNames) }],
  }
}

/** The same with the dead ones of a kind, the slow ones and the hostile tenant. */
function besideSide({ names }, healthy, { slowPort, silentPorts, closedPorts, hostilePorts }) {
  const groups = []
  const deadPorts = [...silentPorts, ...closedPorts]
  if (deadPorts.length > 0) {
    const accounts = deadAccounts('dead', DEAD_ON_PORTS, 0)
    groups.push({
      accounts,
      webhooks: webhooksOnPorts(deadPorts, accounts),
      fanOut: DEAD_ON_PORTS.perAccount,
    })
  }
  if (names) {
    const accounts = deadAccounts('name', DEAD_NAMES, MIXED)
    groups.push({ accounts, webhooks: webhooksOnNames(accounts), fanOut: DEAD_NAMES.perAccount })
  }
  const slow = slowWebhooks(slowPort)
  return {
    webhooks: [...healthy.webhooks, ...groups.flatMap(({ webhooks }) => webhooks), ...slow],
    loads: [
      ...healthy.loads,
      ...groups.map(({ accounts, fanOut }) => ({
        accounts,
        hook: DEAD_HOOK,
        perSecond: DEAD_DELIVERIES / groups.length / fanOut,
      })),
      { accounts: slow.map(({ accountId }) => accountId), hook: HEALTHY.hook, perSecond: SLOW.perSecond },
      { accounts: [HOSTILE.account], hook: HOSTILE.hook, perSecond: 1 },
    ],
    creations: [
      ...healthy.creations,
      { perSecond: HOSTILE.perSecond, webhooks: hostileWebhooks(hostilePorts) },
    ],
  }
}

/** Runs one side with a new publisher and a new store, and measures the latencies of the healthy endpoints. */
async function runSide({ stores, nameServer, receiver, profile }, { webhooks, loads, creations }) {
  const publisher = startProcess('isolation-publisher', { profile })
  try {
    const all = [...webhooks, ...creations.flatMap(({ webhooks }) => webhooks)]
    const accounts = [...new Set(all.map(({ accountId }) => accountId))]
    await publisher.request('prepare', { location: stores.newLocation(), nameServer, accounts, webhooks })
    await receiver.request('reset')
    const run = await publisher.request('run', { loads, creations, ms: RUN_MS })
    const expected = { hooks: run.events[0] * HEALTHY.perAccount, fresh: run.firstEvents }
    const received = (group) => ({ group, from: run.from, to: run.to })
    const isComplete = async (group) => (await receiver.request('count', received(group))) >= expected[group]
    const limit = performance.now() + MAX_WAIT_MS
    while (!((await isComplete('hooks')) && (await isComplete('fresh'))) && performance.now() < limit)
      await sleep(20)
    const latencies = async (group) => {
      const arrived = await receiver.request('latencies', received(group))
      const missing = Math.max(0, expected[group] - arrived.length)
      return { missing, all: [...arrived, ...range(missing).map(() => MAX_WAIT_MS)] }
    }
    const healthy = await latencies('hooks')
    const newcomers = await latencies('fresh')
    return {
      ...run,
      missing: healthy.missing + newcomers.missing,
      p50: quantile(healthy.all, 0.5),
      p99: quantile(healthy.all, 0.99),
      max: quantile(healthy.all, 1),
      fresh: quantile(newcomers.all, 1),
    }
  } finally {
    await publisher.stop()
  }
}

function describe(without, beside) {
  const both = (name) => [beside, without].map((side) => median(side.map((round) => round[name])).toFixed(1))
  const pair = (name) => both(name).join(' vs. ')
  const percent = (side) => Math.round(median(side.map(({ cpu }) => cpu)) * 100)
  const missing = Math.max(...beside.map((round) => round.missing))
  return (
    `p99 ${pair('p99')} ms, p50 ${pair('p50')} ms, longest ${pair('max')} ms, ` +
    `longest first delivery of a new webhook ${pair('fresh')} ms, ` +
    `failed attempts ${median(beside.map(({ failed }) => failed))}, CPU ${percent(beside)} vs. ${percent(without)} %` +
    (missing > 0 ? `, up to ${missing} healthy deliveries missing after ${MAX_WAIT_MS / 1000} s` : '')
  )
}

/** @param {import('./measurements.js').Options} options */
export async function measureDead({ name, rounds, profile, stores }) {
  const kind = KINDS[name]
  const receiver = startProcess('timing-receiver')
  const failing = startProcess('failing-receivers')
  const names = startProcess('name-server')
  try {
    const ports = await receiver.request('listenOnMany', { ports: HEALTHY.ports })
    const { slowPort, silentPorts, closedPorts } = await failing.request('listenOnMany', {
      silent: kind.silent + HOSTILE.ports,
      closed: kind.closed,
      delayMs: SLOW.delayMs,
    })
    const nameServer = kind.names ? (await names.request('listen', { living: '.test' })).server : undefined
    const healthy = healthySide(ports, kind.names)
    const hostilePorts = silentPorts.splice(kind.silent)
    const beside = besideSide(kind, healthy, { slowPort, silentPorts, closedPorts, hostilePorts })
    const context = { stores, nameServer, receiver }
    const done = await interleave(rounds, {
      without: () => runSide(context, healthy),
      beside: () => runSide({ ...context, profile }, beside),
    })
    return [
      {
        row: name.replace(/.$/, (letter) => letter.toLowerCase()),
        measurement: `healthy endpoints' p99 beside ${kind.text}, minus that without them, ${stores.title}`,
        baseline: `${healthy.webhooks.length} healthy endpoints alone`,
        unit: 'ms',
        goal: 50,
        ...summarize(done.beside.map((round, index) => round.p99 - done.without[index].p99)),
        details: describe(done.without, done.beside),
      },
    ]
  } finally {
    await Promise.all([receiver, failing, names].map((process) => process.stop()))
  }
}
