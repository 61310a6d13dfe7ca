/** Checks which webhooks an operator selects, of those that need attention. */
import { invalidInput } from '../errors.js'
import type { TroubleSelection } from '../stats/endpoint-list.js'
import { type Defined, defined } from '../values/defined.js'
import { FAILURE_CAUSES, isFailureCause } from '../values/failure-cause.js'
import { parseUrl } from '../values/parse-url.js'

/** A selection over all states, as callers give it. */
export type WebhookSelection = Omit<TroubleSelection, 'states'>

export const SELECTION_FIELDS = [
  'accountId',
  'cause',
  'host',
  'sinceMs',
  'untilMs',
] as const satisfies readonly (keyof WebhookSelection)[]

/** Longest condition, characters. */
const MAX_TEXT = 256
const STATUS = /^[1-5]\d\d$/

/** @throws `InvalidInput` naming the field */
export function checkSelection(given: WebhookSelection): Defined<WebhookSelection> {
  const { cause, host, sinceMs, untilMs } = given
  for (const path of ['accountId', 'cause', 'host'] as const) {
    const value: unknown = given[path]
    if (value !== undefined && (typeof value !== 'string' || value === '' || value.length > MAX_TEXT))
      throw invalid(path, `must be a text of 1 to ${MAX_TEXT} characters`)
  }
  for (const path of ['sinceMs', 'untilMs'] as const) {
    const value: unknown = given[path]
    if (value !== undefined && (typeof value !== 'number' || Number.isNaN(value)))
      throw invalid(path, 'must be a time in Unix milliseconds')
  }
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs)
    throw invalid('sinceMs', 'must not be later than the end of the range')
  if (cause !== undefined && !isFailureCause(cause) && !STATUS.test(cause)) {
    const message = 'must be a status, as 503, or a cause'
    const target = Object.keys(FAILURE_CAUSES)
    throw invalidInput([{ path: 'cause', rule: 'enum', message, target, value: cause }])
  }
  return defined({ ...given, ...(host !== undefined && { host: canonicalHost(host) }) })
}

/** The host as URLs have it. @throws `InvalidInput` naming `host` */
export function canonicalHost(host: string): string {
  // The parser would take what follows as a path, a password or a query.
  const url = /[/?#@\\\s]/.test(host) ? undefined : parseUrl(`http://${host}`)
  if (url) return url.host
  throw invalid('host', 'must be the host of a URL, as crm.example.com or 127.0.0.1:8080')
}

const invalid = (path: string, message: string) => invalidInput([{ path, rule: 'error', message }])
