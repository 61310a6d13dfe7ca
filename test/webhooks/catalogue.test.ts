import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { toSchemaFailures } from '../../src/values/schema-failures.js'
import { validateEvent } from '../../src/values/validators.generated.js'
import { type CustomHook, catalogueOf, isRegisteredHook } from '../../src/webhooks/catalogue.js'
import { isMetaHook } from '../../src/webhooks/meta-hooks.js'

const kinds = [
  'channel_create',
  'channel_answer',
  'channel_bridge',
  'channel_hold',
  'channel_unhold',
  'channel_destroy',
  'channel_transferee',
  'channel_transferor',
  'parking',
  'voicemail_new',
  'missed_call',
  'queue_join',
  'queue_leave',
  'queue_agent_offer',
  'queue_agent_answer',
  'queue_agent_no_answer',
  'queue_agent_complete',
  'queue_agent_login',
  'queue_agent_logout',
  'queue_agent_pause',
  'queue_agent_resume',
  'channel_dtmf',
  'recording_started',
  'recording_ready',
  'conference_join',
  'conference_leave',
  'device_registered',
  'device_unregistered',
  'sms',
  'object',
  'webhook_paused',
  'webhook_failing',
  'webhook_disabled',
  'delivery_exhausted',
  'webhook_backlog_full',
]

describe('the catalogue of hooks', () => {
  it('contains the built-in kinds, but not `all`', () => {
    const catalogue = catalogueOf()
    expect(catalogue.map(({ id }) => id)).toEqual(kinds)
    for (const id of kinds) expect(isRegisteredHook(catalogue, id)).toBe(true)
    expect(isRegisteredHook(catalogue, 'all')).toBe(false)
    expect(isRegisteredHook(catalogue, 'toString')).toBe(false)
    for (const entry of catalogue) {
      expect(entry.name).toMatch(/^[A-Z][A-Za-z]+( [A-Z][A-Za-z]+)*$/)
      expect(entry.description).toMatch(/^[A-Z].*\.$/)
    }
  })

  it('has publishable samples of every built-in kind', () => {
    for (const { id, sample } of catalogueOf()) {
      expect(sample.length).toBeGreaterThan(0)
      for (const event of sample) {
        expect(event.hook).toBe(id)
        if (isMetaHook(id)) continue
        validateEvent(event)
        expect(toSchemaFailures(validateEvent.errors, event)).toEqual([])
      }
    }
  })

  it('has samples of a call with two legs, each created, destroyed and naming the other', () => {
    const samples = (kind: string) => catalogueOf().find(({ id }) => id === kind)!.sample
    const legs = (kind: string) =>
      samples(kind)
        .map(({ callId }) => callId)
        .sort()
    expect(new Set(legs('channel_create')).size).toBe(2)
    expect(legs('channel_destroy')).toEqual(legs('channel_create'))
    const [ended, other] = samples('channel_destroy')
    expect([ended?.otherLegCallId, other?.otherLegCallId]).toEqual([other?.callId, ended?.callId])
  })

  it("contains the host's kinds after the built-in ones, with completed samples", () => {
    const catalogue = catalogueOf([
      {
        id: 'queue_joined',
        name: 'Queue joined',
        description: 'A caller waits.',
        sample: { callId: 'x', to: 'q@r' },
      },
      { id: 'queue_left' },
      { id: 'fax_done', sample: [{ accountId: 'one' }, { accountId: 'two', hook: 'other' }] },
    ])
    expect(catalogue.map(({ id }) => id)).toEqual([...kinds, 'queue_joined', 'queue_left', 'fax_done'])
    const [joined, left, fax] = catalogue.slice(kinds.length)
    expect(joined).toMatchObject({ name: 'Queue joined', description: 'A caller waits.' })
    expect(joined?.sample).toMatchObject([{ hook: 'queue_joined', callId: 'x', to: 'q@r' }])
    expect(left).toMatchObject({ name: 'Queue Left', description: '' })
    expect(fax?.sample).toMatchObject([
      { hook: 'fax_done', accountId: 'one' },
      { hook: 'fax_done', accountId: 'two' },
    ])
    for (const event of [...joined!.sample, ...left!.sample, ...fax!.sample]) {
      expect(validateEvent(event)).toBe(true)
    }
    expect(isRegisteredHook(catalogue, 'queue_left')).toBe(true)
  })

  const wrong: [field: string, hooks: unknown][] = [
    ['hooks', 'channel_create'],
    ['hooks[0]', [null]],
    ['hooks[0].id', [{}]],
    ['hooks[0].id', [{ id: '' }]],
    ['hooks[0].id', [{ id: 'Upper' }]],
    ['hooks[0].id', [{ id: '1st' }]],
    ['hooks[0].id', [{ id: 'a\n' }]],
    ['hooks[0].id', [{ id: `a${'b'.repeat(64)}` }]],
    ['hooks[0].id', [{ id: 'all' }]],
    ['hooks[0].id', [{ id: 'channel_create' }]],
    ['hooks[1].id', [{ id: 'mine' }, { id: 'mine' }]],
    ['hooks[0].name', [{ id: 'mine', name: '' }]],
    ['hooks[0].name', [{ id: 'mine', name: 1 }]],
    ['hooks[0].description', [{ id: 'mine', description: 1 }]],
    ['hooks[0].sample', [{ id: 'mine', sample: [] }]],
    ['hooks[0].sample', [{ id: 'mine', sample: 'a' }]],
    ['hooks[0].sample[1]', [{ id: 'mine', sample: [{}, null] }]],
    ['hooks[0].samples', [{ id: 'mine', samples: [{}] }]],
  ]
  for (const [field, hooks] of wrong) {
    it(`rejects ${JSON.stringify(hooks)} and names ${field}`, () => {
      let thrown: unknown
      try {
        catalogueOf(hooks as CustomHook[])
      } catch (error) {
        thrown = error
      }
      expect(thrown).toBeInstanceOf(HookswitchError)
      expect(thrown).toMatchObject({ code: 'InvalidOption', field })
    })
  }
})
