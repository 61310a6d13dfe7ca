/** Composes the queue: acceptance, leases, claims and settlements, with notifications and the poll. */
import { randomInt } from 'node:crypto'
import { shardOf } from 'hookswitch/store'
import { createAcceptor } from './accept.js'
import { createClaimer } from './claim.js'
import { createInFlightCache } from './in-flight-cache.js'
import { postgresInbox } from './inbox.js'
import { createLeases } from './leases.js'
import { createNotifier } from './notifications.js'
import { createOrphanQueries } from './orphans.js'
import { createPoller } from './poll.js'
import { createReadyQueries } from './ready.js'
import type { Deps, Queue } from './session-deps.js'
import { createSettler } from './settle.js'

/**
 * The pending count is split over slots (rows), so that transactions do not wait for each other on one row. Each store
 * draws a pair at random: one for what it accepts, one for what it ends.
 */
const SLOT_PAIRS = 32

export function postgresQueue(deps: Deps): Queue {
  const notifier = createNotifier(deps)
  const { ready, readyOf } = createReadyQueries(deps)
  const { orphans, stale, addLostClaim } = createOrphanQueries(deps)
  const slot = randomInt(SLOT_PAIRS) * 2
  const inFlight = createInFlightCache()
  const acceptor = createAcceptor({ ...deps, notifier, slot })
  const settler = createSettler({ ...deps, notifier, inFlight, slot: slot + 1 })
  const claimer = createClaimer({
    ...deps,
    inFlight,
    currentEndpoints: readyOf,
    onOutcomeUnknown(token) {
      addLostClaim(token)
      poller.scheduleScans()
    },
  })
  const notifyDue = async (webhookIds: readonly string[]) =>
    notifier.notifyListeners((await readyOf(webhookIds)).filter(({ dueMs }) => dueMs !== undefined))
  const poller = createPoller({ ...deps, notifier, notifyDue })

  return {
    deliveries: {
      accept: acceptor.accept,
      settle: settler.settle,
      claim: claimer.claim,
      ready,
      orphans,
      stale,
      ...createLeases({ ...deps, notifier, onShardsTaken: poller.scheduleScans }),
      subscribe: notifier.subscribe,
    },
    inbox: postgresInbox(deps),
    notify(webhookId, isStale) {
      const shard = shardOf(webhookId)
      if (isStale) notifier.requestScan(shard)
      if (!notifier.isOwnedHere(shard)) notifier.notifyDue(webhookId)
      // A scan makes up for a read that fails.
      else notifyDue([webhookId]).catch(() => notifier.notifyListeners(undefined))
    },
    open: poller.open,
    async close() {
      await Promise.all([acceptor.idle(), settler.idle(), claimer.idle()])
      await notifier.flush()
      await poller.close()
    },
  }
}
