/** Schemas of statistics and of lists of endpoints in the OpenAPI document. */
import { STATS_OUTCOMES } from '../../stats/columns.js'
import { FAILURE_CAUSES } from '../../values/failure-cause.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { integer, object, ref, text } from './schemas.js'

const time = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description })
const counts = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'integer', minimum: 0 },
  description,
})
const percentiles = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: ['integer', 'null'] },
  description,
})

const pauseKind: JsonSchema = {
  type: 'string',
  enum: ['unavailable', 'rejected'],
  description:
    '`unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them.',
}
const PAUSE = 'Present while it is paused because it fails: requests are probes, one at a time.'
const pauseSince = time('When the pause began.')
const capped = (description: string): JsonSchema => ({ type: 'boolean', description })

const endpointFields: Readonly<Record<string, JsonSchema>> = {
  id: text('Id of the webhook.'),
  name: text('Label of the webhook.'),
  uri: text('URL that receives the requests.'),
  group: text('Group of the webhook.'),
  state: {
    type: 'string',
    enum: ['ok', 'failing', 'paused', 'disabled', 'idle'],
    description:
      '`failing`: the last attempt failed. `paused`: nothing is sent before `paused_until`. `disabled`: by its owner or by the service. `idle`: `ok`, and without an attempt in the last 24 hours.',
  },
  disable_reason: text('Why the service disabled the webhook.'),
  failures_in_row: integer(
    'Failures since the last success; those in an outage of this service do not count.',
  ),
  failing_since: time('Time of the first failure since the last success.'),
  paused_until: time('End of the pause; only with the state `paused`.'),
  cause: {
    type: 'string',
    description:
      'Why the last attempt got no usable answer, or why a later probe could not connect; absent otherwise.',
    examples: Object.keys(FAILURE_CAUSES),
  },
  pause: {
    ...object({ kind: pauseKind, since: pauseSince }),
    description: PAUSE,
  },
  exhausted: integer('Deliveries that ran out of retries since the last success.'),
  pending: integer('Deliveries that wait or are in flight, at most 1,000.'),
  pending_capped: { type: 'boolean', description: 'Whether there may be more than 1,000.' },
  oldest_due_at: time('When the first of these deliveries is or was due.'),
  last: {
    ...object(
      {
        sent_at: time('When it was sent.'),
        result: { type: 'string', enum: ['success', 'failure'] },
        resp_status_code: text('HTTP status of the response, as a string (KAZOO).'),
      },
      ['sent_at', 'result'],
    ),
    description: 'The newest of the attempts that are kept.',
  },
  spark: {
    ...object({ ok: counts('Delivered attempts.'), failed: counts('Other attempts.') }),
    description:
      'Attempts of each of the last 24 hours, the present one last. Absent where the service keeps no statistics.',
  },
}
const requiredFields = [
  'id',
  'name',
  'uri',
  'state',
  'failures_in_row',
  'exhausted',
  'pending',
  'pending_capped',
]

/** Fields of the health of one webhook, beside those of a list. */
const webhookHealthFields: Readonly<Record<string, JsonSchema>> = {
  pause: {
    ...object({ kind: pauseKind, since: pauseSince, probes: integer('Probes that have failed.') }),
    description: PAUSE,
  },
  last_attempt: ref('Attempt'),
  same_answers: integer(
    'Latest attempts in a row with the same answer as the last one: its status, or the cause of its failure. At most 100.',
  ),
  same_answers_capped: capped('Whether there may be more than 100.'),
  not_delivered: integer(
    'Deliveries accepted since `not_delivered_since` that were given up or became too old, and were not recovered by a replay. At most 1,000.',
  ),
  not_delivered_capped: capped('Whether there are more than 1,000.'),
  not_delivered_since: time(
    'The `created_from` with which a replay selects them: that of the failures since the last success, or 24 hours ago.',
  ),
  oldest_accepted_at: time('When the oldest delivery that waits was accepted; absent if none waits.'),
  oldest_expires_at: time('When that delivery becomes too old.'),
  max_age_seconds: integer('The maximum age in force, in seconds.'),
  disabled_at: time(
    'When the webhook was disabled, by its owner or by the service; absent if it is enabled.',
  ),
  auto_disable_at: time(
    'From when on the service disables the webhook if there is no success until then and at least 20 deliveries were given up; absent if it does not fail.',
  ),
}

export const STATS_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Statistics: {
    ...object({
      step: { type: 'integer', enum: [60, 3600], description: 'Length of each slot, in seconds.' },
      start: counts('Start of each slot, in Gregorian seconds, ascending.'),
      ok: counts('Delivered attempts.'),
      failed: counts('All other attempts, interrupted ones included.'),
      outcomes: {
        type: 'object',
        description: 'Failed attempts by cause; a cause that does not occur in the range is absent.',
        properties: Object.fromEntries(STATS_OUTCOMES.slice(1).map((name) => [name, counts(`\`${name}\`.`)])),
      },
      causes: {
        type: 'object',
        description:
          'Failed attempts by HTTP status, or else by the `cause` of the attempt, `own_fault` or `interrupted`; those that are most frequent in the range, at most 20, and the rest under `other`.',
        additionalProperties: counts('Number per slot.'),
      },
      latency_ms: {
        ...object({
          p50: percentiles('Median.'),
          p95: percentiles('95th percentile.'),
          p99: percentiles('99th percentile.'),
        }),
        description:
          'Durations of the attempts, in milliseconds, interpolated from 12 buckets; null: none is known.',
      },
      complete_to: integer(
        'Slots that end at or before this time are complete, in Gregorian seconds; later ones may still grow.',
      ),
    }),
    description: 'Attempts over time: every list has one entry for each slot.',
  },
  EndpointHealth: object(endpointFields, requiredFields),
  WebhookHealth: object({ ...endpointFields, ...webhookHealthFields }, [
    ...requiredFields,
    'same_answers',
    'same_answers_capped',
    'not_delivered',
    'not_delivered_capped',
    'not_delivered_since',
    'max_age_seconds',
  ]),
  FoundEndpoint: object(
    {
      account_id: text('Id of the account of the webhook.'),
      account_name: text('Name of that account; absent if it was removed.'),
      ...endpointFields,
      impact: integer(
        'What `sort=impact` sorts by: deliveries that wait or were given up since its last success, plus 1, times the seconds ' +
          'since it receives none. Absent in other orders.',
      ),
    },
    ['account_id', ...requiredFields],
  ),
}
