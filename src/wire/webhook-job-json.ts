/** JSON of the jobs that change webhooks of all accounts, and of the conditions that select webhooks. */
import { type Failure, invalidInput } from '../errors.js'
import { toIsoTime } from '../values/iso-time.js'
import type { WebhookAction } from '../webhooks/actions.js'
import { isFailure, parseTime } from './time.js'
import type { JsonObject } from './webhook-json.js'

/** The conditions of a query or body, not checked. */
interface ParsedSelection {
  readonly accountId?: string
  readonly cause?: string
  readonly host?: string
  readonly sinceMs?: number
  readonly untilMs?: number
}

const NAMES = { accountId: 'account_id', sinceMs: 'since', untilMs: 'until' } as const

/** Translates the path of a failure of a selection to wire names. */
export const toSelectionFailure = (failure: Failure): Failure => ({
  ...failure,
  path: Object.hasOwn(NAMES, failure.path) ? NAMES[failure.path as keyof typeof NAMES] : failure.path,
})

/**
 * Parses the times of a selection and names its conditions.
 *
 * @param read returns the value of a query parameter or of a field
 * @throws `InvalidInput` for a time that is neither Gregorian seconds nor ISO 8601
 */
export function parseSelection(read: (name: string) => unknown): ParsedSelection {
  const failures: Failure[] = []
  const timeOf = (name: string, end: 'firstMs' | 'lastMs') => {
    const value = read(name)
    if (value === undefined) return undefined
    const parsed = parseTime(name, value)
    if (!isFailure(parsed)) return parsed[end]
    failures.push(parsed)
    return undefined
  }
  const found = {
    accountId: read('account_id'),
    cause: read('cause'),
    host: read('host'),
    sinceMs: timeOf('since', 'firstMs'),
    untilMs: timeOf('until', 'lastMs'),
  }
  if (failures.length > 0) throw invalidInput(failures)
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** A valid body of a job. @throws `InvalidInput` for what is no time */
export function parseWebhookJob(data: Readonly<Record<string, unknown>>) {
  const { action, dry_run: isDryRun = false } = data as { action: WebhookAction; dry_run?: boolean }
  return { action, isDryRun, ...parseSelection((name) => data[name]) }
}

/** Returns the JSON of a job. */
export function webhookJobJson(job: {
  readonly id: string
  readonly action: WebhookAction
  readonly selection: { readonly [Name in keyof ParsedSelection]?: ParsedSelection[Name] | undefined }
  readonly state: string
  readonly count: number
  readonly changed: number
  readonly createdMs: number
  readonly endedMs?: number
}): JsonObject {
  const { accountId, cause, host, sinceMs, untilMs } = job.selection
  return {
    id: job.id,
    action: job.action,
    state: job.state,
    count: job.count,
    changed: job.changed,
    created_at: toIsoTime(job.createdMs),
    ended_at: isoTime(job.endedMs),
    account_id: accountId,
    cause,
    host,
    since: isoTime(sinceMs),
    until: isoTime(untilMs),
  }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))
