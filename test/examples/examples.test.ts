import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url))

/** What each example says when its claim holds. */
const SAYS: Readonly<Record<string, readonly RegExp[]>> = {
  '01-five-minutes.js': [
    /^received, and the signature fits: channel_create from \+12025550123@carrier\.example$/m,
    /^attempt 1: success, status 204$/m,
  ],
  '02-behind-express.js': [
    /^webhook created at \/telephony\/v1\/accounts\/acme\/webhooks\/[0-9a-f]{32}$/m,
    /^without a token: 401 invalid_credentials$/m,
    /^the app's own routes: 200 201 200 404$/m,
  ],
  '03-inside-a-telephony-backend.js': [
    /^logged in: Reseller One, Acme as u1$/m,
    /^\/reseller: channel_destroy$/m,
    /^after alice's new password her token is refused, the reseller's is not$/m,
  ],
  '04-a-retry-policy-of-your-own.js': [
    /^after 0 s: try 1 → status 503\nafter 60 s: try 2 → status 500\nafter 70 s: try 3 → status 200$/m,
    /^403: given up after 1 try, status 403$/m,
  ],
  '05-inside-your-tests.js': [
    /200 calls, \d+ legs, \d+ requests: every call billed once/,
    /\bpass 1$/m,
    /\bfail 0$/m,
  ],
  '06-a-store-of-your-own.js': [/\bfail 0$/m, /the counting store in use/],
  '07-a-rule-of-your-own.js': [
    /^1000 failing deliveries, \d+ tries, none later than ten minutes after the first$/m,
    /^1000 events, \d+ seen by a webhook, each of its own account or of one below it$/m,
  ],
  '08-metrics.js': [
    /^hookswitch_events_accepted_total 5$/m,
    /^hookswitch_deliveries_ended_total\{state="delivered"\} 5$/m,
    /^hookswitch_attempts_total\{outcome="http"\} 2$/m,
    /^the receiver saw 7 requests, all of the trace 4bf92f3577b34da6a3ce929d0e0e4736$/m,
  ],
}

/** As a reader would start it: without what a surrounding test runner says to its children. */
function run(argv: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, HOOKSWITCH_SECRET: ____, ...env } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...argv],
      { cwd: EXAMPLES, env, timeout: 60_000, maxBuffer: 16_777_216 },
      (error, stdout, stderr) => resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}

describe('the examples', () => {
  it('are all here', () => {
    expect(readdirSync(EXAMPLES).filter((name) => name.endsWith('.js'))).toEqual(Object.keys(SAYS))
  })

  it.each(Object.entries(SAYS))('%s ends by itself and holds what it claims', async (name, sentences) => {
    const { code, stdout, stderr } = await run([name])
    expect([code, stderr]).toEqual([0, ''])
    for (const sentence of sentences) expect(stdout).toMatch(sentence)
  })

  it('06-a-store-of-your-own.js runs under `node --test` as well', async () => {
    const { code, stdout } = await run(['--test', '06-a-store-of-your-own.js'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\bpass [1-9]\d+$[\s\S]*\bfail 0$/m)])
  })
})
