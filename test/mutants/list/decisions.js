/** Seeded faults in the decisions of a delivery: matching, payload, signature, retry. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'Retry-After shortens the delay of the policy',
    file: 'src/delivery/retry.ts',
    find: 'now + Math.max(delay, pauseMs ?? 0)',
    replace: 'now + (pauseMs ?? delay)',
    tests: ['test/delivery/retry.test.ts'],
  },
  {
    what: 'an outage without end keeps deliveries for ever',
    file: 'src/delivery/retry.ts',
    find: 'now - delivery.acceptedMs < UNCHARGED_AGE_MS',
    replace: 'true',
    tests: ['test/delivery/retry.test.ts'],
  },
  {
    what: 'the delay of a policy function is not clamped',
    file: 'src/delivery/retry.ts',
    find: 'const delay = sanitizeDelayMs(result)',
    replace: 'const delay = result as number',
    tests: ['test/delivery/retry.test.ts'],
  },
  {
    what: '410 is retried',
    file: 'src/delivery/retry.ts',
    find: "if (outcome.gone) return { state: nextState(delivery, 'cancelled'), ...counts, reason: 'gone' }\n",
    replace: '',
    tests: ['test/delivery/retry.test.ts'],
  },
  {
    what: 'a constant delay above ten minutes is cut',
    file: 'src/delivery/backoff.ts',
    find: 'Math.max(policy.delayMs, DEFAULT_CAP_MS)',
    replace: 'DEFAULT_CAP_MS',
    tests: ['test/delivery/backoff.test.ts'],
  },
  {
    what: 'a delay of zero is not a number after many tries',
    file: 'src/delivery/backoff.ts',
    find: 'return policy.baseMs === 0 ? 0 : Math.min',
    replace: 'return Math.min',
    tests: ['test/regressions/zero-delay-was-nan.test.ts'],
  },
  {
    what: 'only the last signature of a request counts',
    file: 'src/delivery/signature.ts',
    find: 'for (const one of expected) if (constantTimeEqual(candidate, one)) isValid = true',
    replace: 'for (const one of expected) isValid = constantTimeEqual(candidate, one)',
    tests: ['test/delivery/signature.test.ts'],
  },
  {
    what: 'a timestamp in the future is accepted',
    file: 'src/delivery/signature.ts',
    find: "if (!(timestampSeconds - options.nowSeconds <= tolerance)) return { ok: false, reason: 'timestamp too new' }\n",
    replace: '',
    tests: ['test/delivery/signature.test.ts'],
  },
  {
    what: 'custom data can change the prototype of the payload',
    file: 'src/delivery/payload.ts',
    find: 'Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true })',
    replace: 'merged[key] = value',
    tests: ['test/delivery/payload.test.ts'],
  },
  {
    what: 'a webhook of a disabled account gets events',
    file: 'src/delivery/match.ts',
    find: 'webhook.accountId && account.enabled)',
    replace: 'webhook.accountId)',
    tests: ['test/delivery/match.test.ts'],
  },
  {
    what: 'events at different times are equal under one idempotency key',
    file: 'src/delivery/event.ts',
    find: 'const { idempotencyKey: _, ...body } = event',
    replace: 'const { idempotencyKey: _, timestampMs: __, ...body } = event',
    tests: ['test/delivery/event.test.ts'],
  },
  {
    what: 'the secrets of a request are recorded',
    file: 'src/delivery/attempt-record.ts',
    find: 'record.requestHeaders = redactRequestHeaders(request.headers)',
    replace: 'record.requestHeaders = request.headers',
    tests: ['test/delivery/settle.test.ts'],
  },
]
