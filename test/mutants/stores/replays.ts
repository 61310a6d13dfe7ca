import type { DeliveryReplays, StoredDelivery } from '../../../src/delivery/delivery-queries.js'
import type { QueueStore } from '../../../src/delivery/queue-store.js'
import type { StoredReplay } from '../../../src/delivery/replay-store.js'
import { faultsOf, onGroup, STORE_MODEL, type StoreFault } from './store-fault.js'

const replayFault = faultsOf('replays', 'deliveries')
const jobFault = faultsOf('replay jobs', 'replays')
const historyFault = faultsOf('size of the history', 'deliveries')

type Change = (
  row: StoredDelivery,
  store: QueueStore,
) => DeliveryReplays | undefined | Promise<DeliveryReplays | undefined>

/** Replaces the mark of every delivery that is read. */
const onMark = (change: Change) => (store: QueueStore) => {
  const changed = async <Row extends StoredDelivery | undefined>(row: Row): Promise<Row> => {
    if (!row) return row
    const { replays: _before, ...rest } = row
    const replays = await change(row, store)
    return { ...rest, ...(replays && { replays }) } as Row
  }
  return {
    delivery: async (accountId: string, id: string) => changed(await store.delivery(accountId, id)),
    deliveries: async (query: Parameters<QueueStore['deliveries']>[0]) =>
      Promise.all((await store.deliveries(query)).map(changed)),
    async search(query: Parameters<QueueStore['search']>[0]) {
      const found = await store.search(query)
      return { ...found, deliveries: await Promise.all(found.deliveries.map(changed)) }
    },
  }
}

/** The replays of a delivery, newest first. */
async function replaysOf(store: QueueStore, { accountId, webhookId, position }: StoredDelivery) {
  const rows = await store.deliveries({ accountId, webhookId, limit: 1e9 })
  return rows.filter(({ originalPosition }) => originalPosition === position)
}

/** The mark says that the original has recovered if all of its replays, or the last one, is in one of these states. */
const recoversIn = (
  isRecovered: (states: readonly StoredDelivery['state'][]) => boolean,
): Parameters<typeof replayFault>[1] =>
  onMark(async (row, store) => {
    const states = (await replaysOf(store, row)).map(({ state }) => state)
    return row.replays && { ...row.replays, hasRecovered: isRecovered(states) }
  })

const RECOVERED = ['waiting', 'in_flight', 'delivered']

/** A count that ignores one condition of the query. */
const _countsWithout = (name: 'fromMs' | 'toMs' | 'hooks' | 'reason'): Parameters<typeof replayFault>[1] => {
  return (store) => ({
    countReplayable({ [name]: _ignored, ...query }) {
      return store.countReplayable(query)
    },
  })
}

/** Defects of replays. */
export const brokenReplays: readonly StoreFault[] = [
  replayFault(
    'a replay marks the deliveries of its event to all webhooks',
    onMark(async (row, store) => {
      const { deliveries } = await store.search({ limit: 1e9 })
      const marked = deliveries.find((delivery) => delivery.eventId === row.eventId && delivery.replays)
      return row.replays ?? (row.replayOf === undefined ? marked?.replays : undefined)
    }),
  ),
  replayFault(
    'a replay that was delivered is no recovery',
    recoversIn((states) => states.includes('waiting')),
  ),
  replayFault(
    'every replay is a recovery',
    recoversIn(() => true),
    [STORE_MODEL],
  ),
  replayFault(
    'only the newest replay can be a recovery',
    recoversIn(([newest]) => newest !== undefined && RECOVERED.includes(newest)),
  ),
  replayFault('a mark stays without its replay', (store) => {
    const known = new Map<string, DeliveryReplays>()
    return onMark(({ id, replays }) => {
      if (replays) known.set(id, replays)
      return known.get(id)
    })(store)
  }),
  replayFault('erasing a call leaves its replays', (store) => ({
    async erase(what, limit) {
      const { deliveries } = await store.search({ limit: 1e9 })
      return deliveries.some(({ replayOf }) => replayOf !== undefined) ? 0 : store.erase(what, limit)
    },
  })),
  replayFault('onlyOriginals leaves out tests', (store) => ({
    async deliveries(query) {
      const rows = await store.deliveries(query)
      return query.onlyOriginals ? rows.filter(({ lane }) => !lane.startsWith('test/')) : rows
    },
  })),
  replayFault('a replay whose id is taken is accepted, and not stored', (store) => ({
    async commit(group) {
      const result = await store.commit(group)
      if (result.kind !== 'committed') return result
      const accepted = result.accepted.map((acceptance, index) =>
        acceptance.kind === 'refused' &&
        acceptance.error.code === 'Conflict' &&
        group.accepted[index]!.events.length === 0
          ? ({ kind: 'accepted', events: [], mayHaveGap: false } as const)
          : acceptance,
      )
      return { ...result, accepted }
    },
  })),
  replayFault(
    'of replays that are repeated the first decides',
    onGroup((group) => ({
      ...group,
      accepted: group.accepted.map((acceptance) =>
        group.isRepeat && acceptance.events.length === 0
          ? { ...acceptance, deliveries: acceptance.deliveries.slice(0, 1) }
          : acceptance,
      ),
    })),
  ),
  replayFault('countReplayable counts everything', (store) => ({
    async countReplayable({ webhookIds }) {
      const { deliveries } = await store.search({ limit: 1e9 })
      const found = deliveries.filter(({ webhookId }) => webhookIds.includes(webhookId))
      return new Map(found.map(({ webhookId }) => [webhookId, found.length]))
    },
  })),
  replayFault('countReplayable reads the first webhooks only', (store) => ({
    countReplayable: (query) =>
      store.countReplayable({ ...query, webhookIds: query.webhookIds.slice(0, 100) }),
  })),
]

const _unfinishedOf = (jobs: readonly StoredReplay[]) =>
  jobs.filter(({ state }) => state === 'running' || state === 'paused')

/** Defects of replay jobs. */
export const brokenReplayJobs: readonly StoreFault[] = [
  jobFault('the document of a job is cut', (store) => ({
    create: (job) => store.create({ ...job, doc: job.doc.slice(0, 65_000) }),
  })),
  jobFault('a job that is created again is replaced', (store) => ({
    async create(job) {
      const before = await store.read(job.id)
      if (before) await store.replace({ ...job, revision: before.revision + 1 })
      else await store.create(job)
    },
  })),
  jobFault('replace ignores the revision', (store) => ({
    async replace(job) {
      const before = await store.read(job.id)
      return before ? store.replace({ ...job, revision: before.revision + 1 }) : false
    },
  })),
  jobFault('replace compares the revision before it writes', () => {
    const jobs = new Map<string, StoredReplay>()
    return {
      async create(job) {
        if (!jobs.has(job.id)) jobs.set(job.id, job)
      },
      read: async (id) => jobs.get(id),
      async replace(job) {
        const before = jobs.get(job.id)?.revision
        await new Promise(setImmediate)
        if (before !== job.revision - 1) return false
        jobs.set(job.id, job)
        return true
      },
    }
  }),
  jobFault('a page of jobs leaves out those of the same time', (store) => ({
    async list({ after, ...query }) {
      const all = await store.list({ ...query, limit: 1e9 })
      return all.filter(({ createdMs }) => !after || createdMs < after.createdMs).slice(0, query.limit)
    },
  })),
  jobFault('a list of jobs ignores the account', (store) => ({
    list: ({ accountId: _ignored, ...query }) => store.list(query),
  })),
  jobFault('paused jobs count as finished', (store) => ({
    unfinished: async (limit) => (await store.unfinished(limit)).filter(({ state }) => state === 'running'),
  })),
  jobFault('erase leaves jobs that run', (store) => ({
    async erase(accountId, limit) {
      const running = (await store.unfinished(1e9)).filter((job) => job.accountId === accountId)
      return running.length > 0 ? 0 : store.erase(accountId, limit)
    },
  })),
]

/** Defects of the size of the history. */
export const brokenHistory: readonly StoreFault[] = [
  historyFault('pruneOldest removes the oldest, whatever became of them', (store) => ({
    async pruneOldest(limit) {
      const { deliveries } = await store.search({ limit: 1e9 })
      const [oldest] = deliveries.filter(({ state }) => state !== 'waiting').toReversed()
      if (!oldest) return 0
      const { callId = '', eventAccountId: accountId } = oldest
      while ((await store.erase({ accountId, callIds: [callId] }, limit)) > 0) {}
      return 1
    },
  })),
  historyFault('the history has no size', () => ({ historyBytes: async () => 0 })),
]
