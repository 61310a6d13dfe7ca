import { randomInt } from 'node:crypto'
import { shardOf } from 'hookswitch/store'
import { acceptor } from './accept.js'
import { claimer } from './claim.js'
import { postgresInbox } from './inbox.js'
import { createFlights } from './lanes-flights.js'
import { leases } from './leases.js'
import { leftBehind } from './orphans.js'
import { createPolling } from './poll.js'
import { readiness } from './ready.js'
import type { Doors, Queue } from './session-doors.js'
import { settler } from './settle.js'
import { createWaking } from './wake.js'

/** Pairs of places in which the pending count is kept: each store has two of its own, mostly. */
const SLOT_PAIRS = 32

/** The queue: what is accepted, who works on it, what is claimed and settled, and who is told. */
export function postgresQueue(doors: Doors): Queue {
  const waking = createWaking(doors)
  const { ready, readyOf } = readiness(doors)
  const left = leftBehind(doors)
  const pair = randomInt(SLOT_PAIRS) * 2
  const { accept, rest: acceptRest } = acceptor({ ...doors, waking, slot: pair })
  const flights = createFlights()
  const { settle, rest: settleRest } = settler({ ...doors, waking, flights, slot: pair + 1 })
  const { claim, rest: claimRest } = claimer({ ...doors, flights, standing: readyOf, lost: lostClaim })
  const tellDue = async (webhookIds: readonly string[]) =>
    waking.wake((await readyOf(webhookIds)).filter(({ dueMs }) => dueMs !== undefined))
  const polling = createPolling({ ...doors, waking, tell: tellDue })

  function lostClaim(token: number): void {
    left.lost(token)
    polling.lookLater()
  }

  return {
    deliveries: {
      accept,
      settle,
      claim,
      ready,
      orphans: left.orphans,
      stale: left.stale,
      ...leases({ ...doors, waking, gained: polling.lookLater }),
      subscribe: waking.subscribe,
    },
    inbox: postgresInbox(doors),
    tell(webhookId, stale) {
      const shard = shardOf(webhookId)
      if (stale) waking.look(shard)
      if (!waking.ownsHere(shard)) waking.announceDue(webhookId)
      // What cannot be read now is looked for.
      else tellDue([webhookId]).catch(() => waking.wake(undefined))
    },
    open: polling.open,
    async close() {
      await Promise.all([acceptRest(), settleRest(), claimRest()])
      await waking.rest()
      await polling.close()
    },
  }
}
