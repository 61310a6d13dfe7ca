import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/values/json-schema.js'
import { toSchemaFailures } from '../../src/values/schema-failures.js'
import { validateWebhook } from '../../src/values/validators.generated.js'
import { SETTINGS_DEFAULTS } from '../../src/webhooks/settings.js'
import type { BodyFormat, HttpVerb, Ordering, WebhookSettings } from '../../src/webhooks/webhook.js'
import { SECRET_SETTINGS, webhookSchema } from '../../src/webhooks/webhook-schema.js'

const { properties } = webhookSchema
const complete: WebhookSettings = {
  name: 'n',
  uri: 'https://example.com/hook',
  hook: 'all',
  only: ['channel_create'],
  filter: { exact: { call_direction: 'inbound' } },
  httpVerb: 'post',
  retries: 2,
  format: 'json',
  enabled: true,
  includeSubaccounts: false,
  includeInternalLegs: true,
  customData: { key: 'value' },
  customRequestHeaders: { 'x-key': 'value' },
  group: 'g',
  maxAgeSeconds: 60,
  rateLimit: 0.5,
  ordering: 'call',
}

function failuresOf(settings: unknown): string[] {
  validateWebhook(settings)
  const failures = toSchemaFailures(validateWebhook.errors, settings, { secret: SECRET_SETTINGS })
  return failures.map(({ path, rule }) => `${path} ${rule}`)
}

describe('the webhook schema', () => {
  it('has exactly the fields and enumerations of the type', () => {
    const fields: Record<keyof WebhookSettings, unknown> = properties
    const type: Record<keyof typeof properties, unknown> = complete as Required<WebhookSettings>
    expect(Object.keys(fields).sort()).toEqual(Object.keys(type).sort())
    const verbs: readonly HttpVerb[] = properties.httpVerb.enum
    const formats: readonly BodyFormat[] = properties.format.enum
    const orderings: readonly Ordering[] = properties.ordering.enum
    expect([verbs, formats, orderings]).toEqual([
      ['get', 'post', 'put', 'patch', 'delete'],
      ['json', 'form-data'],
      ['call', 'strict', 'none'],
    ])
  })

  it('documents the defaults that are filled in', () => {
    const rules: Readonly<Record<string, JsonSchema>> = properties
    const documented = Object.entries(rules).flatMap(([name, rule]) =>
      rule.default === undefined ? [] : [[name, rule.default]],
    )
    expect(Object.fromEntries(documented)).toEqual(SETTINGS_DEFAULTS)
  })

  it('accepts all fields, only the required fields, and unknown keys', () => {
    expect(failuresOf(complete)).toEqual([])
    expect(failuresOf({ name: 'n', uri: 'u', hook: 'h', other: 1 })).toEqual([])
  })

  it('reports every required field of an empty document', () => {
    expect(failuresOf({})).toEqual(['name required', 'uri required', 'hook required'])
  })

  it('counts characters, not code units', () => {
    expect(failuresOf({ ...complete, name: '😀'.repeat(255), group: '😀'.repeat(255) })).toEqual([])
    expect(failuresOf({ ...complete, name: '😀'.repeat(256) })).toEqual(['name maxLength'])
  })

  const wrong: [change: Record<string, unknown>, failure: string][] = [
    [{ name: '' }, 'name minLength'],
    [{ name: '\ud800' }, 'name pattern'],
    [{ name: 'a\u0000' }, 'name pattern'],
    [{ name: null }, 'name type'],
    [{ uri: 'u'.repeat(2049) }, 'uri maxLength'],
    [{ hook: '' }, 'hook minLength'],
    [{ hook: 'h'.repeat(65) }, 'hook maxLength'],
    [{ httpVerb: 'POST' }, 'httpVerb enum'],
    [{ retries: -1 }, 'retries minimum'],
    [{ retries: 31 }, 'retries maximum'],
    [{ retries: 1.5 }, 'retries type'],
    [{ retries: '2' }, 'retries type'],
    [{ format: 'xml' }, 'format enum'],
    [{ enabled: 'true' }, 'enabled type'],
    [{ includeSubaccounts: 0 }, 'includeSubaccounts type'],
    [{ includeInternalLegs: null }, 'includeInternalLegs type'],
    [{ customData: [] }, 'customData type'],
    [{ customData: { key: 1 } }, 'customData.key type'],
    [{ customData: { key: '\udfff' } }, 'customData.key pattern'],
    [{ customData: { '\udfff': 'v' } }, 'customData.\udfff additionalProperties'],
    [{ customRequestHeaders: { 'x-key': true } }, 'customRequestHeaders.x-key type'],
    [{ group: 'g'.repeat(256) }, 'group maxLength'],
    [{ maxAgeSeconds: 0 }, 'maxAgeSeconds minimum'],
    [{ maxAgeSeconds: 2 ** 31 }, 'maxAgeSeconds maximum'],
    [{ rateLimit: 0 }, 'rateLimit minimum'],
    [{ rateLimit: -1 }, 'rateLimit minimum'],
    [{ rateLimit: 0.000_999 }, 'rateLimit minimum'],
    [{ rateLimit: 10_000.5 }, 'rateLimit maximum'],
    [{ rateLimit: '1' }, 'rateLimit type'],
    [{ rateLimit: null }, 'rateLimit type'],
    [{ ordering: 'fifo' }, 'ordering enum'],
  ]
  for (const [change, failure] of wrong) {
    it(`rejects ${JSON.stringify(change).slice(0, 60)}: ${JSON.stringify(failure)}`, () => {
      expect(failuresOf({ ...complete, ...change })).toEqual([failure])
    })
  }

  it('shows no values of custom request headers in failures', () => {
    const settings = { ...complete, customRequestHeaders: { authorization: 42_424_242 } }
    validateWebhook(settings)
    const failures = toSchemaFailures(validateWebhook.errors, settings, { secret: SECRET_SETTINGS })
    expect(failures).toHaveLength(1)
    expect(JSON.stringify(failures)).not.toContain('42424242')
  })
})
