import { constant, createHookswitch, custom, exponential, memoryStore } from 'hookswitch'
import { POLICY_PRESETS } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { simulateRetries } from '../../../src/testkit/policy/index.js'
import { scriptedReceiver } from '../../../src/testkit/receiver.js'
import { retryAfter, status } from '../../../src/testkit/receiver-script.js'

const delays = (simulation: ReturnType<typeof simulateRetries>) =>
  simulation.attempts.map(({ afterMs }) => afterMs)

describe('simulateRetries', () => {
  it('returns when each attempt is sent, and its outcome', () => {
    expect(simulateRetries(({ tries }) => 5_000 * tries, [503, 'timeout', 404])).toEqual({
      attempts: [
        { attempt: 1, afterMs: 0, outcome: 'status 503' },
        { attempt: 2, afterMs: 5_000, outcome: 'timeout' },
        { attempt: 3, afterMs: 15_000, outcome: 'status 404' },
        { attempt: 4, afterMs: 30_000, outcome: 'status 200' },
      ],
      state: 'delivered',
      durationMs: 30_000,
    })
    expect(simulateRetries(constant(7), [])).toEqual({
      attempts: [{ attempt: 1, afterMs: 0, outcome: 'status 200' }],
      state: 'delivered',
      durationMs: 0,
    })
  })

  it('ends when the policy gives up, after the retries of the webhook, or after a 410', () => {
    const failures = Array.from({ length: 40 }, () => 500)
    expect(simulateRetries(() => 1, failures)).toMatchObject({ state: 'exhausted', durationMs: 30 })
    expect(simulateRetries(() => 1, failures, { retries: 2 }).attempts).toHaveLength(3)
    expect(simulateRetries(({ status }) => (status === 403 ? null : 9), [500, 403, 500])).toMatchObject({
      state: 'exhausted',
      durationMs: 9,
    })
    expect(simulateRetries(() => 1, [500, 410])).toMatchObject({ state: 'cancelled', durationMs: 1 })
    expect(simulateRetries(POLICY_PRESETS.kazoo, [500]).state).toBe('exhausted')
  })

  it('applies jitter with the given random numbers', () => {
    const policy = exponential({ baseMs: 1_000, factor: 2, jitter: 0.5 })
    expect(delays(simulateRetries(policy, [500, 500, 500], { random: 0 }))).toEqual([0, 500, 1_500, 3_500])
    expect(delays(simulateRetries(policy, [500, 500, 500], { random: [0, 0.5] }))).toEqual([
      0, 500, 2_500, 6_500,
    ])
  })

  it('passes webhook and hook to the policy', () => {
    const contexts: unknown[] = []
    const policy = (context: unknown) => {
      contexts.push(context)
      return null
    }
    simulateRetries(policy, ['dns'], { hook: 'channel_hold', webhookId: 'crm', random: 0.25 })
    expect(contexts).toEqual([
      { tries: 1, hook: 'channel_hold', webhookId: 'crm', failure: 'dns', random: 0.25 },
    ])
  })

  it('sends attempts at the same times as a service', async () => {
    const clock = manualClock()
    const receiver = scriptedReceiver({
      clock,
      script: [status(500), retryAfter(90, 503), status(404), status(200)],
    })
    await receiver.start()
    const policies = { mine: ({ tries }: { tries: number }) => 5_000 * tries }
    const hs = createHookswitch({
      store: memoryStore(),
      clock,
      allowLocal: true,
      retryPolicy: custom('mine'),
      policies,
    })
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await hs.webhooks.create('acme', { name: 'Calls', uri: receiver.url(), hook: 'all', retries: 10 })
    const { attempts } = simulateRetries(policies.mine, [500, { status: 503, retryAfterSeconds: 90 }, 404])
    expect(attempts.map(({ outcome }) => outcome)).toEqual([
      'status 500',
      'status 503, retry after 90 s',
      'status 404',
      'status 200',
    ])
    for (const [index, { afterMs }] of attempts.entries()) {
      const attempted = new Promise((resolve) => hs.events.once('attempt', resolve))
      if (index === 0) await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'leg-1' })
      else await clock.advance(afterMs - attempts[index - 1]!.afterMs)
      await attempted
    }
    await hs.close()
    await receiver.close()
    const startMs = receiver.requests[0]!.atMs
    expect(receiver.requests.map(({ atMs }) => atMs - startMs)).toEqual(
      attempts.map(({ afterMs }) => afterMs),
    )
  })

  it.each([
    [['standard', []], 'policy'],
    [[null, []], 'policy'],
    [[constant(1), 500], 'failures'],
    [[constant(1), [500, 204]], 'failures[1]'],
    [[constant(1), ['slow']], 'failures[0]'],
    [[constant(1), [null]], 'failures[0]'],
    [[constant(1), [{ status: 503, retryAfterSeconds: -1 }]], 'failures[0].retryAfterSeconds'],
    [[constant(1), [], { retries: 31 }], 'retries'],
    [[constant(1), [], { random: 1 }], 'random'],
    [[constant(1), [], { random: [] }], 'random'],
    [[constant(1), [], { hook: '' }], 'hook'],
    [[constant(1), [], { jitter: 0 }], 'jitter'],
    [[constant(1), [], 5], 'options'],
  ])('rejects invalid arguments and names them, case %#', (args, field) => {
    const simulate = () => simulateRetries(...(args as unknown as Parameters<typeof simulateRetries>))
    expect(simulate).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(simulate).toThrow(`simulateRetries: ${field}`)
  })
})
