/** What the service answers about a webhook whose server answers 503, in the form of the API. */

const HOUR_MS = 3_600_000
export const MINUTE_MS = 60_000
const GREGORIAN_EPOCH = 62_167_219_200
export const gregorian = (ms: number) => Math.floor(ms / 1_000) + GREGORIAN_EPOCH
const iso = (ms: number) => new Date(ms).toISOString()

/** The health of a webhook whose server answers 503. */
export function pausedHealth(id: string) {
  const now = Date.now()
  return {
    id,
    name: 'CRM',
    uri: 'https://crm.example/in',
    state: 'paused',
    failures_in_row: 15,
    failing_since: iso(now - 40 * MINUTE_MS),
    paused_until: iso(now + 10 * MINUTE_MS),
    pause: { kind: 'unavailable', since: iso(now - 30 * MINUTE_MS), probes: 29 },
    exhausted: 0,
    pending: 1_284,
    pending_capped: false,
    last_attempt: {
      id: 'a1',
      hook_id: id,
      delivery_id: 'd1',
      method: 'post',
      uri: 'https://crm.example/in',
      result: 'failure',
      resp_status_code: '503',
      resp_headers: { 'content-type': 'application/json' },
      resp_body: '{"error":"connection pool exhausted","id":12345678901234567890}',
      req_headers: { 'content-type': 'application/json' },
      req_body: '{}',
      duration_ms: 812,
      sent_at: iso(now - 9_000),
    },
    same_answers: 15,
    same_answers_capped: false,
    not_delivered: 212,
    not_delivered_capped: false,
    not_delivered_since: iso(now - 41 * MINUTE_MS),
    oldest_accepted_at: iso(now - 30 * MINUTE_MS),
    oldest_expires_at: iso(now + 23 * HOUR_MS),
    max_age_seconds: 86_400,
  }
}

/** Statistics by the minute or by the hour, whichever is requested. */
export function statsOf(url: string) {
  const parameters = new URL(url).searchParams
  const step = Number(parameters.get('step'))
  const first = Number(parameters.get('created_from'))
  const last = gregorian(Date.now())
  const start: number[] = []
  for (let slot = Math.ceil(first / step) * step; slot <= last; slot += step) start.push(slot)
  const isEmpty = (index: number) => index === 5
  return {
    step,
    start,
    ok: start.map((_, index) => (isEmpty(index) ? 0 : 90)),
    failed: start.map((_, index) => (isEmpty(index) ? 0 : 10)),
    outcomes: {},
    causes: { 503: start.map(() => 7), timeout_answer: start.map(() => 2), other: start.map(() => 1) },
    latency_ms: {
      p50: start.map((_, index) => (isEmpty(index) ? null : 20)),
      p95: start.map((_, index) => (isEmpty(index) ? null : 200)),
      p99: start.map((_, index) => (isEmpty(index) ? null : 900)),
    },
    complete_to: last,
  }
}
