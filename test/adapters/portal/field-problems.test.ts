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
    expect(problemsOf({ uri: 'ftp://x' })[0]!.message).toBe('must be an absolute http or https URL')
  })

  it('name the header, the entry of a list, or the place in a filter', () => {
    expect(
      problemsOf({
        only: ['channel_create', 'call_me'],
        customRequestHeaders: { 'X.Y': 'a', Host: 'b', host: 'c' },
        filter: { any: [{ prefix: { caller: 5 } }] },
      }).map(({ field, place, rule }) => [field, place, rule]),
    ).toEqual([
      ['only', 'call_me', 'enum'],
      ['filter', 'any.0.prefix.caller', 'type'],
      ['custom_request_headers', 'Host', 'error'],
      ['custom_request_headers', 'host', 'error'],
    ])
  })

  it('have the limit, or the first of many possible values', () => {
    const problems = problemsOf({ name: '', retries: 99, ordering: 'random', hook: 'none' })
    expect(Object.fromEntries(problems.map(({ field, rule, target }) => [field, [rule, target]]))).toEqual({
      name: ['required', 1],
      retries: ['maximum', 10],
      ordering: ['enum', 'call, none'],
      hook: ['enum', expect.stringMatching(/^all(, \w+){19}, …$/)],
    })
    for (const { rule } of problems) expect(Object.keys(en)).toContain(`rule.${rule}`)
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
