import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { webhookSchema } from '../../src/webhooks/webhook-schema.js'
import { readWebhook, SETTING_NAMES, wirePath } from '../../src/wire/names.js'

describe('readWebhook', () => {
  it('renames the settings and keeps what is not ours as it came', () => {
    expect(
      readWebhook({ name: 'n', http_verb: 'put', max_age_seconds: 5, group_color: 'red', httpVerb: 'get' }),
    ).toEqual({
      settings: { name: 'n', httpVerb: 'put', maxAgeSeconds: 5 },
      extra: { group_color: 'red', httpVerb: 'get' },
    })
  })

  it('ignores server-owned keys and drops private ones', () => {
    const sent = JSON.parse(
      '{"id":"x","disable_reason":"y","_read_only":{},"_id":"z","pvt_account_id":"a","__proto__":{"name":"evil"}}',
    )
    expect(readWebhook(sent)).toEqual({ settings: {} })
    expect(readWebhook(sent).settings.name).toBeUndefined()
  })

  it('leaves values alone, null and deep ones too', () => {
    const custom = { snake_case: 'a', camelCase: 'b' }
    expect(readWebhook({ custom_data: custom, group: null })).toEqual({
      settings: { customData: custom, group: null },
    })
  })

  it('knows every setting of the schema', () => {
    expect(Object.values(SETTING_NAMES).sort()).toEqual(Object.keys(webhookSchema.properties).sort())
  })

  it('takes no key of an object prototype for a setting', () => {
    const sent = { constructor: 1, toString: 2, hasOwnProperty: 3 }
    expect(readWebhook(sent)).toEqual({ settings: {}, extra: sent })
  })
})

describe('wirePath', () => {
  it('renames the first part only', () => {
    expect(wirePath('customData.httpVerb')).toBe('custom_data.httpVerb')
    expect(wirePath('httpVerb')).toBe('http_verb')
    expect(wirePath('anything.else')).toBe('anything.else')
    expect(wirePath('')).toBe('')
  })

  it('leads every setting back to where it came from', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(SETTING_NAMES)), fc.string(), (name, rest) => {
        const [inside] = Object.keys(readWebhook({ [name]: 1 }).settings)
        expect(wirePath(inside!)).toBe(name)
        expect(wirePath(`${inside}.${rest}`)).toBe(`${name}.${rest}`)
      }),
    )
  })
})
