import { constant, createHookswitch, custom, exponential, memoryStore, POLICY_PRESETS } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { courseOf } from '../../../src/testkit/policy/index.js'
import { scriptedReceiver } from '../../../src/testkit/receiver.js'
import { retryAfter, status } from '../../../src/testkit/receiver-script.js'

const times = (course: ReturnType<typeof courseOf>) => course.attempts.map(({ afterMs }) => afterMs)

describe('courseOf', () => {
  it('shows when each attempt is sent, and how it ends', () => {
    expect(courseOf(({ tries }) => 5_000 * tries, [503, 'timeout', 404])).toEqual({
      attempts: [
        { attempt: 1, afterMs: 0, seen: 'status 503' },
        { attempt: 2, afterMs: 5_000, seen: 'timeout' },
        { attempt: 3, afterMs: 15_000, seen: 'status 404' },
        { attempt: 4, afterMs: 30_000, seen: 'status 200' },
      ],
      state: 'delivered',
      tookMs: 30_000,
    })
    expect(courseOf(constant(7), [])).toEqual({
      attempts: [{ attempt: 1, afterMs: 0, seen: 'status 200' }],
      state: 'delivered',
      tookMs: 0,
    })
  })

  it('ends where the policy, the retries of the webhook or a 410 end it', () => {
    const stubborn = Array.from({ length: 20 }, () => 500)
    expect(courseOf(() => 1, stubborn)).toMatchObject({ state: 'exhausted', tookMs: 10 })
    expect(courseOf(() => 1, stubborn, { retries: 2 }).attempts).toHaveLength(3)
    expect(courseOf(({ status }) => (status === 403 ? null : 9), [500, 403, 500])).toMatchObject({
      state: 'exhausted',
      tookMs: 9,
    })
    expect(courseOf(() => 1, [500, 410])).toMatchObject({ state: 'cancelled', tookMs: 1 })
    expect(courseOf(POLICY_PRESETS.kazoo, [500]).state).toBe('exhausted')
  })

  it('spreads by the rolls that it is given', () => {
    const policy = exponential({ baseMs: 1_000, factor: 2, jitter: 0.5 })
    expect(times(courseOf(policy, [500, 500, 500], { roll: 0 }))).toEqual([0, 500, 1_500, 3_500])
    expect(times(courseOf(policy, [500, 500, 500], { roll: [0, 0.5] }))).toEqual([0, 500, 2_500, 6_500])
  })

  it('tells the policy of which webhook and kind', () => {
    const told: unknown[] = []
    const policy = (context: unknown) => {
      told.push(context)
      return null
    }
    courseOf(policy, ['dns'], { hook: 'channel_hold', webhookId: 'crm', roll: 0.25 })
    expect(told).toEqual([{ tries: 1, hook: 'channel_hold', webhookId: 'crm', failure: 'dns', roll: 0.25 }])
  })

  it('is what a service does', async () => {
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
    const { attempts } = courseOf(policies.mine, [500, { status: 503, retryAfterSeconds: 90 }, 404])
    expect(attempts.map(({ seen }) => seen)).toEqual([
      'status 500',
      'status 503, retry after 90 s',
      'status 404',
      'status 200',
    ])
    for (const [index, { afterMs }] of attempts.entries()) {
      const over = new Promise((resolve) => hs.events.once('attempt', resolve))
      if (index === 0) await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'leg-1' })
      else await clock.advance(afterMs - attempts[index - 1]!.afterMs)
      await over
    }
    await hs.close()
    await receiver.close()
    const startMs = receiver.requests[0]!.atMs
    expect(receiver.requests.map(({ atMs }) => atMs - startMs)).toEqual(
      attempts.map(({ afterMs }) => afterMs),
    )
  })

  it.each([
    [['telephony', []], 'policy'],
    [[null, []], 'policy'],
    [[constant(1), 500], 'failures'],
    [[constant(1), [500, 204]], 'failures[1]'],
    [[constant(1), ['slow']], 'failures[0]'],
    [[constant(1), [null]], 'failures[0]'],
    [[constant(1), [{ status: 503, retryAfterSeconds: -1 }]], 'failures[0].retryAfterSeconds'],
    [[constant(1), [], { retries: 11 }], 'retries'],
    [[constant(1), [], { roll: 1 }], 'roll'],
    [[constant(1), [], { roll: [] }], 'roll'],
    [[constant(1), [], { hook: '' }], 'hook'],
    [[constant(1), [], { jitter: 0 }], 'jitter'],
    [[constant(1), [], 5], 'options'],
  ])('refuses what it was given, case %#, naming the argument', (given, field) => {
    const course = () => courseOf(...(given as unknown as Parameters<typeof courseOf>))
    expect(course).toThrow(expect.objectContaining({ code: 'InvalidOption', field }))
    expect(course).toThrow(`courseOf: ${field}`)
  })
})
