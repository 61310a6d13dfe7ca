/** Texts of the page in one language: parameters and plural forms. Pure. */
import { numberFormat, pluralRules } from './formats.js'

export type Messages = Readonly<Record<string, string>>
export type Parameters = Readonly<Record<string, string | number>>

/**
 * The text of a key. With `count` the form is that of the number: `webhooks_one`, `webhooks_other`. Numbers are written
 * as the language does. A key without text is shown itself.
 */
export function formatMessage(
  messages: Messages,
  language: string,
  key: string,
  parameters: Parameters = {},
): string {
  const { count } = parameters
  const form = typeof count === 'number' ? `${key}_${pluralRules(language).select(count)}` : undefined
  const message =
    (form === undefined ? undefined : (messages[form] ?? messages[`${key}_other`])) ?? messages[key] ?? key
  return message.replace(/\{(\w+)\}(\.?)/g, (placeholder, name: string, stop: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) return placeholder
    const text = typeof value === 'number' ? numberFormat(language).format(value) : value
    // An abbreviation ("1 Min.") ends its sentence.
    return text.endsWith('.') ? text : text + stop
  })
}
