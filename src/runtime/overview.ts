/** The state of the service for its operators: what is pending, what fails, and which nodes work. */
import type { Overview } from '../delivery/overview.js'
import { VERSION } from '../version.js'
import { isFailing, isPaused, isProbed } from '../webhooks/health.js'
import type { Core } from './core.js'

const BATCH_SIZE = 1_000
/** Webhooks with a problem that are counted. */
const MAX_EXAMINED = 10_000

async function countUnhealthy({ store, dispatcher, clock }: Core) {
  const counts = { waiting: 0, probing: 0, failing: 0, disabled: 0 }
  const accounts = new Set<string>()
  const result = (isCapped: boolean) => ({ ...counts, accountsAffected: accounts.size, isCapped })
  let afterId: string | undefined
  for (let examined = 0; examined < MAX_EXAMINED; examined += BATCH_SIZE) {
    if (examined > 0) await clock.yield()
    const batch = await store.webhooks.unhealthy(BATCH_SIZE, afterId)
    const now = dispatcher.now()
    for (const { accountId, settings, disableReason, health } of batch) {
      if (!settings.enabled) {
        if (disableReason !== undefined) counts.disabled += 1
        continue
      }
      if (isProbed(health)) counts[isPaused(health, now) ? 'waiting' : 'probing'] += 1
      else if (isFailing(health) && !isPaused(health, now)) counts.failing += 1
      if (isProbed(health) || isFailing(health)) accounts.add(accountId)
    }
    if (batch.length < BATCH_SIZE) return result(false)
    afterId = batch.at(-1)!.id
  }
  return result(true)
}

const MINUTE_MS = 60_000
const MINUTES = 60

/** Attempts of all nodes in each of the last 60 minutes, and why some failed; nothing with the option `statistics: false`. */
async function readLastHour({
  statistics,
  clock,
}: Core): Promise<Pick<Overview, 'attemptsPerMinute' | 'causes'>> {
  if (!statistics) return {}
  const toMs = clock.now()
  const service = { accountId: '', webhookId: '' }
  const fromMs = toMs - (MINUTES - 1) * MINUTE_MS
  const { ok, failed, causes } = await statistics.read(service, { step: 60, fromMs, toMs })
  const sums = Object.entries(causes).map(([cause, counts]) => [cause, counts.reduce((a, b) => a + b, 0)])
  return {
    attemptsPerMinute: ok.map((count, index) => count + failed[index]!),
    causes: Object.fromEntries(sums),
  }
}

/** Reads the state of the service. */
export async function readOverview(core: Core): Promise<Overview> {
  const { store, dispatcher, clock } = core
  const [{ waiting, probing, ...counts }, nodes, lastHour] = await Promise.all([
    countUnhealthy(core),
    store.deliveries.nodes(),
    readLastHour(core),
  ])
  const { inFlight, oldestDueMs } = dispatcher.stats()
  const { durable, sharedBetweenNodes } = store.supports
  const storeAheadMs = dispatcher.now() - clock.now()
  return {
    pending: dispatcher.pending(),
    oldestDueMs,
    inFlight,
    ...lastHour,
    paused: { waiting, probing },
    ...counts,
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
