/** Builds the request that a webhook would send, without storing or sending anything. */
import { invalidInput } from '../errors.js'
import { shellQuote } from '../values/shell-quote.js'
import { type EncryptSettingsDeps, encryptSettings } from '../webhooks/encrypt-settings.js'
import type { UncheckedWebhook } from '../webhooks/view.js'
import { newWebhook } from '../webhooks/webhook.js'
import { buildDelivery } from './accept.js'
import { redactRequestHeaders } from './attempt-record.js'
import { createBodyVariants } from './body-variants.js'
import { firstDeliveryId } from './delivery-ids.js'
import { samplePayload } from './payload.js'
import { buildFixedHeaders, buildRequest } from './request.js'
import { type SampleDeps, sampledHook, sampleEvent } from './test-delivery.js'

interface PreviewDeps extends SampleDeps, EncryptSettingsDeps {
  newId(): string
  /** `User-Agent` of webhooks without a custom one. */
  readonly userAgent: string
}

/** The first request of the sample of an event. */
export interface RequestPreview {
  /** HTTP method, in upper case. */
  readonly method: string
  /** URL, with the pairs of a request that has no body. */
  readonly uri: string
  /**
   * Name, value, name, value, …: the values of custom headers, and of those that are different in each request, are
   * placeholders: `$AUTHORIZATION`.
   */
  readonly headers: readonly string[]
  /** Absent: the request has no body. */
  readonly body?: string
  /** The same as a command of a POSIX shell. Its placeholders are variables. */
  readonly curl: string
}

/** Headers that depend on the stored webhook and the delivery. */
const VARIABLE_HEADERS: ReadonlySet<string> = new Set(['X-Hook-ID', 'webhook-id', 'webhook-signature'])

/** The variable that stands for the value of a header: `$X_API_KEY`. */
const placeholderOf = (name: string) =>
  `$${name
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '_')
    .replace(/^(?=[0-9])/, '_')}`

/**
 * The request that the sample of an event would cause.
 *
 * @param input settings of a webhook, stored or not
 * @param hook kind of the event. Default: the one of a test (`sampledHook`)
 * @throws `InvalidInput` with every violated rule of the settings, or for an unknown kind of event (`hook`)
 */
export function previewRequest(
  deps: PreviewDeps,
  accountId: string,
  input: UncheckedWebhook,
  hook?: string,
): RequestPreview {
  const id = deps.newId()
  const now = deps.clock.now()
  const webhook = newWebhook({ id, accountId }, encryptSettings(deps, id, input), { sealed: '' }, now)
  const chosen = hook ?? sampledHook(webhook.settings)
  if (!deps.sampleOf(chosen))
    throw invalidInput([
      { path: 'hook', rule: 'enum', message: 'is not an event of the catalogue', value: chosen },
    ])
  const event = sampleEvent(deps, accountId, chosen)
  const eventId = deps.newId()
  const payload = samplePayload(event, eventId, 1)
  const bodies = createBodyVariants(payload, JSON.stringify(payload), false)
  const variant = bodies.indexFor(webhook.settings)
  const deliveryId = firstDeliveryId(eventId, 0)
  const delivery = buildDelivery(deliveryId, event, eventId, webhook, variant, '')
  const custom = input.settings.customRequestHeaders as Readonly<Record<string, string>> | undefined
  const hasTraceparent = Object.keys(custom ?? {}).some((name) => name.toLowerCase() === 'traceparent')
  const request = buildRequest(
    { ...delivery, attempts: 0, body: bodies.templates[variant]!.head, traceparent: undefined },
    webhook,
    { keys: [], headers: buildFixedHeaders(webhook, custom, deps.userAgent), hasTraceparent },
    1,
    now,
    0,
  )
  const headers = [...redactRequestHeaders(request.headers, placeholderOf)]
  const isPlaceholder = (index: number) =>
    VARIABLE_HEADERS.has(headers[index]!) || headers[index + 1] !== request.headers[index + 1]
  const quoted: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!
    if (isPlaceholder(index)) {
      headers[index + 1] = placeholderOf(name)
      quoted.push(`${shellQuote(`${name}: `)}"${placeholderOf(name)}"`)
    } else quoted.push(shellQuote(`${name}: ${headers[index + 1]}`))
  }
  const { method, url: uri, body } = request
  const lines = [
    `curl --globoff --request ${method} ${shellQuote(uri)}`,
    ...quoted.map((header) => `--header ${header}`),
    ...(body === undefined ? [] : [`--data-raw ${shellQuote(body)}`]),
  ]
  return { method, uri, headers, ...(body !== undefined && { body }), curl: lines.join(' \\\n  ') }
}
