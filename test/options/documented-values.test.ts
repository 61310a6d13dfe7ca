/**
 * The limits and defaults that documents state, as numbers. Other tests import the constants, so that they stay right when a
 * value changes: this one says which value it is.
 */
import { OPTION_DEFAULTS } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import { BODY_TIMEOUT_MS } from '../../adapters/http/request-record.js'
import {
  MAX_BODY_BYTES as MAX_FREESWITCH_BODY_BYTES,
  MAX_REPLY_BYTES,
} from '../../adapters/telephony/freeswitch/frames.js'
import { TOKEN_CACHE_DEFAULTS } from '../../src/auth/token-cache.js'
import { IDEMPOTENCY_WINDOW_MS } from '../../src/delivery/accept.js'
import { MAX_PAYLOAD_BYTES } from '../../src/delivery/event.js'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { LIVE_RETENTION_MS } from '../../src/delivery/live-store.js'
import { MAX_DELAY_MS, POLICY_PRESETS } from '../../src/delivery/policy.js'
import { MAX_NODES } from '../../src/delivery/positions.js'
import { REPLAY_LIMIT_DEFAULTS } from '../../src/delivery/replay-rate-limiter.js'
import { FAST_ANSWER_MS } from '../../src/delivery/scheduler/priority.js'
import { TRUST_MS } from '../../src/delivery/scheduler/reputation.js'
import { MAX_BODY_BYTES } from '../../src/http/message.js'
import { DURATION_BOUNDS_MS } from '../../src/stats/columns.js'
import { FLUSH_INTERVAL_MS } from '../../src/stats/flush.js'
import { KEPT_MS, STATS_STEPS } from '../../src/stats/slots.js'
import { SHARDS } from '../../src/store/shards.js'
import { LOOKBACK_MS } from '../../src/stream/attempt-feed.js'
import { MAX_STREAM_ACCOUNTS } from '../../src/stream/hub.js'
import { MAX_WATCHES } from '../../src/stream/live-watches.js'
import { HEARTBEAT_MS, MAX_PER_SECOND, MAX_QUEUED, MAX_STALL_MS } from '../../src/stream/subscriber.js'
import { MAX_FAILURES } from '../../src/values/schema-failures.js'
import { MAX_URI_LENGTH } from '../../src/values/uri.js'
import { MAX_EXTRA_BYTES } from '../../src/webhooks/encrypt-settings.js'
import { MAX_FILTER_DEPTH, MAX_FILTER_FIELDS } from '../../src/webhooks/event-filter.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { SECRET_OVERLAP_MS } from '../../src/webhooks/manage.js'
import { MAX_DATA_BYTES, SETTINGS_DEFAULTS } from '../../src/webhooks/settings.js'
import { MAX_RATE, MAX_RETRIES, MIN_RATE } from '../../src/webhooks/webhook-schema.js'
import { JSON_LIMITS } from '../../src/wire/body.js'

describe('a documented value', () => {
  it.each<[string, unknown, unknown]>([
    ['time for the body of a request, ms', BODY_TIMEOUT_MS, 30_000],
    ['body of a request, bytes', MAX_BODY_BYTES, 1_048_576],
    ['JSON of a request', JSON_LIMITS, { depth: 32, entries: 10_000, total: 65_000 }],
    ['rules listed in an error', MAX_FAILURES, 100],
    ['body of a message of FreeSWITCH, bytes', MAX_FREESWITCH_BODY_BYTES, 16_777_216],
    ['reply of FreeSWITCH, bytes', MAX_REPLY_BYTES, 67_108_864],
    ['cache of tokens', TOKEN_CACHE_DEFAULTS, { max: 10_000, recheckMs: 2_000 }],
    ['overlap of a rotated signing secret, ms', SECRET_OVERLAP_MS, 86_400_000],
    ['event, bytes', MAX_PAYLOAD_BYTES, 65_536],
    ['lifetime of an idempotency key, ms', IDEMPOTENCY_WINDOW_MS, 86_400_000],
    ['lease of a node, ms', LEASE_MS, 30_000],
    ['nodes', MAX_NODES, 128],
    ['shards', SHARDS, 64],
    ['longest delay of a retry, ms', MAX_DELAY_MS, 604_800_000],
    ['replays', REPLAY_LIMIT_DEFAULTS, { replayBurst: 20, replayRefillPerSecond: 1 }],
    ['answer that counts as fast, ms', FAST_ANSWER_MS, 2_000],
    ['time for which a receiver is trusted, ms', TRUST_MS, 21_600_000],
    [
      'bounds of durations in statistics, ms',
      DURATION_BOUNDS_MS,
      [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000],
    ],
    ['interval in which statistics are written, ms', FLUSH_INTERVAL_MS, 10_000],
    ['steps of statistics, s', STATS_STEPS, [60, 3_600]],
    ['time for which statistics are kept, ms', KEPT_MS, { 60: 10_800_000, 3600: 3_024_000_000 }],
    ['time for which live items are kept, ms', LIVE_RETENTION_MS, 20_000],
    ['disorder of attempts of several nodes in a stream, ms', LOOKBACK_MS, 10_000],
    ['accounts of a stream', MAX_STREAM_ACCOUNTS, 1_000],
    ['accounts that a node watches by name', MAX_WATCHES, 1_000],
    ['sign of life in a stream, ms', HEARTBEAT_MS, 15_000],
    ['items of a stream in a second', MAX_PER_SECOND, 200],
    ['items that wait for the reader of a stream, bytes', MAX_QUEUED, 262_144],
    ['time for which the reader of a stream may read nothing, ms', MAX_STALL_MS, 30_000],
    ['URI of a webhook, characters', MAX_URI_LENGTH, 2_048],
    ['fields of a webhook that are unknown, bytes', MAX_EXTRA_BYTES, 65_536],
    ['custom data of a webhook, bytes', MAX_DATA_BYTES, 65_536],
    ['depth of a field in a filter', MAX_FILTER_DEPTH, 5],
    ['retries of a webhook', MAX_RETRIES, 30],
    ['rate limit of a webhook, requests per second', [MIN_RATE, MAX_RATE], [0.001, 10_000]],
    ['fields of a filter', MAX_FILTER_FIELDS, 100],
    [
      'settings of a webhook',
      SETTINGS_DEFAULTS,
      {
        httpVerb: 'post',
        retries: 5,
        format: 'json',
        enabled: true,
        includeSubaccounts: false,
        includeInternalLegs: true,
        ordering: 'call',
      },
    ],
    [
      'retries',
      POLICY_PRESETS,
      {
        standard: {
          kind: 'schedule',
          delaysMs: [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000],
          jitter: 0.2,
          retryOn: 'failure',
          retriesCountTries: false,
        },
        kazoo: { kind: 'constant', delayMs: 2_000, jitter: 0, retryOn: 'transport', retriesCountTries: true },
        patient: {
          kind: 'schedule',
          delaysMs: [
            5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
          ],
          jitter: 0.2,
          retryOn: 'failure',
          retriesCountTries: false,
        },
      },
    ],
    [
      'health',
      HEALTH_PRESETS,
      {
        standard: {
          pauses: true,
          autoDisable: { kind: 'silent', afterMs: 432_000_000, exhausted: 20 },
        },
        kazoo: { pauses: false, autoDisable: { kind: 'burst', failures: 6, withinMs: 60_000 } },
      },
    ],
  ])('is what the documents say: %s', (_, value, documented) => {
    expect(value).toEqual(documented)
  })

  // `test/examples` compares all of them with the table of options; these are numbers that customers rely on.
  it('is the default of an option', () => {
    expect(OPTION_DEFAULTS).toMatchObject({
      tokenTtlSeconds: 86_400,
      tokenCacheSize: 10_000,
      loginBurst: 100,
      loginRefillPerSecond: 10,
      replayBurst: 20,
      replayRefillPerSecond: 1,
      attemptTimeoutMs: 10_000,
      inFlightPerEndpoint: 10,
      inFlightPerAccount: 100,
      inFlightPerOrigin: 100,
      inFlight: 500,
      probeSockets: 1_000,
      orderingPatienceSeconds: 60,
      maxPending: 1_000_000,
      attemptsPerWebhook: 1_000,
      retentionDays: 30,
      unwantedRetentionSeconds: 86_400,
      maxStreams: 1_000,
      maxStreamsPerAccount: 50,
      maxStreamsPerToken: 10,
      allowLocal: false,
      ingest: false,
    })
  })
})
