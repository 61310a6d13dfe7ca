/**
 * P20: what one tenant can do to the others by what it is allowed to do. 100 healthy endpoints, each in its own account, get an
 * event every 4 s over HTTP; latency: from the request that publishes to the first byte at the receiver. Beside them a tenant (a)
 * reads lists, (b) sends batches of events, (c) fills its queue, or (d) has receivers that answer late; P20 is all of it at once;
 * (e) ten tenants have late receivers; (f) is that beside a, b and c. The load has run for a few seconds before anything is
 * measured.
 *
 * Each round starts a new service with a new store. Service, both kinds of load and receivers are separate processes.
 */
import { sleep, startProcess } from './processes.js'
import { interleave, median, quantile, summarize } from './statistics.js'

const HEALTHY = { accounts: 100, ports: 20, hook: 'channel_answer', perSecond: 25 }
const RUN_MS = 30_000
const WARM_UP_MS = 4_000
/** Longest wait for late deliveries; the latency of those still missing is counted as this. */
const MAX_WAIT_MS = 15_000
/** Deliveries that may wait in all: so few that the hostile tenant could fill the queue within the run. */
const MAX_PENDING = 100_000

const TENANT = 'hostile'
/** The history of which the tenant reads lists: deliveries of events with large payloads. */
const HISTORY = { hook: 'channel_bridge', webhooks: 3, events: 1_000, bytes: 16_000, connections: 8 }
/** The most that one request may publish: 1,000 events, for 20 webhooks each. */
const BATCHES = { hook: 'channel_create', webhooks: 20, perRequest: 1_000, connections: 2 }
const SILENT = { hook: 'channel_destroy', perRequest: 500, perSecond: 20, connections: 4 }
const LATE = { hook: 'channel_hold', webhooks: 10, delayMs: 950, deliveriesPerSecond: 600 }

const range = (count) => Array.from({ length: count }, (_, index) => index)

/** What the tenants do, by row. */
const KINDS = {
  P20A: { lists: true, text: 'a tenant that reads lists of 3,000 attempts with 16 kB each' },
  P20B: { batches: true, text: 'a tenant that sends batches of 1,000 events for 20 webhooks' },
  P20C: { silent: true, text: 'a tenant that publishes 10,000 events/s for a silent receiver' },
  P20D: { late: 1, text: 'a tenant whose receivers answer after 0.95 s' },
  P20E: { late: 10, text: 'ten tenants whose receivers answer after 0.95 s' },
  P20F: {
    lists: true,
    batches: true,
    silent: true,
    late: 10,
    text: 'ten tenants with late receivers, and one that does the rest',
  },
  P20: { lists: true, batches: true, silent: true, late: 1, text: 'a tenant that does all at once' },
}

const lateAccounts = ({ late = 0 }) => (late === 1 ? [TENANT] : range(late).map((index) => `late-${index}`))

function webhooksOf(kind, { ports, quickPort, latePort, silentPort }) {
  const healthy = range(HEALTHY.accounts).map((index) => ({
    accountId: `healthy-${index}`,
    uri: `http://healthy-${index}.localhost:${ports[index % ports.length]}/hooks/${index}`,
    hook: HEALTHY.hook,
  }))
  const quick = ({ hook, webhooks }) =>
    range(webhooks).map((index) => ({
      accountId: TENANT,
      uri: `http://${hook}-${index}.localhost:${quickPort}/quick`.replaceAll('_', '-'),
      hook,
    }))
  return [
    ...healthy,
    ...(kind.lists ? quick(HISTORY) : []),
    ...(kind.batches ? quick(BATCHES) : []),
    ...(kind.silent
      ? [{ accountId: TENANT, uri: `http://silent.localhost:${silentPort}/silent`, hook: SILENT.hook }]
      : []),
    ...lateAccounts(kind).flatMap((accountId) =>
      range(LATE.webhooks).map((index) => ({
        accountId,
        uri: `http://${accountId}-${index}.localhost:${latePort}/late`,
        hook: LATE.hook,
      })),
    ),
  ]
}

/** What the hostile load does. */
function loadOf(kind, targets) {
  const tenant = targets[TENANT]
  return {
    reading: kind.lists
      ? [
          {
            target: tenant,
            paths: [
              '/webhooks/attempts?paginate=false',
              '/webhooks/attempts?page_size=1000',
              '/webhooks?paginate=false',
              '/webhooks/attempts?page_size=50',
            ],
            connections: HISTORY.connections,
          },
        ]
      : [],
    publishing: [
      ...(kind.batches ? [{ ...BATCHES, targets: [tenant] }] : []),
      ...(kind.silent ? [{ ...SILENT, targets: [tenant] }] : []),
      ...(kind.late
        ? [
            {
              targets: lateAccounts(kind).map((account) => targets[account]),
              hook: LATE.hook,
              perRequest: 1,
              perSecond: LATE.deliveriesPerSecond / LATE.webhooks,
              connections: 20,
            },
          ]
        : []),
    ],
  }
}

/** Waits until the healthy deliveries have arrived, and returns their latencies. */
async function latenciesOf(receiver, { from, to, events }) {
  const published = { group: 'hooks', from, to }
  const limit = performance.now() + MAX_WAIT_MS
  while ((await receiver.request('count', published)) < events && performance.now() < limit) await sleep(20)
  const arrived = await receiver.request('latencies', published)
  const missing = Math.max(0, events - arrived.length)
  return { missing, all: [...arrived, ...range(missing).map(() => MAX_WAIT_MS)] }
}

/** Runs one side with a new service and a new store. */
async function runSide({ stores, receiver, receivers, profile }, kind) {
  const service = startProcess('hostile-service', { profile })
  const healthyLoad = startProcess('api-load')
  const hostileLoad = startProcess('api-load')
  try {
    const webhooks = webhooksOf(kind, receivers)
    const accounts = [...new Set([...webhooks.map(({ accountId }) => accountId), TENANT])]
    const location = stores.newLocation()
    const { port, targets } = await service.request('listen', {
      location,
      maxPending: MAX_PENDING,
      accounts,
      webhooks,
    })
    if (kind.lists) {
      const deliveries = HISTORY.events * HISTORY.webhooks
      await service.request('fill', { ...HISTORY, accountId: TENANT, deliveries })
    }
    await receiver.request('reset')
    const healthy = {
      port,
      targets: range(HEALTHY.accounts).map((index) => targets[`healthy-${index}`]),
      hook: HEALTHY.hook,
      perSecond: HEALTHY.perSecond,
      waitMs: MAX_WAIT_MS,
    }
    const hostileRun = hostileLoad.request('run', { port, ms: WARM_UP_MS + RUN_MS, ...loadOf(kind, targets) })
    const warmUp = healthyLoad.request('publishSteadily', { ...healthy, ms: WARM_UP_MS })
    await sleep(WARM_UP_MS)
    await service.request('begin')
    const run = await healthyLoad.request('publishSteadily', { ...healthy, ms: RUN_MS })
    const [hostile] = await Promise.all([hostileRun, warmUp])
    const { blockMs, cpuMs, waitedMs, rssMb } = await service.request('end')
    const { missing, all } = await latenciesOf(receiver, run)
    return {
      p50: quantile(all, 0.5),
      p99: quantile(all, 0.99),
      missing,
      refused: run.events - (run.counts[202] ?? 0),
      blockMs,
      rssMb,
      cpu: cpuMs / RUN_MS,
      waited: waitedMs / RUN_MS,
      hostile,
    }
  } finally {
    await Promise.all([service, healthyLoad, hostileLoad].map((process) => process.stop()))
  }
}

/** Statuses with their counts, and what was read. */
function describeRequests(name, runs) {
  const total = {}
  for (const counts of runs)
    for (const [key, count] of Object.entries(counts)) total[key] = (total[key] ?? 0) + count
  const { bytes, ...statuses } = total
  const texts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`)
  return texts.length === 0 ? '' : `, ${name} ${texts.join(' ')} (${Math.round(bytes / 1e6)} MB)`
}

function describe(without, beside) {
  const both = (name) => [beside, without].map((side) => median(side.map((round) => round[name])).toFixed(1))
  const pair = (name) => both(name).join(' vs. ')
  const percents = (name) =>
    [beside, without].map((side) => Math.round(median(side.map((round) => round[name])) * 100)).join(' vs. ')
  const most = (name) => Math.max(...beside.map((round) => round[name]))
  return (
    `p99 ${pair('p99')} ms, p50 ${pair('p50')} ms, CPU ${percents('cpu')} %, main thread without a core ${percents('waited')} %` +
    describeRequests(
      'published',
      beside.map(({ hostile }) => hostile.published),
    ) +
    describeRequests(
      'read',
      beside.map(({ hostile }) => hostile.read),
    ) +
    (most('refused') > 0 ? `, up to ${most('refused')} healthy publishes refused` : '') +
    (most('missing') > 0
      ? `, up to ${most('missing')} healthy deliveries missing after ${MAX_WAIT_MS / 1000} s`
      : '')
  )
}

/** @param {import('./measurements.js').Options} options */
export async function measureHostileTenant({ name, rounds, profile, stores }) {
  const kind = KINDS[name]
  const receiver = startProcess('timing-receiver')
  const quick = startProcess('receiver')
  const late = startProcess('delayed-receiver')
  const failing = startProcess('failing-receivers')
  try {
    const receivers = {
      ports: await receiver.request('listenOnMany', { ports: HEALTHY.ports }),
      quickPort: (await quick.request('listen')).port,
      latePort: (await late.request('listen', { delayMs: LATE.delayMs })).port,
      silentPort: (await failing.request('listen', { delayMs: 0 })).silentPort,
    }
    const context = { stores, receiver, receivers }
    const { without, beside } = await interleave(rounds, {
      without: () => runSide(context, {}),
      beside: () => runSide({ ...context, profile }, kind),
    })
    const row = (measurement, unit, goal, values, rest = {}) => ({
      row: name.replace(/[A-F]$/, (letter) => letter.toLowerCase()),
      measurement: `${measurement}, ${stores.title}`,
      baseline: `${HEALTHY.accounts} healthy endpoints alone`,
      unit,
      goal,
      ...summarize(values),
      ...rest,
    })
    return [
      row(
        `healthy endpoints' p99 beside ${kind.text}, minus that without`,
        'ms',
        50,
        beside.map((round, index) => round.p99 - without[index].p99),
        { details: describe(without, beside) },
      ),
      ...[
        ['longest block of the event loop', 'ms', 100, 'blockMs'],
        ['largest RSS of the service', 'MB', 400, 'rssMb'],
      ].map(([what, unit, goal, value]) =>
        row(
          `${what} beside ${kind.text}`,
          unit,
          goal,
          beside.map((round) => round[value]),
          { details: `without: ${median(without.map((round) => round[value])).toFixed(1)} ${unit}` },
        ),
      ),
    ]
  } finally {
    await Promise.all([receiver, quick, late, failing].map((process) => process.stop()))
  }
}
