import { describe, expect, it } from 'vitest'
import type { Bridge } from '../../../adapters/telephony/asterisk/happening.js'
import { A, B, bridge, C, channel, ended, happened, moved, T0, told, up } from './asterisk-happenings.js'
import { hooks } from './asterisk-stories.js'

describe('the mapping', () => {
  it('forgets the oldest leg above its bound, and says so', () => {
    const { tell, story } = told({ maxOpenLegs: 2 })
    tell(
      happened('began', A),
      happened('began', B),
      moved('entered', A),
      happened('began', C),
      moved('entered', B),
    )
    expect(story()).toMatchObject({ openLegs: 2, problems: [{ kind: 'overflow', callId: A }] })
    expect(story().events.filter(({ hook }) => hook === 'channel_bridge')).toEqual([])
    tell(ended(A))
    expect(story().problems).toHaveLength(1)
  })

  it('an accountOf or a realmOf that throws is a problem, and the leg goes on', () => {
    const { tell, story } = told({
      accountOf: ({ extension, accountCode }) => {
        if (extension === 'x') throw new Error('oops')
        return accountCode
      },
      realmOf: () => {
        throw new Error('no realm')
      },
    })
    tell(happened('began', A, 0, { extension: 'x' }), happened('seen', A))
    expect(story().problems.map(({ kind, message }) => [kind, message])).toEqual([
      ['account_of_threw', 'accountOf threw: Error: oops'],
      ['malformed', 'realmOf threw: Error: no realm'],
    ])
    expect(hooks(story().events)).toEqual(['create'])
  })

  it('the end of a channel that was never seen is a problem, what comes late after an end is nothing', () => {
    const { tell, story } = told()
    tell(ended(A), happened('began', B), ended(B), happened('seen', B), ended(B))
    expect(story().problems).toEqual([
      { kind: 'unknown_leg', message: 'the end of a channel whose begin was not seen', callId: A },
    ])
    expect(hooks(story().events)).toEqual(['create', 'destroy'])
  })

  it('a channel that is seen in the middle of its call has begun when its id was made', () => {
    const { tell, story } = told()
    tell(happened('seen', A, 60_000, up))
    expect(story().events).toMatchObject([
      {
        hook: 'channel_create',
        timestampMs: T0,
        direction: 'inbound',
        idempotencyKey: `${A}/channel_create`,
      },
      { hook: 'channel_answer', timestampMs: T0 + 60_000 },
    ])
  })

  it('an id that a host has chosen may come again: its second call is another', () => {
    const { tell, story } = told()
    tell(
      happened('began', 'mine'),
      ended('mine', 500),
      happened('began', 'mine', 9_000),
      ended('mine', 9_500),
    )
    expect(story().events.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      [T0, T0 + 9_000].flatMap((ms) => [
        `mine/${ms / 1000}/channel_create`,
        `mine/${ms / 1000}/channel_destroy`,
      ]),
    )
  })

  it('a realm makes addresses of numbers', () => {
    const { tell, story } = told({ realmOf: ({ accountCode }) => `${accountCode}.example` })
    tell(happened('began', A))
    expect(story().events[0]).toMatchObject({ from: '1001@acme.example', to: '2001@acme.example' })
  })

  it('variables that the host names are in customChannelVars as soon as they are known', () => {
    const { tell, story } = told({ customVariables: ['QUEUE'] })
    tell(happened('began', A), happened('seen', A, 5, { ...up, variable: (name) => `${name}-1` }))
    expect(story().events.map(({ customChannelVars }) => customChannelVars)).toEqual([
      undefined,
      { QUEUE: 'QUEUE-1' },
    ])
  })

  it('early media is no talk: a bridge is told when both are answered, and not if that never happens', () => {
    const { tell, lines } = told()
    tell(happened('began', A), happened('seen', A, 0, up), happened('began', B, 0, { state: 0 }))
    tell(moved('entered', A), moved('entered', B, bridge, { state: 5 }))
    expect(lines().filter((line) => line.includes('bridge'))).toEqual([])
    tell(happened('seen', B, 10, up))
    expect(lines().slice(-3)).toEqual([`${B} answer`, `${B} bridge ${A}`, `${A} bridge ${B}`])

    const never = told()
    never.tell(happened('began', A), happened('seen', A, 0, up), happened('began', B, 0, { state: 0 }))
    never.tell(
      moved('entered', A),
      moved('entered', B, bridge, { state: 5 }),
      moved('left', B, bridge, { state: 5 }),
      ended(B),
    )
    expect(never.lines().filter((line) => line.includes('bridge'))).toEqual([])
  })

  it('two who part and meet again talk again; three in a bridge are a conference', () => {
    const { tell, lines } = told()
    for (const id of [A, B, C]) tell(happened('began', id), happened('seen', id, 0, up))
    tell(moved('entered', A), moved('entered', B), moved('left', A), moved('entered', A))
    const talks = lines().filter((line) => line.includes('bridge'))
    expect(talks).toHaveLength(4)
    expect(new Set(talks)).toEqual(new Set([`${A} bridge ${B}`, `${B} bridge ${A}`]))
    tell(moved('entered', C))
    expect(lines().at(-1)).toBe(`${C} bridge`)
  })

  it('a Local channel into a conference brings its phone there', () => {
    const { tell, lines } = told()
    const [one, two] = [
      { name: 'Local/9@x-0;1', ...up },
      { name: 'Local/9@x-0;2', ...up },
    ]
    for (const [id, over] of [
      [A, up],
      [B, one],
      [C, two],
    ] as const)
      tell(happened('began', id, 0, over))
    const room: Bridge = { id: 'team', kind: 'conference', name: 'team' }
    tell(happened('began', 'D', 0, up), moved('entered', 'D', room), moved('entered', C, room, two))
    expect(lines()).toContain('D bridge')
    tell(moved('entered', B, bridge, one), moved('entered', A))
    expect(lines().filter((line) => line.startsWith(`${A} bridge`))).toEqual([`${A} bridge`])
  })

  it('an early bridge that was left before the answer is none', () => {
    const { tell, lines } = told()
    tell(happened('began', A), happened('seen', A, 0, up), happened('began', B, 0, { state: 0 }))
    tell(moved('entered', A), moved('entered', B, bridge, { state: 5 }))
    tell(moved('left', B, bridge, { state: 5 }), happened('seen', B, 10, up))
    expect(lines().at(-1)).toBe(`${B} answer`)
  })

  it('those who wait in one parking lot do not hear each other, however many they are', () => {
    const { tell, story } = told()
    const lot: Bridge = { id: 'lot', kind: 'hold' }
    for (const id of [A, B, C]) tell(happened('began', id, 0, up), moved('entered', id, lot))
    expect(hooks(story().events)).not.toContain('bridge')
  })

  it('127 says nothing of a call that nobody answered', () => {
    const { tell, story } = told()
    const called = channel(B, { state: 5 })
    tell(happened('began', A), happened('began', B, 0, { state: 0 }))
    for (const status of ['', 'RINGING', 'NOANSWER']) {
      tell({ kind: 'dialled', atMs: T0, caller: channel(A), called, status })
    }
    tell(ended(A, 0, 127), ended(B, 0, 127))
    expect(story().events.flatMap(({ hangupCause }) => hangupCause ?? [])).toEqual(['NO_ANSWER', 'NO_ANSWER'])
  })

  it('two holds are one, and a resume of nothing is none', () => {
    const { tell, story } = told()
    tell(
      happened('began', A, 0, up),
      happened('unheld', A),
      happened('held', A),
      happened('held', A),
      happened('unheld', A),
    )
    expect(hooks(story().events)).toEqual(['create', 'answer', 'hold', 'unhold'])
  })
})
