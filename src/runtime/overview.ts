/** The state of the service for its operators: what is pending, what fails, and which nodes work. */
import type { Overview } from '../delivery/overview.js'
import { VERSION } from '../version.js'
import { isPaused, isProbed } from '../webhooks/health.js'
import type { Core } from './core.js'

const BATCH_SIZE = 1_000
/** Webhooks with a problem that are counted. */
const MAX_EXAMINED = 10_000

async function countUnhealthy({ store, dispatcher, clock }: Core) {
  const counts = { waiting: 0, probing: 0, disabled: 0 }
  let afterId: string | undefined
  for (let examined = 0; examined < MAX_EXAMINED; examined += BATCH_SIZE) {
    if (examined > 0) await clock.yield()
    const batch = await store.webhooks.unhealthy(BATCH_SIZE, afterId)
    const now = dispatcher.now()
    for (const { settings, disableReason, health } of batch) {
      if (!settings.enabled) {
        if (disableReason !== undefined) counts.disabled += 1
      } else if (isProbed(health)) counts[isPaused(health, now) ? 'waiting' : 'probing'] += 1
    }
    if (batch.length < BATCH_SIZE) return { ...counts, isCapped: false }
    afterId = batch.at(-1)!.id
  }
  return { ...counts, isCapped: true }
}

const MINUTE_MS = 60_000
const MINUTES = 60

/** Attempts of all nodes in each of the last 60 minutes; undefined with the option `statistics: false`. */
async function readAttemptsPerMinute({ statistics, clock }: Core): Promise<readonly number[] | undefined> {
  if (!statistics) return undefined
  const toMs = clock.now()
  const service = { accountId: '', webhookId: '' }
  const fromMs = toMs - (MINUTES - 1) * MINUTE_MS
  const { ok, failed } = await statistics.read(service, { step: 60, fromMs, toMs })
  return ok.map((count, index) => count + failed[index]!)
}

/** Reads the state of the service. */
export async function readOverview(core: Core): Promise<Overview> {
  const { store, dispatcher, clock } = core
  const [{ waiting, probing, disabled, isCapped }, nodes, attemptsPerMinute] = await Promise.all([
    countUnhealthy(core),
    store.deliveries.nodes(),
    readAttemptsPerMinute(core),
  ])
  const { inFlight, oldestDueMs } = dispatcher.stats()
  const { durable, sharedBetweenNodes } = store.supports
  const storeAheadMs = dispatcher.now() - clock.now()
  return {
    pending: dispatcher.pending(),
    oldestDueMs,
    inFlight,
    ...(attemptsPerMinute && { attemptsPerMinute }),
    paused: { waiting, probing },
    disabled,
    isCapped,
    nodes: nodes.map(({ owner, aliveUntilMs, shards, leaving }) => ({
      node: owner,
      ...(Number.isFinite(aliveUntilMs) && { aliveUntilMs: aliveUntilMs - storeAheadMs }),
      shards,
      leaving,
    })),
    store: { durable, sharedBetweenNodes },
    version: VERSION,
  }
}
