import { buildRequest, type EndpointMaterial } from '../../delivery/request.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { PreparedDelivery } from './prepared-delivery.js'
import { asReceived, type WebhookRequest } from './webhook-request.js'

/** What can be wrong with a request that is not to be trusted. */
export const FLAWS = [
  /** Without the header `webhook-signature`. */
  'no signature',
  /** Signed by somebody who does not know the secret. */
  'wrong secret',
  /** The `webhook-id` is not the one that was signed. */
  'altered id',
  /** The body is not the one that was signed. With GET and DELETE the query is not signed: there is no such flaw. */
  'altered body',
  /** Signed well, but older than the receiver's tolerance. */
  'too old',
  /** Signed well, but further ahead than the receiver's tolerance. */
  'too new',
] as const

export type Flaw = (typeof FLAWS)[number]

/** Beyond the tolerance, so that a clock that is a little off makes no difference. */
const CLEARLY_MS = 60_000
const DEADLINE_MS = 10_000

/** What all requests to one receiver share. */
export interface RequestSetting {
  readonly webhook: Webhook
  readonly material: EndpointMaterial
  readonly toleranceSeconds: number
}

/** The request of one attempt, as hookswitch would send it at `atMs`. */
export function goodRequest(
  { webhook, material }: Pick<RequestSetting, 'webhook' | 'material'>,
  delivery: PreparedDelivery,
  attempt: number,
  atMs: number,
): WebhookRequest {
  return asReceived(buildRequest(delivery.claim, webhook, material, attempt, atMs, DEADLINE_MS))
}

/** The same with one thing wrong. */
export function flawedRequest(
  setting: RequestSetting,
  delivery: PreparedDelivery,
  attempt: number,
  atMs: number,
  flaw: Flaw,
): WebhookRequest {
  const awayMs = setting.toleranceSeconds * 1000 + CLEARLY_MS
  const at = (ms: number) => goodRequest(setting, delivery, attempt, ms)
  switch (flaw) {
    case 'no signature':
      return withHeader(at(atMs), 'webhook-signature', undefined)
    case 'wrong secret': {
      const keys = setting.material.keys.map(({ key }) => ({ key: key.map((byte) => byte ^ 0xff) }))
      return goodRequest({ ...setting, material: { ...setting.material, keys } }, delivery, attempt, atMs)
    }
    case 'altered id':
      return withHeader(at(atMs), 'webhook-id', [...delivery.id].reverse().join(''))
    case 'altered body':
      return withBody(at(atMs))
    case 'too old':
      return at(atMs - awayMs)
    case 'too new':
      return at(atMs + awayMs)
  }
}

function withHeader(request: WebhookRequest, name: string, value: string | undefined): WebhookRequest {
  const { [name]: _, ...others } = request.headers
  const place = request.rawHeaders.findIndex((part, at) => at % 2 === 0 && part === name)
  const pair = value === undefined ? [] : [name, value]
  const rawHeaders = request.rawHeaders.toSpliced(place, 2, ...pair)
  return { ...request, rawHeaders, headers: value === undefined ? others : { ...others, [name]: value } }
}

/** One more field: still JSON, still a form. */
function withBody(request: WebhookRequest): WebhookRequest {
  const { body } = request
  return {
    ...request,
    body: body.endsWith('}') ? `${body.slice(0, -1)},"altered":true}` : `${body}&altered=true`,
  }
}
