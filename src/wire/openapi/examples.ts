/** Example values of the OpenAPI document. */
import type { EnvelopeFields } from '../envelope.js'

/** Envelope fields of the example responses. */
export const ENVELOPE_FIELDS: EnvelopeFields = {
  requestId: '7d1f4a0c9be24c55b1f0a2d96e3c8f17',
  timestamp: '2030-01-15T12:00:00.000Z',
  node: 'c2f1d7a94be80356',
}

export const TOKEN = 'pHkZ0mQ2v5Xw7sT1uR4yB8nE3cV6aD9fG2jK5lM8oPq'
export const VERSION_EXAMPLE = '1.0.0'

const accountId = '91eb05e5c68d7ca05e7618b6821d2d16'
const childId = '3f7a1c5e9b204d68a1b3c5d7e9f10246'
const userId = 'b7e2d94c0a1f4c35869d2b4f7e6a8c01'
const webhookId = '5e1b3f0c7a924d68b3c1f5d08e97a246'
const deliveryId = '0f8e6c2a4b7d49d1a35c9e71b6d2f084'
const replayId = '8c41d07be2f95a3604b7d9e1c6f3a285'
const parties = { from: '+14155550142@sip.example.com', to: '+14155550100@sip.example.com' }
const eventId = '3a9d5b17e0c84f62a1b7d4f9c6e8025b'
const callId = 'a-4f0c2b7e9d1a45c8'
const uri = 'https://receiver.example.com/calls'

export const IDS: Readonly<Record<string, string>> = {
  account_id: accountId,
  user_id: userId,
  webhook_id: webhookId,
  delivery_id: deliveryId,
  replay_id: replayId,
  job_id: replayId,
  call_id: callId,
  sample_id: 'channel_create',
}

export const LOGIN_BY_KEY = { api_key: '6b1e0f94c3a85d27f0b9e4a17c52d8e36f90b1a47d28c5e3f1a06b94d7e825c3' }
/** MD5 of `ada:correct horse`. */
export const LOGIN_BY_CREDENTIALS = {
  credentials: '833114a2be47f2d2054c431d1ebb2a0e',
  account_realm: 'sip.example.com',
}
export const LOGIN = {
  account_id: accountId,
  account_name: 'Example Telecom',
  language: 'en-us',
  is_reseller: false,
  apps: [],
}

export const TOKEN_REQUEST = { account_id: accountId, role: 'read', ttl_seconds: 3600 }
export const ISSUED_TOKEN = {
  token: TOKEN,
  expires_at: '2030-01-15T13:00:00.000Z',
  account_id: accountId,
  account_name: 'Example Telecom',
  role: 'read',
}

export const NEW_ACCOUNT = { name: 'Birch Dental', timezone: 'Europe/Berlin' }
const documentTimes = { created: 64_061_928_000, modified: 64_061_928_000 }
export const ACCOUNT = {
  id: childId,
  ...NEW_ACCOUNT,
  realm: '9c41d7.hookswitch.invalid',
  enabled: true,
  language: 'en-us',
  created: 64_061_928_000,
  is_reseller: false,
  reseller_id: accountId,
  superduper_admin: false,
  wnm_allow_additions: false,
  billing_mode: 'manual',
  _read_only: documentTimes,
}
export const DELETED_ACCOUNT = { ...ACCOUNT, _read_only: { ...documentTimes, deleted: true } }
const named = { id: childId, name: 'Birch Dental', realm: '9c41d7.hookswitch.invalid' }
export const FOUND = { ...named, descendants_count: 0 }
export const CHILD = { ...FOUND, flags: [] }
export const DESCENDANT = { ...named, tree: [accountId], flags: [] }
export const ANY_ACCOUNT = { ...named, tree: [accountId], enabled: true }
export const ANCESTOR = { id: accountId, name: 'Example Telecom', realm: 'sip.example.com', flags: [] }

const person = {
  first_name: 'Ada',
  last_name: 'Birch',
  username: 'ada@birch.example',
  email: 'ada@birch.example',
  priv_level: 'admin',
}
export const NEW_USER = { ...person, password: 'correct horse' }
export const USER = {
  id: userId,
  ...person,
  enabled: true,
  require_password_update: false,
  verified: false,
  _read_only: documentTimes,
}
export const DELETED_USER = { ...USER, _read_only: { ...documentTimes, deleted: true } }
export const USER_SUMMARY = { id: userId, features: [], flags: [], ...person, enabled: true }

export const NEW_WEBHOOK = { name: 'Call log', uri, hook: 'channel_create', http_verb: 'post', retries: 3 }

const whole = {
  id: webhookId,
  ...NEW_WEBHOOK,
  format: 'json',
  enabled: true,
  include_subaccounts: false,
  include_internal_legs: true,
  ordering: 'call',
}
const times = {
  created: 64_061_928_000,
  modified: 64_061_928_000,
  enabled_at: 64_061_928_000,
  max_age_seconds: 86_400,
}

const health = { state: 'ok', failures_in_row: 0, last_success_at: '2030-01-15T12:00:00.000Z' }

export const WEBHOOK = { ...whole, _read_only: times, health }
export const RENAMED_WEBHOOK = { ...WEBHOOK, name: 'Call journal' }
export const DELETED_WEBHOOK = { ...whole, _read_only: { ...times, deleted: true }, health }
export const SUMMARY = { id: webhookId, hook: 'channel_create', name: 'Call log', uri, enabled: true, health }
const hours = (present: number) => [...new Array<number>(23).fill(0), present]
export const ENDPOINT = {
  id: webhookId,
  name: 'Call log',
  uri,
  state: 'paused',
  failures_in_row: 12,
  failing_since: '2030-01-15T11:58:00.000Z',
  paused_until: '2030-01-15T12:00:09.000Z',
  exhausted: 2,
  pending: 37,
  pending_capped: false,
  oldest_due_at: '2030-01-15T11:59:55.000Z',
  pause: { kind: 'unavailable', since: '2030-01-15T11:58:10.000Z' },
  last: { sent_at: '2030-01-15T11:59:56.000Z', result: 'failure', resp_status_code: '503' },
  spark: { ok: hours(412), failed: hours(12) },
}
export const STATISTICS = {
  step: 3600,
  start: [64_061_924_400, 64_061_928_000],
  ok: [412, 0],
  failed: [9, 3],
  outcomes: { http_5xx: [9, 2], timeout: [0, 1] },
  causes: { 503: [9, 2], timeout_answer: [0, 1] },
  latency_ms: { p50: [31, 250], p95: [88, 9_850], p99: [2_120, 9_970] },
  complete_to: 64_061_927_940,
}

export const ATTEMPT = {
  id: 'b4d90e7f2c6a4815930fd1b7e5c8a263',
  hook_id: webhookId,
  hook_event: 'channel_create',
  event_id: eventId,
  delivery_id: deliveryId,
  call_id: callId,
  call: { ...parties, direction: 'inbound' },
  uri,
  method: 'post',
  attempt: 1,
  retries_left: 3,
  retries: 4,
  result: 'failure',
  reason: 'bad response code',
  resp_status_code: '500',
  resp_headers: { 'content-type': 'text/plain' },
  resp_body: 'out of order',
  req_headers: { 'content-type': 'application/json', 'x-hook-id': webhookId },
  req_body: '{"hook_event":"channel_create"}',
  duration_ms: 42,
  timestamp: 64_061_928_001,
  sent_at: '2030-01-15T12:00:01.000Z',
}

const { last: _last, pause: _pause, ...listed } = ENDPOINT
export const WEBHOOK_HEALTH = {
  ...listed,
  pause: { ...ENDPOINT.pause, probes: 6 },
  last: { ...ENDPOINT.last, resp_status_code: ATTEMPT.resp_status_code },
  last_attempt: ATTEMPT,
  same_answers: 12,
  same_answers_capped: false,
  not_delivered: 2,
  not_delivered_capped: false,
  not_delivered_since: '2030-01-15T11:57:30.000Z',
  oldest_accepted_at: '2030-01-15T11:58:00.000Z',
  oldest_expires_at: '2030-01-16T11:58:00.000Z',
  max_age_seconds: 86_400,
  auto_disable_at: '2030-01-20T11:58:00.000Z',
}

/** A stream as it is sent: an attempt and a heartbeat. */
export const EVENT_STREAM = `retry: 2000

id: czQyLjE4OTQxODI0MDEu
event: attempt
data: {"id":"${ATTEMPT.id}","account_id":"${IDS.account_id}","hook_id":"${webhookId}","result":"failure",…}

:

`

export const DELIVERY = {
  id: deliveryId,
  event_id: eventId,
  hook_id: webhookId,
  hook_event: 'channel_create',
  call_id: callId,
  call: { ...parties, direction: 'inbound' },
  kind: 'retry',
  state: 'waiting',
  reason: 'status 500',
  attempts: 1,
  accepted_at: '2030-01-15T12:00:00.000Z',
  next_attempt_at: '2030-01-15T12:00:03.000Z',
  explain: 'Retry in 2 seconds, after 1 attempt: status 500.',
  explanation: { code: 'retry', seconds: 2, attempts: 1, reason: 'status 500' },
}
export const FOUND_DELIVERY = { account_id: accountId, ...DELIVERY }

export const API_KEY = LOGIN_BY_KEY
export const SECRET = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
export const TEST = { delivery_id: deliveryId }
export const REPLAY_SELECTION = { created_from: '2030-01-15T08:00:00Z', reason: 'status 500' }
export const REPLAY_JOB = {
  id: replayId,
  account_id: accountId,
  state: 'running',
  count: 1204,
  replayed: 500,
  created_at: '2030-01-15T12:00:00.000Z',
  created_from: '2030-01-15T08:00:00.000Z',
  reason: 'status 500',
  include_recovered: false,
  left_out: [],
  automatic: false,
}
const PREVIEW_BODY = '{"hook_event":"channel_create"}'
export const CHECKED_ADDRESS = {
  ok: true,
  scheme: 'https',
  host: 'receiver.example.com',
  port: 443,
  tls: { valid_to: '2030-04-01T12:00:00.000Z' },
}
export const PREVIEW = {
  method: 'POST',
  uri,
  headers: {
    'X-Account-ID': accountId,
    'X-Hook-Event': 'channel_create',
    'Content-Type': 'application/json',
    'webhook-signature': '$WEBHOOK_SIGNATURE',
  },
  body: PREVIEW_BODY,
  curl: `curl --globoff --request POST '${uri}' \\\n  --header 'webhook-signature: '"$WEBHOOK_SIGNATURE" \\\n  --data-raw '${PREVIEW_BODY}'`,
}
export const MATCHES = [
  { id: webhookId, name: 'Call log', wanted: true },
  { id: '7c2f90d1be5a4b33a0c4e86d19f5b728', name: 'Hangups', wanted: false, why: 'hook' },
]
export const LOOKED_UP = [
  { type: 'call', id: callId, account_id: accountId, account_name: LOGIN.account_name },
]
export const WHY = {
  calls: [
    {
      account_id: accountId,
      account_name: LOGIN.account_name,
      call_id: callId,
      events: [
        {
          id: eventId,
          call_id: callId,
          hook: 'channel_destroy',
          sequence: 2,
          happened_at: '2030-01-15T12:00:00.000Z',
          accepted_at: '2030-01-15T12:00:00.012Z',
          source: 'asterisk 127.0.0.1:5038',
          wanted: false,
          deliveries: [],
          unmatched: [
            {
              why: 'hook',
              explain: 'It is for other kinds of events.',
              count: 1,
              webhooks: [{ id: '7c2f90d1be5a4b33a0c4e86d19f5b728', name: 'Hangups', account_id: accountId }],
            },
          ],
        },
      ],
      truncated: false,
    },
  ],
  other_calls: [],
  truncated: false,
}
export const CALL = {
  call_id: callId,
  legs: [
    {
      call_id: callId,
      direction: 'inbound',
      ...parties,
      events: 1,
    },
  ],
  events: [
    {
      id: eventId,
      account_id: accountId,
      call_id: callId,
      hook: 'channel_destroy',
      sequence: 2,
      timestamp: 64_061_928_000,
      happened_at: '2030-01-15T12:00:00.000Z',
      deliveries: [
        {
          id: deliveryId,
          hook_id: webhookId,
          hook_name: 'Call log',
          kind: 'first',
          state: 'delivered',
          attempts: 1,
          ended_at: '2030-01-15T12:00:00.250Z',
          last_status: '200',
        },
      ],
    },
  ],
  unwanted: [{ call_id: callId, sequence: 1 }],
  truncated: false,
  records: 'part',
}
export const HOLDS = { all: false, accounts: [accountId] }
export const WEBHOOK_JOB_REQUEST = { action: 'resume', host: 'crm.example.com' }
export const WEBHOOK_JOB = {
  id: replayId,
  action: 'resume',
  state: 'running',
  count: 412,
  changed: 100,
  created_at: '2030-01-15T12:00:00.000Z',
  host: 'crm.example.com',
}
export const WEBHOOK_COUNTS = { webhooks: 412, accounts: 97, deliveries: 18_204 }
export const OVERVIEW = {
  pending: 18_204,
  oldest_due_seconds: 41.2,
  in_flight: 310,
  attempts_per_minute: [...new Array<number>(59).fill(0), 1_204],
  paused: { waiting: 12, probing: 3 },
  failing: 4,
  accounts_affected: 7,
  causes: { 503: 640, refused: 212 },
  disabled: 9,
  disabled_capped: false,
  nodes: [
    {
      node: '0b7d2e94c1f04a6b8d3e5f7a9c1b2d4e',
      alive_until: '2030-01-15T12:00:30.000Z',
      shards: 64,
      leaving: 0,
    },
  ],
  store: { durable: true, shared: true },
  version: VERSION_EXAMPLE,
}
export const EVENT = {
  hook: 'channel_create',
  call_id: callId,
  call_direction: 'inbound',
  happened_at: '2030-01-15T12:00:00.000Z',
  ...parties,
  caller_id_number: '+14155550142',
}
export const EVENT_IDS = { event_ids: [eventId] }
