/** Seeded faults in webhooks: settings, health, signing secrets. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the health of an endpoint outlasts its URI',
    file: 'src/webhooks/webhook.ts',
    find: 'return before.uri === next.uri && !(next.enabled && !before.enabled)',
    replace: 'return !(next.enabled && !before.enabled)',
    tests: ['test/webhooks/webhook.test.ts'],
  },
  {
    what: 'a secret that was rotated out never expires',
    file: 'src/webhooks/webhook.ts',
    find: '.filter(({ expiresMs }) => expiresMs === undefined || expiresMs > nowMs)',
    replace: '.filter(() => true)',
    tests: ['test/webhooks/webhook.test.ts'],
  },
  {
    what: 'late failures reopen an open breaker',
    file: 'src/webhooks/health.ts',
    find: 'if (before > 0 && (health?.pausedUntilMs ?? 0) > now) return undefined\n',
    replace: '',
    tests: ['test/webhooks/health.test.ts'],
  },
  {
    what: 'the jitter of the breaker exceeds its cap',
    file: 'src/webhooks/health.ts',
    find: 'untilMs: now + Math.min(breaker.capMs, jittered)',
    replace: 'untilMs: now + jittered',
    tests: ['test/webhooks/health.test.ts'],
  },
  {
    what: 'an endpoint is failing since its last failure',
    file: 'src/webhooks/health.ts',
    find: 'failingSinceMs: health?.failingSinceMs ?? now',
    replace: 'failingSinceMs: now',
    tests: ['test/webhooks/health.test.ts'],
  },
  {
    what: 're-enabling includes webhooks that their owners disabled',
    file: 'src/webhooks/manage.ts',
    find: 'return !webhook.settings.enabled && webhook.disableReason !== undefined',
    replace: 'return !webhook.settings.enabled',
    tests: ['test/webhooks/manage.test.ts'],
  },
  {
    what: 'a change without an effect is written',
    file: 'src/webhooks/manage.ts',
    find: 'if (changed === webhook) return webhook\n',
    replace: '',
    tests: ['test/webhooks/manage.test.ts'],
  },
  {
    what: 'the size of custom data is counted in characters',
    file: 'src/webhooks/settings.ts',
    find: 'Buffer.byteLength(JSON.stringify(data)) <= MAX_DATA_BYTES',
    replace: 'JSON.stringify(data).length <= MAX_DATA_BYTES',
    tests: ['test/webhooks/settings.test.ts'],
  },
  {
    what: 'a header named after a password is shown',
    file: 'src/values/secret-names.ts',
    find: "  'pass_?w(?:or)?d',\n",
    replace: '',
    tests: ['test/values/secret-names.test.ts'],
  },
  {
    what: 'encrypted headers of one webhook decrypt in another',
    file: 'src/webhooks/encrypt-settings.ts',
    find: 'encryptionPurpose.headers(webhookId),\n          deps',
    replace: "encryptionPurpose.headers(''),\n          deps",
    tests: ['test/webhooks/encrypt-settings.test.ts'],
  },
  {
    what: 'a pattern of a schema that cannot be compiled is accepted',
    file: 'src/webhooks/json-schema-check.ts',
    find: "new RegExp(value, 'u')",
    replace: 'String(value)',
    tests: ['test/webhooks/json-schema-check.test.ts'],
  },
]
