import type { CheckedEvent } from '../../delivery/event.js'
import { payloadOf } from '../../delivery/payload.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { ref } from './schemas.js'

type Part = Readonly<Record<string, unknown>>

/** A kind of event, as the catalogue has it. */
export interface HookDoc {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Example events as a host publishes them. */
  readonly sample: readonly object[]
}

const header = (name: string, description: string, schema: JsonSchema = { type: 'string' }): Part => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

/** Headers of every request to a receiver, beside the webhook's own (Standard Webhooks 1.0.0 and KAZOO). */
export const RECEIVER_HEADERS: Readonly<Record<string, Part>> = {
  'webhook-id': header('webhook-id', 'Id of the delivery: the same on every attempt. De-duplicate by it.'),
  'webhook-timestamp': header('webhook-timestamp', 'Unix seconds of this attempt.'),
  'webhook-signature': header(
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`; several, separated by spaces, during a rotation.',
  ),
  'X-Hook-ID': header('X-Hook-ID', 'Id of the webhook.'),
  'X-Account-ID': header('X-Account-ID', "The webhook's account."),
  'X-Hook-Event': header('X-Hook-Event', 'Kind of event.'),
  'X-Hook-Attempt': header('X-Hook-Attempt', '1, 2, …', { type: 'integer', minimum: 1 }),
}

const responses: Part = {
  '2XX': { description: 'Taken: the delivery is done.' },
  '410': { description: 'Never again: the webhook is disabled.' },
  '429': { description: 'Later: `Retry-After` is honoured, the whole webhook waits.' },
  default: { description: 'Not taken: tried again until the retries are spent. Redirects are not followed.' },
}

/** Id of the event in examples. */
const EVENT_ID = '3a9d5b17e0c84f62a1b7d4f9c6e8025b'

/** What the receiver of each kind of event gets: the section `webhooks` of the document. */
export function receiverDocs(hooks: readonly HookDoc[]): Part {
  return Object.fromEntries(hooks.map((hook) => [hook.id, { post: receiverDoc(hook) }]))
}

function receiverDoc({ id, name, description, sample }: HookDoc): Part {
  const schema = { allOf: [ref('Payload'), { type: 'object', properties: { hook_event: { const: id } } }] }
  const examples = Object.fromEntries(
    sample.map((event, index) => [
      `sample${index + 1}`,
      { value: { ...payloadOf(event as CheckedEvent, EVENT_ID), sequence: index + 1 } },
    ]),
  )
  return {
    operationId: `receive_${id}`,
    tags: ['Receivers'],
    summary: name,
    description:
      `${description}\n\nSent with the method of the webhook. \`get\` and \`delete\` carry the form fields in the ` +
      'query instead of a body.',
    security: [],
    parameters: Object.keys(RECEIVER_HEADERS).map((key) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, examples },
        'application/x-www-form-urlencoded': { schema: ref('Payload') },
      },
    },
    responses,
  }
}
