/** The section `webhooks` of the OpenAPI document: requests to receivers. */
import type { CheckedEvent } from '../../delivery/event.js'
import { samplePayload } from '../../delivery/payload.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { isMetaHook } from '../../webhooks/meta-hooks.js'
import { ref } from './schemas.js'

type SpecObject = Readonly<Record<string, unknown>>

/** An event type in the catalogue. */
export interface HookDoc {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Sample events as a host publishes them. */
  readonly sample: readonly object[]
  /** JSON Schema of `data`; absent: the kind has no data, or any. */
  readonly dataSchema?: JsonSchema
}

const headerParameter = (
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
): SpecObject => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

/** Headers of every request to a receiver, besides the webhook's custom ones (Standard Webhooks 1.0.0 and KAZOO). */
export const RECEIVER_HEADERS: Readonly<Record<string, SpecObject>> = {
  'webhook-id': headerParameter(
    'webhook-id',
    'Id of the delivery, the same for every attempt. A replay is another delivery.',
  ),
  'webhook-timestamp': headerParameter('webhook-timestamp', 'Time of this attempt, in Unix seconds.'),
  'webhook-signature': headerParameter(
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`; several signatures, separated by spaces, during a rotation.',
  ),
  'X-Hook-ID': headerParameter(
    'X-Hook-ID',
    'Id of the webhook. With `event_id` it tells what was processed before.',
  ),
  'X-Account-ID': headerParameter('X-Account-ID', "Id of the webhook's account."),
  'X-Hook-Event': headerParameter('X-Hook-Event', 'Event type.'),
  'X-Hook-Attempt': headerParameter('X-Hook-Attempt', 'Number of the attempt: 1, 2, …', {
    type: 'integer',
    minimum: 1,
  }),
}

const responses: SpecObject = {
  '2XX': { description: 'Accepted: the delivery is complete.' },
  '410': { description: 'Gone: the webhook is disabled.' },
  '429': { description: 'Too many requests: all deliveries of the webhook wait; `Retry-After` is honoured.' },
  default: { description: 'Failed: retried until no retries are left. Redirects are not followed.' },
}

/** `event_id` in the examples. */
const EVENT_ID = '3a9d5b17e0c84f62a1b7d4f9c6e8025b'

/** Returns a path item per event type: the request that its receivers get. */
export function webhookPathItems(hooks: readonly HookDoc[]): SpecObject {
  return Object.fromEntries(hooks.map((hook) => [hook.id, { post: receiverOperation(hook) }]))
}

function receiverOperation({ id, name, description, sample, dataSchema }: HookDoc): SpecObject {
  const payload = ref(isMetaHook(id) ? 'MetaPayload' : 'Payload')
  const properties = { hook_event: { const: id }, ...(dataSchema && { data: dataSchema }) }
  const schema = { allOf: [payload, { type: 'object', properties }] }
  const examples = Object.fromEntries(
    sample.map((event, index) => [
      `sample${index + 1}`,
      { value: samplePayload(event as CheckedEvent, EVENT_ID, index + 1) },
    ]),
  )
  return {
    operationId: `receive_${id}`,
    tags: ['Receivers'],
    summary: name,
    description:
      `${description}\n\nSent with the method of the webhook. \`get\` and \`delete\` have the form fields in the ` +
      'query instead of a body.',
    security: [],
    parameters: Object.keys(RECEIVER_HEADERS).map((key) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, examples },
        'application/x-www-form-urlencoded': { schema: payload },
      },
    },
    responses,
  }
}
