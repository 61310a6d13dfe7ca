/** Serializes each distinct body of an event once, however many webhooks receive it. */
import type { WebhookSettings } from '../webhooks/webhook.js'
import type { BodyTemplate } from './delivery-store.js'
import { formEncode } from './form-encoding.js'
import type { BodyEncoding } from './lifecycle.js'
import { customDataEntries, mergeCustomData, SEQUENCE_KEY } from './payload.js'

/** The settings of a webhook that decide its body. */
type BodySettings = Pick<WebhookSettings, 'format' | 'httpVerb' | 'customData'>

/** `get` and `delete` have no body: their pairs are form-encoded in the query. */
export function encodingOf(settings: Pick<BodySettings, 'format' | 'httpVerb'>): BodyEncoding {
  return settings.format === 'form-data' || settings.httpVerb === 'get' || settings.httpVerb === 'delete'
    ? 'form'
    : 'json'
}

/** @param json the payload as JSON, where it is serialized already */
function buildTemplate(
  encoding: BodyEncoding,
  payload: Readonly<Record<string, unknown>>,
  isNumbered: boolean,
  json?: string,
): BodyTemplate {
  if (encoding === 'form') {
    const head = formEncode(payload)
    return isNumbered ? { head: `${head}&${SEQUENCE_KEY}=`, tail: '' } : { head }
  }
  const text = json ?? JSON.stringify(payload)
  return isNumbered ? { head: `${text.slice(0, -1)},"${SEQUENCE_KEY}":`, tail: '}' } : { head: text }
}

interface BodyVariants {
  readonly templates: readonly BodyTemplate[]
  /** Index of the body for a webhook with these settings. The body is built when it is first requested. */
  indexFor(settings: BodySettings): number
}

/**
 * @param payload the event's payload without its sequence number
 * @param json the payload as JSON
 * @param isNumbered whether the store adds a sequence number
 */
export function createBodyVariants(
  payload: Readonly<Record<string, unknown>>,
  json: string,
  isNumbered: boolean,
): BodyVariants {
  const templates: BodyTemplate[] = []
  /** Index of every variant except plain JSON, by encoding and custom data. */
  let indexes: Map<string, number> | undefined
  let plainJsonIndex: number | undefined
  /**
   * Parsed from the JSON: the objects that the payload refers to may have changed since it was serialized.
   */
  let parsed: Readonly<Record<string, unknown>> | undefined
  const parsedPayload = (): Readonly<Record<string, unknown>> => (parsed ??= JSON.parse(json))
  return {
    templates,
    indexFor(settings) {
      const encoding = encodingOf(settings)
      const customData = customDataEntries(settings.customData)
      if (encoding === 'json' && customData.length === 0) {
        plainJsonIndex ??= templates.push(buildTemplate(encoding, payload, isNumbered, json)) - 1
        return plainJsonIndex
      }
      const key = customData.length === 0 ? encoding : encoding + JSON.stringify(customData)
      indexes ??= new Map()
      const index = indexes.get(key) ?? templates.length
      if (index < templates.length) return index
      indexes.set(key, index)
      templates.push(buildTemplate(encoding, mergeCustomData(parsedPayload(), customData), isNumbered))
      return index
    },
  }
}

/** Fills the sequence number into a body template. The same number gives the same string, which exists once in memory. */
export function fillIn(body: BodyTemplate, sequence: number): string {
  if (body.tail === undefined) return body.head
  if (body.filled === undefined || body.filledSequence !== sequence) {
    body.filled = `${body.head}${sequence}${body.tail}`
    body.filledSequence = sequence
  }
  return body.filled
}
