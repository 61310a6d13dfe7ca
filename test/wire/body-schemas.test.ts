import { describe, expect, it } from 'vitest'
import { REPLAY_RESULTS } from '../../src/delivery/replay-selection.js'
import { type SchemaValidator, toSchemaFailures } from '../../src/values/schema-failures.js'
import {
  validateApiAuth,
  validateReenable,
  validateReplay,
  validateReplayState,
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

  it('replay one delivery or a selection, which may be empty', () => {
    const selections = [
      {},
      { ui_metadata: {} },
      { delivery_id: 'd' },
      { created_from: 0 },
      { created_to: 63_000_000_000 },
      {
        reason: 'r'.repeat(256),
        call_id: 'c',
        number: '1',
        hook: 'x',
        include_recovered: true,
        dry_run: true,
      },
      ...REPLAY_RESULTS.map((result) => ({ result })),
    ]
    for (const selection of selections) expect(failuresOf(validateReplay, selection)).toEqual([])
    const wrong = { result: 'all', reason: 'r'.repeat(257), call_id: '', number: 5, include_recovered: 1 }
    expect(failuresOf(validateReplay, { created_from: -1, created_to: 1e300, ...wrong })).toEqual([
      'result enum',
      'reason maxLength',
      'call_id minLength',
      'number type',
      'include_recovered type',
    ])
  })

  it('set a replay to a state that it has not by itself', () => {
    for (const state of ['running', 'paused', 'cancelled'])
      expect(failuresOf(validateReplayState, { state, ui_metadata: {} })).toEqual([])
    expect(failuresOf(validateReplayState, {})).toEqual(['state required'])
    expect(failuresOf(validateReplayState, { state: 'completed' })).toEqual(['state enum'])
  })
})
