import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { canonicalizeUri } from '../../src/values/uri.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import {
  checkSettings,
  isSettingName,
  MAX_DATA_BYTES,
  SETTINGS_DEFAULTS,
  type SettingsRules,
} from '../../src/webhooks/settings.js'
import { webUrl } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'

const rules: SettingsRules = {
  catalogue: catalogueOf([{ id: 'queue_joined' }]),
  addressPolicy: compileAddressPolicy({ allowLocal: false, allow: ['10.1.0.0/16', 'inside.test'] }),
  defaultFormat: 'json',
}
const base = { name: 'n', uri: 'https://example.com/hook', hook: 'all' }
const check = (changes: object, given: SettingsRules = rules) => checkSettings({ ...base, ...changes }, given)
const failuresOf = (changes: object, given?: SettingsRules): string[] => {
  const checked = check(changes, given)
  return 'failures' in checked ? checked.failures.map(({ path, rule }) => `${path} ${rule}`) : []
}

const MANY_HEADERS = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`X ${index}`, 'v']))

describe('the settings of a webhook', () => {
  it('are refused for too many headers before all of them are looked at', () => {
    let reads = 0
    const customRequestHeaders = new Proxy(MANY_HEADERS, {
      get(target, name) {
        reads += 1
        return Reflect.get(target, name)
      },
    })
    expect(failuresOf({ customRequestHeaders })).toEqual(['customRequestHeaders error'])
    expect(reads).toBeLessThan(1_000)
  })

  it('get their defaults, in display order', () => {
    const checked = check({ group: 'g', customData: { a: 'b' } })
    expect(checked).toEqual({
      settings: { ...base, ...SETTINGS_DEFAULTS, group: 'g', customData: { a: 'b' } },
    })
    expect(Object.keys((checked as { settings: object }).settings)).toEqual([
      ...['name', 'uri', 'hook', 'httpVerb', 'retries', 'format', 'enabled', 'includeSubaccounts'],
      ...['includeInternalLegs', 'customData', 'group', 'ordering'],
    ])
  })

  it("use the host's default format when they specify none", () => {
    const kazoo = { ...rules, defaultFormat: 'form-data' } as const
    expect(check({}, kazoo)).toMatchObject({ settings: { format: 'form-data' } })
    expect(check({ format: 'json' }, kazoo)).toMatchObject({ settings: { format: 'json' } })
  })

  it('may have names that KAZOO has for a kind, unless the host registers a kind of that name', () => {
    const hookOf = (changes: object, given?: SettingsRules) => {
      const checked = check(changes, given)
      return 'settings' in checked ? [checked.settings.hook, checked.settings.only] : checked.failures
    }
    expect(hookOf({ hook: 'register' })).toEqual(['device_registered', undefined])
    expect(hookOf({ only: ['channel_create', 'deregister'] })).toEqual([
      'all',
      ['channel_create', 'device_unregistered'],
    ])
    const catalogue = catalogueOf([{ id: 'register' }])
    expect(hookOf({ hook: 'register' }, { ...rules, catalogue })).toEqual(['register', undefined])
    expect(failuresOf({ hook: 'registers', only: [7] })).toContain('hook enum')
  })

  it('ignore unknown keys and undefined values', () => {
    const hostile = JSON.parse('{"__proto__":{"group":"x"},"constructor":"y","id":"z"}')
    expect(check({ ...hostile, retries: undefined })).toEqual({ settings: { ...base, ...SETTINGS_DEFAULTS } })
    const inherited = Object.create({ group: 'inherited' })
    expect(checkSettings(Object.assign(inherited, base), rules)).toEqual({
      settings: { ...base, ...SETTINGS_DEFAULTS },
    })
    expect(['uri', 'customRequestHeaders'].every(isSettingName)).toBe(true)
    expect(['id', 'toString', '__proto__', ''].some(isSettingName)).toBe(false)
  })

  it.each<[object, string[]]>([
    [{ name: undefined }, ['name required']],
    [{ name: '' }, ['name minLength']],
    [{ name: 'x'.repeat(256) }, ['name maxLength']],
    [{ name: 'a\u0000' }, ['name pattern']],
    [{ name: 5 }, ['name type']],
    [{ uri: undefined }, ['uri required']],
    [{ uri: 'ftp://example.com/' }, ['uri error']],
    [{ uri: 'https://user@example.com/' }, ['uri error']],
    [{ uri: 'not a url' }, ['uri error']],
    [{ uri: `https://example.com/${'x'.repeat(2048)}` }, ['uri maxLength']],
    [{ hook: 'fax' }, ['hook enum']],
    [{ hook: 'toString' }, ['hook enum']],
    [{ only: [] }, ['only minItems']],
    [{ only: 'channel_create' }, ['only type']],
    [{ only: [5] }, ['only.0 type']],
    [{ only: ['channel_create', 'channel_create'] }, ['only uniqueItems']],
    [{ only: ['channel_create', 'fax', 'all'] }, ['only.1 enum', 'only.2 enum']],
    [{ only: Array.from({ length: 101 }, (_, index) => `kind_${index}`) }, ['only maxItems']],
    [{ hook: 'channel_create', only: ['channel_create'] }, ['only error']],
    [{ filter: 'sql' }, ['filter type']],
    [{ filter: {} }, ['filter error']],
    [{ filter: { sql: "direction = 'inbound'" } }, ['filter.sql additionalProperties']],
    [{ filter: { any: [{ exact: { to: null } }, 5] } }, ['filter.any.0.exact.to type', 'filter.any.1 type']],
    [{ httpVerb: 'POST' }, ['httpVerb enum']],
    [{ httpVerb: 'head' }, ['httpVerb enum']],
    [{ retries: -1 }, ['retries minimum']],
    [{ retries: 31 }, ['retries maximum']],
    [{ retries: 1.5 }, ['retries type']],
    [{ retries: '3' }, ['retries type']],
    [{ format: 'xml' }, ['format enum']],
    [{ enabled: 'yes' }, ['enabled type']],
    [{ enabled: null }, ['enabled type']],
    [{ includeSubaccounts: 1 }, ['includeSubaccounts type']],
    [{ includeInternalLegs: 0 }, ['includeInternalLegs type']],
    [{ customData: [] }, ['customData type']],
    [{ customData: { a: 1 } }, ['customData.a type']],
    [{ customData: { event_id: 'mine' } }, ['customData.event_id error']],
    [{ customData: { a: '1', Call_ID: '2', from: '3' } }, ['customData.Call_ID error']],
    [{ customData: { id: 'mine', type: 'user', action: 'all' }, hook: 'object' }, ['customData.id error']],
    [{ customData: { a: 'x'.repeat(MAX_DATA_BYTES) } }, ['customData maxSize']],
    [{ customData: { a: '\u00e9'.repeat(MAX_DATA_BYTES / 2) } }, ['customData maxSize']],
    [{ customRequestHeaders: { a: 1 } }, ['customRequestHeaders.a type']],
    [{ customRequestHeaders: { 'x y': 'a' } }, ['customRequestHeaders.x y error']],
    [{ customRequestHeaders: { Host: 'a' } }, ['customRequestHeaders.Host error']],
    [{ customRequestHeaders: { 'X-A': 'a\r\nB: c' } }, ['customRequestHeaders.X-A error']],
    [{ customRequestHeaders: { a: '1', A: '2' } }, ['customRequestHeaders.A error']],
    [{ customRequestHeaders: { a: 'x'.repeat(4096) } }, ['customRequestHeaders error']],
    [
      { customRequestHeaders: { ...MANY_HEADERS, Host: 'a' }, retries: -1 },
      ['customRequestHeaders error', 'retries minimum'],
    ],
    [{ group: 'x'.repeat(256) }, ['group maxLength']],
    [{ maxAgeSeconds: 0 }, ['maxAgeSeconds minimum']],
    [{ rateLimit: 0 }, ['rateLimit minimum']],
    [{ rateLimit: 10_001 }, ['rateLimit maximum']],
    [{ rateLimit: Number.NaN }, ['rateLimit type']],
    [{ rateLimit: Number.POSITIVE_INFINITY }, ['rateLimit type']],
    [{ ordering: 'lane' }, ['ordering enum']],
  ])('%j violates %j', (changes, failures) => {
    expect(failuresOf(changes)).toEqual(failures)
  })

  it('are rejected with every violated rule at once, in the schema and beyond it', () => {
    const broken = {
      name: '',
      uri: 'http://127.0.0.1/',
      hook: 'fax',
      retries: 99,
      customRequestHeaders: { Host: 'x', 'content-type': 'y' },
    }
    expect(failuresOf(broken).sort()).toEqual([
      'customRequestHeaders.Host error',
      'customRequestHeaders.content-type error',
      'hook enum',
      'name minLength',
      'retries maximum',
      'uri error',
    ])
  })

  it('never show header values in failures', () => {
    const checked = check({ customRequestHeaders: { Authorization: 'secret\n', a: 5 } })
    expect(JSON.stringify(checked)).not.toContain('secret')
  })

  it('list the valid hooks in a failure', () => {
    const checked = check({ hook: 'fax' })
    const target = 'failures' in checked ? checked.failures[0]?.target : undefined
    expect(target).toEqual(['all', ...rules.catalogue.map(({ id }) => id)])
    expect(check({ hook: 'queue_joined' })).toHaveProperty('settings')
  })

  it.each([
    ['HTTPS://EXAMPLE.com:443/a/../b#frag', 'https://example.com/b'],
    ['http://example.com', 'http://example.com/'],
    ['https://bücher.example/ü?q=a', 'https://xn--bcher-kva.example/%C3%BC?q=a'],
    ['http://10.1.2.3/', 'http://10.1.2.3/'],
    ['http://inside.test/', 'http://inside.test/'],
  ])('store the URI %s in its canonical form %s', (uri, canonical) => {
    expect(check({ uri })).toMatchObject({ settings: { uri: canonical } })
  })

  it.each([
    ...[
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://127.0.0.1./',
      'http://１２７.0.0.1/',
    ],
    ...[
      'http://localhost/',
      'http://a.localhost/',
      'http://LOCALHOST./',
      'http://10.2.0.1/',
      'http://[::1]/',
    ],
    ...['http://[::ffff:10.0.0.1]/', 'http://169.254.169.254/', 'http://0/'],
  ])('reject %s', (uri) => {
    expect(failuresOf({ uri })).toEqual(['uri error'])
  })

  it('accept loopback hosts, but no private ones, with allowLocal', () => {
    const local = { ...rules, addressPolicy: compileAddressPolicy({ allowLocal: true, allow: [] }) }
    expect(failuresOf({ uri: 'http://localhost:8000/' }, local)).toEqual([])
    expect(failuresOf({ uri: 'http://[::1]/' }, local)).toEqual([])
    expect(failuresOf({ uri: 'http://192.168.0.1/' }, local)).toEqual(['uri error'])
  })

  it('that are accepted are accepted again in their stored form', () => {
    const settings = fc.record(
      {
        name: fc.string({ minLength: 1, maxLength: 20 }),
        uri: fc.oneof(webUrl, fc.string()),
        hook: fc.constantFrom('all', 'channel_create', 'fax'),
        retries: fc.integer({ min: -1, max: 31 }),
        rateLimit: fc.double({ min: 0, max: 10_001 }),
        customData: fc.dictionary(fc.string(), fc.string()),
        customRequestHeaders: fc.dictionary(fc.string(), fc.string()),
        group: fc.string(),
      },
      { requiredKeys: ['name', 'uri', 'hook'] },
    )
    fc.assert(
      fc.property(settings, (given) => {
        const once = checkSettings(given, rules)
        if ('failures' in once) {
          for (const { path } of once.failures) expect(isSettingName(path.split('.')[0]!)).toBe(true)
          return
        }
        expect(checkSettings({ ...once.settings }, rules)).toEqual(once)
        expect(canonicalizeUri(once.settings.uri)).toMatchObject({ uri: once.settings.uri })
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})
