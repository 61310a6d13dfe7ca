import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { run } from './project.js'

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url))

/** Lines that each example prints when it succeeds. */
const OUTPUT: Readonly<Record<string, readonly RegExp[]>> = {
  '01-five-minutes.js': [
    /^received with a valid signature: channel_create from \+12025550123@carrier\.example$/m,
    /^attempt 1 of delivery \w+ \(call [^)]+\): success, status 204$/m,
  ],
  '02-behind-express.js': [
    /^webhook created at \/telephony\/v1\/accounts\/acme\/webhooks\/[0-9a-f]{32}$/m,
    /^without a token: 401 invalid_credentials$/m,
    /^the app's own routes: 200 201 200 404$/m,
  ],
  '03-embedded-in-a-backend.js': [
    /^logged in: Reseller One, Acme as u1$/m,
    /^\/reseller: channel_destroy$/m,
    /^after the change of alice's password her token is rejected, the reseller's is accepted$/m,
  ],
  '04-custom-retry-policy.js': [
    /^after 0 s: attempt 1 → status 404\nafter 60 s: attempt 2 → status 500\nafter 70 s: attempt 3 → status 200$/m,
    /^403: given up after 1 attempt, status 403$/m,
  ],
  '05-in-your-tests.js': [
    /200 calls, \d+ legs, \d+ requests: every call billed once/,
    /\bpass 1$/m,
    /\bfail 0$/m,
  ],
  // Node's test runner prints TAP or, from Node 26 on, its spec format.
  '06-custom-store.js': [/\bfail 0$/m, /^(# Subtest:|▶) the counting store\b/m],
  '07-property-tests.js': [
    /^1000 failing deliveries, \d+ attempts, none later than ten minutes after the first$/m,
    /^1000 events, \d+ matched a webhook, each of the same account or of one above$/m,
  ],
  '08-metrics.js': [
    /^hookswitch_events_accepted_total 5$/m,
    /^hookswitch_deliveries_ended_total\{state="delivered"\} 5$/m,
    /^hookswitch_attempts_total\{outcome="http"\} 2$/m,
    /^the receiver got 7 requests, all in the trace 4bf92f3577b34da6a3ce929d0e0e4736$/m,
  ],
  '09-a-page-for-your-customers.js': [
    /^the page is at \/hooks\/portal\/: 200$/m,
    /^without the cookie of the site: 401$/m,
    /^alice opens acme: 200, and creates a webhook: 201\nbob opens acme: 200, and creates a webhook: 403$/m,
  ],
  '10-live-tail.js': [/^attempt 1: failure 503\nattempt 2: success 204$/m],
}

describe('examples', () => {
  it('are all listed in this test', () => {
    expect(readdirSync(EXAMPLES).filter((name) => name.endsWith('.js'))).toEqual(Object.keys(OUTPUT))
  })

  it.each(Object.entries(OUTPUT))('%s exits with 0 and prints its results', async (name, lines) => {
    const { code, stdout, stderr } = await run(process.execPath, [name], EXAMPLES)
    expect([code, stderr]).toEqual([0, ''])
    for (const line of lines) expect(stdout).toMatch(line)
  })

  it('06-custom-store.js also runs under `node --test`', async () => {
    const { code, stdout } = await run(process.execPath, ['--test', '06-custom-store.js'], EXAMPLES)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\bpass [1-9]\d+$[\s\S]*\bfail 0$/m)])
  })
})
