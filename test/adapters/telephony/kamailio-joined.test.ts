/** Streams that are joined late, left early, or contain wrong lines: the input of a second node or a restarted host. */
import { PassThrough } from 'node:stream'
import type { ChannelEvent } from 'hookswitch'
import { accountByDomain, kamailioMapper, kamailioSource, type Problem } from 'hookswitch/kamailio'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { recordedLines } from './recorded.js'

const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
const oneCall = (id: string) => recordedLines.filter((line) => line.includes(`"call_id":"${id}"`))
const changed = (line: string, change: object) => JSON.stringify({ ...JSON.parse(line), ...change })

function mapAll(lines: readonly string[], of: typeof accountOf = accountOf) {
  const mapper = kamailioMapper({ accountOf: of })
  const mapped = lines.map((line) => mapper.map(line))
  return {
    events: mapped.flatMap((m): readonly ChannelEvent[] => m.events),
    problems: mapped.flatMap((m): readonly Problem[] => m.problems),
  }
}
const keys = (events: readonly ChannelEvent[]) => events.map((event) => event.idempotencyKey)
const hooks = (events: readonly ChannelEvent[]) => events.map((event) => event.hook)

describe('a stream that is joined in the middle', () => {
  const whole = new Set(keys(mapAll(recordedLines).events))

  it('has the same idempotency keys as one read from its begin, wherever it is joined', () => {
    for (let from = 0; from < recordedLines.length; from += 7) {
      const { events, problems } = mapAll(recordedLines.slice(from))
      expect(keys(events).filter((key) => !whole.has(key))).toEqual([])
      expect(problems).toEqual([])
    }
  })

  it('yields every later end exactly once', () => {
    const ends = (events: readonly ChannelEvent[]) =>
      keys(events.filter(({ hook }) => hook === 'channel_destroy'))
    for (let from = 0; from < recordedLines.length; from += 7) {
      const before = ends(mapAll(recordedLines.slice(0, from)).events)
      const after = ends(mapAll(recordedLines.slice(from)).events)
      expect(new Set(after).size).toBe(after.length)
      const both = new Set([...before, ...after])
      const lost = [...ends(mapAll(recordedLines).events)].filter((key) => key && !both.has(key))
      // A refusal without a dialog does not describe the call: it is published only if the INVITE was read.
      expect(lost.filter((key) => !key?.includes('k07-proxy-404') && !key?.includes('k13-auth'))).toEqual([])
    }
  })

  it('publishes of an answered call what its dialog contains', () => {
    const lines = oneCall('k02-callee-hangup-1')
    const end = lines.find((line) => line.includes('dialog:end')) ?? ''
    const [destroy, ...none] = mapAll([end]).events
    const [, , , received] = mapAll(lines).events
    expect(none).toEqual([])
    expect(destroy).toMatchObject({
      hook: 'channel_destroy',
      accountId: 'beta',
      from: '1002@beta.example',
      to: '2002@beta.example',
      request: '2002@beta.example',
      hangupCause: received?.hangupCause,
      customChannelVars: { ended_by: 'other_leg' },
      idempotencyKey: received?.idempotencyKey,
    })
    expect(Math.abs((destroy?.billingSeconds ?? 99) - (received?.billingSeconds ?? 0))).toBeLessThanOrEqual(1)
    expect(destroy).not.toHaveProperty('durationSeconds')
    expect(destroy).not.toHaveProperty('callerIdName')
  })

  it('publishes the end of a call that the proxy ended itself, and of one that timed out', () => {
    const byes = oneCall('k16-lost-1').filter((line) => line.includes('tm:local-request'))
    expect(mapAll(byes).events).toMatchObject([
      { hook: 'channel_destroy', callId: 'k16-lost-1', customChannelVars: { ended_by: 'switch' } },
    ])
    const failed = oneCall('k05-ring-timeout-1').filter((line) => line.includes('dialog:failed'))
    expect(mapAll(failed).events).toMatchObject([{ hook: 'channel_destroy', hangupCode: 'sip:408' }])
  })
})

describe('a retried call', () => {
  it('that was challenged and uses another tag is one call with the tag of its dialog', () => {
    const lines = oneCall('k13-auth-1')
    const again = lines.map((line, nth) =>
      nth < 2 ? line : line.replaceAll('"from_tag":"k13-auth-1"', '"from_tag":"second/tag"'),
    )
    const { events } = mapAll(again)
    expect(hooks(events)).toEqual(hooks(mapAll(lines).events))
    expect(events.at(-1)?.customChannelVars).toEqual({ ended_by: 'this_leg' })
    const end = again.filter((line) => line.includes('dialog:end'))
    expect(keys(mapAll(end).events)).toEqual([events.at(-1)?.idempotencyKey])
    expect(keys(events).at(-1)).toMatch(/\/second%2Ftag\/destroy$/)
  })
})

describe('the account of a call from a carrier', () => {
  const [invite = '', ...rest] = oneCall('k01-caller-hangup-1')
  const branch = rest.find((line) => line.includes('"event":"branch"')) ?? ''
  const carrier = { from_uri: 'sip:+4420@carrier.example' }

  it('is that of the called domain, then of the request domain', () => {
    expect(mapAll([changed(invite, carrier)]).events[0]?.accountId).toBe('alpha')
    const request = { to_uri: 'sip:+41@edge.example', original_r_uri: 'sip:1@beta.example' }
    expect(mapAll([changed(invite, { ...carrier, ...request })]).events[0]?.accountId).toBe('beta')
  })
  it('is that of the dialog variable before all others', () => {
    const { dialog } = JSON.parse(branch)
    const line = changed(branch, { dialog: { ...dialog, var_account: 'beta.example' } })
    expect(mapAll([line]).events[0]?.accountId).toBe('beta')
  })
  it.each([undefined, null, 'alpha', [], { 'a.example': 7 }])(
    'cannot be resolved from a table %j',
    (table) => {
      expect(() => accountByDomain(table as never)).toThrow(/^accounts /)
    },
  )
})

describe('a wrong line', () => {
  it('with a time an hour ahead of the clock is rejected, and ends no call', async () => {
    const [invite = '', ...rest] = oneCall('k01-caller-hangup-1')
    const seconds = Math.floor(Number(JSON.parse(invite).time))
    const clock = manualClock({ nowMs: seconds * 1000 })
    const published: ChannelEvent[] = []
    const problems: unknown[] = []
    const publish = async (event: ChannelEvent) => void published.push(event)
    const source = kamailioSource({ publish, accountOf, clock })
    source.events.on('problem', (problem) => problems.push(problem))
    source.push(invite)
    source.push(JSON.stringify({ event: 'ack', call_id: 'odd', time: `${seconds + 50_000}.000000` }))
    expect(problems).toMatchObject([{ kind: 'malformed', callId: 'odd' }])
    expect(source.status().openLegs).toBe(1)
    source.push(JSON.stringify({ event: 'ack', call_id: 'odd', time: `${seconds + 3_600}.000000` }))
    expect(problems).toHaveLength(1)
    for (const line of rest) source.push(line)
    await clock.settle()
    expect(published.at(-1)).toMatchObject({ hook: 'channel_destroy', hangupCause: 'NORMAL_CLEARING' })
    await source.close()
  })

  it('is not assumed if the whole stream is ahead of the clock: a replayed recording', async () => {
    const problems: unknown[] = []
    const published: ChannelEvent[] = []
    const publish = async (event: ChannelEvent) => void published.push(event)
    const clock = manualClock({ nowMs: 0 })
    const source = kamailioSource({ publish, accountOf, clock })
    source.events.on('problem', (problem) => problems.push(problem))
    for (const line of recordedLines) source.push(line)
    await clock.settle()
    await source.close()
    expect(problems).toEqual([])
    expect(published.filter(({ hook }) => hook === 'channel_destroy')).toHaveLength(77)
  })

  it('yields no duration above the limit of an event', () => {
    const lines = oneCall('k01-caller-hangup-1')
    const begin = lines.findIndex((line) => line.includes('dialog:start'))
    const far = lines.map((line, nth) => (nth > begin ? changed(line, { time: '9999999999.000000' }) : line))
    const mapper = kamailioMapper({ accountOf, maxCallMs: 31_536_000_000 })
    const events = far.flatMap((line) => mapper.map(line).events)
    for (const { durationSeconds = 0, billingSeconds = 0 } of events)
      expect(Math.max(durationSeconds, billingSeconds)).toBeLessThanOrEqual(2_147_483_647)
    const end = lines.find((line) => line.includes('dialog:end')) ?? ''
    const dialog = { ...JSON.parse(end).dialog, start_ts: 1 }
    const [destroy] = mapAll([changed(end, { time: '9999999999.000000', dialog })]).events
    expect(destroy?.billingSeconds).toBe(2_147_483_647)
  })

  it('has a readable message if accountOf throws an object without toString', () => {
    const nothing = Object.create(null)
    const { problems } = mapAll(oneCall('k01-caller-hangup-1').slice(0, 1), () => {
      throw nothing
    })
    expect(problems).toMatchObject([{ message: 'accountOf threw a thrown object' }])
  })
})

describe('a silent stream of lines', () => {
  it('is abandoned when the source is closed', async () => {
    const source = kamailioSource({ publish: async () => {}, accountOf })
    const stream = new PassThrough()
    const reading = source.lines(stream)
    stream.write(`${recordedLines[0]}\n`)
    await new Promise((resolve) => setImmediate(resolve))
    await source.close()
    await reading
    await source.lines(new PassThrough())
    stream.destroy()
  })
})
