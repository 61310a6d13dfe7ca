/** Says for each webhook of an account whether it would get an event, and if not, why. */
import type { Directory } from '../accounts/directory.js'
import { invalidInput, notFound } from '../errors.js'
import { yieldingOf } from '../values/yielding.js'
import { isMetaHook } from '../webhooks/meta-hooks.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import type { PrepareDeps } from './accept.js'
import { type CheckedEvent, checkEvent } from './event.js'
import { mismatchOf } from './match.js'
import { payloadOf } from './payload.js'

interface MatchReportDeps extends Omit<PrepareDeps, 'newId'> {
  readonly directory: Pick<Directory, 'lineage'>
  readonly webhooks: Pick<WebhookStore, 'list'>
}

/** Whether a webhook would get an event. */
export interface MatchReport {
  /** Id of the webhook. */
  readonly id: string
  /** Its name. */
  readonly name: string
  /** Whether it would get the event. */
  readonly isWanted: boolean
  /** Why not; absent: it would get the event. */
  readonly why?:
    | 'disabled'
    | 'account_disabled'
    | 'hook'
    | 'only'
    | 'document'
    | 'internal_leg'
    | 'account'
    | 'filter'
}

/** Webhooks between two checks whether the work has taken too long. */
const WEBHOOKS_PER_CHECK = 256

/** What an event must have that is only matched: its fields are checked, but only `hook` is required. */
const PLACEHOLDER_CALL_ID = '-'

/** @throws `InvalidInput` naming the field */
function checkPartialEvent(deps: MatchReportDeps, input: Readonly<Record<string, unknown>>): CheckedEvent {
  const { hook, accountId } = input
  const nowMs = deps.clock.now()
  if (typeof hook === 'string' && isMetaHook(hook))
    return { hook, accountId, callId: PLACEHOLDER_CALL_ID, timestampMs: nowMs } as CheckedEvent
  // The data of a registered kind may be required; where none is given, filters see none.
  const hasData = input.data !== undefined || input.orderingKey !== undefined
  const hasCall = input.callId !== undefined || input.orderingKey !== undefined
  return checkEvent(
    hasCall ? input : { ...input, callId: PLACEHOLDER_CALL_ID },
    nowMs,
    deps.isKnownHook,
    deps.knownHooks,
    hasData ? deps.customKinds : undefined,
  )
}

/**
 * Reports for each webhook of an account, in the order of its list, whether it would get an event. Filters see the fields
 * that the event has.
 *
 * @param input an event as it is published; only `hook` is required. `accountId`: an account below; default: the
 *   account itself
 * @throws `InvalidInput` naming the field, `NotFound` for an account that is not the account itself or one below it
 */
export async function reportMatches(
  deps: MatchReportDeps,
  accountId: string,
  input: Readonly<Record<string, unknown>>,
): Promise<readonly MatchReport[]> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalidInput([{ path: '', rule: 'type', message: 'an event must be an object', target: 'object' }])
  const event = checkPartialEvent(deps, { ...input, accountId: input.accountId ?? accountId })
  const lineage = await deps.directory.lineage(event.accountId)
  if (!lineage.some(({ id }) => id === accountId)) throw notFound(event.accountId, 'account')
  const { callId: _, ...withoutCall } = event
  const payload = payloadOf(input.callId === undefined ? (withoutCall as CheckedEvent) : event, '')
  const webhooks = await deps.webhooks.list([accountId])
  const reports: MatchReport[] = []
  for (const webhook of webhooks) {
    if (reports.length % WEBHOOKS_PER_CHECK === WEBHOOKS_PER_CHECK - 1)
      await yieldingOf(deps.clock).whenDue(accountId)
    const { id, settings } = webhook
    const why = mismatchOf(webhook, event, lineage, payload)
    reports.push({ id, name: settings.name, isWanted: why === undefined, ...(why !== undefined && { why }) })
  }
  return reports
}
