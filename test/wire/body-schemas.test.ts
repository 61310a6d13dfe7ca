import { describe, expect, it } from 'vitest'
import { type SchemaValidator, toSchemaFailures } from '../../src/values/schema-failures.js'
import {
  validateApiAuth,
  validateReenable,
  validateReplay,
  validateUserAuth,
} from '../../src/values/validators.generated.js'

function failuresOf(validate: SchemaValidator, document: unknown): string[] {
  validate(document)
  return toSchemaFailures(validate.errors, document).map(({ path, rule }) => `${path} ${rule}`)
}

describe('login bodies', () => {
  it('are checked for required fields and types only, because a wrong login is not a bad request', () => {
    expect(failuresOf(validateApiAuth, {})).toEqual(['api_key required'])
    expect(failuresOf(validateApiAuth, { api_key: 5 })).toEqual(['api_key type'])
    for (const key of ['', 'short', 'ü'.repeat(1000)]) {
      expect(failuresOf(validateApiAuth, { api_key: key, ui_metadata: {} })).toEqual([])
      expect(failuresOf(validateUserAuth, { credentials: key, account_realm: key, ui_metadata: {} })).toEqual(
        [],
      )
    }
  })

  it('require the realm or the name of the account', () => {
    const credentials = 'c'
    expect(failuresOf(validateUserAuth, {})).toEqual(['account_realm required', 'credentials required'])
    expect(failuresOf(validateUserAuth, { credentials })).toEqual(['account_realm required'])
    for (const name of ['account_realm', 'realm', 'account_name']) {
      expect(failuresOf(validateUserAuth, { credentials, [name]: 'a' })).toEqual([])
      expect(failuresOf(validateUserAuth, { credentials, [name]: 1 })).toEqual([`${name} type`])
    }
  })

  it('accept two digest algorithms', () => {
    const login = { credentials: 'c', realm: 'r' }
    for (const method of ['md5', 'sha'])
      expect(failuresOf(validateUserAuth, { ...login, method })).toEqual([])
    expect(failuresOf(validateUserAuth, { ...login, method: 'sha256' })).toEqual(['method enum'])
  })
})

describe('command bodies', () => {
  it('require re-enable to be true', () => {
    expect(failuresOf(validateReenable, { 're-enable': true, ui_metadata: {} })).toEqual([])
    expect(failuresOf(validateReenable, {})).toEqual(['re-enable required'])
    expect(failuresOf(validateReenable, { 're-enable': false })).toEqual(['re-enable enum'])
    expect(failuresOf(validateReenable, { 're-enable': 'true' })).toEqual(['re-enable type'])
  })

  it('replay one delivery or a selection, never all', () => {
    expect(failuresOf(validateReplay, {})).toEqual(['delivery_id required'])
    expect(failuresOf(validateReplay, { ui_metadata: {} })).toEqual(['delivery_id required'])
    const selections = [
      { delivery_id: 'd' },
      { created_from: 0 },
      { created_to: 63_000_000_000 },
      { result: 'failure' },
    ]
    for (const selection of selections) expect(failuresOf(validateReplay, selection)).toEqual([])
    expect(failuresOf(validateReplay, { created_from: -1, created_to: 1e300, result: 'all' })).toEqual([
      'result enum',
    ])
  })
})
