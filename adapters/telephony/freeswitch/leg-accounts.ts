/**
 * Resolves the accounts of legs: by the host's `accountOf`, else, for a leg that the switch dials, the account of the leg
 * for which it is dialled. Pure but for `accountOf`.
 */
import type { Problem } from '../source/mapped-events.js'
import { type FreeswitchAccountOf, factsOf } from './account-resolver.js'
import type { ChannelRegistry } from './channel-registry.js'
import type { EslEvent } from './event.js'
import type { Leg } from './leg.js'

/** Resolves the accounts of the legs of a switch. It reads and sets their `accountId`. */
interface LegAccounts {
  /**
   * Resolves the account of a leg from one of its events.
   *
   * @param uuid its current id
   * @param problems receives what `accountOf` did wrong
   * @returns the legs whose account is known by that: the leg, and those dialled for it
   */
  resolve(leg: Leg, uuid: string, event: EslEvent, problems: Problem[]): readonly Leg[]
  /** Returns the account that `accountOf` reads from an event; `undefined`: none. */
  read(party: Party, uuid: string, event: EslEvent, problems: Problem[]): string | undefined
}

/** What an event may show the account of: a leg, or a device. */
type Party = Pick<Leg, 'callId' | 'hasReportedBadAccountId'>

const NONE: readonly Leg[] = []

/** @param registry the open legs */
export function createLegAccounts(
  accountOf: FreeswitchAccountOf,
  registry: Pick<ChannelRegistry, 'find' | 'dialledBy'>,
): LegAccounts {
  const read = (party: Party, uuid: string, event: EslEvent, problems: Problem[]): string | undefined => {
    const { callId } = party
    try {
      const accountId: unknown = accountOf(factsOf(uuid, event))
      if (typeof accountId === 'string' && accountId !== '') return accountId
      if (accountId !== undefined && accountId !== '' && !party.hasReportedBadAccountId) {
        party.hasReportedBadAccountId = true
        const message = `accountOf returned no string (${typeof accountId}) at ${event.name}`
        problems.push({ kind: 'callback_failed', message, callId })
      }
    } catch (thrown) {
      const name = thrown instanceof Error ? thrown.name : typeof thrown
      problems.push({
        kind: 'callback_failed',
        message: `accountOf threw (${name}) at ${event.name}`,
        callId,
      })
    }
    return undefined
  }

  return {
    read,
    resolve(leg, uuid, event, problems) {
      if (leg.accountId !== undefined) return NONE
      const { originatorCallId } = leg
      leg.accountId =
        read(leg, uuid, event, problems) ??
        (originatorCallId === undefined ? undefined : registry.find(originatorCallId)?.[1].accountId)
      if (leg.accountId === undefined) return NONE
      const known = [leg]
      for (const { callId, accountId } of known) {
        for (const dialled of registry.dialledBy(callId)) {
          if (dialled.accountId !== undefined) continue
          dialled.accountId = accountId
          known.push(dialled)
        }
      }
      return known
    },
  }
}
