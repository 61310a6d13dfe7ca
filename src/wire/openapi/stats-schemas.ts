/** Schemas of statistics and of lists of endpoints in the OpenAPI document. */
import { STATS_OUTCOMES } from '../../stats/columns.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { integer, object, text } from './schemas.js'

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
  FoundEndpoint: object({ account_id: text('Id of the account of the webhook.'), ...endpointFields }, [
    'account_id',
    ...requiredFields,
  ]),
}
