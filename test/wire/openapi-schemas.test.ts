import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { CheckedEvent } from '../../src/delivery/event.js'
import { payloadOf } from '../../src/delivery/payload.js'
import type { ReplayJob } from '../../src/delivery/replay-job.js'
import type { ReplayRequest } from '../../src/delivery/replay-selection.js'
import type { WebhookHealth } from '../../src/stats/endpoint-health.js'
import type { ListedEndpoint } from '../../src/stats/endpoint-list.js'
import type { StatsSeries } from '../../src/stats/series.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import type { WebhookView } from '../../src/webhooks/view.js'
import { listedAttemptJson } from '../../src/wire/attempt-json.js'
import { loginJson } from '../../src/wire/auth-json.js'
import { deliveryJson, foundDeliveryJson } from '../../src/wire/delivery-json.js'
import { lookedUpJson } from '../../src/wire/lookup-json.js'
import { SCHEMAS as OTHER_SCHEMAS } from '../../src/wire/openapi/schemas.js'
import { STATS_SCHEMAS } from '../../src/wire/openapi/stats-schemas.js'
import { replayJobJson } from '../../src/wire/replay-json.js'
import { endpointJson, foundEndpointJson, statsJson, webhookHealthJson } from '../../src/wire/stats-json.js'
import { webhookJobJson } from '../../src/wire/webhook-job-json.js'
import { webhookJson, webhookSummaryJson } from '../../src/wire/webhook-json.js'

const webhook: Required<WebhookView> = {
  id: 'w',
  accountId: 'a',
  name: 'n',
  uri: 'https://example.com/',
  hook: 'all',
  only: ['channel_create'],
  filter: { exact: { call_direction: 'inbound' } },
  httpVerb: 'post',
  retries: 2,
  format: 'json',
  enabled: true,
  includeSubaccounts: false,
  includeInternalLegs: true,
  customData: {},
  customRequestHeaders: {},
  group: 'g',
  maxAgeSeconds: 1,
  rateLimit: 0.5,
  ordering: 'call',
  extra: {},
  disableReason: 'gone',
  createdMs: 1,
  modifiedMs: 1,
  enabledMs: 1,
  disabledMs: 1,
  deleted: true,
  effectiveMaxAgeSeconds: 1,
  revision: 1,
  health: {
    state: 'paused',
    failuresInRow: 1,
    failingSinceMs: 1,
    pausedUntilMs: 1,
    lastSuccessMs: 1,
    checkedMs: 1,
    checkCause: 'refused',
  },
}
const attempt: Required<StoredAttempt> = {
  call: { from: '1', to: '2', direction: 'inbound', callerName: 'Ann' },
  id: 'i',
  accountId: 'a',
  webhookId: 'w',
  hook: 'channel_create',
  eventId: 'e',
  deliveryId: 'd',
  callId: 'c',
  uri: 'https://example.com/',
  method: 'POST',
  attempt: 1,
  retriesLeft: 0,
  result: 'failure',
  reason: 'bad response code',
  clientError: 'timeout',
  cause: 'timeout_answer',
  detail: 'd',
  outOfOrder: true,
  late: true,
  status: 500,
  responseHeaders: ['a', 'b'],
  responseBody: 'r'.repeat(1_025),
  requestHeaders: [],
  requestBody: 'r'.repeat(1_025),
  durationMs: 1,
  atMs: 1,
  position: 1,
}
const delivery: Required<StoredDelivery> = {
  id: 'd',
  accountId: 'a',
  webhookId: 'w',
  eventId: 'e',
  eventAccountId: 'a',
  callId: 'c',
  hook: 'channel_create',
  eventTimestampMs: 1,
  variant: 0,
  encoding: 'json',
  httpVerb: 'post',
  lane: 'l',
  epoch: 1,
  state: 'waiting',
  dueMs: 1,
  attempts: 0,
  tries: 0,
  interruptions: 0,
  reason: 'r',
  failedMs: 1,
  replayOf: 'o',
  originalPosition: 1,
  acceptedMs: 1,
  endedMs: 1,
  position: 1,
  ahead: 0,
  sequence: 1,
  replays: { lastId: 'd', lastAcceptedMs: 1, hasRecovered: true },
}
const job: Required<ReplayJob> & { readonly request: Required<ReplayRequest> } = {
  id: '1'.repeat(32),
  request: {
    accountId: 'a',
    webhookId: 'w',
    createdFromMs: 1,
    createdToMs: 2,
    result: 'failure',
    hook: 'channel_create',
    reason: 'r',
    callId: 'c',
    number: '1',
    host: 'a.example',
    includeRecovered: true,
  },
  state: 'completed',
  createdMs: 1,
  endedMs: 2,
  count: 1,
  replayed: 1,
  leftOut: [{ webhookId: 'w', reason: 'deleted' }],
  isAutomatic: true,
  revision: 1,
}
const account: Required<Account> = {
  id: 'a',
  name: 'n',
  realm: 'r',
  parentId: 'p',
  enabled: true,
  language: 'en-us',
  isReseller: false,
  resellerId: 'q',
  timezone: 'Etc/UTC',
  flags: ['f'],
  isListed: true,
  extra: { group: 'g' },
  revision: 1,
  createdMs: 1,
  modifiedMs: 1,
}
const endpoint: Required<ListedEndpoint> = {
  id: 'w',
  accountId: 'a',
  name: 'n',
  uri: 'https://example.com/',
  group: 'g',
  state: 'paused',
  disableReason: 'gone',
  failuresInRow: 1,
  failingSinceMs: 1,
  pausedUntilMs: 1,
  exhausted: 1,
  checkedMs: 1,
  checkCause: 'refused',
  pause: { kind: 'unavailable', probes: 2, sinceMs: 1 },
  cause: 'refused',
  pending: 1,
  isPendingCapped: false,
  oldestDueMs: 1,
  oldestAcceptedMs: 1,
  last: { atMs: 1, result: 'failure', status: 503, cause: 'refused' },
  spark: { ok: [1], failed: [0] },
}
const webhookHealth: Required<WebhookHealth> = {
  ...endpoint,
  lastAttempt: attempt,
  sameAnswers: 1,
  isSameAnswersCapped: false,
  notDelivered: 1,
  isNotDeliveredCapped: false,
  notDeliveredSinceMs: 1,
  oldestExpiresMs: 1,
  maxAgeSeconds: 1,
  disabledMs: 1,
  autoDisableMs: 1,
}
const statistics: StatsSeries = {
  step: 60,
  startMs: [60_000],
  ok: [1],
  failed: [1],
  outcomes: { timeout: [1] },
  causes: { timeout_answer: [1] },
  latencyMs: { p50: [1], p95: [null], p99: [2] },
  completeToMs: 60_000,
}
const SCHEMAS = { ...OTHER_SCHEMAS, ...STATS_SCHEMAS }
const sample = catalogueOf().flatMap((hook) => hook.sample)
const payload = Object.assign(
  {},
  ...sample.map((event) => payloadOf(event as unknown as CheckedEvent, 'e')),
  { ordering_key: 'k', data: {}, sequence: 1 },
)

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'https://hookswitch.test/openapi', components: { schemas: SCHEMAS } })
/** The document is the base of references between schemas. */
const schemaOf = (name: string) => ({ $ref: `https://hookswitch.test/openapi#/components/schemas/${name}` })
const documents: [name: string, document: object][] = [
  ['Webhook', webhookJson(webhook)],
  ['WebhookSummary', webhookSummaryJson(webhook)],
  ['EndpointHealth', endpointJson(endpoint)],
  ['FoundEndpoint', foundEndpointJson({ ...endpoint, impact: 1 }, 'n')],
  ['WebhookHealth', webhookHealthJson(webhookHealth)],
  ['LookedUp', lookedUpJson({ type: 'webhook', id: 'w', accountId: 'a', accountName: 'n', label: 'n' })],
  ['Statistics', statsJson(statistics)],
  ['Attempt', listedAttemptJson(attempt)],
  ['Delivery', deliveryJson(delivery, { code: 'due' }, attempt.call)],
  ['ReplayJob', replayJobJson(job)],
  [
    'WebhookJob',
    webhookJobJson({
      id: '1',
      action: 'resume',
      selection: { accountId: 'a', cause: 'refused', host: 'a.example', sinceMs: 1, untilMs: 2 },
      state: 'completed',
      count: 2,
      changed: 1,
      createdMs: 1,
      endedMs: 2,
    }),
  ],
  ['FoundDelivery', foundDeliveryJson(delivery, { code: 'due' }, attempt.call)],
  ['Login', loginJson(account, 'u', [])],
  ['Payload', payload],
]

describe('JSON in API responses', () => {
  for (const [name, document] of documents) {
    it(`has exactly the fields of the OpenAPI schema ${name}`, () => {
      const json = JSON.parse(JSON.stringify(document))
      expect(Object.keys(json).sort()).toEqual(Object.keys(SCHEMAS[name]!.properties!).sort())
      const check = ajv.compile(schemaOf(name))
      check(json)
      expect(check.errors ?? []).toEqual([])
    })

    it(`contains all required fields of ${name}`, () => {
      expect(Object.keys(JSON.parse(JSON.stringify(document)))).toEqual(
        expect.arrayContaining([...SCHEMAS[name]!.required!]),
      )
    })
  }

  it('omits only fields that the OpenAPI schema does not require', () => {
    const { id, accountId, name, uri, hook, ...defaults } = webhook
    const bare = { id, accountId, name, uri, hook } as const
    const { customData, customRequestHeaders, group, maxAgeSeconds, extra, ...others } = defaults
    const { only, filter, rateLimit, disableReason, ...rest } = others
    const { enabledMs, disabledMs, deleted, ...required } = rest
    const json = JSON.parse(JSON.stringify(webhookJson({ ...bare, ...required })))
    const check = ajv.compile(schemaOf('Webhook'))
    check(json)
    expect(check.errors ?? []).toEqual([])
    expect(Object.keys(json).sort()).toEqual([...SCHEMAS.Webhook!.required!].sort())
  })
})
