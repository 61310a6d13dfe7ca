/** Decides which fields of a payload the custom data of a webhook may not set. Pure. */
import { OBJECT_HOOK, SMS_HOOK } from './catalogue.js'

/** Fields by which receivers recognize, order, date and bill events. The service alone writes them. */
export const RESERVED_FIELDS = [
  'hook_event',
  'account_id',
  'call_id',
  'ordering_key',
  'call_group_id',
  'timestamp',
  'happened_at',
  'webhook_id',
  'delivery_id',
  'event_id',
  'sequence',
  'answered_by',
  'endpoint',
  'duration_ms',
  'ringing_ms',
  'billing_ms',
] as const

const RESERVED: ReadonlySet<string> = new Set(RESERVED_FIELDS)

/** Characters that PHP replaces by `_` in the name of a form field. */
const REPLACED_IN_NAMES = /[ .[]/g

/**
 * The reserved field that receivers may take a key of custom data for; `undefined`: for none.
 *
 * Receivers read names in several ways: Go and .NET ignore the case; in forms, PHP replaces spaces, dots and brackets by
 * `_`, and PHP, Rack and Node's `qs` take `name[…]` and `[name]` for the field `name`.
 *
 * @param hook kind of the event: the `id` of a document or a message is reserved, too
 */
export function reservedFieldOf(key: string, hook: string): string | undefined {
  // In this order, the long s, the Kelvin sign and the dotless i become the letters that they are compared with.
  const name = key.toUpperCase().toLowerCase()
  const start = name.search(/[^\s[\]]/)
  if (start < 0) return undefined
  const whole = name.slice(start)
  const end = whole.search(/[[\]]/)
  const hasId = hook === OBJECT_HOOK || hook === SMS_HOOK
  const candidates = end < 0 ? [whole] : [whole.slice(0, end), whole]
  return candidates
    .map((candidate) => candidate.replace(REPLACED_IN_NAMES, '_'))
    .find((candidate) => RESERVED.has(candidate) || (hasId && candidate === 'id'))
}
