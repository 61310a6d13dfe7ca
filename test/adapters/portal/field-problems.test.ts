import { describe, expect, it } from 'vitest'
import en from '../../../adapters/portal/app/locales/en.json'
import { fieldProblems } from '../../../adapters/portal/app/text/field-problems.js'
import { HookswitchError } from '../../../src/errors.js'
import { compileAddressPolicy } from '../../../src/values/address-policy.js'
import { catalogueOf } from '../../../src/webhooks/catalogue.js'
import { checkSettings } from '../../../src/webhooks/settings.js'
import { toHttpError } from '../../../src/wire/error-body.js'

const VALID = { name: 'n', uri: 'https://example.com/hook', hook: 'all' }

/** What the page reads in the service's response to these settings. */
function problemsOf(settings: Readonly<Record<string, unknown>>) {
  const checked = checkSettings(
    { ...VALID, ...settings },
    {
      catalogue: catalogueOf(Array.from({ length: 30 }, (_, index) => ({ id: `custom_${index}` }))),
      addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
      defaultFormat: 'json',
    },
  )
  if (!('failures' in checked)) return []
  const { data } = toHttpError(
    new HookswitchError('InvalidInput', 'invalid settings', { failures: checked.failures }),
  )
  return fieldProblems(data)
}

describe('the problems of fields', () => {
  it('say why a URL is refused, not only that it is', () => {
    expect(problemsOf({ uri: 'http://127.0.0.1/x' })).toMatchObject([
      { field: 'uri', rule: 'error', message: expect.stringMatching(/^must not lead to /) },
    ])
    expect(problemsOf({ uri: 'http://.example.com/' })[0]!.message).toBe(
      'must not lead to an invalid host name',
    )
    expect(problemsOf({ uri: 'ftp://x' })[0]!.message).toBe('must be an absolute http or https URL')
  })

  it('name the headers, the entries of a list, or the place in a filter; what is wrong twice is said once', () => {
    expect(
      problemsOf({
        only: ['channel_create', 'call_me', 'call_you'],
        customRequestHeaders: { 'X.Y': 'ä', te: 'b', connection: 'c' },
        filter: { any: [{ prefix: { caller: 5 } }, { equals: {} }] },
      }).map(({ field, places, rule, target }) => [field, places, rule, target]),
    ).toEqual([
      ['only', ['call_me', 'call_you'], 'enum', expect.arrayContaining(['channel_create', 'custom_29'])],
      ['filter', ['any.0.prefix.caller'], 'type', ['string']],
      ['filter', ['any.1.equals'], 'enum', ['exact', 'prefix', 'suffix', 'all', 'any', 'not']],
      ['custom_request_headers', ['X.Y'], 'error', []],
      ['custom_request_headers', ['te', 'connection'], 'error', []],
    ])
  })

  it('have the limit, or what is possible', () => {
    const problems = problemsOf({ name: '', retries: 99, ordering: 'random', hook: 'none' })
    expect(Object.fromEntries(problems.map(({ field, rule, target }) => [field, [rule, target]]))).toEqual({
      name: ['required', []],
      retries: ['maximum', 30],
      ordering: ['enum', ['call', 'strict', 'none']],
      hook: ['enum', expect.arrayContaining(['all', 'custom_29'])],
    })
  })

  it('have texts of the page for the rules that the service checks, and only for these', () => {
    const deep = (depth: number): object => (depth === 0 ? { exact: { a: 'b' } } : { not: deep(depth - 1) })
    const rules = [
      { name: 'n'.repeat(1_000), retries: -1, ordering: 5, only: ['channel_create', 'channel_create'] },
      { name: '\0', retries: 99, ordering: 'random', uri: undefined, only: [] },
      { customData: { '\0': 'x' }, filter: deep(5) },
      {
        customData: { a: 'x'.repeat(70_000) },
        filter: { any: [] },
        only: Array.from({ length: 500 }, String),
      },
    ].flatMap((settings) => problemsOf(settings).map(({ rule }) => rule))
    // What is refused before it is sent.
    const own = ['notJson', 'notPairs']
    const texts = Object.keys(en).flatMap((key) => /^rule\.(?!or$)(\w+)$/.exec(key)?.[1] ?? [])
    expect([...new Set([...rules, ...own])].sort()).toEqual(texts.sort())
    for (const type of ['array', 'boolean', 'integer', 'number', 'object', 'string'])
      expect(Object.keys(en)).toContain(`type.${type}`)
  })

  it('are those of the settings in a preview', () => {
    const message = 'Field is required but missing'
    expect(fieldProblems({ 'webhook.name': { required: { message } } })).toMatchObject([{ field: 'name' }])
  })

  it('are none in a response of another shape', () => {
    for (const data of [
      {},
      { message: 'x' },
      { name: null },
      { name: { required: null } },
      { name: { a: {} } },
    ])
      expect(fieldProblems(data)).toEqual([])
  })
})
