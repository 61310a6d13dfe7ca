import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import { parseWebhookFields, SETTING_NAMES, toWirePath } from '../../src/wire/field-names.js'

describe('parseWebhookFields', () => {
  it('renames settings and keeps unknown keys unchanged', () => {
    expect(
      parseWebhookFields({
        name: 'n',
        http_verb: 'put',
        max_age_seconds: 5,
        group_color: 'red',
        httpVerb: 'get',
      }),
    ).toEqual({
      settings: { name: 'n', httpVerb: 'put', maxAgeSeconds: 5 },
      extra: { group_color: 'red', httpVerb: 'get' },
    })
  })

  it('drops keys of the service and private keys', () => {
    const sent = JSON.parse(
      '{"id":"x","disable_reason":"y","_read_only":{},"_id":"z","pvt_account_id":"a","__proto__":{"name":"evil"}}',
    )
    expect(parseWebhookFields(sent)).toEqual({ settings: {} })
    expect(parseWebhookFields(sent).settings.name).toBeUndefined()
  })

  it('does not change values, including null and nested ones', () => {
    const custom = { snake_case: 'a', camelCase: 'b' }
    expect(parseWebhookFields({ custom_data: custom, group: null })).toEqual({
      settings: { customData: custom, group: null },
    })
  })

  it('has a wire name for every setting of the schema', () => {
    expect(Object.values(SETTING_NAMES).sort()).toEqual(Object.keys(webhookSchema.properties).sort())
  })

  it('does not treat properties of Object.prototype as settings', () => {
    const sent = { constructor: 1, toString: 2, hasOwnProperty: 3 }
    expect(parseWebhookFields(sent)).toEqual({ settings: {}, extra: sent })
  })
})

describe('toWirePath', () => {
  it('renames only the first segment', () => {
    expect(toWirePath('customData.httpVerb')).toBe('custom_data.httpVerb')
    expect(toWirePath('httpVerb')).toBe('http_verb')
    expect(toWirePath('anything.else')).toBe('anything.else')
    expect(toWirePath('')).toBe('')
  })

  it('is the inverse of parseWebhookFields for every setting', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(SETTING_NAMES)), fc.string(), (name, rest) => {
        const [internalName] = Object.keys(parseWebhookFields({ [name]: 1 }).settings)
        expect(toWirePath(internalName!)).toBe(name)
        expect(toWirePath(`${internalName}.${rest}`)).toBe(`${name}.${rest}`)
      }),
    )
  })
})
