import type { WebhookSettings } from '../webhooks/webhook.js'
import type { BodyTemplate } from './delivery-store.js'
import { formEncode } from './form.js'
import type { BodyEncoding } from './lifecycle.js'
import { mergedPart, SEQUENCE, withCustomData } from './payload.js'

/** What of a webhook decides the bytes it gets. */
type Shape = Pick<WebhookSettings, 'format' | 'httpVerb' | 'customData'>

/** `get` and `delete` carry no body: their pairs go into the query. */
export function encodingOf(shape: Pick<Shape, 'format' | 'httpVerb'>): BodyEncoding {
  return shape.format === 'form-data' || shape.httpVerb === 'get' || shape.httpVerb === 'delete'
    ? 'form'
    : 'json'
}

function template(
  encoding: BodyEncoding,
  payload: Readonly<Record<string, unknown>>,
  numbered: boolean,
  written?: string,
): BodyTemplate {
  const open = numbered && !Object.hasOwn(payload, SEQUENCE)
  if (encoding === 'form') {
    const head = formEncode(payload)
    return open ? { head: `${head}&${SEQUENCE}=`, tail: '' } : { head }
  }
  const json = written ?? JSON.stringify(payload)
  return open ? { head: `${json.slice(0, -1)},"${SEQUENCE}":`, tail: '}' } : { head: json }
}

/** The distinct bodies of one event: made once each, however many webhooks get them. */
export interface Bodies {
  readonly templates: readonly BodyTemplate[]
  /** Index of the body for a webhook of this shape; made when it is asked for the first time. */
  variant(shape: Shape): number
}

/**
 * @param payload of the event, without its sequence number
 * @param json the payload as it is written in JSON: made once
 * @param numbered whether the store's sequence number is to be filled in
 */
export function bodiesOf(
  payload: Readonly<Record<string, unknown>>,
  json: string,
  numbered: boolean,
): Bodies {
  const templates: BodyTemplate[] = []
  /** Where the variants with data of their own are, by that data. */
  let known: Map<string, number> | undefined
  let plainJson: number | undefined
  /** Read back: what the payload refers to may have been changed since it was written. */
  let written: Readonly<Record<string, unknown>> | undefined
  const asWritten = (): Readonly<Record<string, unknown>> => (written ??= JSON.parse(json))
  return {
    templates,
    variant(shape) {
      const encoding = encodingOf(shape)
      const own = mergedPart(shape.customData)
      if (encoding === 'json' && own.length === 0) {
        plainJson ??= templates.push(template(encoding, payload, numbered, json)) - 1
        return plainJson
      }
      const key = own.length === 0 ? encoding : encoding + JSON.stringify(own)
      known ??= new Map()
      const index = known.get(key) ?? templates.length
      if (index < templates.length) return index
      known.set(key, index)
      templates.push(template(encoding, withCustomData(asWritten(), own), numbered))
      return index
    },
  }
}

/** The whole body: what a store keeps once it knows the number. */
export function fillIn(body: BodyTemplate, sequence: number): string {
  return body.tail === undefined ? body.head : `${body.head}${sequence}${body.tail}`
}
