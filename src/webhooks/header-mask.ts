/**
 * Values of custom request headers are credentials. Who may not change webhooks sees a mask in their place; a mask that is
 * written back stands for the value that is stored. Pure.
 */
import type { Failure } from '../errors.js'
import { REDACTED } from '../values/redact.js'

type Headers = Readonly<Record<string, string>>

/** The webhook with a mask in place of each value of its custom request headers. */
export function maskHeaders<View extends { readonly customRequestHeaders?: Headers }>(view: View): View {
  const { customRequestHeaders: headers } = view
  if (headers === undefined) return view
  const masked = Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]))
  return { ...view, customRequestHeaders: masked }
}

/**
 * The settings with the stored value in place of each mask; the same object where none is masked.
 *
 * @param settings unchecked
 * @param stored the headers of the webhook as it is; `undefined`: none
 * @returns a failure for each mask that stands for no value
 */
export function unmaskHeaders(
  settings: Readonly<Record<string, unknown>>,
  stored: Headers | undefined,
): { readonly settings: Readonly<Record<string, unknown>> } | { readonly failures: readonly Failure[] } {
  const { customRequestHeaders: headers } = settings
  if (typeof headers !== 'object' || headers === null) return { settings }
  const values = new Map(Object.entries(stored ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const masked = Object.entries(headers).filter(([, value]) => value === REDACTED)
  if (masked.length === 0) return { settings }
  const failures = masked
    .filter(([name]) => !values.has(name.toLowerCase()))
    .map(([name]): Failure => {
      const message = `${REDACTED} stands for the stored value of a header, and none of this name is stored`
      return { path: `customRequestHeaders.${name}`, rule: 'error', message, target: message }
    })
  if (failures.length > 0) return { failures }
  const restored = Object.entries(headers).map(([name, value]) => [
    name,
    value === REDACTED ? values.get(name.toLowerCase()) : value,
  ])
  return { settings: { ...settings, customRequestHeaders: Object.fromEntries(restored) } }
}
