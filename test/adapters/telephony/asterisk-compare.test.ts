import { describe, expect, it } from 'vitest'
import type { Listed } from '../../../adapters/telephony/asterisk/happening.js'
import { A, B, bridge, C, channel, ended, happened, moved, T0, told, up } from './asterisk-happenings.js'
import { hooks } from './asterisk-stories.js'

describe('a comparison with the open channels', () => {
  const listed = (...ids: string[]): Listed[] => ids.map((id) => ({ channel: channel(id, up), bridge }))

  it('ends what is gone, at the time of the answer, once', () => {
    const { tell, mapping, take, story } = told()
    tell(happened('began', A), happened('seen', A, 100, up))
    take(mapping.compare(mapping.ask(), [], T0 + 7_100))
    take(mapping.compare(mapping.ask(), [], T0 + 9_000))
    tell(ended(A, 9_500))
    expect(hooks(story().events)).toEqual(['create', 'answer', 'destroy'])
    expect(story().events[2]).toMatchObject({
      hangupCause: 'NORMAL_UNSPECIFIED',
      durationSeconds: 7,
      billingSeconds: 7,
      idempotencyKey: `${A}/channel_destroy`,
    })
    expect(story().problems).toEqual([])
  })

  it('a leg that began after the question is not missing, one that ended since is not found', () => {
    const { tell, mapping, take, story } = told()
    tell(happened('began', A))
    const question = mapping.ask()
    tell(ended(A), happened('began', B))
    take(mapping.compare(question, listed(A), T0))
    expect(story().events.map(({ callId, hook }) => `${callId} ${hook}`)).toEqual([
      ...[`${A} channel_create`, `${A} channel_destroy`, `${B} channel_create`],
    ])
  })

  it('tells of a talk that was missed, but not of those of calls that are all new', () => {
    const { tell, mapping, take, lines } = told()
    take(mapping.compare(mapping.ask(), listed(A, B), T0))
    expect(lines().filter((line) => line.includes('bridge'))).toEqual([])
    tell(moved('left', B), ended(B))
    take(mapping.compare(mapping.ask(), listed(A, C), T0))
    const talks = lines().filter((line) => line.includes('bridge'))
    expect(talks.sort()).toEqual([`${A} bridge ${C}`, `${C} bridge ${A}`])
  })

  it('what moved since the question knows better than the answer', () => {
    const { tell, mapping, take, lines } = told()
    for (const id of [A, B, C]) tell(happened('began', id, 0, up))
    const question = mapping.ask()
    tell(moved('entered', A), moved('entered', B))
    take(
      mapping.compare(
        question,
        [A, B, C].map((id) => ({ channel: channel(id, up) })),
        T0,
      ),
    )
    tell(moved('entered', C))
    expect(lines().at(-1)).toBe(`${C} bridge`)
  })
})
