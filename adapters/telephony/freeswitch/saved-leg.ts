/** An open leg as it is kept in the store, see `source/open-legs.ts`. Pure. */
import { readAnswerer, saveAnswerer } from '../source/answerer.js'
import { readEndpoint, saveEndpoint } from '../source/endpoint.js'
import { readSaved, type SavedLeg, type SavedValues } from '../source/open-leg-state.js'
import type { CustomVariables } from './custom-variables.js'
import type { EventValue } from './event.js'
import type { Leg } from './leg.js'

/**
 * Returns the leg for the store; `undefined`: its account is not known.
 *
 * @param uuid its current id
 */
export function saveLeg(uuid: string, leg: Leg): SavedLeg | undefined {
  if (leg.accountId === undefined) return undefined
  const { coreUuid, createdUs, direction, isInternal, otherHalfUuid, isSip, answeredUs, otherLegCallId } = leg
  const { sinceUs, endedUs, earlierUs } = leg.hold
  return {
    accountId: leg.accountId,
    leg: {
      uuid,
      coreUuid,
      createdUs,
      direction,
      isInternal,
      otherHalfUuid,
      isSip,
      answeredUs,
      otherLegCallId,
      groupId: leg.group.id,
      groupSince: leg.group.since,
      heldSinceUs: sinceUs,
      lastHeldUs: endedUs,
      heldEarlierUs: earlierUs,
      hasDialledPhone: leg.notes.hasDialledPhone,
      wasBridged: leg.notes.wasBridged,
      hasLeftMessage: leg.notes.hasLeftMessage,
      parkedSlot: leg.notes.parkedSlot,
      timedOutSlot: leg.notes.timedOutSlot,
      queuedUs: leg.notes.queuedUs,
    },
    parties: {
      ...leg.parties,
      ...leg.addresses,
      ...saveAnswerer(leg.answeredBy),
      ...saveEndpoint(leg.endpoint),
    },
    variables: { ...leg.customVariables },
  }
}

/**
 * Returns a stored leg with its current id; `undefined`: its values cannot be used. Its bridge is found again by the
 * resync, under the key of the bridge that was published.
 */
export function restoreLeg(callId: string, saved: SavedLeg): readonly [uuid: string, leg: Leg] | undefined {
  const { text, number, flag } = readSaved(saved.leg)
  const parties = readSaved(saved.parties)
  const [uuid, coreUuid, createdUs] = [text('uuid'), text('coreUuid'), number('createdUs')]
  if (uuid === undefined || coreUuid === undefined || createdUs === undefined) return undefined
  const direction = text('direction')
  const leg: Leg = {
    callId,
    coreUuid,
    createdUs,
    direction: direction === 'inbound' || direction === 'outbound' ? direction : undefined,
    isInternal: flag('isInternal'),
    otherHalfUuid: text('otherHalfUuid'),
    isSip: flag('isSip'),
    parties: {
      callerIdName: parties.text('callerIdName'),
      callerIdNumber: parties.text('callerIdNumber'),
      calleeIdName: parties.text('calleeIdName'),
      calleeIdNumber: parties.text('calleeIdNumber'),
      destination: parties.text('destination'),
      hidesNumber: parties.flag('hidesNumber'),
    },
    addresses: {
      from: parties.text('from'),
      to: parties.text('to'),
      request: parties.text('request'),
      isFinal: parties.flag('isFinal'),
    },
    endpoint: readEndpoint(parties),
    answeredBy: readAnswerer(parties),
    group: { id: text('groupId') ?? callId, since: number('groupSince') ?? createdUs },
    customVariables: restoreVariables(saved.variables),
    accountId: saved.accountId,
    hasReportedBadAccountId: false,
    answeredUs: number('answeredUs') ?? 0,
    originatorCallId: undefined,
    otherLegCallId: text('otherLegCallId'),
    links: { neighbour: undefined, publishedCallId: undefined, isBesideInternalLeg: false, changes: 0 },
    hold: {
      sinceUs: number('heldSinceUs') ?? 0,
      endedUs: number('lastHeldUs') ?? 0,
      earlierUs: number('heldEarlierUs') ?? 0,
      pendingUnhold: undefined,
      found: undefined,
    },
    otherLegEnd: undefined,
    notes: {
      hasDialledPhone: flag('hasDialledPhone'),
      wasBridged: flag('wasBridged'),
      hasLeftMessage: flag('hasLeftMessage'),
      parkedSlot: text('parkedSlot'),
      timedOutSlot: text('timedOutSlot'),
      transferKey: undefined,
      queuedUs: number('queuedUs') ?? 0,
      waitedSeconds: undefined,
    },
  }
  return [uuid, leg]
}

function restoreVariables({ channelVars, applicationVars }: SavedValues): CustomVariables {
  return { channelVars: restoreValues(channelVars), applicationVars: restoreValues(applicationVars) }
}

function restoreValues(values: unknown): Record<string, EventValue> | undefined {
  if (typeof values !== 'object' || values === null) return undefined
  const isValue = (value: unknown): value is EventValue =>
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isValue(value))) as Record<
    string,
    EventValue
  >
}
