/**
 * Queries the switch for the accounts of legs that none of their events has shown: the dial plan may set the account while a
 * leg sends no event. The queries are limited, whatever the number of such legs.
 */
import type { Clock } from 'hookswitch'
import type { EventPipeline } from '../source/event-pipeline.js'
import { isValidArgument, MISSING, readChannelData, unreadable } from './channel-data.js'
import type { CommandChannel } from './commands.js'
import type { FreeswitchMapping } from './mapping.js'
import { endMissingLegs } from './resync.js'

/** The connection that the queries use. */
interface LookupConnection {
  readonly pipeline: EventPipeline
  readonly commands: Pick<CommandChannel, 'send'>
  /** Aborts when the connection is lost. */
  readonly signal: AbortSignal
}

/** The queries of one source. */
export interface AccountLookup {
  /** Queries these legs soon; not while disconnected, since the resync of the next connection reads every channel. */
  request(callIds: readonly string[]): void
  /** Uses a connection from now on. */
  connect(connection: LookupConnection): void
}

/** Maximum number of queries in one second. */
const MAX_PER_SECOND = 20

export function createAccountLookup(mapping: FreeswitchMapping, clock: Clock): AccountLookup {
  const requested = new Set<string>()
  let connection: LookupConnection | undefined
  let isRunning = false

  const query = async (callId: string, { pipeline, commands, signal }: LookupConnection): Promise<void> => {
    const uuid = mapping.uuidOf(callId)
    const leg = uuid === undefined ? undefined : mapping.getLeg(uuid)
    if (uuid === undefined || !leg || !isValidArgument(uuid)) return
    const found = await readChannelData(commands, uuid)
    if (found === MISSING) await endMissingLegs({ pipeline, mapping, clock }, [[uuid, leg]], signal)
    else pipeline.push(found ? mapping.mapAccount(found) : unreadable(uuid))
  }

  const run = async (current: LookupConnection): Promise<void> => {
    isRunning = true
    while (requested.size > 0 && !current.signal.aborted) {
      const batch = [...requested].slice(0, MAX_PER_SECOND)
      for (const callId of batch) requested.delete(callId)
      // A query fails only when the connection is lost.
      await Promise.allSettled(batch.map((callId) => query(callId, current)))
      await clock.sleep(1_000, current.signal)
    }
    isRunning = false
  }

  return {
    request(callIds) {
      if (!connection || connection.signal.aborted) return
      for (const callId of callIds) requested.add(callId)
      if (!isRunning) void run(connection)
    },
    connect(next) {
      connection = next
      requested.clear()
    },
  }
}
