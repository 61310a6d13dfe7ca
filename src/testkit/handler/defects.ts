/** Builds valid requests, and invalid ones that a handler must reject. */

import type { Webhook } from 'hookswitch/store'
import { buildRequest, type EndpointSecrets } from '../../delivery/request.js'
import type { PreparedDelivery } from './prepared-delivery.js'
import { toWebhookRequest, type WebhookRequest } from './webhook-request.js'

/** Why a request is invalid; a handler must reject it. */
export type Defect =
  /** The header `webhook-signature` is missing. */
  | 'no signature'
  /** Signed with another secret. */
  | 'wrong secret'
  /** The `webhook-id` is not the one that was signed. */
  | 'altered id'
  /** The body is not the one that was signed. Impossible with GET and DELETE, whose query is not signed. */
  | 'altered body'
  /** Correctly signed, but older than the handler's tolerance. */
  | 'too old'
  /** Correctly signed, but further in the future than the handler's tolerance. */
  | 'too new'

/** Every kind of defect. */
export const DEFECTS: readonly Defect[] = [
  'no signature',
  'wrong secret',
  'altered id',
  'altered body',
  'too old',
  'too new',
]

/** How far outside the tolerance: a small clock difference has no effect. */
const OUTSIDE_TOLERANCE_MS = 60_000
const DEADLINE_MS = 10_000

/** What all requests of a webhook have in common. */
interface RequestContext {
  readonly webhook: Webhook
  readonly endpointSecrets: EndpointSecrets
  readonly toleranceSeconds: number
}

/** The request of one attempt, as hookswitch would send it at `atMs`. */
export function buildValidRequest(
  { webhook, endpointSecrets }: Pick<RequestContext, 'webhook' | 'endpointSecrets'>,
  delivery: PreparedDelivery,
  attempt: number,
  atMs: number,
): WebhookRequest {
  return toWebhookRequest(
    buildRequest(delivery.delivery, webhook, endpointSecrets, attempt, atMs, DEADLINE_MS),
  )
}

/** The same request with one defect. */
export function buildDefectiveRequest(
  context: RequestContext,
  delivery: PreparedDelivery,
  attempt: number,
  atMs: number,
  defect: Defect,
): WebhookRequest {
  const shiftMs = context.toleranceSeconds * 1000 + OUTSIDE_TOLERANCE_MS
  const requestAt = (ms: number) => buildValidRequest(context, delivery, attempt, ms)
  switch (defect) {
    case 'no signature':
      return withHeader(requestAt(atMs), 'webhook-signature', undefined)
    case 'wrong secret': {
      const keys = context.endpointSecrets.keys.map(({ key }) => ({
        key: key.map((byte) => byte ^ 0xff),
      }))
      const endpointSecrets = { ...context.endpointSecrets, keys }
      return buildValidRequest({ ...context, endpointSecrets }, delivery, attempt, atMs)
    }
    case 'altered id':
      return withHeader(requestAt(atMs), 'webhook-id', [...delivery.id].reverse().join(''))
    case 'altered body':
      return withAlteredBody(requestAt(atMs))
    case 'too old':
      return requestAt(atMs - shiftMs)
    case 'too new':
      return requestAt(atMs + shiftMs)
  }
}

function withHeader(request: WebhookRequest, name: string, value: string | undefined): WebhookRequest {
  const { [name]: _, ...others } = request.headers
  const position = request.rawHeaders.findIndex((part, index) => index % 2 === 0 && part === name)
  const pair = value === undefined ? [] : [name, value]
  const rawHeaders = request.rawHeaders.toSpliced(position, 2, ...pair)
  return { ...request, rawHeaders, headers: value === undefined ? others : { ...others, [name]: value } }
}

/** Adds a field; the body is still valid JSON or a valid form. */
function withAlteredBody(request: WebhookRequest): WebhookRequest {
  const { body } = request
  return {
    ...request,
    body: body.endsWith('}') ? `${body.slice(0, -1)},"altered":true}` : `${body}&altered=true`,
  }
}
