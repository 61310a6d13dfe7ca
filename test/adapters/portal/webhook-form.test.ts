/** The form of a webhook: its values, its filter by side and number, its events and its address. */
import fc from 'fast-check'
import type { Webhook } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import en from '../../../adapters/portal/app/locales/en.json'
import { addressProblem, hostOf } from '../../../adapters/portal/app/text/address.js'
import {
  type CallFilter,
  CallFilterError,
  callFilterOf,
  filterOf,
} from '../../../adapters/portal/app/text/call-filter.js'
import { groupEvents } from '../../../adapters/portal/app/text/event-groups.js'
import { requestLine } from '../../../adapters/portal/app/text/request-line.js'
import {
  changesOf,
  type FormValues,
  formValues,
  patchOf,
  settingsOf,
} from '../../../adapters/portal/app/text/webhook-form.js'
import { catalogueOf } from '../../../src/webhooks/catalogue.js'
import { filterFailures, passesFilter } from '../../../src/webhooks/event-filter.js'

type Settings = Readonly<Record<string, unknown>>

const settingsFor = (values: FormValues): Settings => {
  const result = settingsOf(values)
  if (result.problem !== undefined) throw new Error(result.problem)
  return result.settings
}

describe('the form of a webhook', () => {
  const webhook = {
    id: 'w',
    name: 'CRM',
    uri: 'https://crm.example/in',
    hook: 'all',
    http_verb: 'post',
    retries: 2,
    format: 'json',
    enabled: true,
    include_subaccounts: false,
    include_internal_legs: true,
    ordering: 'call',
    custom_data: { site: 'Berlin: Mitte', note: 'two\nlines: here', quoted: '"a"' },
    custom_request_headers: { 'X-Key': 'a: b' },
    filter: { all: [{ exact: { direction: 'inbound' } }] },
    group: 'crm',
    max_age_seconds: 60,
    rate_limit: 0.5,
  } as unknown as Webhook
  const first: FormValues = { ...formValues(), kinds: ['channel_create'] }

  it('gives back the document that it was filled with, except that it does not switch on or off', () => {
    const { id: _, enabled: __, ...expected } = webhook as unknown as Settings
    expect(settingsFor(formValues(webhook))).toEqual(expected)
  })

  it('changes only what was changed, also in a document that others have changed meanwhile', () => {
    const settings = settingsFor({ ...formValues(webhook), name: 'Sales', group: '' })
    expect(changesOf(webhook, webhook, settings)).toEqual({ name: 'Sales', group: null })
    const current = { ...webhook, enabled: false, retries: 9 } as Webhook
    expect(changesOf(webhook, current, settings)).toEqual({ name: 'Sales', group: null })
    expect(changesOf(webhook, { ...webhook, name: 'Sales' }, settings)).toEqual({
      name: 'Sales',
      group: null,
    })
    expect(changesOf(webhook, { ...webhook, name: 'Other' }, settings)).toBeUndefined()
    expect(changesOf(webhook, current, settingsFor(formValues(webhook)))).toEqual({})
  })

  it('takes the kinds of events as one field, of which others have changed a part', () => {
    const chosen = settingsFor({ ...formValues(webhook), isAll: false, kinds: ['channel_create', 'parking'] })
    expect(changesOf(webhook, webhook, chosen)).toEqual({ hook: 'all', only: ['channel_create', 'parking'] })
    expect(changesOf(webhook, { ...webhook, only: ['missed_call'] }, chosen)).toBeUndefined()
  })

  it('removes what was cleared, also inside objects, and keeps what it does not know', () => {
    const values = {
      ...formValues(webhook),
      group: '',
      maxAge: '',
      rate: '',
      retries: '',
      customData: 'town: Bonn',
      headers: '',
      filter: '',
    }
    const patch = patchOf(webhook, settingsFor(values))
    expect(patch).toMatchObject({
      group: null,
      max_age_seconds: null,
      rate_limit: null,
      retries: null,
      custom_request_headers: null,
      filter: null,
      custom_data: { site: null, note: null, quoted: null, town: 'Bonn' },
    })
    expect(patch).not.toHaveProperty('ui')
  })

  it('leaves retries, age and rate of a new webhook to the service', () => {
    const settings = settingsFor(first)
    for (const name of ['retries', 'max_age_seconds', 'rate_limit', 'filter', 'enabled'])
      expect(settings).not.toHaveProperty(name)
  })

  it('replaces a filter, as the service does', () => {
    const settings = settingsFor({ ...formValues(webhook), filter: '{"prefix":{"caller":"49"}}' })
    expect(patchOf(webhook, settings).filter).toEqual({ prefix: { caller: '49' } })
  })

  it('stores one kind of event as the hook, several as a choice of all, and all as all', () => {
    const eventsOf = (changes: Partial<FormValues>) => {
      const { hook, only } = settingsFor({ ...first, ...changes })
      return { hook, only }
    }
    const [create, destroy] = ['channel_create', 'channel_destroy']
    expect(eventsOf({})).toEqual({ hook: create, only: undefined })
    expect(eventsOf({ kinds: [create, destroy] })).toEqual({ hook: 'all', only: [create, destroy] })
    expect(eventsOf({ isAll: true })).toEqual({ hook: 'all', only: undefined })
    // As a hook, it must say which documents.
    expect(eventsOf({ kinds: ['object'] })).toEqual({ hook: 'all', only: ['object'] })
    expect(eventsOf({ kinds: ['object'], customData: 'type: user\naction: all' }).hook).toBe('object')
    expect(settingsOf({ ...first, kinds: [] })).toEqual({ problem: 'kinds' })
    for (const stored of [{ hook: create }, { hook: 'all', only: [create, destroy] }, { hook: 'all' }]) {
      const { only: _, ...rest } = webhook
      const values = formValues({ ...rest, ...stored } as Webhook)
      expect(settingsFor(values)).toMatchObject(stored)
      expect(values.isAll).toBe(stored.hook === 'all' && stored.only === undefined)
    }
    const narrowed = { ...webhook, only: [create, destroy] } as Webhook
    expect(patchOf(narrowed, settingsFor({ ...formValues(narrowed), kinds: [destroy] }))).toMatchObject({
      hook: destroy,
      only: null,
    })
  })

  it('shows the age in the largest unit that has no fraction', () => {
    const ageOf = (max_age_seconds: number) => formValues({ ...webhook, max_age_seconds })
    expect(
      [259_200, 5_400, 7_200, 61].map((seconds) => [ageOf(seconds).maxAge, ageOf(seconds).maxAgeUnit]),
    ).toEqual([
      ['3', 'day'],
      ['90', 'minute'],
      ['2', 'hour'],
      ['61', 'second'],
    ])
    expect(settingsFor({ ...first, maxAge: '1.5', maxAgeUnit: 'hour' }).max_age_seconds).toBe(5_400)
    expect(settingsFor({ ...first, maxAge: 'long' }).max_age_seconds).toBe('long')
  })

  it('names the field that cannot be read, and leaves every other check to the service', () => {
    expect(settingsOf({ ...first, headers: 'no colon' })).toEqual({ problem: 'headers' })
    expect(settingsOf({ ...first, customData: ': x' })).toEqual({ problem: 'customData' })
    expect(settingsOf({ ...first, isFilterJson: true, filter: '[]' })).toEqual({ problem: 'filter' })
    expect(settingsOf({ ...first, caller: '+49 30, **' })).toEqual({ problem: 'caller' })
    expect(settingsFor({ ...first, retries: 'many' }).retries).toBe('many')
  })
})

describe('the filter by side and number', () => {
  const filter = (changes: Partial<CallFilter>) =>
    filterOf({ direction: '', caller: '', called: '', ...changes })

  it('compares what the service compares: numbers, their beginnings and their ends', () => {
    expect(filter({})).toBeUndefined()
    expect(filter({ direction: 'inbound' })).toEqual({ exact: { call_direction: 'inbound' } })
    expect(filter({ caller: '+49 (30) 5550-142' })).toEqual({ exact: { caller_id_number: '+49305550142' } })
    expect(filter({ direction: 'outbound', caller: '+4930*; *42', called: 'front-desk' })).toEqual({
      all: [
        { exact: { call_direction: 'outbound' } },
        { any: [{ prefix: { caller_id_number: '+4930' } }, { suffix: { caller_id_number: '42' } }] },
        { exact: { callee_id_number: 'front-desk' } },
      ],
    })
    const passes = (caller_id_number: string) =>
      passesFilter(filter({ caller: '+4930*, 2001' }) as never, { caller_id_number })
    expect(['+49305550142', '2001', '2002'].map(passes)).toEqual([true, true, false])
  })

  it('names the field that has no numbers', () => {
    for (const text of ['*', '**', '*1*', '1 or 2*3', 'a b'])
      expect(() => filter({ called: text }), text).toThrow(new CallFilterError('called'))
  })

  it('is read again from what is stored, as long as the service takes it', () => {
    const entry = fc
      .tuple(fc.constantFrom('', '*', 'end'), fc.stringMatching(/^[+a-z0-9.@-]{1,12}$/))
      .map(([star, text]) => (star === '*' ? `*${text}` : star === 'end' ? `${text}*` : text))
    const list = fc.array(entry, { maxLength: 4 }).map((entries) => entries.join(', '))
    const conditions = fc.record({
      direction: fc.constantFrom('' as const, 'inbound' as const, 'outbound' as const),
      caller: list,
      called: list,
    })
    fc.assert(
      fc.property(conditions, (chosen) => {
        const stored = filterOf(chosen)
        if (stored) expect(filterFailures(stored, 'filter')).toEqual([])
        expect(filterOf(callFilterOf(stored)!)).toEqual(stored)
      }),
    )
  })

  it('is not made of a filter that says something else', () => {
    for (const stored of [
      { not: { exact: { call_direction: 'inbound' } } },
      { exact: { call_direction: 'both' } },
      { exact: { caller_id_number: 2001 } },
      { exact: { caller_id_number: '2001', callee_id_number: '2002' } },
      { any: [{ exact: { caller_id_number: '1' } }, { exact: { callee_id_number: '2' } }] },
      { exact: { hangup_cause: 'NORMAL_CLEARING' } },
      { prefix: { caller_id_number: 'a,b' } },
      { all: [] },
      { all: null },
    ] as Settings[])
      expect(callFilterOf(stored), JSON.stringify(stored)).toBeUndefined()
  })
})

describe('the events of the form', () => {
  const catalogue = catalogueOf([{ id: 'fax_received', name: 'Fax', description: 'A fax has arrived.' }])

  it('are all in a group, those of the host too, and each has a name and a sentence', () => {
    const groups = groupEvents(catalogue)
    expect(groups.map(({ name }) => name)).toEqual([
      'calls',
      'during',
      'unanswered',
      'queues',
      'more',
      'accounts',
      'webhooks',
    ])
    const ids = groups.flatMap(({ kinds }) => kinds.map(({ id }) => id))
    expect([...ids].sort()).toEqual(catalogue.map(({ id }) => id).sort())
    expect(groups.find(({ name }) => name === 'more')!.kinds.map(({ id }) => id)).toEqual(['fax_received'])
    for (const { id, field } of catalogue) {
      if (field !== undefined) continue
      expect(en, id).toHaveProperty([`event.${id}`])
      expect(en, id).toHaveProperty([`event.hint.${id}`])
    }
    for (const { name } of groups) expect(en).toHaveProperty([`event.group.${name}`])
  })

  it('leave out groups of which the service has nothing', () => {
    expect(groupEvents([]).length).toBe(0)
    expect(groupEvents(catalogue.filter(({ id }) => id === 'parking')).map(({ name }) => name)).toEqual([
      'during',
    ])
  })
})

describe('an address', () => {
  it('is a URL with http or https, and says how else it may have been meant', () => {
    const cases: readonly (readonly [string, ReturnType<typeof addressProblem>])[] = [
      ['https://crm.example/in?x=1', undefined],
      ['http://192.0.2.1:8080', undefined],
      ['ftp://crm.example/in', { code: 'scheme' }],
      ['crm.example/in', { code: 'scheme', better: 'https://crm.example/in' }],
      ['crm.example:8443/in', { code: 'scheme', better: 'https://crm.example:8443/in' }],
      ['//crm.example', { code: 'scheme', better: 'https://crm.example' }],
      ['crm', { code: 'invalid' }],
      ['my server', { code: 'invalid' }],
      ['mailto:a@crm.example', { code: 'invalid' }],
      ['https://', { code: 'invalid' }],
    ]
    expect(cases.map(([text]) => [text, addressProblem(text)])).toEqual(cases)
    expect([hostOf('https://crm.example:1/x'), hostOf('crm')]).toEqual(['crm.example', ''])
  })

  it('is part of the request as HTTP sends it', () => {
    const request = {
      method: 'post',
      uri: 'https://crm.example:8443/in?a=1',
      headers: { Host: 'x', 'X-A': 'b' },
    }
    expect(requestLine(request)).toEqual({
      method: 'POST',
      target: '/in?a=1',
      headers: [
        ['host', 'crm.example:8443'],
        ['x-a', 'b'],
      ],
    })
  })
})
